"""A rig by script that walks: 20 bones, 10,000 faces; and what four such characters take.

Run as a script this file is a process of its own, as memory that was used before is used again: it
makes the characters, shows a crowd of them, and prints one JSON object.
"""

from __future__ import annotations

import gc
import json
import math
import re
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from scripts.bench.scenes import add_crowd, add_object, fresh_file
from steer_addon.blender.characters import gathering, library, making, rigs
from steer_addon.blender.crowd.state import ensure_state
from steer_addon.blender.display import display
from steer_addon.blender.suspension import suspended
from steer_addon.core.characters.recipe import Recipe
from steer_addon.core.characters.rows import Plan
from steer_addon.core.crowd.presets import load_preset

F32 = NDArray[np.float32]
Place = tuple[float, float, float]

CHARACTERS, POSES = 4, 400
WAY_PER_POSE = 0.03
"""The way between two poses [m] that makes as many of this walk."""
AROUND, ALONG = 20, 25
"""Faces around each limb and along it: 500 for each of the 20 bones."""
STRIDE, FRAMES = 1.3, 28
PLANTED = 0.6
"""Share of the cycle for which a foot is on the ground."""
HIP, THIGH, SHIN, ANKLE = 0.9, 0.44, 0.42, 0.09
"""Height of the hips, lengths of the legs, and height of the ankles [m]."""

_TRUNK: tuple[tuple[str, Place, Place, float, str], ...] = (
    ("root", (0.0, 0.0, 0.85), (0.0, 0.0, 0.95), 0.1, ""),
    ("hips", (0.0, 0.0, 0.88), (0.0, 0.0, 1.05), 0.15, "root"),
    ("spine", (0.0, 0.0, 1.05), (0.0, 0.0, 1.25), 0.14, "hips"),
    ("chest", (0.0, 0.0, 1.25), (0.0, 0.0, 1.48), 0.16, "spine"),
    ("neck", (0.0, 0.0, 1.48), (0.0, 0.0, 1.56), 0.06, "chest"),
    ("head", (0.0, 0.0, 1.56), (0.0, 0.0, 1.78), 0.1, "neck"),
)
"""Name, ends [m], radius [m] of each bone's limb, and the bone that it hangs on."""
_SIDE: tuple[tuple[str, Place, Place, float, str], ...] = (
    ("upper_arm", (0.22, 0.0, 1.42), (0.24, 0.0, 1.14), 0.05, "chest"),
    ("forearm", (0.24, 0.0, 1.14), (0.25, 0.0, 0.88), 0.04, "upper_arm"),
    ("hand", (0.25, 0.0, 0.88), (0.25, 0.0, 0.72), 0.04, "forearm"),
    ("thigh", (0.1, 0.0, HIP), (0.1, 0.0, HIP - THIGH), 0.08, "hips"),
    ("shin", (0.1, 0.0, HIP - THIGH), (0.1, 0.0, HIP - THIGH - SHIN), 0.06, "thigh"),
    ("foot", (0.1, 0.06, 0.04), (0.1, -0.12, 0.04), 0.04, "shin"),
    ("toe", (0.1, -0.12, 0.03), (0.1, -0.2, 0.03), 0.03, "foot"),
)
"""The same of the left side; the right one is its mirror image."""


def _bones() -> list[tuple[str, Place, Place, float, str]]:
    found = list(_TRUNK)
    for suffix, side in ((".l", 1.0), (".r", -1.0)):
        for name, start, end, radius, above in _SIDE:
            hangs_on = above if above in ("chest", "hips") else above + suffix
            ends = [(side * x, y, z) for x, y, z in (start, end)]
            found.append((name + suffix, ends[0], ends[1], radius, hangs_on))
    return found


def _limb(start: Place, end: Place, radius: float) -> F32:
    """Vertices of an open tube [m], shape (AROUND · (ALONG + 1), 3)."""
    first, last = np.array(start), np.array(end)
    way = (last - first) / np.linalg.norm(last - first)
    aside = np.cross(way, (1.0, 0.0, 0.0))
    if np.linalg.norm(aside) < 0.5:
        aside = np.cross(way, (0.0, 1.0, 0.0))
    aside /= np.linalg.norm(aside)
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)[None, :, None]
    ring = np.cos(angle) * aside + np.sin(angle) * np.cross(way, aside)
    middle = np.linspace(first, last, ALONG + 1)[:, None, :]
    return (middle + radius * ring).reshape(-1, 3).astype(np.float32)


def _faces(first: int) -> list[tuple[int, int, int, int]]:
    """Faces of the tube whose vertices begin at a number."""
    found = []
    for row in range(ALONG):
        for column in range(AROUND):
            here, beside = first + row * AROUND + column, first + row * AROUND
            beside += (column + 1) % AROUND
            found.append((here, beside, beside + AROUND, here + AROUND))
    return found


