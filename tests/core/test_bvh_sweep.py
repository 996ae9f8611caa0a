"""Upright lines that move: against rays at many heights, and against places along the way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bvh_flat import soup
from tried import tried

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.bvh_flat import flat_nearest
from steer_addon.core.geometry.bvh_sweep import sweep_cast

Vec3 = tuple[float, float, float]


def ways(count: int, seed: int) -> list[tuple[Vec3, Vec3, float]]:
    """Lower ends, unit directions that rise and fall, and heights of lines."""
    rng = np.random.default_rng(seed + 2)
    along = rng.normal(size=(count, 3)) * [1.0, 1.0, 0.4]
    along /= np.linalg.norm(along, axis=1)[:, None]
    start, tall = rng.uniform(-5, 5, (count, 3)), rng.uniform(0.1, 2.0, count)
    return [
        (tuple(map(float, s)), tuple(map(float, d)), float(h))
        for s, d, h in zip(start, along, tall, strict=True)
    ]


def moved(start: Vec3, along: Vec3, distance: float) -> Vec3:
    x, y, z = (s + a * distance for s, a in zip(start, along, strict=True))
    return x, y, z


@settings(max_examples=tried(40), deadline=None)
@given(st.integers(1, 20), st.integers(0, 2**31), st.booleans())
def test_a_line_meets_what_the_rays_from_all_its_points_meet(
    count: int, seed: int, snapped: bool
) -> None:
    tree = bvh.build(soup(count, seed, snapped))
    for start, along, tall in ways(10, seed):
        if flat_nearest(tree, start, start[2], start[2] + tall, 0.01)[0] >= 0:
            continue
        triangle, distance = sweep_cast(tree, start, along, 9.0, tall)
        rays = [
            bvh.ray_cast(tree, (start[0], start[1], start[2] + h), along, 9.0)[1]
            for h in np.linspace(0.0, tall, 120)
        ]
        assert distance <= min(rays) + 1e-6
        if triangle < 0:
            assert distance == 9.0
            continue
        one = bvh.build(tree.triangles[triangle : triangle + 1])
        for tree_of in (one, tree):  # it touches there, and a step before nothing does
            x, y, z = moved(start, along, distance)
            assert flat_nearest(tree_of, (x, y, z), z, z + tall, 2e-6)[0] >= 0
        x, y, z = moved(start, along, distance - 1e-3)
        if distance > 1e-3:
            found, gap, _place = flat_nearest(tree, (x, y, z), z, z + tall, 1.0)
            assert found < 0 or gap > 0.0


@settings(max_examples=tried(40), deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**31), st.booleans())
def test_the_shape_of_the_tree_has_no_say(count: int, seed: int, snapped: bool) -> None:
    triangles = soup(count, seed, snapped)
    cuts = np.sort(np.random.default_rng(seed).integers(0, count + 1, 3))
    one = bvh.build(triangles)
    others = [
        bvh.join([bvh.build(part) for part in np.split(triangles, cuts)]),
        bvh.refit(bvh.build(soup(count, seed + 1, snapped)), triangles),
    ]
    for start, along, tall in ways(20, seed):
        found = sweep_cast(one, start, along, 6.0, tall)
        for other in others:
            assert sweep_cast(other, start, along, 6.0, tall) == found


TOP = np.float32(
    [[[2, -1, 0.7], [4, -1, 0.7], [4, 1, 0.7]], [[2, -1, 0.7], [4, 1, 0.7], [2, 1, 0.7]]]
)


def test_a_table_top_is_met_at_its_edge() -> None:
    tree = bvh.build(TOP)
    met = sweep_cast(tree, (0.0, 0.5, 0.35), (1.0, 0.0, 0.0), 9.0, 1.4)
    assert met == (1, 2.0)
    assert sweep_cast(tree, (0.0, 0.5, 0.35), (1.0, 0.0, 0.0), 1.9, 1.4) == (-1, 1.9)
    assert sweep_cast(tree, (0.0, 0.5, 0.35), (1.0, 0.0, 0.0), 9.0, 0.3) == (-1, 9.0)
    assert sweep_cast(tree, (0.0, 0.5, 0.8), (1.0, 0.0, 0.0), 9.0, 1.4) == (-1, 9.0)


def test_a_line_that_rises_meets_what_it_comes_up_to() -> None:
    tree, up = bvh.build(TOP), math.sqrt(0.5)
    triangle, distance = sweep_cast(tree, (1.0, 0.0, -2.3), (up, 0.0, up), 9.0, 1.4)
    assert (triangle, distance) == (1, pytest.approx(1.6 / up, abs=1e-6))
    assert sweep_cast(tree, (3.0, 0.0, -2.0), (0.0, 0.0, 1.0), 9.0, 1.5)[1] == pytest.approx(1.2)
    assert sweep_cast(tree, (3.0, 0.0, 1.0), (0.0, 0.0, -1.0), 9.0, 1.5)[1] == pytest.approx(0.3)


def test_what_a_line_stands_in_lets_it_go() -> None:
    tree = bvh.build(TOP[:1])
    assert sweep_cast(tree, (3.9, 0.0, 0.35), (1.0, 0.0, 0.0), 9.0, 1.4) == (-1, 9.0)


@pytest.mark.parametrize(
    ("start", "along", "length", "tall"),
    [
        ((math.nan, 0.0, 0.0), (1.0, 0.0, 0.0), 9.0, 1.0),
        ((0.0, 0.0, math.inf), (1.0, 0.0, 0.0), 9.0, 1.0),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 9.0, 1.0),
        ((0.0, 0.0, 0.0), (math.nan, 0.0, 0.0), 9.0, 1.0),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), -1.0, 1.0),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), math.nan, 1.0),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 9.0, math.inf),
    ],
)
def test_senseless_ways_meet_nothing(start: Vec3, along: Vec3, length: float, tall: float) -> None:
    assert sweep_cast(bvh.build(soup(50, 3, False)), start, along, length, tall)[0] == -1
    assert sweep_cast(bvh.empty(), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 9.0, 1.0) == (-1, 9.0)
