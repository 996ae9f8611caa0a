"""Settings in another length unit: lengths change, times, masses and angles do not."""

from __future__ import annotations

from steer_addon.core.crowd.presets import find_presets, load_preset
from steer_addon.core.crowd.scaling import scaled, scaled_crowd
from steer_addon.core.crowd.settings import AgentsSettings, MotionSettings, SolverSettings


def test_lengths_speeds_and_forces_are_multiplied_and_nothing_else():
    agents = scaled(AgentsSettings(radius=0.25, mass=80.0, max_speed=1.4, max_force=10.0), 100.0)
    assert (agents.radius, agents.max_speed, agents.max_force) == (25.0, 140.0, 1000.0)
    assert agents.mass == 80.0
    solver = scaled(SolverSettings(max_acceleration=2.0, max_turn_rate=90.0), 100.0)
    assert (solver.max_acceleration, solver.max_turn_rate) == (200.0, 90.0)
    assert solver.relaxation_time == SolverSettings().relaxation_time


def test_limits_hold():
    assert scaled(MotionSettings(wall_height=3.0), 1.0e-6).wall_height == 1.0e-5


def test_there_and_back_is_the_same_and_meters_are_left_alone():
    for name in find_presets():
        settings = load_preset(name).settings
        assert scaled_crowd(settings, 1.0) is settings
        assert scaled_crowd(scaled_crowd(settings, 100.0), 0.01) == settings
