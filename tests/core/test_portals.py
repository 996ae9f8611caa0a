"""Portals: ladders, jumps and elevators join places, take their time, and nobody is in anybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import way_scenes as scenes
from waytools import RADIUS, SHAPE, Walk, blocks_of

from steer_addon.core.compiled import jit
from steer_addon.core.errors import WorldError
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world
from steer_addon.core.results.digests import digest, world_parts
from steer_addon.core.ways.areas.declared import Rules, make_area, make_areas
from steer_addon.core.ways.looking import way_of
from steer_addon.core.ways.portals.declared import make_portal
from steer_addon.core.ways.portals.gates import no_gates
from steer_addon.core.ways.portals.passing import KEY, ON, SHARE
from steer_addon.core.ways.ways import Ways
from steer_addon.core.worlds.parts import made, parts_of

SPEED = 1.4
FOOT, HEAD = (5.5, 5.0, 0.0), (5.5, 5.0, 3.0)
BELOW, ABOVE = np.array([2.0, 5.0, 0.0]), np.array([14.0, 5.0, 3.0])


def ladder(**more):
    return make_portal([FOOT, HEAD], "ladder", **more)


def two_floors():
    """A floor of 20 × 10 m, and one 3 m above from x = 6 m on; nothing joins them."""
    low, high = scenes.floor(0.0, 0.0, 20.0, 10.0), scenes.floor(6.0, 0.0, 20.0, 10.0, 3.0)
    fence = scenes.fence(0.0, 0.0, 20.0, 10.0)
    ground = Mesh("ground", np.concatenate([low.triangles, high.triangles]))
    return scenes.Scene(ground, (scenes.upright(fence),), tuple(fence))


def over_a_wall():
    """A wall with a way round its end at y = 16."""
    return scenes.on_plane([scenes.rectangle(9.8, 0.0, 10.2, 16.0)], (20.0, 20.0))


def jump(seconds, start=(9.0, 3.0, 0.0), end=(11.0, 3.0, 0.0), **more):
    return make_portal([start, end], "jump", seconds=seconds, **more)


def blocks(scene, *portals, areas=(), costs=False, bits=0, count=1):
    found = make_areas(areas, None, portals)
    rules = Rules(found, costs, np.full(count, bits, np.int64), SPEED)
    return replace(blocks_of(scene), rules=None if found is None else rules)


def looked(scene, start, goal, *portals, **more):
    """The way of one body."""
    told = np.array([start], "f4"), np.zeros(1, np.int64), np.full(1, RADIUS, "f4")
    where = blocks(scene, *portals, **more)
    goals = np.array([goal], "f4"), np.zeros(1, np.int64)
    return way_of(Ways(), SHAPE, where, *goals, told, 0)


def length_of(scene, start, goal, *portals, each=False, **more):
    """How long the way of one body seems [m], and the portal that it heads for next."""
    position, gates = np.array([start], "f4"), no_gates(1)
    told = position, np.zeros(1, np.int64), np.full(1, RADIUS, "f4")
    where = blocks(scene, *portals, **more)
    goals = np.array([goal], "f4"), np.zeros(1, np.int64)
    via, rest, _kept = Ways().lead(SHAPE, where, *goals, told, each=each, gates=gates)
    return float(np.linalg.norm(via - position) + rest[0]), int(gates.portal[0])


@pytest.mark.parametrize("each", [False, True])
def test_a_ladder_joins_floors_that_nothing_else_joins(each):
    scene = two_floors()
    assert not looked(scene, BELOW, ABOVE).arrives
    way = looked(scene, BELOW, ABOVE, ladder())
    assert way.arrives
    # 3.5 m to the foot, 3 m up, 8.5 m from the head, and the places to stand beside it
    assert way.length == pytest.approx(15.0, abs=0.3)
    length, key = length_of(scene, BELOW, ABOVE, ladder(seconds=10.0), each=each)
    assert key == ladder().key
    # to the foot, as far as one walks in 10 s, and from the place beside the head
    assert length == pytest.approx(3.5 + 10.0 * SPEED + 7.9, abs=0.3)
    down, key = length_of(scene, ABOVE, BELOW, ladder(seconds=10.0), each=each)
    assert (down, key) == (pytest.approx(length, abs=0.3), -ladder().key)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("costs", [False, True])
def test_a_portal_is_taken_where_its_way_is_shorter(each, costs):
    # round the wall it is 28.2 m, over it 8 m and what the jump seems to be
    grass = [make_area(scenes.boxes([[16, 16, -1]], [[19, 19, 1]]), "COST")] if costs else ()
    options = {"areas": grass, "costs": costs, "each": each}
    start, goal = (5.0, 3.0, 0.0), (15.0, 3.0, 0.0)
    around, _key = length_of(over_a_wall(), start, goal, **options)
    assert around == pytest.approx(28.2, rel=0.03)
    for seconds, over in ((1.0, True), (13.5, True), (15.5, False)):
        length, key = length_of(over_a_wall(), start, goal, jump(seconds), **options)
        assert (key != 0) == over
        assert length == pytest.approx(8.0 + seconds * SPEED if over else around, rel=0.02)


def test_one_way_portals_lead_one_way():
    up = ladder(both_ways=False)
    assert looked(two_floors(), BELOW, ABOVE, up).arrives
    assert not looked(two_floors(), ABOVE, BELOW, up).arrives
    told = np.array([ABOVE], "f4"), np.zeros(1, np.int64), np.full(1, RADIUS, "f4")
    goals = np.array([BELOW], "f4"), np.zeros(1, np.int64)
    lost = Ways().without_way(SHAPE, blocks(two_floors(), up), *goals, told)
    assert lost.all()
    lost = Ways().without_way(SHAPE, blocks(two_floors(), ladder()), *goals, told)
    assert not lost.any()


def test_portals_may_be_for_some_groups():
    only = ladder(group="staff")
    assert not looked(two_floors(), BELOW, ABOVE, only).arrives
    assert looked(two_floors(), BELOW, ABOVE, only, bits=1).arrives


class Climb(Walk):
    """People at the foot of a ladder who want to go up."""

    def __init__(self, starts, *portals, scene=None, goal=ABOVE):
        super().__init__(scene or two_floors(), starts, ABOVE)
        targets = {"": make_targets(np.reshape(goal, (-1, 3)))}
        self._base = replace(self._base, areas=make_areas((), None, portals), targets=targets)
        self.inside = []

    def on(self, frames):
        for _frame in range(frames):
            found = super().on(1)
            memory = self.simulation.agents.memory.get(ON)
            count = self.simulation.agents.count
            self.inside.append(np.zeros(count) if memory is None else memory[:, KEY].copy())
        return found


def starts_of(count, x=3.0):
    return [(x - 0.8 * (k // 4), 3.5 + 0.8 * (k % 4), 0.0) for k in range(count)]


def overlap(places, radius, tall=1.75):
    """How deep the deepest of all bodies is in another, at any time [m]."""
    deepest = 0.0
    for now in places:
        gap = np.linalg.norm(now[:, None, :2] - now[None, :, :2], axis=2)
        gap[np.abs(now[:, None, 2] - now[None, :, 2]) >= tall] = np.inf
        np.fill_diagonal(gap, np.inf)
        deepest = max(deepest, 2.0 * radius - gap.min())
    return deepest


def test_people_climb_one_after_another_in_the_time_of_the_ladder():
    seconds = 6.0
    climb = Climb(starts_of(8), ladder(seconds=seconds))
    places, inside = climb.on(460), np.array(climb.inside) != 0.0
    up = places[-1, :, 2] > 2.9
    # the first is up after 3 + 6 s, and others follow as a body's height becomes free, 3.6 s each
    assert up.sum() >= 3 and places[-1, up, 0].max() > 12.0
    # the first one is held up by nobody
    took = inside.sum(axis=0)[up] / 24.0
    assert took.min() == pytest.approx(seconds, abs=1.5 / 24.0)
    assert inside.sum(axis=1).max() > 1
    radius = float(climb.simulation.agents.radius[0])
    assert overlap(places, radius) < 0.01 * radius


@pytest.mark.slow
def test_those_who_come_the_other_way_are_let_through():
    # a bridge over a wall that is closed, with people at both ends who want to change sides
    scene = scenes.on_plane([scenes.rectangle(9.8, 0.0, 10.2, 12.0)], (20.0, 12.0))
    bridge = jump(3.0, (8.5, 6.0, 0.0), (11.5, 6.0, 0.0))
    left = [(6.0, 5.0 + k, 0.0) for k in range(3)]
    right = [(14.0, 5.0 + k, 0.0) for k in range(3)]
    climb = Climb([*left, *right], bridge, scene=scene, goal=[[17.0, 6.0, 0.0], [3.0, 6.0, 0.0]])
    index = np.array([0, 0, 0, 1, 1, 1])
    climb.simulation.agents.target_index[:] = index
    places, inside = climb.on(700), np.array(climb.inside)
    assert (places[-1, :3, 0] > 12.0).all() and (places[-1, 3:, 0] < 8.0).all()
    assert not ((inside > 0).any(axis=1) & (inside < 0).any(axis=1)).any()
    radius = float(climb.simulation.agents.radius[0])
    assert overlap(places, radius) < 0.01 * radius


def test_threads_and_resuming_change_no_bit():
    before, frames = jit.set_threads(1), 130
    try:
        whole = Climb(starts_of(4), ladder(seconds=6.0))
        whole.on(frames)
        assert whole.inside[60].any() and whole.inside[-1].any()
        jit.set_threads(3)
        part = Climb(starts_of(4), ladder(seconds=6.0))
        part.on(60)
        again = Climb(starts_of(4), ladder(seconds=6.0))
        for _frame in range(60):
            again.simulation.skip(again._world(()))
        again.simulation.adopt(part.simulation.agents)
        again.places = list(part.places)
        again.on(frames - 60)
        a, b = whole.simulation.agents, again.simulation.agents
        for name in ("position", "velocity", "heading"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert np.array_equal(a.memory[ON], b.memory[ON])
    finally:
        jit.set_threads(before)


def test_who_is_in_a_portal_that_goes_stands_on_the_ground_again():
    climb = Climb(starts_of(1, 4.8), ladder(seconds=6.0))
    climb.on(80)
    assert climb.inside[-1].any() and 0.5 < climb.places[-1][0, 2] < 2.9
    climb._base = replace(climb._base, areas=None)
    places = climb.on(10)
    assert abs(places[-1, 0, 2]) < 0.01


@pytest.mark.parametrize(
    ("points", "more", "says"),
    [
        ([FOOT], {}, "is no line"),
        ([FOOT, FOOT], {}, "both ends at one place"),
        ([FOOT, (np.nan, 0, 0)], {}, "not at a finite place"),
        ([FOOT, HEAD], {"seconds": 1e9}, "takes 1000000000.0 s: give 0 to 3600"),
        ([FOOT, HEAD], {"seconds": -1.0}, "give 0 to 3600"),
        ([FOOT, HEAD], {"seconds": np.nan}, "give 0 to 3600"),
    ],
)
def test_what_is_no_portal_is_said(points, more, says):
    with pytest.raises(WorldError, match=says):
        make_portal(points, "ladder", **more)


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        (((5.5, 5.0, 1.4), HEAD), "nobody can stand within 1 m of its first end"),
        ((FOOT, (2.0, 5.0, 3.0)), "nobody can stand within 1 m of its last end"),
        ((FOOT, (21.5, 5.0, 0.0)), "nobody can stand within 1 m of its last end"),
        ((FOOT, (5.5, 5.0, 0.1)), "agents stand at one and the same place at both ends"),
    ],
)
def test_portals_whose_ends_are_nowhere_are_said_once(ends, says):
    climb = Climb(starts_of(1), make_portal(ends, "ladder"))
    climb.on(24)
    found = [d for d in climb.simulation.warnings if d.code == "PORTAL_LOOSE"]
    assert len(found) == 1 and says in found[0].sentence


def test_worlds_keep_portals_and_digests_know_them():
    first, second = ladder(seconds=4.0, both_ways=False, group="staff"), ladder(seconds=5.0)
    world = replace(make_world(), areas=make_areas((), None, (first,)))
    part = next(part for part in parts_of(world) if part.kind == "portals")
    names = ("point", "rule", "group")
    back = made("portals", "ladder", dict(zip(names, part.arrays, strict=True)))
    assert (back.seconds, back.both_ways, back.group) == (4.0, False, "staff")
    assert np.array_equal(back.points, first.points)
    other = replace(world, areas=make_areas((), None, (second,)))
    key = ("portals", "ladder")
    assert digest(world_parts(world)[key]) != digest(world_parts(other)[key])
    assert digest(world_parts(world)[key]) == digest(back)


def test_a_share_of_the_line_is_remembered():
    climb = Climb(starts_of(1, 4.8), ladder(seconds=6.0))
    climb.on(100)
    steps = np.flatnonzero(np.array(climb.inside)[:, 0])
    # as much of the time as has passed
    passed = len(steps) / 24.0 / 6.0
    assert climb.simulation.agents.memory[ON][0, SHARE] == pytest.approx(passed, abs=1e-5)
