"""Scenes with crowds that play, for the tests of scene reading, live and offline runs."""

from __future__ import annotations

import bpy
import numpy as np

from steer_addon.blender.crowd import crowds
from steer_addon.blender.display import display
from steer_addon.blender.live import live
from steer_addon.core.crowd.settings import AgentsSettings, CrowdSettings, make_behavior


def seekers(*behaviors, speed=1.4, seed=0):
    """Settings of a crowd that runs to its target."""
    stack = tuple(make_behavior(b) for b in behaviors or ({"type": "seek"},))
    return CrowdSettings(agents=AgentsSettings(max_speed=speed), behaviors=stack, seed=seed)


def make_crowd(points=((0, 0, 0), (1, 0, 0), (2, 0, 0)), name="Crowd", settings=None):
    mesh = bpy.data.meshes.new(f"{name} Mesh")
    mesh.from_pydata([tuple(map(float, p)) for p in points], [], [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    crowds.make_crowd(obj, settings=settings or seekers(), scene=bpy.context.scene)
    # tests read where agents are shown from the points
    display.set_input(display.find_modifier(obj), "Keep Points", True)
    obj.steer.frame_start, obj.steer.frame_end = 1, 60
    return obj


def make_target(crowd=None, location=(0, 20, 0), name="Target"):
    obj = bpy.data.objects.new(name, None)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    if crowd is not None:
        crowd.steer.target_object = obj
    return obj


CUBE_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def make_box(name="Box", location=(0, 0, 0), half=1.0, faces=CUBE_FACES):
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    mesh = bpy.data.meshes.new(f"{name} Mesh")
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_ground(name="Ground", half=50.0, height=0.0):
    corners = [(-half, -half, height), (half, -half, height), (half, half, height)]
    mesh = bpy.data.meshes.new(f"{name} Mesh")
    mesh.from_pydata([*corners, (-half, half, height)], [], [(0, 1, 2, 3)])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_colliders(crowd, *objects, name="Colliders"):
    collection = bpy.data.collections.new(name)
    for obj in objects:
        collection.objects.link(obj)
    crowd.steer.colliders = collection
    return collection


def move(obj, frames):
    """Key an object's location; `frames` maps frame numbers to places."""
    for number, place in frames.items():
        obj.location = place
        obj.keyframe_insert("location", frame=number)


def add_attribute(obj, name, kind, values):
    attribute = obj.data.attributes.new(name, kind, "POINT")
    prop = {"FLOAT_VECTOR": "vector"}.get(kind, "value")
    dtype = {"INT": np.int32, "INT8": np.int8, "BOOLEAN": np.bool_}.get(kind, np.float32)
    attribute.data.foreach_set(prop, np.asarray(values, dtype).ravel())


def play(first, last):
    for number in range(first, last + 1):
        bpy.context.scene.frame_set(number)


def shown(obj):
    """Where the evaluated crowd has its agents, in world space."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ v.co for v in evaluated.data.vertices], np.float32)


def deps():
    return bpy.context.evaluated_depsgraph_get()


def data_counts():
    """How many data-blocks there are of each kind."""
    kinds = ("objects", "meshes", "scenes", "collections", "actions", "node_groups", "curves")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def frame_set(number, subframe=0.0):
    """Go to a frame as a user scrubs."""
    bpy.context.scene.frame_set(number, subframe=subframe)


def update():
    """Let Blender evaluate what was edited."""
    bpy.context.view_layer.update()


def stored(obj):
    """First and last stored frame; None if there is none."""
    run = live.runs.get(obj)
    return (min(run.frames), max(run.frames)) if run is not None and run.frames else None


def told(obj):
    """Diagnosis of the crowd in the panel; None if there is none."""
    return live.status(obj).diagnosis


def code_of(obj):
    """The code of what the panel says; empty when all is well."""
    found = told(obj)
    return "" if found is None else found.code


def make_runner():
    """A crowd of three with a target."""
    obj = make_crowd()
    make_target(obj)
    return obj
