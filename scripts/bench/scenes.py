"""Blender scenes for benchmarks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from numpy.typing import NDArray

import steer_addon
from scripts.bench.crowds import balls, terrain
from steer_addon.blender.crowd import crowds
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry.meshes import Mesh

F32 = NDArray[np.float32]


@contextmanager
def fresh_file() -> Iterator[bpy.types.Scene]:
    """A file without objects, with Steer registered."""
    bpy.ops.wm.read_homefile(use_empty=True)
    steer_addon.register()
    try:
        yield bpy.context.scene
    finally:
        bpy.ops.wm.read_homefile(use_empty=True)
        steer_addon.unregister()


def add_object(scene: bpy.types.Scene, name: str, mesh: bpy.types.Mesh | None) -> bpy.types.Object:
    """An object in a scene; an empty without a mesh."""
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    return obj


def add_mesh(scene: bpy.types.Scene, mesh: Mesh) -> bpy.types.Object:
    """A mesh of the core as an object."""
    data = bpy.data.meshes.new(mesh.name)
    points, corner = np.unique(mesh.triangles.reshape(-1, 3), axis=0, return_inverse=True)
    data.from_pydata(points.tolist(), [], corner.reshape(-1, 3).tolist())
    return add_object(scene, mesh.name, data)


def add_crowd(
    scene: bpy.types.Scene, points: F32, settings: CrowdSettings, frames: int = 250
) -> bpy.types.Object:
    """A crowd that starts at frame 1."""
    obj = crowds.add_crowd_object("Crowd", points, scene.collection)
    crowds.make_crowd(obj, settings=settings)
    obj.steer.frame_start, obj.steer.frame_end = 1, frames
    return obj


def add_world(scene: bpy.types.Scene, crowd: bpy.types.Object, extent: float, flat: bool) -> None:
    """A target, obstacles of 16,000 triangles and, for walkers, hills."""
    target = add_object(scene, "Target", None)
    target.location = (0.45 * extent, 0.0, 0.0)
    crowd.steer.target_kind, crowd.steer.target_object = "OBJECT", target
    crowd.steer.colliders = bpy.data.collections.new("Colliders")
    for mesh in balls(extent, flat=flat):
        crowd.steer.colliders.objects.link(add_mesh(scene, mesh))
    if flat:
        crowd.steer.ground = add_mesh(scene, terrain(extent))


def add_preset_crowd(scene: bpy.types.Scene, name: str, count: int) -> bpy.types.Object:
    """A crowd of a preset, with all inputs that the preset can perceive."""
    settings = load_preset(name).settings
    flat = settings.motion.motion == "GROUND"
    extent = float(np.sqrt(2.0 * count)) if flat else 0.8 * count ** (1.0 / 3.0)
    points = np.random.default_rng(7).uniform(-0.48 * extent, 0.48 * extent, (count, 3))
    if flat:
        points[:, 2] = 0.0
    crowd = add_crowd(scene, points.astype(np.float32), settings)
    add_world(scene, crowd, extent, flat)
    return crowd


def move(objects: Sequence[bpy.types.Object]) -> None:
    """Key objects so that they move in every frame."""
    for obj in objects:
        obj.keyframe_insert("location", frame=1)
        obj.location.x += 5.0
        obj.keyframe_insert("location", frame=250)


def player(scene: bpy.types.Scene, frames: Sequence[int]) -> Callable[[], None]:
    """Show the next frame at each call, and start again after the last."""
    following = itertools.cycle(frames)
    return lambda: scene.frame_set(next(following))


def add_boids(scene: bpy.types.Scene, points: F32) -> bpy.types.Object:
    """Blender's own flock, a particle at each point from frame 1 on; its rules: separate, flock."""
    data = bpy.data.meshes.new("Boids")
    data.from_pydata(points.tolist(), [], [])
    obj = add_object(scene, "Boids", data)
    obj.modifiers.new("Boids", "PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    settings.count = len(points)
    settings.frame_start = settings.frame_end = 1.0
    settings.lifetime = 10_000.0
    settings.emit_from = "VERT"
    settings.use_emit_random = False
    settings.physics_type = "BOIDS"
    settings.particle_size = 0.05
    settings.boids.use_flight = True
    settings.boids.use_land = False
    return obj


def add_plain_instances(
    scene: bpy.types.Scene, points: F32, shown: bpy.types.Object, poses: int
) -> Callable[[], None]:
    """Points that only *Instance on Points* shows, each with one of the instances of an object.

    Args:
        scene: Where they go.
        points: The points, which are turned at random about Z, shape (n, 3).
        shown: The object.
        poses: How many of its instances are picked from, first ones first.

    Returns:
        What picks others.
    """
    rng = np.random.default_rng(8)
    mesh = bpy.data.meshes.new("Plain")
    mesh.vertices.add(len(points))
    mesh.attributes["position"].data.foreach_set("vector", points.ravel())
    half, turn = rng.uniform(0.0, np.pi, len(points)), np.zeros((len(points), 4), np.float32)
    turn[:, 0], turn[:, 3] = np.cos(half), np.sin(half)
    mesh.attributes.new("turn", "QUATERNION", "POINT").data.foreach_set("value", turn.ravel())
    mesh.attributes.new("pose", "INT", "POINT")
    tree = bpy.data.node_groups.new("Plain", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    kinds = "NodeGroupInput", "NodeGroupOutput", "GeometryNodeObjectInfo"
    given, result, info = map(tree.nodes.new, kinds)
    placed = tree.nodes.new("GeometryNodeInstanceOnPoints")
    info.inputs["Object"].default_value = shown
    placed.inputs["Pick Instance"].default_value = True
    tree.links.new(given.outputs[0], placed.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], placed.inputs["Instance"])
    tree.links.new(placed.outputs[0], result.inputs[0])
    for name, kind, socket in (
        ("pose", "INT", "Instance Index"),
        ("turn", "QUATERNION", "Rotation"),
    ):
        read = tree.nodes.new("GeometryNodeInputNamedAttribute")
        read.data_type, read.inputs["Name"].default_value = kind, name
        tree.links.new(read.outputs["Attribute"], placed.inputs[socket])
    add_object(scene, "Plain", mesh).modifiers.new("Plain", "NODES").node_group = tree

    def pick() -> None:
        numbers = rng.integers(0, poses, len(points)).astype(np.int32)
        mesh.attributes["pose"].data.foreach_set("value", numbers)
        mesh.update()

    return pick
