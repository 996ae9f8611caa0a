"""A crowd to bake, and bakes driven step by step."""

from __future__ import annotations

from pathlib import Path

import bpy

from steer_addon.blender.bake import cached, status
from steer_addon.core.cache import layout
from tests.blender.crowd_makers import make_crowd, make_empty, make_mesh

LAST = 24
"""Last frame of the crowds here; their chunks hold ten frames."""


def make_walkers(tmp_path, monkeypatch):
    """A crowd of five that walks to a moving target, between a moving wall and one that stands."""
    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    bpy.context.scene.frame_end = LAST
    goal = make_empty("Goal")
    goal.location = (20.0, 0.0, 0.0)
    goal.keyframe_insert("location", frame=1)
    goal.location = (20.0, 15.0, 0.0)
    goal.keyframe_insert("location", frame=LAST)
    square = [(4, -3, -1), (4, 3, -1), (4, 3, 2), (4, -3, 2)]
    wall = make_mesh("Wall", square, [(0, 1, 2, 3)])
    still = make_mesh("Still", [(9, -3, -1), (9, 3, -1), (9, 3, 2)], [(0, 1, 2)])
    wall.keyframe_insert("location", frame=1)
    wall.location = (0.0, 4.0, 0.0)
    wall.keyframe_insert("location", frame=LAST)
    walls = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(walls)
    for obj in (wall, still):
        walls.objects.link(obj)
    obj = make_crowd(5)
    obj.steer.target_object, obj.steer.colliders = goal, walls
    obj.steer.bodies.collide_colliders = obj.steer.bodies.collide_agents = True
    obj.steer.frame_start, obj.steer.frame_end = 1, LAST
    obj.steer.cache_directory = str(tmp_path)
    bpy.context.view_layer.objects.active = obj
    status.baked(obj)
    return obj


def bits(folder: Path) -> dict[str, bytes]:
    """All files of a cache."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name not in (".steer.lock", "crowd.usdc", "crowd.pc2")
    }


def run_to(bake, frame):
    """Drive a bake up to a frame."""
    for progress in bake.steps:
        if bake.frames[0] + progress.done - 1 >= frame:
            return bake
    return bake


END = 10_000


def whole(obj, folder):
    run_to(cached.begin(obj, bpy.context.scene, folder), END)
    return folder


def told_of_bake(obj):
    """Diagnoses of a crowd's bake in the panel, by code."""
    found = status.status(obj, bpy.context.scene).diagnoses()
    return {diagnosis.code: diagnosis for diagnosis in found}
