"""The solver's laws against closed forms, and its limits one by one."""

import numpy as np
import pytest
from crowdtools import crowd, only, place, run, same_bits, scatter, simulation

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.flock import Alignment, Cohesion, Separation
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings
from steer_addon.core.errors import AgentError, ParameterError
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.step.solver import Solver

FLOCK = (
    Arrive(slow_radius=2.0),
    Separation(strength=1.5),
    Cohesion(),
    Alignment(field_of_view=270.0),
    Wander(weight=0.3),
)


def test_reynolds_follows_the_recurrence_of_its_law():
    settings = crowd(Seek(), relaxation_time=0.5, agents={"max_speed": 2.0})
    positions, velocities = run(settings, [[0, 0, 0]], 60, target=[[1000, 0, 0]])
    share = (1 / 24) / 0.5
    steps = np.arange(61)
    expected = 2.0 * (1 - (1 - share) ** steps)
    np.testing.assert_allclose(velocities[:, 0, 0], expected, atol=1e-5)
    np.testing.assert_allclose(positions[1:, 0, 0], np.cumsum(expected[1:]) / 24, atol=1e-4)


def test_force_and_mass_bound_the_acceleration():
    settings = crowd(Seek(), agents={"max_force": 3.0, "mass": 2.0, "max_speed": 50.0})
    _, velocities = run(settings, [[0, 0, 0]], 10, target=[[1000, 0, 0]])
    np.testing.assert_allclose(np.diff(velocities[:, 0, 0]) * 24, 3.0 / 2.0, rtol=1e-4)


def test_reynolds_truncates_speed_and_vex_does_not():
    stack = (Seek(weight=3.0),)
    _, slow = run(crowd(*stack), [[0, 0, 0]], 100, target=[[1000, 0, 0]])
    _, fast = run(crowd(*stack, solver="VEX"), [[0, 0, 0]], 100, target=[[1000, 0, 0]])
    assert np.linalg.norm(slow[-1, 0]) == pytest.approx(1.4, rel=1e-5)
    assert np.linalg.norm(fast[-1, 0]) == pytest.approx(4.2, rel=1e-4)


@pytest.mark.parametrize("fps", [12.0, 24.0, 25.0, 60.0])
def test_vex_blends_the_same_share_per_time_at_any_frame_rate(fps):
    settings = crowd(Seek(), solver="VEX", acc_weight=0.3)
    _, velocities = run(settings, [[0, 0, 0]], int(fps), target=[[1000, 0, 0]], fps=fps)
    after_one_second = 1.4 * (1 - 0.7**24)
    assert velocities[-1, 0, 0] == pytest.approx(after_one_second, rel=1e-5)


def test_vex_at_24_fps_takes_exactly_acc_weight_per_step():
    settings = crowd(Seek(), solver="VEX", acc_weight=0.3)
    _, velocities = run(settings, [[0, 0, 0]], 1, target=[[1000, 0, 0]])
    assert velocities[1, 0, 0] == pytest.approx(0.3 * 1.4, rel=1e-6)


def test_priority_spends_the_force_from_the_top_of_the_list():
    first, second = Seek(name="a", target="a"), Seek(name="b", target="b")
    body = {"max_force": 4.0, "max_speed": 1.0}
    world = make_world(targets={"a": [[100, 0, 0]], "b": [[0, 100, 0]]})
    # each asks for 1 m/s within 0.5 s: 2 N; 4 N are enough for both, 3 N cut the second
    _, both = run(
        crowd(first, second, combine="PRIORITY", agents=body), [[0, 0, 0]], 1, world=world
    )
    np.testing.assert_allclose(both[1, 0] * 24, [2, 2, 0], atol=1e-4)
    body = {"max_force": 3.0, "max_speed": 1.0}
    _, cut = run(crowd(first, second, combine="PRIORITY", agents=body), [[0, 0, 0]], 1, world=world)
    np.testing.assert_allclose(cut[1, 0] * 24, [2, 1, 0], atol=1e-4)
    _, turned = run(
        crowd(second, first, combine="PRIORITY", agents=body), [[0, 0, 0]], 1, world=world
    )
    np.testing.assert_allclose(turned[1, 0] * 24, [1, 2, 0], atol=1e-4)


def test_min_speed_keeps_birds_in_the_air():
    settings = crowd(Arrive(), motion="FLY", min_speed=0.8)
    _, velocities = run(settings, [[0, 0, 0]], 400, target=[[3, 0, 0]])
    assert np.linalg.norm(velocities[1:, 0], axis=1).min() >= 0.8 - 1e-5


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_max_turn_rate_bounds_every_turn(motion):
    settings = crowd(Seek(), motion=motion, max_turn_rate=90.0)
    start = [[-1.4, 0.0, 0.0]]
    _, velocities = run(settings, [[0, 0, 0]], 80, velocity=start, target=[[50, 1, 0]])
    unit = velocities[:, 0] / np.linalg.norm(velocities[:, 0], axis=1)[:, None]
    turns = np.degrees(np.arccos(np.clip((unit[1:] * unit[:-1]).sum(1), -1, 1)))
    assert turns.max() <= 90 / 24 + 0.01
    assert unit[-1, 0] > 0.99


