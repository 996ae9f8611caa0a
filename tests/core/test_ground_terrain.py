"""Walking on a real terrain: agents end on walkable ground, and never went through a wall."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from meshfiles import shared_triangles
from tried import tried

from steer_addon.core.geometry import bvh, ground
from steer_addon.core.views import BvhView


@cache
def nav_test() -> tuple[np.ndarray, BvhView, np.ndarray]:
    """The shared terrain, its tree, and the upward parts of its normals in 64 bits."""
    triangles = shared_triangles("nav_test.obj")
    corners = triangles.astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    return triangles, bvh.build(triangles), np.abs(normal[:, 2]) / np.maximum(size, 1e-30)


def crosses(triangles: np.ndarray, start: np.ndarray, stop: np.ndarray) -> bool:
    """Whether a segment passes through any of the triangles, tried in turn."""
    a, b, c = (triangles[:, k].astype(np.float64) for k in range(3))
    way = stop - start
    p = np.cross(way, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1.0 / np.einsum("ij,ij->i", b - a, p)
        u = np.einsum("ij,ij->i", start - a, p) * scale
        q = np.cross(start - a, b - a)
        v = q @ way * scale
        t = np.einsum("ij,ij->i", q, c - a) * scale
        return bool(((u > 0) & (v > 0) & (u + v < 1) & (t > 0) & (t < 1)).any())


def stands_on(triangles: np.ndarray, feet: np.ndarray) -> np.ndarray:
    """Numbers of the triangles that a point lies on, seen from above, within a millimeter."""
    corners = triangles.astype(np.float64) - feet
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]

    def side(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]

    w = np.stack([side(b, c), side(c, a), side(a, b)], 1)
    whole = w.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = w / whole[:, None]
        height = np.einsum("ij,ij->i", share, corners[:, :, 2])
        return np.flatnonzero((share >= -1e-5).all(axis=1) & (np.abs(height) < 1e-3))


@settings(max_examples=tried(60), deadline=None)
@given(
    seed=st.integers(0, 2**31),
    speed=st.floats(0.01, 20.0),
    max_slope=st.sampled_from([20.0, 45.0, 60.0]),
    step_height=st.sampled_from([0.05, 0.35, 1.0]),
    radius=st.sampled_from([0.1, 0.3, 0.8]),
)
def test_random_walks_end_on_walkable_ground_and_cross_no_wall(
    seed: int, speed: float, max_slope: float, step_height: float, radius: float
) -> None:
    triangles, view, upness = nav_test()
    least = ground.min_up(max_slope)
    steep = triangles[upness < least - 2 * 1.0e-5]
    rng = np.random.default_rng(seed)
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    placed, normals, found = ground.place_many(view, rng.uniform(low, high, (20, 3)), least)
    assume(found.any())
    feet, normal = placed[found][0].astype(float), tuple(normals[found][0].astype(float))
    tangent = ground._tangent(least)
    piece = max(min(step_height / tangent, max(radius, 0.05)), 0.1 * max(radius, 0.05))
    heading = rng.uniform(0, 2 * math.pi)
    for _ in range(30):
        heading += rng.normal(scale=0.5)
        size = speed / 24.0
        move = (size * math.cos(heading), size * math.sin(heading), 0.0)
        after, normal, _ = ground.walk(view, tuple(feet), move, normal, radius, step_height, least)
        after = np.array(after)
        assert np.isfinite(after).all()
        assert np.isfinite(normal).all()
        assert normal[2] >= least - 1.0e-5
        under = stands_on(triangles, after)
        assert (upness[under] >= least - 2 * 1.0e-5).any()
        if size <= piece:  # one straight way, knee to knee
            assert abs(after[2] - feet[2]) <= step_height + 2 * size * tangent + 1e-3
            knee = np.array([0, 0, step_height])
            assert not crosses(steep, feet + knee, after + knee)
        feet = after.astype(np.float32).astype(float)


def test_walking_is_the_same_twice_and_gets_somewhere() -> None:
    _, view, _ = nav_test()
    placed = ground.place_many(view, [[20.0, 5.0, 10.0]], ground.min_up(45.0))[0][0]
    ends = []
    for _ in range(2):
        feet, normal = tuple(placed.astype(float)), (0.0, 0.0, 1.0)
        for _ in range(100):
            feet, normal, _ = ground.walk(
                view, feet, (0.1, 0.07, 0.0), normal, 0.3, 0.35, ground.min_up(45.0)
            )
        ends.append((feet, normal))
    assert ends[0] == ends[1]
    assert math.dist(ends[0][0], placed) > 2.0
