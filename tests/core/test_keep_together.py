"""Keep together: the formula, and groups that walk in the open, through a corridor, by a pillar."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from crowdtools import box, crowd, run, scatter, simulation
from solids import ball

from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.keep_together import KeepTogether
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.world import make_world
from tests.often import often

SPEED = 1.3
BODIES = {"max_speed": SPEED, "max_force": 20.0}
FAR_AWAY, BEHIND = [[0.0, 1.0e5, 0.0]], [[0.0, 60.0, 0.0]]
SIZES = (2, 3, 4)


def angle(a, b):
    """Angle between two vectors [rad]."""
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return math.acos(np.clip(a @ b / size, -1, 1)) if size > 1e-6 else 0.0


def ramp(x):
    return min(1.0, max(0.0, x))


def unit(v):
    return v / np.linalg.norm(v) if np.linalg.norm(v) > 1e-6 else 0.0 * v


def restated(i, members, position, wish, radius, told):
    """u' of one agent in the open, from the docstring's formulas, in plain Python."""
    s, n = np.linalg.norm(wish), len(members)
    e = wish / s
    rest = [k for k in members if k != i]
    counted = rest
    if n > 13:
        at = members.index(i)
        counted = [members[(at + 1 + k) % n] for k in range(12)]
    middle = np.mean(position[rest], axis=0) - position[i]
    alpha = max(0.0, angle(middle, e) - math.radians(93))
    for a, j in enumerate(counted):
        for k in counted[a + 1 :]:
            to_j, to_k = position[j] - position[i], position[k] - position[i]
            opposite = -unit(to_j - e * (to_j @ e)) @ unit(to_k - e * (to_k @ e))
            least = min(angle(to_j, e), angle(to_k, e))
            alpha = max(alpha, max(0.0, opposite) * (least - math.radians(82)))
    pace = s * (1.0 - told.slow_down * min(n - 1, 5))
    new = e * pace / (1.0 + 0.5 * told.gaze * alpha)
    distance = max(told.distance, 2 * radius[i] + 0.1)
    reach = distance * ((n - 1) / 2 if n <= 4 else 0.75 * math.sqrt(n))
    far = np.linalg.norm(np.mean(position[members], axis=0) - position[i])
    new += 0.5 * told.attraction * ramp((far - reach) / 0.25) * unit(middle)
    for k in counted:
        offset = position[k] - position[i]
        kept = max(told.distance, radius[i] + radius[k] + 0.1)
        beside = offset - e * (offset @ e)
        apart = np.linalg.norm(beside + e * (offset @ e) / 2)
        beside /= max(np.linalg.norm(beside), 0.1)
        new -= 0.5 * told.repulsion * ramp(4 * (1 - apart / kept)) * beside
    along = new @ e
    least = max(0.2, 0.6 * ramp(1 - (far - reach) / 3))
    new += e * (min(max(along, least * pace), s) - along)
    return new * min(1.0, s / max(np.linalg.norm(new), 1e-9))


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("told", [KeepTogether(), KeepTogether(distance=1.3, gaze=1, slow_down=0)])
def test_the_wish_is_that_of_the_formula(motion, told):
    rng = np.random.default_rng(5)
    group = np.array([7, 3, 0, 7, 3, 7, 3, 3, 2, 2, 0, *[9] * 16])
    position = scatter(len(group), 4.0, seed=1, flat=motion == "GROUND")
    radius = rng.uniform(0.1, 0.5, len(group)).astype(np.float32)
    target = np.array([3.0, 20.0, 0.0 if motion == "GROUND" else 5.0])
    settings = crowd(Seek(), told, motion=motion, agents=BODIES)
    sim = simulation(settings, position, attributes={"group_id": group, "radius": radius})
    sim.step(make_world(targets=[target]))
    proposal = sim.proposals[1]
    place = position.astype(float)
    for i, number in enumerate(group):
        wish = SPEED * unit(target - place[i])
        members = [k for k in range(len(group)) if group[k] == number]
        expected = np.zeros(3)
        if number > 0:
            expected = restated(i, members, place, wish, radius.astype(float), told) - wish
        assert proposal.active[i] == (number > 0)
        assert np.allclose(proposal.value[i], expected, atol=2e-5), i


def walk(*sizes, seconds, seed=0, colliders=(), avoid=True, start=0.0, solver="REYNOLDS"):
    """Places of each of several groups on their way along +Y, (steps + 1, size, 3) each.

    The groups are 50 m apart, and so know nothing of each other.
    """
    others = (AvoidNeighbors(),) if avoid else ()
    settings = crowd(
        KeepTogether(), Seek(), *others, agents=BODIES, solver=solver, relaxation_time=0.2
    )
    solid = BodiesSettings(collide_agents=True, collide_colliders=True)
    settings = replace(settings, bodies=solid)
    begin = [
        scatter(size, 3.0, seed=seed) + np.array([50.0 * number, start, 0.0])
        for number, size in enumerate(sizes)
    ]
    world = make_world(targets=BEHIND if colliders else FAR_AWAY, colliders=colliders)
    attributes = {"group_id": np.repeat(np.arange(5.0, 5.0 + len(sizes)), sizes)}
    position, _ = run(
        settings, np.concatenate(begin), 24 * seconds, world=world, attributes=attributes
    )
    return np.split(position, np.cumsum(sizes)[:-1], axis=1)


def between(places, target):
    """Distances [m] and angles [deg] from each to the next one on its right, ahead is 0."""
    ahead = unit((target - places.mean(axis=0))[:2])
    right = np.array([ahead[1], -ahead[0]])
    ways = np.diff(places[np.argsort(places[:, :2] @ right), :2], axis=0)
    distance = np.linalg.norm(ways, axis=1)
    return distance, np.degrees(np.arccos(ways @ ahead / distance))


MEASURED = {2: [90.0], 3: [98.0, 82.0], 4: [98.0, 90.0, 82.0]}
"""Angles to the neighbor on the right, of pairs, of threes in a V, of fours [deg].