def test_turning_straight_back_with_a_turn_limit_never_sticks():
    settings = crowd(Seek(), max_turn_rate=120.0)
    positions, _ = run(settings, [[0, 0, 0]], 120, velocity=[[-1.4, 0, 0]], target=[[100, 0, 0]])
    assert positions[-1, 0, 0] > 1.0


def test_max_acceleration_bounds_every_change():
    settings = crowd(Seek(), max_acceleration=0.5, relaxation_time=0.05)
    _, velocities = run(settings, [[0, 0, 0]], 40, target=[[50, 1, 0]])
    assert np.linalg.norm(np.diff(velocities[:, 0], axis=0), axis=1).max() <= 0.5 / 24 + 1e-6


def test_substeps_are_smaller_steps():
    stack = (Seek(),)
    coarse = simulation(crowd(*stack, substeps=4), [[0, 0, 0]])
    fine = simulation(crowd(*stack), [[0, 0, 0]], fps=96.0)
    world = make_world(targets=[[10, 3, 0]])
    for _ in range(10):
        coarse.step(world)
    for _ in range(40):
        fine.step(world)
    np.testing.assert_allclose(coarse.agents.position, fine.agents.position, atol=1e-6)


def test_ground_motion_stays_level_and_fly_does_not():
    target = [[10, 0, 5]]
    flat, _ = run(crowd(Seek()), [[0, 0, 1]], 50, target=target)
    free, _ = run(crowd(Seek(), motion="FLY"), [[0, 0, 1]], 50, target=target)
    assert (flat[:, 0, 2] == 1.0).all()
    assert free[-1, 0, 2] > 1.5


def test_a_step_changes_nothing_that_it_was_given():
    settings = crowd(*FLOCK)
    agents = place(settings, scatter(50, 6))
    before = agents.copy()
    first = Solver(settings).step(agents, make_world(targets=[[5, 0, 0]]), 1 / 24, number=3)
    again = Solver(settings).step(agents, make_world(targets=[[5, 0, 0]]), 1 / 24, number=3)
    assert same_bits(agents, before)
    assert same_bits(first.agents, again.agents)


def test_proposals_say_what_each_behavior_asked_for():
    settings = crowd(*FLOCK)
    result = Solver(settings).step(
        place(settings, scatter(50, 6)), make_world(targets=[[5, 0, 0]]), 1 / 24, number=0
    )
    assert [p.key for p in result.proposals] == [b.key for b in settings.behaviors]
    assert all(p.active.any() for p in result.proposals if p.key != "alignment")


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_same_bits_on_one_and_two_threads(motion):
    settings = crowd(*FLOCK, motion=motion)
    world = make_world(targets=[[5, 0, 0]])
    results = []
    before = jit.set_threads(1)
    try:
        for count in (1, 2):
            jit.set_threads(count)
            sim = simulation(settings, scatter(5000, 60, flat=motion == "GROUND"))
            for _ in range(5):
                sim.step(world)
            results.append(sim.agents)
    finally:
        jit.set_threads(before)
    assert same_bits(*results)


def test_same_bits_when_resumed_in_the_middle():
    settings = crowd(*FLOCK)
    world = make_world(targets=[[5, 0, 0]])
    whole = simulation(settings, scatter(200, 12))
    for _ in range(10):
        whole.step(world)
    resumed = simulation(settings, scatter(200, 12))
    resumed.agents, resumed.frame = whole.agents.copy(), whole.frame
    for sim in (whole, resumed):
        for _ in range(10):
            sim.step(world)
    assert same_bits(whole.agents, resumed.agents)


def test_order_of_agents_does_not_matter():
    settings = crowd(*FLOCK)
    points = scatter(120, 10)
    order = np.random.default_rng(5).permutation(120)
    plain, _ = run(settings, points, 40, target=[[5, 0, 0]])
    shuffled, _ = run(settings, points[order], 40, target=[[5, 0, 0]], ids=order)
    np.testing.assert_allclose(shuffled, plain[:, order], atol=1e-5)


def test_rotated_worlds_give_rotated_motion():
    settings = crowd(*FLOCK)
    points = scatter(60, 8)
    angle = 0.7
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    heading = np.tile([0.0, -1.0, 0.0], (60, 1))
    plain, _ = run(settings, points, 40, target=[[5, 0, 0]], heading=heading)
    turned, _ = run(
        settings,
        points @ turn.T,
        40,
        target=np.array([[5, 0, 0]]) @ turn.T,
        heading=heading @ turn.T,
    )
    np.testing.assert_allclose(turned, plain @ turn.T, atol=2e-3)


def test_mirrored_worlds_give_mirrored_motion():
    settings = crowd(Arrive(), Separation(), Cohesion(), Alignment())
    points = scatter(60, 8)
    flip = np.array([-1.0, 1.0, 1.0])
    plain, _ = run(settings, points, 40, target=[[5, 2, 0]])
    mirrored, _ = run(settings, points * flip, 40, target=np.array([[5, 2, 0]]) * flip)
    np.testing.assert_allclose(mirrored, plain * flip, atol=2e-3)


