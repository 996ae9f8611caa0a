"""Several crowds in one step: what they see and touch, and what cannot matter."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.agents import make_agents
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.meets import MeetsSettings, relations
from steer_addon.core.crowd.settings import (
    BodiesSettings,
    CrowdSettings,
    MotionSettings,
    SolverSettings,
    make_behavior,
)
from steer_addon.core.errors import ParameterError
from steer_addon.core.inputs.world import World, make_targets
from steer_addon.core.step.simulation import Simulation, Taking, advance_together
from steer_addon.core.step.together import Meeting, everyone, groups_of
from tests.often import often

RADIUS = 0.3


def crowd_settings(motion="GROUND", substeps=1, *behaviors):
    stack = behaviors or ({"type": "seek"}, {"type": "avoid_neighbors"})
    return CrowdSettings(
        behaviors=tuple(make_behavior(entry) for entry in stack),
        bodies=BodiesSettings(collide_agents=True, height=1.8),
        motion=MotionSettings(motion=motion),
        solver=SolverSettings(substeps=substeps),
    )


def start(points, settings=None, ids=None, fps=24.0):
    agents = make_agents(
        np.asarray(points, np.float32),
        radius=RADIUS,
        mass=1.0,
        max_speed=1.4,
        max_force=10.0,
        ids=ids,
    )
    return Simulation(settings or crowd_settings(), agents, frame=1, fps=fps)


def going_to(*place):
    return World(targets={"": make_targets([list(place)])})


def block(x, rows=8, columns=3, z=0.0):
    return [(x + 0.9 * k, 0.9 * i, z) for i in range(rows) for k in range(columns)]


def gap(a, b):
    """Least gap between the bodies of two crowds, as discs or spheres of one kind [m]."""
    offset = a.agents.position[:, None].astype(float) - b.agents.position[None]
    return float(np.linalg.norm(offset, axis=-1).min()) - 2.0 * RADIUS


def march(members, goals, frames, meeting=None, check=lambda: None):
    for _ in range(frames):
        takings = [Taking(one, goal) for one, goal in zip(members, goals, strict=True)]
        advance_together(takings, meeting or everyone(len(members)))
        check()


def test_head_on_nobody_overlaps_and_both_get_through():
    west, east, gaps = start(block(-5.0)), start(block(3.0)), []
    goals = (going_to(30.0, 3.0, 0.0), going_to(-30.0, 3.0, 0.0))
    march((west, east), goals, 320, check=lambda: gaps.append(gap(west, east)))
    assert min(gaps) > -1.0e-5
    assert west.agents.position[:, 0].min() > east.agents.position[:, 0].max()


@pytest.mark.slow
def test_four_crowds_cross_without_an_overlap():
    sides = ((-6.0, 0.0), (6.0, 0.0), (0.0, -6.0), (0.0, 6.0))
    members = [start(np.array(block(0.0, 4, 4)) + [x, y, 0.0]) for x, y in sides]
    goals = [going_to(-4.0 * x, -4.0 * y, 0.0) for x, y in sides]
    worst = []

    def check():
        worst.append(min(gap(a, b) for a in members for b in members if a is not b))

    march(members, goals, 220, check=check)
    assert min(worst) > -1.0e-5
    for (x, y), one in zip(sides, members, strict=True):
        assert (one.agents.position @ np.array([x, y, 0.0])).mean() < 0.0


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_splitting_a_crowd_leaves_its_motion(motion):
    rng = np.random.default_rng(4)
    points = rng.uniform(-7.0, 7.0, (300, 3)) * [1.0, 1.0, float(motion == "FLY")]
    ids, half = np.arange(300), np.sort(rng.permutation(300)[:150])
    rest, settings = np.setdiff1d(ids, half), crowd_settings(motion)
    whole = start(points, settings, ids)
    parts = start(points[half], settings, half), start(points[rest], settings, rest)
    goal = going_to(20.0, 0.0, 0.0)
    for _ in range(72):
        whole.advance(goal)
    march(parts, (goal, goal), 72)
    for rows, part in zip((half, rest), parts, strict=True):
        np.testing.assert_allclose(part.agents.position, whole.agents.position[rows], atol=1.0e-5)


@pytest.mark.parametrize("behavior", ["separation", "cohesion", "alignment"])
def test_a_flock_in_two_crowds_is_one_flock(behavior):
    rng = np.random.default_rng(5)
    points, ids = rng.uniform(-4.0, 4.0, (80, 3)), np.arange(80)
    settings = crowd_settings("FLY", 1, {"type": behavior}, {"type": "wander"})
    whole = start(points, settings, ids)
    parts = start(points[::2], settings, ids[::2]), start(points[1::2], settings, ids[1::2])
    for _ in range(48):
        whole.advance(World())
    march(parts, (World(), World()), 48)
    for first, part in enumerate(parts):
        np.testing.assert_allclose(
            part.agents.position, whole.agents.position[first::2], atol=1.0e-4
        )


def test_neither_the_order_of_crowds_nor_threads_change_a_bit():
    places, goals = (-5.0, 3.0, -1.0), (going_to(9.0, 0.0, 0.0), going_to(-9.0, 0.0, 0.0), World())
    results = []
    for order, threads in (((0, 1, 2), 2), ((2, 0, 1), 2), ((1, 2, 0), 1)):
        before = jit.set_threads(threads)
        members = [start(block(x, 25, 2)) for x in places]
        march([members[k] for k in order], [goals[k] for k in order], 48)
        jit.set_threads(before)
        results.append([one.agents.position for one in members])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_crowds_on_one_place_with_equal_ids_part():
    """As with a duplicate of a crowd that was not moved."""
    settings = crowd_settings("GROUND", 1, {"type": "separation"})
    one, other = start(block(0.0, 2, 2), settings), start(block(0.0, 2, 2), settings)
    march((one, other), (World(), World()), 240)
    assert gap(one, other) > -1.0e-3


@pytest.mark.parametrize("ghost", [True, False])
def test_a_ghost_is_not_met(ghost):
    name = "NOBODY" if ghost else "EVERYONE"
    mine = MeetsSettings(sees=name, seen_by=name, touches=name)
    meeting = Meeting(*relations([mine, MeetsSettings()], np.zeros((2, 2), np.bool_)))
    stays = crowd_settings("GROUND", 1, {"type": "separation", "weight": 0.0})
    walker, alone = start([(-4.0, 0.0, 0.0)]), start([(-4.0, 0.0, 0.0)])
    line = start([(0.0, 0.65 * i - 3.0, 0.0) for i in range(10)], stays)
    goal, gaps = going_to(12.0, 0.0, 0.0), []
    march((walker, line), (goal, World()), 120, meeting, lambda: gaps.append(gap(walker, line)))
    for _ in range(120):
        alone.advance(goal)
    if ghost:
        np.testing.assert_array_equal(walker.agents.position, alone.agents.position)
        assert min(gaps) < -0.1
    else:
        assert walker.agents.position[0, 0] < alone.agents.position[0, 0] - 1.0
        assert min(gaps) > -1.0e-5


def test_a_drone_sees_people_and_is_not_seen():
    drone_sees, people_see = relations(
        [MeetsSettings(seen_by="NOBODY"), MeetsSettings()], np.zeros((2, 2), np.bool_)
    )[0].tolist()
    assert drone_sees == [True, True] and people_see == [False, True]


def test_both_sides_have_to_choose_to_touch():
    told = [MeetsSettings(touches="CHOSEN"), MeetsSettings(), MeetsSettings(touches="NOBODY")]
    chosen = np.zeros((3, 3), np.bool_)
    assert not relations(told, chosen)[1][0, 1]
    chosen[0, 1:] = True
    _, touches = relations(told, chosen)
    assert touches[0, 1] and touches[1, 0] and not touches[0, 2] and not touches[1, 2]


def clearance(walker, flyer):
    """Gaps between people of 1.8 m, upright with a radius, and spheres [m]: an own restatement."""
    offset = flyer.agents.position[None].astype(float) - walker.agents.position[:, None]
    rise = offset[..., 2]
    above = np.where(rise > 1.8, rise - 1.8, np.where(rise < 0.0, rise, 0.0))
    return np.sqrt(offset[..., 0] ** 2 + offset[..., 1] ** 2 + above**2) - 2.0 * RADIUS


@pytest.mark.slow
def test_people_and_a_flock_keep_out_of_each_other():
    rng = np.random.default_rng(6)
    people = start(block(-6.0, 6, 6))
    birds = start(rng.uniform(-3.0, 3.0, (60, 3)) + [6.0, 2.0, 4.0], crowd_settings("FLY"))
    for _ in range(48):
        # until those that start in each other have parted
        birds.advance(going_to(6.0, 2.0, 1.0))
    goals, gaps = (going_to(30.0, 2.0, 0.0), going_to(-30.0, 2.0, 1.0)), []
    march((people, birds), goals, 220, check=lambda: gaps.append(clearance(people, birds).min()))
    assert min(gaps) > -1.0e-5
    assert birds.agents.position[:, 0].mean() < people.agents.position[:, 0].mean()


def test_a_drone_flies_over_heads_as_if_nobody_was_there():
    people, goal = start(block(-2.0, 5, 5)), going_to(20.0, 2.0, 4.0)
    settings = crowd_settings("FLY", 1, {"type": "seek"})
    drone, alone = start([(-9.0, 2.0, 4.0)], settings), start([(-9.0, 2.0, 4.0)], settings)
    march((people, drone), (going_to(-2.0, 2.0, 0.0), goal), 120)
    for _ in range(120):
        alone.advance(goal)
    np.testing.assert_allclose(drone.agents.position, alone.agents.position, atol=1.0e-6)


@pytest.mark.parametrize("high", [0.5, 6.0])
def test_people_turn_for_a_drone_beside_them_and_not_for_one_overhead(high):
    goal, stays = going_to(20.0, 0.0, 0.0), {"type": "separation", "weight": 0.0}
    walker, alone = start([(0.0, 0.0, 0.0)]), start([(0.0, 0.0, 0.0)])
    drone = start([(4.0, 0.02, high)], crowd_settings("FLY", 1, stays))
    march((walker, drone), (goal, World()), 60)
    for _ in range(60):
        alone.advance(goal)
    away = np.abs(walker.agents.position - alone.agents.position).max()
    assert away > 0.1 if high < 1.8 else away == 0.0


def test_a_played_crowd_goes_its_way_and_others_make_way():
    walkers = start(block(-3.0, 6, 2))
    played = start([(4.0 + (k % 2), 1.6 * k, 0.0) for k in range(4)])
    gaps = []
    for _ in range(150):
        shown = played.agents.copy()
        shown.velocity[:] = (-1.0, 0.0, 0.0)
        shown.position[:, 0] -= 1.0 / 24.0
        takings = [Taking(walkers, going_to(40.0, 2.0, 0.0)), Taking(played, World(), shown=shown)]
        advance_together(takings, everyone(2))
        assert played.frame == 1
        played.agents = shown
        gaps.append(gap(walkers, played))
    # a body that is run into backs out within the next step
    assert min(gaps) > -1.0 / 24.0 - 1.0e-5
    assert walkers.agents.position[:, 0].mean() > played.agents.position[:, 0].mean()


def test_crowds_take_the_finest_substeps_of_those_that_they_meet():
    points, goal = block(0.0, 3, 3), going_to(9.0, 0.0, 0.0)
    coarse, fine = (
        start(points),
        start(np.add(points, (0.0, 500.0, 0.0)), crowd_settings("GROUND", 4)),
    )
    finer = start(points, crowd_settings("GROUND", 4))
    march((coarse, fine), (goal, goal), 24)
    for _ in range(24):
        finer.advance(goal)
    np.testing.assert_array_equal(coarse.agents.position, finer.agents.position)


def test_a_run_resumes_with_the_same_bits():
    goals = (going_to(30.0, 3.0, 0.0), going_to(-30.0, 3.0, 0.0))
    west, east = start(block(-5.0)), start(block(3.0))
    march((west, east), goals, 40)
    saved = west.agents.copy(), east.agents.copy()
    march((west, east), goals, 40)
    again = start(block(-5.0)), start(block(3.0))
    for one, agents in zip(again, saved, strict=True):
        for _ in range(40):
            one.skip(World())
        one.adopt(agents)
    march(again, goals, 40)
    np.testing.assert_array_equal(again[0].agents.position, west.agents.position)
    np.testing.assert_array_equal(again[1].agents.position, east.agents.position)


def test_groups_are_found_through_others():
    relation = np.zeros((5, 5), np.bool_)
    relation[0, 3] = relation[3, 1] = True
    assert groups_of(relation) == [[0, 1, 3], [2], [4]]


def test_different_frame_rates_are_refused():
    takings = [Taking(start(block(0.0)), World()), Taking(start(block(9.0), fps=25.0), World())]
    with pytest.raises(ParameterError, match="24, 25 frames per second"):
        advance_together(takings, everyone(2))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "size"), often([(100, 9.0), (300, 16.0)], (100, 9.0)))
def test_many_crowds_of_one_agent_are_one_crowd(count, size):
    rng = np.random.default_rng(7)
    points = np.c_[rng.uniform(-0.5 * size, 0.5 * size, (count, 2)), np.zeros(count)]
    goal, ids = going_to(20.0, 0.0, 0.0), np.arange(count)
    whole = start(points, ids=ids)
    members = [start(points[k : k + 1], ids=ids[k : k + 1]) for k in ids]
    for _ in range(5):
        whole.advance(goal)
    march(members, [goal] * count, 5)
    found = np.concatenate([one.agents.position for one in members])
    np.testing.assert_allclose(found, whole.agents.position, atol=1.0e-5)