Moussaïd et al. found some 90 for pairs and 97 for the first two of three, and 0.8 m between.
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", often(range(2), 0))
@pytest.mark.parametrize(
    ("solver", "avoid"),
    often(product(("REYNOLDS", "VEX"), (False, True)), ("REYNOLDS", False), ("VEX", True)),
)
def test_in_the_open_people_walk_abreast_at_the_measured_distances_and_angles(solver, avoid, seed):
    groups = walk(*SIZES, seconds=35, seed=seed, avoid=avoid, solver=solver)
    for size, position in zip(SIZES, groups, strict=True):
        for step in range(20 * 24, 35 * 24, 24):
            distance, degrees = between(position[step], FAR_AWAY[0])
            assert ((distance > 0.7) & (distance < 1.0)).all(), (size, step, distance)
            assert np.abs(degrees - MEASURED[size]).max() < 6.0, (size, step, degrees)


@pytest.mark.slow
def test_larger_groups_are_slower_as_measured():
    groups = walk(1, *SIZES, seconds=30)
    speeds = [(position[-1] - position[-241])[:, 1].mean() / 10.0 for position in groups]
    assert speeds[0] == pytest.approx(SPEED, abs=1e-3)
    # 0.04 m/s for each person in one population, 0.08 m/s in the other
    falls = -np.diff(speeds)
    assert ((falls > 0.04) & (falls < 0.08)).all(), speeds


CORRIDOR = (box((-5.6, 0, 0), (10, 10, 4), "left"), box((5.6, 0, 0), (10, 10, 4), "right"))
"""1.2 m wide, from y = -5 to 5."""
DOOR = (box((-5.5, 0, 0), (10, 0.3, 4), "left"), box((5.5, 0, 0), (10, 0.3, 4), "right"))
"""1 m wide, at y = 0."""
OBSTACLES = {"door": DOOR, "pillar": (ball((0, 0, 0.35)),)}