@pytest.mark.slow
def test_finer_steps_converge_at_first_order():
    settings = crowd(Arrive(), Separation(neighbor_distance=4.0), relaxation_time=0.5)
    points = [[0, 0, 0], [0.5, 1, 0]]
    ends = {
        fps: run(settings, points, int(fps * 2), target=[[4, 0, 0]], fps=float(fps))[0][-1]
        for fps in (12, 24, 48, 96, 768)
    }
    errors = [np.abs(ends[fps] - ends[768]).max() for fps in (12, 24, 48, 96)]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 1.6).all(), errors


def test_weight_zero_is_the_same_as_absent():
    points = scatter(30, 5)
    plain, _ = run(crowd(Seek()), points, 20, target=[[5, 0, 0]])
    zero, _ = run(crowd(Seek(), Separation(weight=0.0)), points, 20, target=[[5, 0, 0]])
    off, _ = run(crowd(Seek(), Separation(enabled=False)), points, 20, target=[[5, 0, 0]])
    assert np.array_equal(plain, zero) and np.array_equal(plain, off)


def test_per_agent_attributes_override_the_crowd():
    settings = crowd(Seek(), Wander(weight=0.0))
    points = [[0, 0, 0], [0, 3, 0]]
    attributes = {"max_speed": [1.0, 3.0], "target_index": [1, 0]}
    _, velocities = run(
        settings, points, 200, target=[[1000, 0, 0], [-1000, 0, 0]], attributes=attributes
    )
    np.testing.assert_allclose(velocities[-1, :, 0], [-1.0, 3.0], atol=1e-2)


def test_per_agent_behavior_parameters_and_weights():
    attributes = {"arrive.slow_radius": [2.0, 8.0], "arrive.weight": [1.0, 1.0]}
    settings = crowd(Arrive(), relaxation_time=0.05)
    _, velocities = run(
        settings, [[0, 0, 0], [0, 0, 0]], 20, target=[[4, 0, 0]], attributes=attributes
    )
    assert velocities[-1, 0, 0] > 1.3 > 0.8 > velocities[-1, 1, 0]


def test_no_behavior_and_no_target_leave_agents_at_rest():
    for settings in (crowd(), crowd(Seek(), Arrive())):
        positions, _ = run(settings, [[1, 2, 3]], 5)
        assert (positions == [1, 2, 3]).all()


def test_bad_agents_are_named():
    settings = crowd()
    with pytest.raises(AgentError, match="no agents"):
        place(settings, np.zeros((0, 3)))
    with pytest.raises(AgentError, match="1 of 2 agent positions .* point 1"):
        place(settings, [[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(AgentError, match="'id' repeats"):
        place(settings, [[0, 0, 0], [1, 0, 0]], ids=[4, 4])
    with pytest.raises(AgentError, match="'mass' of agent 1"):
        place(settings, [[0, 0, 0], [1, 0, 0]], attributes={"mass": [1.0, 0.0]})
    with pytest.raises(ParameterError, match="fps is 0"):
        Simulation(settings, place(settings, [[0, 0, 0]]), frame=1, fps=0)


def test_extreme_settings_stay_finite():
    settings = CrowdSettings(
        motion=MotionSettings(motion="FLY"),
        behaviors=(Seek(weight=1000.0), Separation(strength=1e9, weight=1000.0), Wander()),
    )
    points = np.zeros((20, 3), np.float32)
    positions, velocities = run(
        only(settings, relaxation_time=0.01), points, 30, target=[[1e6, 0, 0]]
    )
    assert np.isfinite(positions).all() and np.isfinite(velocities).all()
    assert np.linalg.norm(velocities, axis=2).max() <= 1.4 + 1e-4


def test_slow_agents_keep_their_heading():
    settings = crowd(Arrive(), motion_settings={"min_turn_speed": 0.2})
    sim = simulation(settings, [[0, 0, 0]], [[0.0, 0.19, 0.0]])
    sim.agents.heading[:] = [1, 0, 0]
    world = make_world(targets=[[0, 0, 0]])
    sim.step(world)
    np.testing.assert_array_equal(sim.agents.heading, [[1, 0, 0]])


def test_the_body_turns_after_the_motion_at_its_own_rate():
    settings = crowd(Seek(), motion_settings={"body_turn_rate": 90.0})
    sim = simulation(settings, [[0, 0, 0]], [[-1.4, 0.0, 0.0]])
    world = make_world(targets=[[50, 0, 0]])
    headings = [sim.agents.heading[0].astype(float)]
    for _ in range(24 * 5):
        sim.step(world)
        headings.append(sim.agents.heading[0].astype(float))
    headings = np.array(headings)
    turns = np.degrees(np.arccos(np.clip((headings[1:] * headings[:-1]).sum(1), -1, 1)))
    assert turns.max() <= 90 / 24 + 0.01
    # the motion itself turned back at once, the body takes two seconds
    np.testing.assert_allclose(headings[-1], [1, 0, 0], atol=1e-5)
    assert sim.agents.position[0, 0] > 3.0
