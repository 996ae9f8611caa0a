"""The tree of triangles against Blender's own, ray by ray and point by point.

Every ray must hit or miss alike. Distances agree to 1e-4 (of the distance, or of a hundredth of the
mesh's size where that is more). mathutils computes in 32 bits and loses digits on slivers and at
grazing angles: up to 3 of 34,000 rays may differ by more, when rational arithmetic over all
triangles says that ours is right.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from meshfiles import shared_triangles

from steer_addon.core.geometry import bvh
from steer_addon.core.views import BvhView

pytest.importorskip("bpy")
mathutils_bvhtree = pytest.importorskip("mathutils.bvhtree")

RAYS = 34_000  # for each of three meshes
POINTS = 3_400


def noisy_torus(rings: int = 60, segments: int = 40) -> np.ndarray:
    """A closed torus with bumps, shape (2·rings·segments, 3, 3)."""
    u, v = np.meshgrid(np.arange(rings), np.arange(segments), indexing="ij")
    bump = 1.0 + 0.1 * np.random.default_rng(7).normal(size=(rings, segments))
    u, v = u * 2 * np.pi / rings, v * 2 * np.pi / segments
    out = 4.0 + bump * np.cos(v)
    points = np.stack([out * np.cos(u), out * np.sin(u), bump * np.sin(v)], -1)
    a, b = points, np.roll(points, -1, axis=0)
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    triangles = np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)])
    return triangles.reshape(-1, 3, 3).astype(np.float32)


@pytest.fixture(scope="module", params=["dungeon.obj", "nav_test.obj", "noisy torus"])
def mesh(request: pytest.FixtureRequest) -> tuple[np.ndarray, BvhView, object]:
    triangles = noisy_torus() if request.param == "noisy torus" else shared_triangles(request.param)
    faces = np.arange(3 * len(triangles)).reshape(-1, 3)
    tree = mathutils_bvhtree.BVHTree.FromPolygons(
        triangles.reshape(-1, 3).tolist(), faces.tolist(), all_triangles=True
    )
    return triangles, bvh.build(triangles), tree


def make_rays(triangles: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts in and around the mesh; half of the directions anywhere, half at points of faces."""
    rng = np.random.default_rng(seed)
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    rim = 0.1 * (high - low)
    origins = rng.uniform(low - rim, high + rim, (RAYS, 3)).astype(np.float32)
    directions = rng.normal(size=(RAYS, 3))
    aimed = rng.integers(0, len(triangles), RAYS // 2)
    shares = rng.dirichlet((1, 1, 1), RAYS // 2)
    goals = np.einsum("ij,ijk->ik", shares, triangles[aimed])
    directions[: RAYS // 2] = goals - origins[: RAYS // 2]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return origins, directions.astype(np.float32)


def exact_distance(triangles: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> float:
    """Distance of the nearest hit without any rounding (Möller and Trumbore's test)."""

    def exact(row: np.ndarray) -> np.ndarray:
        return np.array([Fraction(float(value)) for value in row], dtype=object)

    def cross(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return p[[1, 2, 0]] * q[[2, 0, 1]] - p[[2, 0, 1]] * q[[1, 2, 0]]

    o, d = exact(origin), exact(direction)
    best = None
    for triangle in triangles:
        a, b, c = (exact(corner) for corner in triangle)
        p = cross(d, c - a)
        whole = (b - a) @ p
        if whole == 0:
            continue
        q = cross(o - a, b - a)
        u, v, t = (o - a) @ p / whole, d @ q / whole, (c - a) @ q / whole
        if u >= 0 and v >= 0 and u + v <= 1 and t >= 0 and (best is None or t < best):
            best = t
    assert best is not None
    return float(best)


def test_rays(mesh: tuple[np.ndarray, BvhView, object]) -> None:
    triangles, view, tree = mesh
    origins, directions = make_rays(triangles, 3)
    triangle, distance = bvh.ray_cast_many(view, origins, directions)
    cast = tree.ray_cast
    found = [cast(o, d)[3] for o, d in zip(origins.tolist(), directions.tolist(), strict=True)]
    expected = np.array([np.inf if d is None else d for d in found])
    size = float(np.linalg.norm(np.ptp(triangles.reshape(-1, 3), axis=0)))

    assert (triangle >= 0).mean() > 0.3
    assert ((triangle >= 0) == np.isfinite(expected)).all()
    hit = np.flatnonzero(triangle >= 0)
    error = np.abs(distance[hit] - expected[hit])
    differ = hit[error > 1e-4 * np.maximum(expected[hit], 1e-2 * size)]
    assert len(differ) <= 3
    for i in differ:
        truth = exact_distance(triangles, origins[i], directions[i])
        assert distance[i] == pytest.approx(truth, rel=1e-6)


def test_nearest_points(mesh: tuple[np.ndarray, BvhView, object]) -> None:
    triangles, view, tree = mesh
    points = make_rays(triangles, 4)[0][:POINTS]
    triangle, nearest, distance = bvh.nearest_many(view, points)
    expected = np.array([tree.find_nearest(point)[3] for point in points.tolist()])

    assert (triangle >= 0).all()
    size = float(np.linalg.norm(np.ptp(triangles.reshape(-1, 3), axis=0)))
    np.testing.assert_allclose(distance, expected, rtol=1e-4, atol=1e-6 * size)
    np.testing.assert_allclose(
        np.linalg.norm(nearest - points, axis=1), distance, rtol=1e-4, atol=1e-6 * size
    )