def _armature(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """An armature whose bones all point up: their x is the world's, so limbs turn about it."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (x, y, z), _end, _radius, above in _bones():
        made = rig.data.edit_bones.new(bone_name)
        made.head, made.tail = (x, y, z), (x, y, z + 0.1)
        made.parent = rig.data.edit_bones.get(above)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _turns(part: float) -> tuple[float, float, float]:
    """Turns of thigh, shin and foot about x [rad] at a share of the cycle of a leg."""
    swing = max(0.0, (part - PLANTED) / (1.0 - PLANTED))
    eased = swing * swing * (3.0 - 2.0 * swing)
    reach = 0.5 * PLANTED * STRIDE
    back = part * STRIDE - reach if swing == 0.0 else reach - 2.0 * reach * eased
    down = HIP - ANKLE - 0.12 * math.sin(math.pi * swing) - _SINK
    way = min(math.hypot(back, down), 0.999 * (THIGH + SHIN))
    above = math.acos((THIGH**2 + way**2 - SHIN**2) / (2.0 * THIGH * way))
    knee = math.pi - math.acos((THIGH**2 + SHIN**2 - way**2) / (2.0 * THIGH * SHIN))
    thigh = math.atan2(back, down) - above
    return thigh, knee, -thigh - knee


_SINK = 0.06
"""How far the hips are lower in the walk than at rest [m], so that the legs reach the ground."""


def _walk(rig: bpy.types.Object) -> None:
    """Add the action Walk, of one cycle in place."""
    rig.animation_data_create().action = bpy.data.actions.new("Walk")
    bones = rig.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    for frame in range(FRAMES + 1):
        part = frame / FRAMES
        bones["root"].location = (0.0, -_SINK + 0.01 * math.cos(4.0 * math.pi * part), 0.0)
        bones["root"].keyframe_insert("location", frame=frame)
        for suffix, start in ((".l", 0.0), (".r", 0.5)):
            turns = dict(zip(("thigh", "shin", "foot"), _turns((part + start) % 1.0), strict=True))
            arm = 0.5 * math.cos(2.0 * math.pi * (part + start + 0.5))
            turns |= {"upper_arm": arm, "forearm": -0.4}
            for name, turn in turns.items():
                bones[name + suffix].rotation_euler = (turn, 0.0, 0.0)
                bones[name + suffix].keyframe_insert("rotation_euler", frame=frame)


def walker(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """A rig of 20 bones that deforms a mesh of 10,000 faces, with an action Walk."""
    rig = _armature(scene, name)
    points, faces = np.zeros((0, 3), np.float32), []
    groups = {}
    for bone_name, start, end, radius, _above in _bones():
        faces += _faces(len(points))
        groups[bone_name] = range(len(points), len(points) + AROUND * (ALONG + 1))
        points = np.concatenate([points, _limb(start, end, radius)])
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.materials.append(bpy.data.materials.new(name))
    body = add_object(scene, f"{name} Body", mesh)
    for bone_name, rows in groups.items():
        body.vertex_groups.new(name=bone_name).add(rows, 1.0, "REPLACE")
    body.parent = rig
    modifier: Any = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    _walk(rig)
    return rig


def blender_memory(scene: bpy.types.Scene) -> float:
    """Memory that Blender says it uses [bytes]."""
    gc.collect()
    text = scene.statistics(scene.view_layers[0])
    found = re.search(r"Memory: ([\d.,]+) ([KMGT]?)i?B", text)
    if found is None:
        raise RuntimeError(f"no memory in {text!r}")
    return float(found[1].replace(",", "")) * 1024.0 ** " KMGT".index(found[2] or " ")


def resident() -> float:
    """Resident set of this process [bytes]; 0 where the system does not say."""
    path = Path("/proc/self/statm")
    return 4096.0 * int(path.read_text().split()[1]) if path.exists() else 0.0


def _show(scene: bpy.types.Scene) -> None:
    """Show 100 agents as the characters of the scene, so that Blender makes all poses."""
    points = np.random.default_rng(5).uniform(-7.0, 7.0, (100, 3)).astype(np.float32)
    crowd = add_crowd(scene, points, load_preset("pedestrians").settings)
    modifier = display.require_modifier(crowd)
    display.set_input(modifier, "Collection", library.ensure_collection(scene))
    display.set_input(modifier, "Display", "Characters")
    gathering.gather(crowd)
    ensure_state(crowd)
    scene.frame_set(2)


def measure() -> dict[str, Any]:
    """Make the characters: their sizes, times [s] and memory [bytes]."""
    with fresh_file() as scene, suspended():
        walkers = [walker(scene, f"Walker {number}") for number in range(CHARACTERS)]
        feet = rigs.guess_feet(walkers[0])
        recipe = Recipe(walk="Walk", plan=Plan(tolerance=WAY_PER_POSE), feet=feet)
        scene.frame_set(1)
        before, resident_before = blender_memory(scene), resident()
        seconds, poses = [], []
        for rig in walkers:
            start = time.perf_counter()
            made = making.make_character(scene, rig, recipe)
            seconds.append(time.perf_counter() - start)
            poses.append(made.space.pose_count)
            if abs(poses[-1] - POSES) > 0.02 * POSES:
                raise RuntimeError(f"{poses[-1]} poses: choose another way per pose")
            faces, vertices = len(made.character.data.polygons), len(made.character.data.vertices)
            del made
        stored = blender_memory(scene) - before
        _show(scene)
        return {
            "bones": len(walkers[0].data.bones),
            "faces": faces,
            "vertices": vertices,
            "poses": poses,
            "seconds": seconds,
            "stored": stored,
            "shown": blender_memory(scene) - before,
            "resident": resident() - resident_before if resident_before else 0.0,
        }


if __name__ == "__main__":
    print(json.dumps(measure()))
