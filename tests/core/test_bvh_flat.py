"""Level distances from an upright line: against polygons clipped in NumPy, and samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.bvh_flat import flat_nearest


def soup(count: int, seed: int, snapped: bool) -> np.ndarray:
    """Random triangles in a cube of 6 m, shape (count, 3, 3); snapped ones are upright or level."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-3, 3, (count, 1, 3)) + rng.normal(scale=1.0, size=(count, 3, 3))
    return (np.round(2.0 * corners) / 2.0 if snapped else corners).astype(np.float32)


def clipped(corners: np.ndarray, low: float, high: float) -> np.ndarray:
    """A triangle cut to two heights, as Sutherland and Hodgman do it, shape (k, 3)."""
    for height, sign in ((low, 1.0), (high, -1.0)):
        kept: list[Any] = []
        for k in range(len(corners)):
            p, q = corners[k - 1], corners[k]
            over_p, over_q = sign * (p[2] - height), sign * (q[2] - height)
            if (over_p < 0) != (over_q < 0):
                kept.append(p + (q - p) * (over_p / (over_p - over_q)))
            if over_q >= 0:
                kept.append(q)
        corners = np.array(kept).reshape(-1, 3)
    return corners


def restated(corners: np.ndarray, point: np.ndarray, low: float, high: float) -> float:
    """Distance on the map to a triangle between two heights; inf where there is none."""
    outline = clipped(corners.astype(float), low, high)[:, :2]
    if not len(outline):
        return math.inf
    start, stop = outline, np.roll(outline, -1, axis=0)
    along, rest = stop - start, point - start
    side = along[:, 0] * rest[:, 1] - along[:, 1] * rest[:, 0]
    area = np.sum(start[:, 0] * stop[:, 1] - start[:, 1] * stop[:, 0])
    if abs(area) > 1e-9 and ((side >= 0).all() or (side <= 0).all()):
        return 0.0
    share = (along * rest).sum(1) / np.maximum((along**2).sum(1), 1e-300)
    nearest = start + along * np.clip(share, 0.0, 1.0)[:, None]
    return float(np.linalg.norm(nearest - point, axis=1).min())


def lines(count: int, seed: int, snapped: bool) -> np.ndarray:
    """x, y, lower and upper end of upright lines, shape (count, 4)."""
    rng = np.random.default_rng(seed + 1)
    low = rng.uniform(-4, 4, count)
    rows = np.c_[rng.uniform(-5, 5, (count, 2)), low, low + rng.uniform(0, 2, count)]
    return np.round(2.0 * rows) / 2.0 if snapped else rows


@pytest.mark.slow
@settings(max_examples=tried(60), deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**31), st.booleans(), st.sampled_from([0.3, 2.0, 1e9]))
def test_the_nearest_is_that_of_all_triangles_cut_to_the_heights(
    count: int, seed: int, snapped: bool, reach: float
) -> None:
    triangles = soup(count, seed, snapped)
    tree = bvh.build(triangles)
    for x, y, low, high in lines(30, seed, snapped):
        point = np.array([x, y])
        each = np.array([restated(corners, point, low, high) for corners in triangles])
        triangle, distance, place = flat_nearest(tree, (x, y, 77.0), low, high, reach)
        if each.min() > reach + 1e-6:
            assert (triangle, distance, place) == (-1, reach, (x, y, low))
        elif each.min() < reach - 1e-6:
            assert distance == pytest.approx(each.min(), abs=2e-7)
            assert each[triangle] == pytest.approx(distance, abs=2e-7)
            assert math.dist(place[:2], point) == pytest.approx(distance, abs=2e-7)
            assert low <= place[2] <= high


@settings(max_examples=tried(30), deadline=None)
@given(st.integers(0, 2**31), st.booleans())
def test_no_place_of_the_triangles_between_the_heights_is_nearer(seed: int, snapped: bool) -> None:
    triangles = soup(6, seed, snapped)
    tree = bvh.build(triangles)
    shares = np.random.default_rng(seed).dirichlet([0.6, 0.6, 0.6], 4000)
    places = np.einsum("sk,tkd->tsd", shares, triangles.astype(float)).reshape(-1, 3)
    for x, y, low, high in lines(20, seed, snapped):
        within = places[(places[:, 2] >= low) & (places[:, 2] <= high)]
        triangle, distance, _place = flat_nearest(tree, (x, y, 0.0), low, high, math.inf)
        if len(within):
            assert triangle >= 0
            assert distance <= np.hypot(*(within[:, :2] - (x, y)).T).min() + 1e-6


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
    for x, y, low, high in lines(50, seed, snapped):
        found = flat_nearest(one, (x, y, 0.0), low, high, 3.0)
        for other in others:
            assert flat_nearest(other, (x, y, 0.0), low, high, 3.0) == found


def test_a_table_top_counts_only_between_its_heights() -> None:
    top = np.float32(
        [[[0, 0, 0.7], [2, 0, 0.7], [2, 2, 0.7]], [[0, 0, 0.7], [2, 2, 0.7], [0, 2, 0.7]]]
    )
    tree = bvh.build(top)
    assert flat_nearest(tree, (1.5, 1.0, 0.0), 0.35, 1.75, 1.0) == (
        0,
        0.0,
        (1.5, 1.0, np.float32(0.7)),
    )
    triangle, distance, place = flat_nearest(tree, (2.5, 1.0, 0.0), 0.35, 1.75, 1.0)
    assert (triangle, distance, place[0], place[1]) == (0, 0.5, 2.0, 1.0)
    assert place[2] == pytest.approx(0.7)
    for low, high in ((0.71, 1.75), (0.0, 0.69)):
        assert flat_nearest(tree, (1.5, 1.0, 0.0), low, high, 1.0)[0] == -1
    assert flat_nearest(tree, (2.5, 1.0, 0.0), 0.35, 1.75, 0.49)[0] == -1


def test_a_ramp_counts_where_it_is_between_the_heights() -> None:
    ramp = np.float32([[[0, 0, 0], [4, 0, 2], [0, 4, 0]]])  # rises by half along x
    tree = bvh.build(ramp)
    assert flat_nearest(tree, (0.25, 0.5, 0.0), 0.5, 1.5, 9.0)[1:] == (0.75, (1.0, 0.5, 0.5))
    assert flat_nearest(tree, (1.5, 0.5, 0.0), 0.5, 1.5, 9.0)[1:] == (0.0, (1.5, 0.5, 0.75))


@pytest.mark.parametrize(
    ("point", "low", "high", "reach"),
    [
        ((math.nan, 0.0, 0.0), 0.0, 1.0, 9.0),
        ((math.inf, 0.0, 0.0), 0.0, 1.0, 9.0),
        ((0.0, 0.0, 0.0), math.nan, 1.0, 9.0),
        ((0.0, 0.0, 0.0), 0.0, math.nan, 9.0),
        ((0.0, 0.0, 0.0), 1.0, 0.0, 9.0),
        ((0.0, 0.0, 0.0), 0.0, 1.0, -1.0),
        ((0.0, 0.0, 0.0), 0.0, 1.0, math.nan),
    ],
)
def test_senseless_lines_are_near_nothing(
    point: tuple[float, ...], low: float, high: float, reach: float
) -> None:
    assert flat_nearest(bvh.build(soup(50, 3, False)), point, low, high, reach)[0] == -1
    assert flat_nearest(bvh.empty(), (0.0, 0.0, 0.0), 0.0, 1.0, 9.0)[0] == -1
