"""Shared parts of a session's acts: the installed extension, the crowd, waiting for frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from driver import Driver, Step, window
from hands import Hands

MODULE = "bl_ext.user_default.steer"


@dataclass
class Tools:
    """Objects that an act works with."""

    driver: Driver
    hands: Hands
    folder: Path
    package: Path


def part(name: str) -> Any:
    """A module of the installed extension."""
    return importlib.import_module(f"{MODULE}.steer_addon.{name}")


def crowds() -> list[bpy.types.Object]:
    """The crowds of the scene."""
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.steer.is_crowd]


def crowd() -> bpy.types.Object:
    """The active object, which is a crowd, or the first one that there is."""
    active = bpy.context.view_layer.objects.active
    return active if active in crowds() else crowds()[0]


def simulated() -> int:
    """How many frames of the crowd are stored."""
    return len(part("blender.live.live").runs.ensure(crowd()).frames)


def shown_frame() -> Any:
    """State that the crowd shows."""
    return part("blender.overlay.seen").seen_frame(crowd(), bpy.context.scene)


def is_playing() -> bool:
    """Whether the animation plays."""
    return bool(window().screen.is_animation_playing)


def play(until: int) -> Iterator[Step]:
    """Play until a number of frames are stored, then stop at the current frame."""
    if not is_playing():
        with bpy.context.temp_override(window=window()):
            bpy.ops.screen.animation_play()
    yield lambda: simulated() > until
    bpy.ops.screen.animation_cancel(restore_frame=False)


def go_to_start() -> None:
    """Show the first frame."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)


def show_physics() -> Iterator[Step]:
    """Show the tab with the Crowd panel."""
    space = next(a for a in window().screen.areas if a.type == "PROPERTIES").spaces[0]

    def is_there() -> bool:
        try:
            space.context = "PHYSICS"
        except TypeError:
            # tabs follow the active object, once they are drawn
            return False
        return True

    yield is_there
