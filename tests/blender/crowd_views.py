"""Crowds to show, and what Blender then shows of them."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from steer_addon.blender.crowd import state
from steer_addon.blender.display import display
from steer_addon.core.results.frames import Frame, rotations

FORWARD = {
    "POS_X": (1.0, 0.0, 0.0),
    "POS_Y": (0.0, 1.0, 0.0),
    "NEG_X": (-1.0, 0.0, 0.0),
    "NEG_Y": (0.0, -1.0, 0.0),
}

MATRICES = {
    "identity": Matrix.Identity(4),
    "moved": Matrix.Translation((3.0, -4.0, 5.0)),
    "turned": Matrix.Translation((1.0, 2.0, 3.0)) @ Matrix.Rotation(0.7, 4, (1.0, 2.0, 3.0)),
    "uneven": Matrix.LocRotScale(
        Vector((1.0, 2.0, 3.0)), Quaternion((1.0, 1.0, 0.0), 0.9), Vector((0.5, 3.0, 1.5))
    ),
    "mirrored": Matrix.LocRotScale(
        Vector((1.0, 2.0, 3.0)), Quaternion((0.0, 1.0, 1.0), 2.0), Vector((-2.0, 1.0, 0.5))
    ),
    "all negative": Matrix.LocRotScale(
        Vector((1.0, 0.0, 0.0)), Quaternion((0.0, 0.0, 1.0), 1.0), Vector((-1.0, -1.0, -1.0))
    ),
    "huge": Matrix.Diagonal((1000.0, 1000.0, 1000.0, 1.0)),
}


def make_frame(count=5, forward_axis="NEG_Y", seed=1):
    random = np.random.default_rng(seed)
    heading = random.normal(size=(count, 3))
    heading[:, 2] *= 0.3
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    speed = random.uniform(0.5, 2.0, (count, 1))
    return Frame(
        number=12,
        id=np.arange(count) * 3 + 7,
        position=random.uniform(-5.0, 5.0, (count, 3)).astype(np.float32),
        velocity=(heading * speed).astype(np.float32),
        rotation=rotations(heading.astype(np.float32), forward_axis),
        radius=random.uniform(0.2, 0.6, count).astype(np.float32),
        alive=np.ones(count, np.uint8),
    )


def make_crowd(frame=None, matrix=None):
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    obj = bpy.data.objects.new("Points", mesh)
    bpy.context.scene.collection.objects.link(obj)
    if matrix is not None:
        obj.matrix_world = matrix
    modifier = display.add_modifier(obj)
    display.set_input(modifier, "Keep Points", True)
    if frame is not None:
        state.write_state(state.ensure_state(obj), frame)
    return obj, modifier


def make_object(name, collection=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (0, -1, 0), (1, 0, 0)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new(name, mesh)
    (collection or bpy.context.scene.collection).objects.link(obj)
    return obj


def evaluated(obj):
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get())


def attribute(obj, name):
    data = evaluated(obj).data.attributes[name]
    assert data.domain == "POINT"
    kinds = {"FLOAT_VECTOR": ("vector", 3), "QUATERNION": ("value", 4), "INT": ("value", 1)}
    prop, width = kinds.get(data.data_type, ("value", 1))
    values = np.empty(len(data.data) * width, np.int32 if data.data_type == "INT" else np.float32)
    data.data.foreach_get(prop, values)
    return values.reshape(-1, width) if width > 1 else values


def instances():
    """Matrix, name of the source object and id of every instance."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return [
        (
            i.matrix_world.copy(),
            i.object.original.name,
            # from the innermost instance to the outermost, then filled up
            [number for number in i.persistent_id if number != 2**31 - 1][-1],
        )
        for i in depsgraph.object_instances
        if i.is_instance
    ]


def world_points(obj):
    local = attribute(obj, "position")
    return np.array([obj.matrix_world @ Vector(p) for p in local.tolist()])


def expected_matrix(frame, row, size):
    return Matrix.LocRotScale(
        Vector(frame.position[row].tolist()),
        Quaternion(frame.rotation[row].tolist()),
        Vector((size, size, size)),
    )


def assert_same_matrix(actual, expected, tolerance=2e-5):
    np.testing.assert_allclose(np.array(actual), np.array(expected), atol=tolerance)
