"""Meshes: their bounds, and the sentences about what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.diagnoses import diagnose
from steer_addon.core.errors import WorldError
from steer_addon.core.geometry.bvh_rays import surrounds, winding
from steer_addon.core.geometry.meshes import Mesh, bounding_sphere, defects, signed_volume
from steer_addon.core.inputs.world import CollidersBuilder

INSIDE = (0.3, 0.1, 0.0)


def box(size: tuple[float, float, float] = (2, 2, 2)) -> np.ndarray:
    """A closed box around the origin with outward normals, shape (12, 3, 3)."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [[(a, b, c), (a, c, d)] for a, b, c, d in quads]
    return corners[np.array(faces).reshape(-1, 3)].astype(np.float32)


def ball(rings: int, segments: int) -> np.ndarray:
    """A sphere whose poles are rows of triangles without area."""
    v, u = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, segments + 1), indexing="ij"
    )
    u[:, -1] = 0.0  # the seam closes to the bit
    points = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], -1)
    points[0], points[-1] = (0, 0, 1), (0, 0, -1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)])
    return triangles.reshape(-1, 3, 3).astype(np.float32)


def test_a_closed_box_is_well() -> None:
    mesh = Mesh("Box", box())
    assert defects(mesh) == []
    assert signed_volume(mesh) == pytest.approx(8.0)


def test_collapsed_faces_at_the_poles_do_not_open_a_sphere() -> None:
    assert defects(Mesh("Ball", ball(20, 40))) == []


def test_the_seam_is_welded_across_signs_of_zero() -> None:
    triangles = box()
    triangles[triangles == 0] = 0.0
    halves = np.concatenate([triangles + np.float32([1, 1, 1])])
    halves[::2][halves[::2] == 0] = -0.0
    assert defects(Mesh("Box", halves)) == []


@pytest.mark.parametrize(("removed", "edges"), [(1, 3), (2, 4)])
def test_an_open_mesh_is_named_with_its_edges(removed: int, edges: int) -> None:
    found = defects(Mesh("Wall", box()[removed:]))
    assert found == [diagnose("MESH_OPEN", "Wall", count=edges)]


def test_edges_of_three_faces_count_as_open() -> None:
    fin = np.float32([[box()[0, 0], box()[0, 1], [5, 5, 5]]])
    found = defects(Mesh("Fin", np.concatenate([box(), fin])))
    assert found == [diagnose("MESH_OPEN", "Fin", count=3)]


def test_inside_out() -> None:
    mesh = Mesh("Cave", box()[:, ::-1] + np.float32([100, 200, -300]))
    assert defects(mesh) == [diagnose("MESH_INSIDE_OUT", "Cave")]
    assert signed_volume(mesh) == pytest.approx(-8.0, rel=1e-3)


def test_no_faces() -> None:
    mesh = Mesh("Empty", np.zeros((0, 3, 3), np.float32))
    assert defects(mesh) == [diagnose("MESH_WITHOUT_FACES", "Empty")]
    center, radius = bounding_sphere(mesh)
    assert radius == 0.0
    assert not center.any()
    assert signed_volume(mesh) == 0.0


def test_only_points_and_lines_are_not_open() -> None:
    assert defects(Mesh("Line", np.float32([[[0, 0, 0], [1, 0, 0], [1, 0, 0]]]))) == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_corners_that_are_not_finite_are_refused(value: float) -> None:
    triangles = box()
    triangles[5, 1, 2] = value
    with pytest.raises(WorldError, match=r"'Rock': 1 of 12 triangles .* \(first: triangle 5\)"):
        Mesh("Rock", triangles)


def test_another_shape_is_refused() -> None:
    with pytest.raises(WorldError, match=r"'Rock': triangles have shape \(4, 3\)"):
        Mesh("Rock", np.zeros((4, 3), np.float32))


def test_bounding_sphere_is_around_the_box_center() -> None:
    triangles = np.float32([[[0, 0, 0], [4, 0, 0], [0, 2, 0]]])
    center, radius = bounding_sphere(Mesh("Flag", triangles))
    assert center.tolist() == [2.0, 1.0, 0.0]
    assert radius == pytest.approx(np.sqrt(5.0))


def test_triangles_become_contiguous_32_bit_floats() -> None:
    mesh = Mesh("Box", box().astype(np.float64)[::-1])
    assert mesh.triangles.dtype == np.float32
    assert mesh.triangles.flags.c_contiguous
    assert mesh.triangle_count == 12


def test_a_closed_mesh_winds_once_around_what_is_inside():
    mesh, count = box((2, 4, 6)), 12
    for triangles, turns in ((mesh, 1.0), (mesh[:, ::-1].copy(), -1.0)):
        assert winding(triangles, 0, count, INSIDE) == pytest.approx(turns)
        assert surrounds(triangles, 0, count, INSIDE) == (turns > 0.0)
    assert winding(mesh, 0, count, (5.0, 0.0, 0.0)) == pytest.approx(0.0, abs=1e-12)
    # an open one does so by a part only
    assert 0.5 < winding(mesh, 0, count - 2, INSIDE) < 0.999
    assert not surrounds(mesh, 0, count - 2, INSIDE)


def test_colliders_of_one_name_are_colliders_of_their_own() -> None:
    near, far = Mesh("Box", box()), Mesh("Box", box((4, 4, 4)) + np.float32(10.0))
    found = CollidersBuilder().build([near, far])
    assert found.first.tolist() == [0, 12, 24]
    assert len(set(found.names)) == 2
    corners = found.bvh.triangles.reshape(-1, 3)
    assert corners.min() == -1.0
    assert corners.max() == 12.0
