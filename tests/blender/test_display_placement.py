"""Agents are shown where the state says, whatever the matrix of the crowd object."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix, Quaternion, Vector  # noqa: E402

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.results.frames import Frame, rotations  # noqa: E402

from .crowd_views import (  # noqa: E402
    FORWARD,
    MATRICES,
    assert_same_matrix,
    attribute,
    evaluated,
    expected_matrix,
    instances,
    make_crowd,
    make_frame,
    make_object,
    world_points,
)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("forward_axis", ["NEG_Y", "POS_X"])
def test_agents_are_where_the_state_says(name, forward_axis):
    frame = make_frame(forward_axis=forward_axis)
    obj, modifier = make_crowd(frame, MATRICES[name])
    display.set_input(modifier, "Forward Axis", forward_axis)
    body = make_object("Body")
    display.set_input(modifier, "Object", body)
    display.set_input(modifier, "Display", "Object")
    bpy.context.view_layer.update()
    linear = obj.matrix_world.to_3x3()

    np.testing.assert_allclose(world_points(obj), frame.position, atol=2e-5)
    velocity = [linear @ Vector(v) for v in attribute(obj, "velocity").tolist()]
    np.testing.assert_allclose(np.array(velocity), frame.velocity, atol=2e-5)
    np.testing.assert_allclose(attribute(obj, "speed"), frame.speed, atol=1e-6)
    np.testing.assert_allclose(attribute(obj, "radius"), frame.radius)
    np.testing.assert_array_equal(attribute(obj, "id"), frame.id)
    front = Vector(FORWARD[forward_axis])
    for row, rotation in enumerate(attribute(obj, "rotation").tolist()):
        heading = (linear @ (Quaternion(rotation) @ front)).normalized()
        np.testing.assert_allclose(heading, frame.velocity[row] / frame.speed[row], atol=2e-5)

    shown = instances()
    assert len(shown) == len(frame.id)
    for row, (matrix, source, _) in enumerate(shown):
        assert source == body.name
        assert_same_matrix(matrix, expected_matrix(frame, row, 1.0))


@pytest.mark.parametrize("name", ["identity", "moved", "turned"])
def test_the_rotation_attribute_is_the_whole_rotation_of_an_unscaled_object(name):
    frame = make_frame()
    obj, _ = make_crowd(frame, MATRICES[name])
    bpy.context.view_layer.update()
    own = obj.matrix_world.to_quaternion()
    for row, local in enumerate(attribute(obj, "rotation").tolist()):
        world = own @ Quaternion(local)
        assert abs(world.dot(Quaternion(frame.rotation[row].tolist()))) > 1 - 1e-5


def test_agents_stay_in_the_world_when_the_object_moves_afterwards():
    frame = make_frame()
    obj, _ = make_crowd(frame)
    evaluated(obj)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.matrix_world = MATRICES["uneven"]
    obj.parent = parent
    obj.rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    # a turned child of an unevenly scaled parent is sheared
    np.testing.assert_allclose(world_points(obj), frame.position, atol=2e-5)
    for row, (matrix, _, _) in enumerate(instances()):
        assert_same_matrix(matrix, expected_matrix(frame, row, float(frame.radius[row])))


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0)])
def test_a_scale_of_zero_is_survived(scale):
    obj, _ = make_crowd(make_frame())
    obj.scale = scale
    bpy.context.view_layer.update()
    assert np.isfinite(attribute(obj, "position")).all()
    assert len(instances()) == 5
    obj.scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world_points(obj), make_frame().position, atol=2e-5)


@pytest.mark.parametrize("forward_axis", FORWARD)
def test_cones_point_along_the_heading_and_rest_on_the_ground(forward_axis):
    heading = np.float32([[1, 0, 0], [0, 1, 0], [-0.6, 0.8, 0], [0, -1, 0]])
    frame = Frame(
        number=1,
        id=np.arange(4),
        position=np.float32([[0, 0, 0], [2, 0, 1], [4, 0, 0], [6, 0, 0]]),
        velocity=heading,
        rotation=rotations(heading, forward_axis),
        radius=np.float32([0.25, 0.5, 1.0, 2.0]),
        alive=np.ones(4, np.uint8),
    )
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Forward Axis", forward_axis)
    display.set_input(modifier, "Scale", 2.0)
    obj.update_tag()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    seen = 0
    for instance in depsgraph.object_instances:
        if not instance.is_instance:
            continue
        matrix = instance.matrix_world
        points = np.array([matrix @ v.co for v in instance.object.data.vertices])
        size = 2.0 * frame.radius[seen]
        away = points - frame.position[seen]
        tip = away[(away @ heading[seen]).argmax()]
        up = np.array([0.0, 0.0, 0.8])
        np.testing.assert_allclose(tip, (1.4 * heading[seen] + up) * size, atol=1e-5)
        assert away[:, 2].min() == pytest.approx(0.0, abs=1e-5)
        assert np.linalg.norm(away[:, :2], axis=1).max() == pytest.approx(1.4 * size, rel=1e-4)
        seen += 1
    assert seen == 4


def test_without_a_state_the_own_points_are_shown_at_rest():
    obj, _ = make_crowd(matrix=MATRICES["uneven"])
    rest = [v.co.copy() for v in obj.data.vertices]
    for shown_state in (None, state.ensure_state(obj)):
        bpy.context.view_layer.update()
        assert shown_state is None or len(shown_state.data.vertices) == 0
        assert len(evaluated(obj).data.polygons) == len(evaluated(obj).data.edges) == 0
        np.testing.assert_allclose(attribute(obj, "position"), rest, atol=1e-5)
        assert not attribute(obj, "velocity").any()
        np.testing.assert_array_equal(attribute(obj, "id"), [0, 1, 2, 3])
        shown = instances()
        for point, (matrix, _, _) in zip(rest, shown, strict=True):
            place = Matrix.Translation(obj.matrix_world @ point)
            assert_same_matrix(matrix, place @ Matrix.Diagonal((0.25, 0.25, 0.25, 1.0)))


@pytest.mark.parametrize("forward_axis", FORWARD)
def test_agents_at_rest_face_the_same_way_as_those_of_the_simulation(forward_axis):
    _, modifier = make_crowd()
    display.set_input(modifier, "Forward Axis", forward_axis)
    expected = rotations(np.float32([[0.0, -1.0, 0.0]]), forward_axis)[0].tolist()
    rotation = instances()[0][0].to_quaternion()
    assert abs(rotation.dot(Quaternion(expected))) == pytest.approx(1.0, abs=1e-6)


def test_the_shown_object_keeps_its_rotation_and_scale_but_not_its_place():
    frame = make_frame()
    _, modifier = make_crowd(frame)
    body = make_object("Body")
    body.matrix_world = MATRICES["uneven"]
    own = MATRICES["uneven"].to_3x3().to_4x4()
    collection = bpy.data.collections.new("Bodies")
    collection.objects.link(body)
    display.set_input(modifier, "Object", body)
    display.set_input(modifier, "Collection", collection)
    display.set_input(modifier, "Scale", 1.5)
    for shown in ("Object", "Collection"):
        display.set_input(modifier, "Display", shown)
        found = instances()
        assert len(found) == 5
        for row, (matrix, _, _) in enumerate(found):
            assert_same_matrix(matrix, expected_matrix(frame, row, 1.5) @ own)


def test_without_alignment_nothing_turns():
    frame = make_frame()
    _, modifier = make_crowd(frame)
    display.set_input(modifier, "Align to Heading", False)
    for matrix, _, _ in instances():
        np.testing.assert_allclose(matrix.to_euler(), 0.0, atol=1e-6)


def test_straight_up_and_down_headings_stay_finite():
    heading = np.float32([[0, 0, 1], [0, 0, -1]])
    frame = Frame(
        number=1,
        id=np.arange(2),
        position=np.zeros((2, 3), np.float32),
        velocity=heading,
        rotation=rotations(heading, "NEG_Y"),
        radius=np.full(2, 0.3, np.float32),
        alive=np.ones(2, np.uint8),
    )
    obj, _ = make_crowd(frame, MATRICES["mirrored"])
    bpy.context.view_layer.update()
    linear = obj.matrix_world.to_3x3()
    for row, rotation in enumerate(attribute(obj, "rotation").tolist()):
        assert math.isclose(Quaternion(rotation).magnitude, 1.0, abs_tol=1e-5)
        found = (linear @ (Quaternion(rotation) @ Vector((0.0, -1.0, 0.0)))).normalized()
        np.testing.assert_allclose(found, heading[row], atol=2e-5)