def together_again(position, size):
    """Whether all are abreast at the end, and were never far from each other."""
    distance, degrees = between(position[-1], BEHIND[0])
    apart = np.linalg.norm(position[:, :, None] - position[:, None], axis=3).max(axis=(1, 2))
    assert position[-1, :, 1].min() > 7.0
    assert ((distance > 0.7) & (distance < 1.0)).all(), distance
    assert np.abs(degrees - MEASURED[size]).max() < 15.0, degrees
    assert apart.max() < 2.0 + size * 0.8, apart.max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", often(range(3), 0))
@pytest.mark.parametrize("size", often(SIZES, 4))
def test_in_a_narrow_corridor_they_walk_in_a_line_and_form_again_behind_it(size, seed):
    (position,) = walk(size, seconds=36, seed=seed, colliders=CORRIDOR, start=-12.0)
    inside = (np.abs(position[:, :, 1]) < 4.0).all(axis=1)
    assert inside.any()
    assert np.ptp(position[inside][:, :, 0], axis=1).max() < 0.3
    order = np.argsort(position[inside][:, :, 1], axis=1)
    assert (order == order[0]).all()
    gaps = np.diff(np.sort(position[inside][:, :, 1], axis=1), axis=1)
    assert gaps.min() > 0.5
    together_again(position, size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("obstacle", "size"),
    often(product(OBSTACLES, SIZES), ("door", 4), ("pillar", 3)),
)
@pytest.mark.parametrize("seed", often(range(4), 0))
def test_nobody_loses_the_others_through_a_door_or_around_a_pillar(seed, obstacle, size):
    obstacle = OBSTACLES[obstacle]
    (position,) = walk(size, seconds=32, seed=seed, colliders=obstacle, start=-10.0)
    together_again(position, size)


def pair(first, second, **more):
    """Velocities that two companions wish, who want along +Y."""
    settings = crowd(Seek(), KeepTogether(**more), agents=BODIES)
    sim = simulation(settings, [first, second], attributes={"group_id": [1, 1]})
    sim.step(make_world(targets=[[0, 1e5, 0]]))
    return SPEED * np.array([0.0, 1.0, 0.0]) + sim.proposals[1].value


def test_who_is_ahead_waits_but_never_stands_and_who_is_behind_goes_as_fast_as_alone():
    ahead, behind = pair([0, 5, 0], [0, 0, 0])
    assert ahead[1] == pytest.approx(0.2 * SPEED * 0.95, abs=1e-3)
    assert behind[1] == pytest.approx(SPEED, abs=1e-3)


def test_abreast_at_their_distance_both_walk_at_the_pace_of_a_pair():
    for told in pair([0, 0, 0], [0.8, 0, 0]):
        assert told == pytest.approx([0, 0.95 * SPEED, 0], abs=1e-3)


def test_too_far_apart_they_close_up_and_too_near_they_part_sideways():
    left, right = pair([0, 0, 0], [1.6, 0, 0])
    assert left[0] == pytest.approx(-right[0], abs=1e-3) and left[0] > 0.3
    left, right = pair([0, 0, 0], [0.4, 0, 0])
    expected = np.array([0.5, 0.95 * SPEED, 0.0])
    expected *= SPEED / np.linalg.norm(expected)  # no faster than alone
    assert right == pytest.approx(expected, abs=1e-3)
    assert left == pytest.approx(expected * [-1, 1, 1], abs=1e-3)


def test_coincident_companions_wish_finite_velocities():
    for told in pair([0, 0, 0], [0, 0, 0]):
        assert np.isfinite(told).all()


def test_who_wishes_nothing_is_left_in_peace():
    settings = crowd(KeepTogether(), agents=BODIES)
    sim = simulation(settings, [[0, 0, 0], [5, 0, 0]], attributes={"group_id": [1, 1]})
    sim.step(make_world())
    assert not sim.proposals[0].active.any()
    assert (sim.agents.velocity == 0.0).all()


