"""Walls over edges: where they stand, and that rays cannot pass."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.edge_walls import wall_triangles
from steer_addon.core.geometry.meshes import Mesh


def test_a_wall_covers_its_edge_from_foot_to_top():
    found = wall_triangles([(1, 2, 0.5), (4, 6, 0.5)], [(0, 1)], 3.0)
    assert found.shape == (2, 3, 3) and found.dtype == np.float32
    corners = {tuple(corner) for corner in found.reshape(-1, 3).tolist()}
    assert corners == {(1, 2, 0.5), (4, 6, 0.5), (1, 2, 3.5), (4, 6, 3.5)}
    areas = np.linalg.norm(np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0]), axis=1)
    assert areas.sum() / 2 == pytest.approx(5.0 * 3.0)


def test_a_wall_climbs_with_its_edge():
    found = wall_triangles([(0, 0, 0), (4, 0, 2)], [(0, 1)], 1.0)
    assert sorted({(x, z) for x, _, z in found.reshape(-1, 3).tolist()}) == [
        (0, 0), (0, 1), (4, 2), (4, 3)
    ]  # fmt: skip


def test_rays_hit_both_sides_and_pass_above():
    tree = bvh.build(wall_triangles([(0, -1, 0), (0, 1, 0)], [(0, 1)], 2.0))
    origins = np.float32([(-3, 0, 1), (3, 0, 1), (-3, 0, 2.1), (-3, 1.1, 1)])
    ahead = np.float32([(1, 0, 0), (-1, 0, 0), (1, 0, 0), (1, 0, 0)])
    triangle, distance = bvh.ray_cast_many(tree, origins, ahead, 10.0)
    assert (triangle >= 0).tolist() == [True, True, False, False]
    np.testing.assert_allclose(distance[:2], 3.0)


def test_edges_that_go_straight_up_carry_no_wall():
    points = [(0, 0, 0), (0, 0, 5), (1, 0, 0)]
    assert len(wall_triangles(points, [(0, 1), (2, 2), (0, 2)], 3.0)) == 2
    assert wall_triangles(points, [(0, 1)], 3.0).shape == (0, 3, 3)
    assert wall_triangles([], [], 3.0).shape == (0, 3, 3)
    assert Mesh("Plan", wall_triangles([], [], 3.0)).triangle_count == 0
