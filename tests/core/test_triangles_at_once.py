"""Triangles that are looked at side by side: the same bits as one by one, and none is missed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from solids import soup

from steer_addon.core import bvh
from steer_addon.core.bvh_points import nearer
from steer_addon.core.eights import MOST, ROOMY, around, make_eights
from steer_addon.core.triangles_at_once import (
    FOUND,
    LINES,
    PLACE,
    SQUARE,
    nearest_at_once,
    put_corners,
    put_three,
    three,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.floats(0.001, 5.0), st.sampled_from([0.0, 1e4]))
@settings(max_examples=60, deadline=None)
def test_nearest_points_have_the_bits_of_those_one_by_one(seed, size, shift):
    rng = np.random.default_rng(seed)
    triangles = soup(rng, 64, size) + np.float32(shift)
    places = rng.uniform(-5, 5, (64, 3)) + shift
    # on a corner, on an edge, on the face, and above it
    share = rng.dirichlet([0.3, 0.3, 0.3], 64)[:, :, None]
    places[::2] = (share * triangles.astype(float)).sum(axis=1)[::2]
    places[::4] = triangles[::4, 0]
    table = np.empty((LINES, 64))
    for n in range(64):
        put_corners(table, n, triangles, n)
        put_three(table, PLACE, n, tuple(places[n].tolist()))
    nearest_at_once(table, 64)
    for n in range(64):
        point = tuple(places[n].tolist())
        _triangle, found, square = nearer(triangles, n, point, -1.0, -1, point, np.inf)
        assert np.array(three(table, FOUND, n)).tobytes() == np.array(found).tobytes()
        assert table[SQUARE, n] == square


@given(SEEDS, st.integers(1, 700), st.floats(0.01, 2.0), st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_no_triangle_around_a_place_is_missed(seed, count, size, limit):
    rng = np.random.default_rng(seed)
    tree = bvh.build(soup(rng, count, size))
    eights = make_eights(tree)
    point = tuple(rng.uniform(-4, 4, 3).tolist())
    _triangle, found, best = bvh.nearest_point(tree, point, np.inf)
    way = tuple(((np.array(point) - found) / best).tolist())
    lists = np.empty((2, ROOMY))
    side, number = around(eights.groups, eights.level, point, way, limit, best, 1e-6, lists)
    if number > MOST:
        return
    listed = {int(tree.order[int(n)]) for n in lists[side, :number]}
    assert len(listed) == number
    # wherever one goes within the limit, the nearest triangle is among them
    for _ in range(30):
        step = rng.normal(size=3)
        step *= limit * rng.uniform(0.0, 1.0) / np.linalg.norm(step)
        assert bvh.nearest_point(tree, tuple((point + step).tolist()), np.inf)[0] in listed


def test_a_tree_without_triangles_has_no_eights():
    assert len(make_eights(bvh.empty()).groups) == 0
    eights = make_eights(bvh.build(soup(np.random.default_rng(1), 100, 1.0)))
    # 100 triangles in 13 groups, and those in 2
    assert eights.level.tolist() == [[0, 13], [2, 100]]