def test_pushes_see_the_changed_wish():
    """Or avoid_neighbors would take back what companions do for each other."""
    stack = (Seek(), KeepTogether(), AvoidNeighbors())
    sim = simulation(crowd(*stack, agents=BODIES), [[0, 0, 0], [3, 0, 0]])
    sim.agents.attributes["group_id"] = np.ones(2, np.float32)
    world = make_world(targets=[[1.5, 200, 0]])
    for _ in range(30 * 24):
        sim.step(world)
    assert np.linalg.norm(sim.agents.position[1] - sim.agents.position[0]) < 1.0


def test_without_room_for_two_the_one_behind_lets_the_other_go_first():
    settings = crowd(Seek(), KeepTogether(), agents=BODIES)
    walls = [box((-5.6, 0, 0), (10, 40, 4), "left"), box((5.6, 0, 0), (10, 40, 4), "right")]
    world = make_world(targets=[[0, 1e5, 0]], colliders=walls)
    places, attributes = [[-0.3, 0.1, 0], [0.3, 0.0, 0]], {"group_id": [1, 1]}
    sim = simulation(settings, places, attributes=attributes)
    sim.step(world)
    first, second = SPEED * np.array([0, 1, 0]) + sim.proposals[1].value
    assert first[1] == pytest.approx(0.95 * SPEED, abs=1e-3)
    assert second[1] == pytest.approx(0.2 * 0.95 * SPEED, abs=1e-3)
    assert first[0] > 0.25 and second[0] < -0.25  # both to the middle
    blind = crowd(Seek(), KeepTogether(see_colliders=False), agents=BODIES)
    sim = simulation(blind, places, attributes=attributes)
    sim.step(world)
    assert (SPEED + sim.proposals[1].value[:, 1] > 0.7 * SPEED).all()


def test_out_of_sight_they_follow_to_where_they_saw_the_foremost_last():
    """The wall between them moves, so that the one behind knows where the other was."""
    settings = crowd(Seek(), KeepTogether(), agents={**BODIES, "max_speed": 1.0})
    attributes = {"group_id": [1, 1], "max_speed": [0.0, 1.0]}
    sim = simulation(settings, [[4, 3, 0], [0, 0, 0]], attributes=attributes)

    def told(wall):
        sim.step(make_world(targets=[[0, 1e5, 0]], colliders=[box(wall, (1, 20, 4))]))
        return np.array([0, 1, 0]) + sim.proposals[1].value[1]

    assert told((-9, 0, 0))[1] > 0.5  # in sight: it goes on, and to the middle
    way = told((2, 0, 0))
    expected = np.array([4.0, 3.0, 0.0]) - sim.agents.position[1]
    expected += sim.agents.velocity[1] / 24.0
    assert way == pytest.approx(expected / np.linalg.norm(expected), abs=1e-3)


def test_who_never_saw_the_foremost_goes_on_as_it_wishes():
    settings = crowd(Seek(), KeepTogether(), agents=BODIES)
    sim = simulation(settings, [[4, 3, 0], [0, 0, 0]], attributes={"group_id": [1, 1]})
    sim.step(make_world(targets=[[0, 1e5, 0]], colliders=[box((2, 0, 0), (1, 20, 4))]))
    assert sim.proposals[1].value[1] == pytest.approx([0, -0.05 * SPEED, 0], abs=1e-3)


def test_arrived_companions_let_the_others_come():
    """Who stands at the target is not drawn away from it again."""
    settings = crowd(Seek(), KeepTogether(), AvoidNeighbors(), agents=BODIES)
    position, velocity = run(
        settings, [[0, 0, 0], [0, -6, 0]], 24 * 15, target=[[0, 3, 0]],
        attributes={"group_id": [1.0, 1.0]},
    )  # fmt: skip
    assert np.linalg.norm(position[-1] - [0, 3, 0], axis=1).max() < 1.0
