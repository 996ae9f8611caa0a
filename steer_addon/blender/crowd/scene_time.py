"""Frames of a crowd and frames of its scene, which its *Time Stretching* (time remapping) parts.

Blender evaluates animation, physics and files at the remapped time. A crowd counts its frames in
that time too: a live one is at frame 10 when the playing bake is, and keyed targets are.
"""

from __future__ import annotations

import math

import bpy

_NEAR = 1.0e-6
"""Part of a frame that is no part: products of whole frames with the ratio are not exact."""


def is_remapped(scene: bpy.types.Scene) -> bool:
    """Whether frames of crowds and frames of the scene differ."""
    return scene.render.frame_map_old != scene.render.frame_map_new


def frames_per_frame(scene: bpy.types.Scene) -> float:
    """Frames of a crowd in one of the scene."""
    return scene.render.frame_map_old / scene.render.frame_map_new


def moment(scene: bpy.types.Scene) -> tuple[int, float]:
    """The frame of crowds at the scene's frame, and the part of the next one that has passed."""
    if not is_remapped(scene):
        return scene.frame_current, scene.frame_subframe
    return _parts((scene.frame_current + scene.frame_subframe) * frames_per_frame(scene))


def scene_moment(scene: bpy.types.Scene, number: int) -> tuple[int, float]:
    """The frame of the scene at a frame of crowds, and the part of the next one."""
    if not is_remapped(scene):
        return number, 0.0
    return _parts(number / frames_per_frame(scene))


def _parts(time: float) -> tuple[int, float]:
    number = math.floor(time + _NEAR)
    return number, time - number if time - number > _NEAR else 0.0
