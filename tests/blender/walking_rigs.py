"""Rigs with actions that walk, made by script: legs, a body, a hat on a bone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Vector, kdtree

from steer_addon.blender.bake.hero_parts import Parts
from steer_addon.blender.characters import making, rigs
from steer_addon.blender.operators import characters
from steer_addon.core.characters.recipe import Recipe
from steer_addon.core.characters.rows import Plan
from tests.blender.made_once import made_once

COARSE = Plan(tolerance=0.05, steps=24, ratio=2.5)
RECIPE = Recipe("Idle", "Walk", plan=COARSE)
FINE = Plan(tolerance=0.02, steps=48, ratio=2.0)
_made: dict[Callable[[], bpy.types.Object], making.Made] = {}


def box(name, center, size, parent=None):
    """A box object of eight vertices."""
    corners = [
        [center[i] + size[i] * s / 2 for i, s in enumerate(signs)]
        for signs in np.ndindex(2, 2, 2)
        for signs in [[2 * v - 1 for v in signs]]
    ]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    mesh.uv_layers.new(name="UVMap")
    mesh.materials.append(bpy.data.materials.new(name))
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = parent
    return obj


def make_rig(name="Walker"):
    """An armature of a root, two legs that slide, and a head; each bone carries a box."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    places = {"root": (0, 0, 0), "leg.l": (0.1, 0, 0), "leg.r": (-0.1, 0, 0), "head": (0, 0, 1)}
    for bone_name, place in places.items():
        bone = data.edit_bones.new(bone_name)
        bone.head = place
        bone.tail = Vector(place) + Vector((0, 0, 0.3))
        if bone_name != "root":
            bone.parent = data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    sizes = {"leg.l": (0.08, 0.25, 0.5), "leg.r": (0.08, 0.25, 0.5), "head": (0.4, 0.3, 0.6)}
    for bone_name, size in sizes.items():
        place = places[bone_name]
        obj = box(bone_name, (place[0], place[1], place[2] + size[2] / 2), size, rig)
        group = obj.vertex_groups.new(name=bone_name)
        group.add(range(8), 1.0, "REPLACE")
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    hat = box("hat", (0, 0, 0.1), (0.3, 0.3, 0.2), rig)
    hat.parent_type, hat.parent_bone = "BONE", "head"
    return rig


def add_gait(rig, name, stride, frames, bob=0.0, drift=0.0, rounds=1):
    """An action in which the legs go back by `stride` a cycle, each planted for 60 %.

    It has `rounds` cycles of `frames` each; those after the first one lift the feet less.
    """
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    rig.animation_data_create().action = action
    for frame in range(rounds * frames + 1):
        part = frame / frames
        height = 0.12 if part < 1.0 or part == rounds else 0.1
        for bone_name, start in (("leg.l", 0.0), ("leg.r", 0.5)):
            gone = (part + start) % 1.0
            swing = (gone - 0.6) / 0.4
            y = gone - 0.3 if swing < 0.0 else 0.3 - 0.6 * (swing * swing * (3 - 2 * swing))
            z = 0.0 if swing < 0.0 else height * math.sin(math.pi * swing)
            # bones point up, so their y is the world's z, and their z its -y
            bone = rig.pose.bones[bone_name]
            bone.location = (0.0, z, -stride * y)
            bone.keyframe_insert("location", frame=frame)
        head = rig.pose.bones["head"]
        head.location = (0.0, bob * math.cos(4 * math.pi * part), 0.0)
        head.keyframe_insert("location", frame=frame)
        root = rig.pose.bones["root"]
        root.location = (0.0, 0.0, drift * part)
        root.keyframe_insert("location", frame=frame)
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.location = (0.0, 0.0, 0.0)
    return action


def walking_rig(name="Walker"):
    """A rig with Idle, Walk and Run."""
    rig = make_rig(name)
    add_gait(rig, "Idle", 0.0, 24, bob=0.01)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02)
    add_gait(rig, "Run", 2.0, 16, bob=0.04)
    assert rigs.guess_roles(rig) == {"stand": "Idle", "walk": "Walk", "run": "Run"}
    return rig


def make(rig, recipe=RECIPE):
    """Make a character of few poses."""
    return making.make_character(bpy.context.scene, rig, recipe)


def take_coarse_plans(patch: pytest.MonkeyPatch, steps=COARSE.steps):
    """Let the operator make few gaits, each of this many samples, while a patch holds."""
    patch.setattr(characters, "Plan", lambda **given: replace(COARSE, steps=steps, **given))


_usual = []


def make_usual(rig):
    """The poses of a rig as `walking_rig` makes it by `RECIPE`: made once in a process."""
    if not _usual:
        _usual.append(make(rig).space)
    return _usual[0]


def character_of(rig, clips=()):
    """Make a character of more poses."""
    return make(rig, Recipe("Idle", "Walk", "Run", clips, plan=FINE))


def made_by(make_walker):
    """That of a rig that a function makes, in an empty file: it is made once."""
    made_once(make_walker, lambda: _made.update({make_walker: character_of(make_walker())}))
    return replace(_made[make_walker], character=bpy.data.objects["Walker Character"])


def state(rig):
    """All that sampling must leave as it is."""
    data = rig.animation_data_create()
    kinds = "objects meshes scenes actions collections armatures node_groups materials".split()
    return (
        {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in kinds},
        bpy.context.scene.frame_current,
        data.action and data.action.name,
        data.use_nla,
        [tuple(map(tuple, bone.matrix_basis)) for bone in rig.pose.bones],
        [bone.rotation_mode for bone in rig.pose.bones],
        tuple(map(tuple, rig.matrix_world)),
    )


def hero_parts(carrier):
    """All objects that a hero consists of."""
    return Parts([carrier]).of(carrier)


def nearest(points, others):
    """The number of the nearest of others to each point, and how far away it is [m]."""
    tree = kdtree.KDTree(len(others))
    for number, other in enumerate(others):
        tree.insert(other, number)
    tree.balance()
    _places, numbers, away = zip(*map(tree.find, points), strict=True)
    return np.array(numbers), np.array(away)


def gaps(points, others):
    """Distance of each point to the nearest of others [m]."""
    return nearest(points, others)[1]
