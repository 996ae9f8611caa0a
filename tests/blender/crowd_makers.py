"""Crowds to try things on, and a toy behavior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from steer_addon.blender import registration
from steer_addon.blender.crowd import crowds
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.compiled.jit import kernel
from steer_addon.core.crowd.settings import CrowdSettings, make_behavior
from steer_addon.core.parameters import choice, param
from steer_addon.core.sensing.declare import PUSH, TARGETS, Behavior, behavior


def make_points(count: int = 3, name: str = "Points") -> bpy.types.Object:
    """The active object: a mesh of loose vertices 1 m apart."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(float(i), 0.0, 0.0) for i in range(count)], [], [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def make_crowd(count: int = 3, name: str = "Crowd") -> bpy.types.Object:
    """The active object: a crowd that keeps apart, arrives and wanders."""
    stack = ("separation", "arrive", "wander")
    settings = CrowdSettings(behaviors=tuple(make_behavior({"type": n}) for n in stack))
    return crowds.make_crowd(make_points(count, name), settings=settings, scene=bpy.context.scene)


def make_empty(name: str = "Target") -> bpy.types.Object:
    """An empty in the scene; not the active object."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def active():
    return bpy.context.view_layer.objects.active


def make_mesh(name, corners, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    return obj


def make_plane(name="Plane", size=10.0, slope=0.0):
    up = size * math.sin(math.radians(slope))
    far = size * math.cos(math.radians(slope))
    return make_mesh(name, [(0, 0, 0), (far, 0, up), (far, size, up), (0, size, 0)], [(0, 1, 2, 3)])


def curves_of(obj):
    """Value at frame 1 of every f-curve of an object, by path."""
    data = obj.animation_data
    found = {}
    for strip in data.action.layers[0].strips:
        for curve in strip.channelbag(data.action_slot).fcurves:
            found[curve.data_path] = curve.evaluate(1)
    return found


def curve_of(obj, path):
    data = obj.animation_data
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    return bag.fcurves.find(path)


@kernel
def toy_kernel(start, stop, agents, world, p, memory, out, active):
    """Propose nothing."""


@contextmanager
def toy_behavior() -> Iterator[None]:
    """A behavior declared like a module of core/behaviors, with Steer enabled again."""

    @behavior(
        label="Toy Push", output=PUSH, kernel=toy_kernel, uses=(TARGETS,), icon="GHOST_ENABLED",
        group="Toys",
    )  # fmt: skip
    class ToyPush(Behavior):
        """Push like a toy."""

        reach: float = param(3.0, unit="m", minimum=0.0, maximum=0.3e2, doc="How far it reaches.")
        angle: float = param(90.0, unit="deg", maximum=180.0, minimum=0.0, doc="How wide")
        tries: int = param(2, minimum=0, maximum=9, doc="How often")
        gentle: bool = param(True, doc="Whether it hurts")
        side: str = choice("NEG_Y", {"NEG_Y": "Left", "BY_ID": "As it comes"}, doc="Where to")
        tag: str = param("red", doc="What it is called")

    registration.unregister()
    registration.register()
    try:
        yield
    finally:
        bpy.ops.wm.read_homefile(use_empty=True)
        registration.unregister()
        del REGISTRY["toy_push"]
        registration.register()
