"""A goal inside of a collider: the nearest free place is used instead, and the user is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place
from hypothesis import given, settings
from hypothesis import strategies as st

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.free_places import colliders_around, nearest_free, winding
from steer_addon.core.meshes import Mesh
from steer_addon.core.settings import BodiesSettings
from steer_addon.core.simulation import Simulation
from steer_addon.core.world import make_world

POINT = np.array([0.3, 0.1, 0.0])


def colliders(*meshes):
    return make_world(colliders=list(meshes)).colliders


def inside_out(mesh):
    return Mesh(mesh.name, mesh.triangles[:, ::-1].copy())


def without_lid(mesh):
    """A box without its upper two triangles."""
    top = (mesh.triangles[:, :, 2] == mesh.triangles[:, :, 2].max()).all(axis=1)
    return Mesh(mesh.name, mesh.triangles[~top])


@pytest.mark.parametrize("turn", [lambda mesh: mesh, inside_out])
@pytest.mark.parametrize("flat", [True, False])
def test_the_next_side_of_a_box_has_room_for_a_body(turn, flat):
    solid = colliders(turn(box((0, 0, 0), (2, 4, 6))))
    found = nearest_free(solid, POINT, 0.25, flat)
    assert found == pytest.approx([1.25, 0.1, 0.0], abs=1e-3)
    assert found[0] >= 1.25


def test_outside_and_in_an_open_mesh_a_point_stays():
    solid = colliders(without_lid(box((0, 0, 0), (2, 4, 6))))
    assert colliders_around(solid, POINT) == []
    assert np.array_equal(nearest_free(solid, POINT, 0.25, True), POINT)
    closed = colliders(box((0, 0, 0), (2, 4, 6)))
    far = np.array([1.1, 0.0, 0.0])
    assert np.array_equal(nearest_free(closed, far, 0.25, True), far)


def test_a_thick_hall_with_a_hollow_is_no_inside():
    hall = [box((0, 0, 0), (8, 8, 8)).triangles, inside_out(box((0, 0, 0), (6, 6, 6))).triangles]
    solid = colliders(Mesh("hall", np.concatenate(hall)))
    assert np.array_equal(nearest_free(solid, POINT, 0.25, False), POINT)
    in_the_wall = nearest_free(solid, [3.2, 0.0, 0.0], 0.25, False)
    assert in_the_wall == pytest.approx([2.75, 0.0, 0.0], abs=1e-3)


def test_overlapping_colliders_are_left_together():
    solid = colliders(box((0, 0, 0), (2, 4, 6), "a"), inside_out(box((1.5, 0, 0), (2, 2, 6), "b")))
    found = nearest_free(solid, [0.9, 0.0, 0.0], 0.25, True)
    # to the right is the other one; to the left it is farther than out of both at the side
    assert colliders_around(solid, found) == []
    assert np.linalg.norm(found - [0.9, 0, 0]) < 1.9 + 0.25
    assert abs(found[0]) >= 1.25 - 1e-3 or abs(found[1]) >= 1.25 - 1e-3


def test_a_gap_too_narrow_for_a_body_is_passed_over():
    solid = colliders(box((0, 0, 0), (2, 20, 6), "a"), box((2.2, 0, 0), (2, 20, 6), "b"))
    assert nearest_free(solid, [0.9, 0.0, 0.0], 0.05, True) == pytest.approx([1.05, 0, 0], abs=1e-3)
    wide = nearest_free(solid, [0.9, 0.0, 0.0], 0.25, True)
    assert wide == pytest.approx([-1.25, 0, 0], abs=1e-3)


def test_where_no_body_has_room_the_next_place_outside_is_taken():
    walls = [box((x, y, 0), (2, 2, 6), f"{x} {y}") for x in (-4, 0, 4) for y in (-4, 0, 4)]
    found = nearest_free(colliders(*walls), POINT, 5.0, True)
    assert found is not None
    assert colliders_around(colliders(*walls), found) == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3),
    st.lists(st.floats(0.2, 3.0), min_size=3, max_size=3),
    st.booleans(),
)
def test_no_free_place_is_inside_and_none_is_nearer(offset, size, flat):
    """Against all places of a grid."""
    solid = colliders(box((0, 0, 0), (2, 2, 2), "a"), box(offset, size, "b"))
    found = nearest_free(solid, POINT, 0.2, flat)
    assert colliders_around(solid, found) == []
    middle, half = np.array([[0, 0, 0], offset]), np.array([[1.0, 1, 1], np.array(size) / 2])
    steps = np.linspace(-4.0, 4.0, 41)
    level = np.zeros(1) if flat else steps
    grid = np.stack(np.meshgrid(steps, steps, level), axis=-1).reshape(-1, 3) + POINT
    if flat:
        cut = np.abs(POINT[2] - middle[:, 2]) < half[:, 2]
        middle, half = middle[cut], half[cut]
    gaps = np.maximum(np.abs(grid[:, None] - middle) - half, 0.0)
    free = (np.linalg.norm(gaps, axis=2) > 0.21).all(axis=1)
    best = np.linalg.norm(grid[free] - POINT, axis=1).min()
    assert np.linalg.norm(found - POINT) <= 1.1 * best + 0.05


def test_a_mesh_winds_once_around_what_is_inside():
    mesh = box((0, 0, 0), (2, 4, 6)).triangles
    assert winding(mesh, POINT) == pytest.approx(1.0)
    assert winding(mesh[:, ::-1], POINT) == pytest.approx(-1.0)
    assert winding(mesh, [5.0, 0.0, 0.0]) == pytest.approx(0.0, abs=1e-12)


def solid_crowd(**bodies):
    stack = (REGISTRY["arrive"](), REGISTRY["flee"](target="cat", panic_radius=0.1))
    told = BodiesSettings(collide_colliders=True, on_arrival="HOLD_AREA", **bodies)
    return replace(crowd(*stack), bodies=told)


def test_agents_stand_beside_the_collider_and_the_user_is_told_once():
    settings_ = solid_crowd()
    # the target floats, and walkers meet walls above their feet
    world = make_world(
        targets={"": [[0.6, 0.0, 5.0]], "cat": [[0, 0, 0]]},
        colliders=[box((0, 0, 0.6), (2, 2, 1), "kiosk")],
    )
    simulation = Simulation(settings_, place(settings_, [[6.0, 1.0, 0.0]]), frame=1, fps=24)
    assert simulation.warnings == []
    for _ in range(10 * 24):
        simulation.step(world)
    assert simulation.agents.arrived[0]
    assert simulation.agents.position[0, 0] == pytest.approx(1.25, abs=0.3)
    (text,) = simulation.warnings
    assert "'kiosk'" in text
    assert "nearest free place" in text


def test_colliders_that_let_everybody_pass_leave_goals_alone():
    settings_ = replace(solid_crowd(), bodies=BodiesSettings(collide_agents=True))
    world = make_world(targets=[[0.6, 0.0, 0.0]], colliders=[box((0, 0, 0), (2, 2, 2))])
    simulation = Simulation(settings_, place(settings_, [[3.0, 0.0, 0.0]]), frame=1, fps=24)
    simulation.step(world)
    assert simulation.warnings == []
