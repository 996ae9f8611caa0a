"""A bar in the 3D views while crowds wait for their kernels, or their walkable surface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

WIDTH, HEIGHT, ABOVE = 320.0, 22.0, 40.0
"""Its size, and its distance from the lower edge [px at a resolution scale of 1]."""
BACK, DONE, TEXT = (0.1, 0.1, 0.1, 0.8), (0.25, 0.45, 0.75, 1.0), (1.0, 1.0, 1.0, 1.0)

_handles: list[Any] = []


def show(told: Callable[[], tuple[float, str]]) -> None:
    """Draw the bar from now on; `told` gives the share that is done, 0 to 1, and the text."""
    if not _handles:
        add = bpy.types.SpaceView3D.draw_handler_add
        _handles.append(add(_draw, (told,), "WINDOW", "POST_PIXEL"))


def hide() -> None:
    """Draw it no more; safe at any time."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")


def _draw(told: Callable[[], tuple[float, str]]) -> None:
    share, text = told()
    region, scale = bpy.context.region, bpy.context.preferences.system.ui_scale
    assert region is not None  # one is being drawn
    width, height = min(WIDTH * scale, region.width), HEIGHT * scale
    left, low = 0.5 * (region.width - width), ABOVE * scale
    gpu.state.blend_set("ALPHA")
    _rectangle(left, low, width, height, BACK)
    _rectangle(left, low, width * min(1.0, share), height, DONE)
    gpu.state.blend_set("NONE")
    blf.size(0, 12.0 * scale)
    blf.color(0, *TEXT)
    wide, high = blf.dimensions(0, text)
    blf.position(0, left + 0.5 * (width - wide), low + 0.5 * (height - high), 0.0)
    blf.draw(0, text)


def _rectangle(
    left: float, low: float, width: float, height: float, color: tuple[float, ...]
) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    right, high = left + width, low + height
    corners = [(left, low), (right, low), (left, high), (right, high)]
    batch = batch_for_shader(shader, "TRI_STRIP", {"pos": corners})
    shader.uniform_float("color", color)
    batch.draw(shader)
