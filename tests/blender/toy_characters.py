"""A character of three boxes, two flat feet and a body, and what Blender shows of it."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np

from steer_addon.blender.characters import library
from steer_addon.core.characters.pose_space import PoseSpace, Row

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (-0.5, 0.5) for x in (-0.5, 0.5)], np.float32)
QUADS = np.array(
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]], np.int32
)
FEET = slice(0, 16)
"""Vertices of the feet; the lower half of each are its sole."""
SOLES = [0, 1, 2, 3, 8, 9, 10, 11]


def pose(phase, stride, width=1.0):
    """Both feet on the ground, one ahead of the other."""
    ahead = np.sin(2 * np.pi * phase) * stride / 4
    size, x = np.float32([0.1, 0.25, 0.1]), 0.12 * width
    boxes = [CUBE * size + [x, ahead, 0], CUBE * size + [-x, -ahead, 0]]
    boxes.append(CUBE * [0.4 * width, 0.2, 1.2] + [0, 0, 0.5])
    return np.concatenate(boxes).astype(np.float32)


def space(walk=16, run=12, jump=6, width=1.0, stride=1.0):
    """A pose that stands, a walk, a run, and a jump that ends."""
    poses = [pose(0, 0, width)]
    poses += [pose(i / walk, stride, width) for i in range(walk)]
    poses += [pose(i / run, 2 * stride, width) for i in range(run)]
    for i in range(jump):
        poses.append(pose(0, 0, width) + np.float32([0, 0, (i / jump) ** 2]))
    gaits = [Row("stand", 0, 1), Row("walk", 1, walk, 1.0, stride, stride)]
    if run:
        gaits.append(Row("run", 1 + walk, run, 3.0, 2 * stride, 2 * stride / 3))
    clips = [Row("jump", 1 + walk + run, jump, 0.0, 0.0, 2.0, False)] if jump else []
    positions = np.stack(poses)
    # no two poses are alike
    positions[:, 16:, 1] += np.float32(0.001) * np.arange(len(poses), dtype=np.float32)[:, None]
    return PoseSpace(positions, tuple(gaits), tuple(clips))


def body(poses, name="Toy", materials=()):
    """A mesh for these poses: feet of the first material, the body of the second."""
    quads = np.concatenate([QUADS + 8 * number for number in range(3)])
    faces = SimpleNamespace(
        vertices=quads.ravel(),
        sizes=np.full(len(quads), 4, np.int32),
        materials=np.repeat([0, 0, 1], 6).astype(np.int32),
        smooth=np.arange(len(quads)) < 6,
    )
    return library.base_mesh(name, poses.positions[0], faces, materials)


def make_toy(name="Toy", poses=None, materials=()):
    poses = poses or space()
    return library.make(name, body(poses, name, materials), poses, bpy.context.scene)


def vectors(mesh, name="position"):
    data = mesh.attributes[name].data
    found = np.empty(3 * len(data), np.float32)
    data.foreach_get("vector", found)
    return found.reshape(-1, 3)


def poses_of(character):
    """What the instances are that a library object makes, in order, and their attributes."""
    character.hide_viewport = False
    scene = bpy.context.scene
    scene.collection.objects.link(character)
    found = character.evaluated_get(bpy.context.evaluated_depsgraph_get()).evaluated_geometry()
    table = found.instances_pointcloud().attributes
    references = found.instance_references()
    poses = []
    for number in table[".reference_index"].data:
        mesh = references[number.value].mesh
        poses.append(
            SimpleNamespace(
                points=vectors(mesh),
                velocity=vectors(mesh, "velocity"),
                materials=[material.name for material in mesh.materials],
                faces=[(face.material_index, face.use_smooth) for face in mesh.polygons],
                attributes=[attribute.name for attribute in mesh.attributes],
            )
        )
    rows = [value.value for value in table["row_first"].data]
    scene.collection.objects.unlink(character)
    character.hide_viewport = True
    return poses, rows


def shown_meshes():
    """Vertices of the mesh of every agent, in its own space."""
    instances = bpy.context.evaluated_depsgraph_get().object_instances
    return [vectors(instance.object.data) for instance in instances if instance.is_instance]


def shown_poses(**characters):
    """Name of the character and number of the pose of every agent, by the given pose spaces."""
    known = {}
    for name, poses in characters.items():
        for number, positions in enumerate(poses.positions):
            known.setdefault(_key(positions), (name, number))
    return [known[_key(points)] for points in shown_meshes()]


def _key(points):
    """The same for the same points; -0 is 0."""
    return (np.asarray(points, np.float64) + 0.0).tobytes()


def shown_points():
    """Vertices of every agent in the world."""
    found = []
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.is_instance:
            matrix, points = np.array(instance.matrix_world), vectors(instance.object.data)
            found.append(points @ matrix[:3, :3].T + matrix[:3, 3])
    return found
