"""The lattice of free space makes queries quick and changes no answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.clearance import clearance, with_clearance


def soup(seed: int, count: int, extent: float, size: float, flat: bool = False) -> np.ndarray:
    """Random triangles [m], shape (count, 3, 3)."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-extent, extent, (count, 1, 3)) + rng.normal(0.0, size, (count, 3, 3))
    if flat:
        corners[:, :, 2] = 0.0
    return corners.astype(np.float32)


def points(seed: int, count: int, extent: float) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-extent, extent, (count, 3)).astype(np.float32)


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 60), st.floats(0.01, 20.0), st.booleans(), st.floats(0.0, 60.0))
@settings(max_examples=30, deadline=None)
def test_rays_and_nearest_points_are_those_of_the_tree(seed, count, size, flat, reach):
    tree = bvh.build(soup(seed, count, 10.0, size, flat))
    quick = with_clearance(tree)
    assert len(quick.free) > 0
    starts = points(seed + 1, 300, 25.0)
    ways = points(seed + 2, 300, 1.0)
    ways[:50, 2] = 0.0
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for most in (0.0, reach, np.inf):
        for one, other in zip(
            (*bvh.ray_cast_many(tree, starts, ways, most), *bvh.nearest_many(tree, starts, most)),
            (*bvh.ray_cast_many(quick, starts, ways, most), *bvh.nearest_many(quick, starts, most)),
            strict=True,
        ):
            assert np.array_equal(one, other)


@given(SEEDS, st.integers(1, 40), st.floats(0.01, 20.0))
@settings(max_examples=30, deadline=None)
def test_no_triangle_is_nearer_than_the_clearance(seed, count, size):
    quick = with_clearance(bvh.build(soup(seed, count, 10.0, size)))
    places = points(seed + 1, 200, 30.0)
    _triangle, _point, distance = bvh.nearest_many(quick, places)
    for place, gap in zip(places, distance, strict=True):
        assert 0.0 <= clearance(quick, tuple(place.astype(float))) <= gap * 1.000001


def test_most_of_an_open_field_is_known_to_be_free():
    wall = soup(1, 1, 0.1, 0.1)
    far = np.concatenate([wall + [0, 0, 0], wall + [100, 100, 0]]).astype(np.float32)
    quick = with_clearance(bvh.build(far))
    assert clearance(quick, (50.0, 50.0, 0.0)) > 45.0
    assert clearance(quick, (300.0, 50.0, 0.0)) == pytest.approx(200.0, abs=1.0)


def test_a_tree_without_triangles_has_no_clearance():
    assert len(with_clearance(bvh.empty()).free) == 0
    assert clearance(bvh.empty(), (0.0, 0.0, 0.0)) == 0.0
