"""Data kept with stored frames: little, and enough to continue from."""

from __future__ import annotations

import numpy as np
from crowdtools import crowd, same_bits, scatter, simulation

from steer_addon.core.behaviors.flock import Separation
from steer_addon.core.behaviors.pursue import Pursue
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.crowd.settings import MotionSettings
from steer_addon.core.inputs.world import make_targets, make_world
from steer_addon.core.results.memories import keep, stood_up
from steer_addon.core.step.simulation import Simulation


def test_a_kept_frame_can_be_gone_on_from_and_shares_what_stays():
    settings = crowd(Wander(), Separation(), seed=3)
    run = simulation(settings, scatter(50, 8.0))
    world, kept = make_world(), {}
    for _ in range(6):
        frame = run.step(world)
        kept[frame.number] = keep(run.agents, world, frame, kept.get(frame.number - 1))
        assert kept[frame.number].agents.position is frame.position
    assert kept[7].agents.mass is kept[2].agents.mass
    assert kept[7].agents.normal is kept[2].agents.normal
    again = Simulation(settings, kept[4].agents, frame=4, fps=24.0, placed=True)
    again.start_frame = 1
    for _ in range(3):
        again.step(world)
    assert same_bits(again.agents, run.agents)


def test_targets_keep_the_motion_that_they_had():
    moving = make_world(targets=make_targets([[0, 0, 0]], [[2, 0, 0]]))
    run = simulation(crowd(Pursue()), [[5, 0, 0]])
    kept = keep(run.agents, moving, run.step(moving))
    read_again = make_world(targets=[[0, 0, 0]])
    np.testing.assert_array_equal(kept.world(read_again).targets[""].velocity, [[2, 0, 0]])
    other = make_world(targets=[[0, 0, 0], [1, 0, 0]])
    assert kept.world(other).targets[""].count == 2


def test_agents_stand_up_from_what_is_seen():
    settings = crowd(Wander(), motion="FLY")
    run = simulation(settings, scatter(9, 4.0, flat=False), ids=[8, 1, 7, 2, 6, 3, 5, 4, 0])
    start = run.agents
    start.mass[:] = np.arange(1, 10)
    for _ in range(5):
        frame = run.step(make_world())
    agents = stood_up(frame, start.taken(np.argsort(start.id)), MotionSettings())
    np.testing.assert_array_equal(agents.id, run.agents.id)
    np.testing.assert_array_equal(agents.mass, run.agents.mass)
    np.testing.assert_allclose(agents.heading, run.agents.heading, atol=1e-5)


def test_agents_of_a_bake_are_written_as_any_others():
    # numba compiles kernels anew for arrays that are read-only, which those of a bake are
    run = simulation(crowd(Wander()), scatter(9, 4.0))
    frame, start = run.step(make_world()), run.agents
    for value in (frame.id, frame.position, frame.velocity, frame.radius, frame.alive):
        value.flags.writeable = False
    agents = stood_up(frame, start, MotionSettings())
    arrays = {n: v for n, v in vars(agents).items() if isinstance(v, np.ndarray)}
    assert len(arrays) > 8
    assert [name for name, value in arrays.items() if not value.flags.writeable] == []
