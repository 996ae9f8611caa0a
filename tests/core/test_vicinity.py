"""What agents know of the triangles around them makes searches quick and changes no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place
from hypothesis import given, settings
from hypothesis import strategies as st
from solids import soup

from steer_addon.core import bvh
from steer_addon.core.behaviors.follow_wall import FollowWall
from steer_addon.core.eights import make_eights
from steer_addon.core.simulation import Simulation
from steer_addon.core.solver import Solver
from steer_addon.core.vicinity import (
    AT,
    BLOCK,
    LINES,
    NEAR,
    SKIP,
    TRIANGLE,
    TURNS,
    Vicinities,
    is_free,
    nearest_around,
)
from steer_addon.core.vicinity_rows import COLUMNS, FIRST, OTHERS, OUTER
from steer_addon.core.views import VicinityView
from steer_addon.core.world import CollidersBuilder, make_world

STEEP = 0.7
SEEDS = st.integers(0, 2**32 - 1)
DT = 1 / 24


def ball(rings=8, sectors=10, radius=3.0):
    """A sphere of triangles that meet at corners and edges, shape (t, 3, 3)."""
    u = np.linspace(0, np.pi, rings + 1)[:, None]
    v = np.linspace(0, 2 * np.pi, sectors + 1)[None, :]
    grid = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u) + 0 * v], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    faces = np.stack([np.stack([a, b, c], 2), np.stack([a, c, d], 2)])
    return (radius * faces.reshape(-1, 3, 3)).astype(np.float32)


def fan(count):
    """Upright triangles around an edge that they all share."""
    angle = 2 * np.pi * np.arange(count) / count
    out = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    low, high = np.zeros((count, 3)), np.tile([0.0, 0.0, 1.0], (count, 1))
    return np.stack([low, high, out], 1).astype(np.float32)


def wanderings(rng, count, triangles):
    """Places that one looks at one after the other: mostly near the last one."""
    at = rng.uniform(-5, 5, 3)
    for _ in range(count):
        kind = rng.integers(0, 12)
        if kind == 0:
            at = rng.uniform(-8, 8, 3)
        elif kind == 1:
            at = triangles[rng.integers(len(triangles)), rng.integers(3)].astype(float)
        elif kind == 2:
            at = triangles[rng.integers(len(triangles))].mean(axis=0).astype(float)
        elif kind > 3:
            at = at + rng.normal(0.0, 0.1, 3) * 10.0 ** rng.uniform(-3, 0.5)
        yield tuple(at.tolist())


def known(tree, agents=1):
    """What agents know before they looked anywhere."""
    return VicinityView(np.zeros((agents, COLUMNS), np.float32), make_eights(tree))


def look(tree, point, min_up, guess, vicinity, i, turn):
    """What agent i is told of a place: (triangle, point)."""
    table = np.zeros((LINES, BLOCK))
    table[AT : AT + 3, 0], table[TRIANGLE, 0] = point, guess
    nearest_around(tree, min_up, vicinity, i, turn, 1, table)
    return int(table[TRIANGLE, 0]), tuple(table[NEAR : NEAR + 3, 0].tolist())


def by_tree(tree, point, min_up):
    if min_up < 0.0:
        return bvh.nearest_from(tree, point, np.inf, -1)[:2]
    return bvh.nearest_steep(tree, point, np.inf, min_up, -1)[:2]


@given(SEEDS, st.integers(1, BLOCK), st.sampled_from([-1.0, STEEP]))
@settings(max_examples=40, deadline=None)
def test_agents_that_are_looked_at_together_do_not_mix(seed, count, min_up):
    rng = np.random.default_rng(seed)
    triangles = soup(rng, 80, 0.7)
    tree = bvh.build(triangles)
    vicinity = known(tree, count + 5)
    at = rng.uniform(-4, 4, (count, 3))
    for turn in range(0, 3 * TURNS, 8):
        table = np.full((LINES, BLOCK), np.nan)
        asks = rng.random(count) < 0.8
        table[AT : AT + 3, :count] = at.T
        table[TRIANGLE, :count] = np.where(asks, rng.integers(-1, 80, count), SKIP)
        nearest_around(tree, min_up, vicinity, 5, turn, count, table)
        assert (table[TRIANGLE, :count][~asks] == SKIP).all()
        for k in np.flatnonzero(asks):
            found = int(table[TRIANGLE, k]), tuple(table[NEAR : NEAR + 3, k].tolist())
            assert found == by_tree(tree, tuple(at[k].tolist()), min_up)
        at += rng.normal(0.0, 0.05, at.shape)
    assert not vicinity.rows[:5].any()


def shapes(rng, name, count, size):
    if name == "soup":
        return soup(rng, count, size)
    if name == "ball":
        return ball()
    if name == "fan":
        return fan(count)
    if name == "box":
        return box((0, 0, 0), (3, 3, 3)).triangles
    return np.repeat(soup(rng, 1, 1.0), count, axis=0)


@given(
    SEEDS,
    st.sampled_from(["soup", "ball", "fan", "box", "same"]),
    st.integers(1, 60),
    st.floats(0.001, 5.0),
    st.sampled_from([-1.0, STEEP, 0.0]),
    st.sampled_from([0.0, 1e4]),
)
@settings(max_examples=120, deadline=None)
def test_rows_give_the_answer_of_the_tree(seed, shape, count, size, min_up, shift):
    rng = np.random.default_rng(seed)
    triangles = shapes(rng, shape, count, size) + np.float32(shift)
    tree = bvh.build(triangles)
    vicinity, guess = known(tree), -1
    for turn, point in enumerate(wanderings(rng, 60, triangles - np.float32(shift))):
        point = tuple(x + shift for x in point)
        end = tuple(x + y for x, y in zip(point, rng.normal(0.0, 0.5, 3), strict=True))
        for a, b in ((point, end), (end, point)):
            if is_free(vicinity, 0, a, b):
                way = np.subtract(b, a)
                reach = float(np.linalg.norm(way))
                assert bvh.ray_cast(tree, a, tuple((way / reach).tolist()), reach)[0] == -1
        found = look(tree, point, min_up, guess, vicinity, 0, turn)
        assert found == by_tree(tree, point, min_up)
        guess = int(rng.integers(-1, len(triangles))) if turn % 3 else found[0]


ODD = [(np.nan, 0.0, 0.0), (np.inf, 0.0, 0.0), (0.0, -np.inf, np.nan), (1e35, 0.0, 0.0)]


@pytest.mark.parametrize("point", ODD)
@pytest.mark.parametrize("min_up", [-1.0, STEEP])
def test_places_out_of_this_world(point, min_up):
    tree = bvh.build(ball())
    vicinity = known(tree)
    for turn, at in enumerate([point, (4.0, 0.0, 0.0), point, (4.0, 0.1, 0.0), point]):
        found = look(tree, at, min_up, -1, vicinity, 0, TURNS * turn)
        np.testing.assert_array_equal(np.hstack([*found]), np.hstack([*by_tree(tree, at, min_up)]))
        assert not is_free(vicinity, 0, point, at)


def test_without_triangles_or_steep_ones_nothing_is_near():
    floor = bvh.build(np.array([[[-9, -9, 0], [9, -9, 0], [0, 9, 0]]], np.float32))
    for tree in (bvh.empty(), floor):
        vicinity = known(tree)
        for turn in range(3):
            found = look(tree, (0.0, 0.0, 1.0), STEEP, -1, vicinity, 0, turn)
            assert found == (-1, (0.0, 0.0, 1.0))


def test_who_walks_past_a_ball_seldom_asks_the_tree():
    tree = bvh.build(ball(24, 48))
    vicinity, filled = known(tree), 0
    for turn in range(200):
        before = vicinity.rows.copy()
        look(tree, (4.0, -5.0 + 0.05 * turn, 0.1), STEEP, -1, vicinity, 0, turn)
        filled += not np.array_equal(vicinity.rows, before)
    assert vicinity.rows[0, OUTER] > 0.1
    assert 0 < filled < 50


def test_an_agent_without_a_row_gets_one_in_its_turn():
    tree = bvh.build(ball())
    for i in range(3):
        vicinity = known(tree, 3)
        for turn in range(TURNS):
            look(tree, (4.0, 0.2, 0.1), -1.0, -1, vicinity, i, turn)
            assert (vicinity.rows[i, OUTER] > 0.0) == (turn >= -i % TURNS)
        assert vicinity.rows.any(axis=1).sum() == 1


def test_more_equally_near_triangles_than_a_row_holds_leave_it_to_the_tree():
    tree = bvh.build(fan(2 * OTHERS + 2))
    vicinity = known(tree)
    for turn in range(0, 3 * TURNS, TURNS):
        # above the edge that all share
        point = (0.0, 0.0, 2.0)
        found = look(tree, point, -1.0, -1, vicinity, 0, turn)
        assert found == by_tree(tree, point, -1.0)
        assert vicinity.rows[0, OUTER] == 0.0
        assert not is_free(vicinity, 0, point, point)
    assert vicinity.rows[0, FIRST] >= 0.0


def test_rows_are_kept_for_a_tree_that_stands_still_and_go_with_their_agents():
    trees, ids = [bvh.build(ball()), bvh.build(ball())], np.array([4, 7, 2])
    kept = Vicinities()

    def rows(name, ids, tree, min_up=STEEP):
        return kept.view(name, ids, tree, min_up).rows

    assert len(rows("wall", ids, trees[0])) == 0
    first = rows("wall", ids, trees[0])
    assert first.shape == (3, COLUMNS)
    assert not first.any()
    first[:] = ids[:, None]
    assert rows("wall", ids.copy(), trees[0]) is first
    # another behavior has its own
    assert len(rows("other", ids, trees[0])) == 0
    # one died, one was born
    moved = rows("wall", np.array([2, 9, 4]), trees[0])
    assert moved[:, 0].tolist() == [2, 0, 4]
    for tree, least in ((trees[1], STEEP), (trees[1], 0.5)):
        assert len(rows("wall", ids, tree, least)) == 0
        assert not rows("wall", ids, tree, least).any()


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_steps_are_the_same_without_what_is_known(motion):
    told = crowd(FollowWall(), motion=motion)
    rng = np.random.default_rng(5)
    points = rng.uniform(-7, 7, (40, 3)) * [1, 1, motion == "FLY"]
    agents = place(told, points, rng.normal(0.0, 1.0, (40, 3)))
    builder = CollidersBuilder()
    still = box((0, 0, 0), (4, 4, 6), "still")
    worlds = [
        replace(make_world(), colliders=builder.build([still, box((x, 5, 0), (1, 1, 6), "moving")]))
        for x in (3.0, 3.5)
    ]
    worlds = [worlds[0]] * 40 + worlds[1:] + [worlds[1]] * 39
    whole = Simulation(told, agents, frame=1, fps=24.0)
    resumed, plain, before = None, agents, None
    for number, world in enumerate(worlds):
        if number == 25:
            resumed = Simulation(told, whole.agents, frame=26, fps=24.0)
            resumed.start_frame, resumed._colliders = 1, before
        whole.step(world)
        step = Solver(told).step(plain, world, DT, number=number, before=before)
        plain, before = step.agents, world.colliders
        seen = [whole.agents, plain]
        if resumed is not None:
            resumed.step(world)
            seen.append(resumed.agents)
        for agents in seen[1:]:
            assert agents.position.tobytes() == seen[0].position.tobytes()
            assert agents.memory["follow_wall"].tobytes() == seen[0].memory["follow_wall"].tobytes()
