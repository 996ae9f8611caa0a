"""Closed meshes for tests, and how far outside of them points are."""

from __future__ import annotations

import numpy as np

from steer_addon.core.geometry.meshes import Mesh


def rotation(seed: int) -> np.ndarray:
    """Random unit axes as rows; seed 0 keeps those of the world."""
    if seed == 0:
        return np.eye(3)
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]


def ball(center=(0, 0, 0), radius=1.0, rounds=2) -> Mesh:
    """An octahedron divided some times, corners on the sphere, normals outward."""
    x, y, z = np.eye(3)
    faces = []
    for a in (x, -x):
        for b in (y, -y):
            for c in (z, -z):
                outward = np.dot(np.cross(b - a, c - a), a + b + c) > 0
                faces.append([a, b, c] if outward else [a, c, b])
    triangles = np.array(faces)
    for _ in range(rounds):
        a, b, c = triangles.transpose(1, 0, 2)
        ab, bc, ca = a + b, b + c, c + a
        parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
        triangles /= np.linalg.norm(triangles, axis=2, keepdims=True)
    return Mesh("ball", (triangles * radius + np.asarray(center)).astype(np.float32))


def corner_room(height=4.0) -> Mesh:
    """A room of L shape: [-3, 3]² without its quarter x > 0, y > 0; z from -height/2 up."""
    outline = np.array([(-3, -3), (3, -3), (3, 0), (0, 0), (0, 3), (-3, 3)], float)
    low, high = -height / 2, height / 2
    triangles = []
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        a, b, c, d = (ax, ay, low), (bx, by, low), (bx, by, high), (ax, ay, high)
        triangles += [(a, b, c), (a, c, d)]
    # seen from the inner corner, the outline is a fan
    for k in range(4, 8):
        (ax, ay), (bx, by) = outline[k % 6], outline[(k + 1) % 6]
        triangles.append(((0, 0, high), (ax, ay, high), (bx, by, high)))
        triangles.append(((0, 0, low), (bx, by, low), (ax, ay, low)))
    return Mesh("room", np.array(triangles, np.float32))


def beyond_room(points: np.ndarray, height=4.0) -> np.ndarray:
    """How far outside of `corner_room` points are at least [m]; negative inside."""
    x, y, z = points.T
    outer = np.maximum.reduce([np.abs(x) - 3, np.abs(y) - 3, np.abs(z) - height / 2])
    return np.maximum(outer, np.minimum(x, y))


def beyond_convex(points: np.ndarray, mesh: Mesh) -> np.ndarray:
    """How far outside of a convex mesh points are at least [m]; negative inside."""
    corners = mesh.triangles.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    gaps = points @ normals.T - np.einsum("ij,ij->i", normals, corners[:, 0])
    return gaps.max(axis=1)


def beyond_box(points: np.ndarray, center, half, axes) -> np.ndarray:
    """How far outside of a box points are, along its axes [m]; negative inside."""
    local = (points - np.asarray(center)) @ np.asarray(axes, np.float64).T
    return (np.abs(local) - np.asarray(half)).max(axis=1)


def soup(rng, count, size):
    """Random triangles; some are slivers, lines or points."""
    corners = rng.uniform(-3, 3, (count, 1, 3)) + rng.normal(0.0, size, (count, 3, 3))
    kind = rng.integers(0, 6, count)
    corners[kind == 0, 2] = corners[kind == 0, 1]
    corners[kind == 1] = corners[kind == 1, :1]
    thin = kind == 2
    corners[thin, 2] = 0.5 * (corners[thin, 0] + corners[thin, 1]) + 1e-7
    return corners.astype(np.float32)
