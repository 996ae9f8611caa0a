"""A bar of the stored frames of the active crowd in timelines, as Blender's own caches have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..crowd import baked_file
from ..crowd.crowds import is_crowd
from ..crowd.scene_time import scene_moment
from ..crowd.state import playback_state
from ..live import live

BOTTOM, HEIGHT = 2.0, 5.0
"""Place of the bar above the lower edge of the region, and its height [px at standard size]."""
LIVE, BAKED = (0.30, 0.62, 0.95), (0.38, 0.78, 0.45)
"""Colors of frames that are simulated and of those that are baked."""
FULL, FAINT, RANGE = 0.9, 0.45, 0.18
"""Opacity of stored frames, of those that are out of date, and of the frames of the crowd."""


class Stored(NamedTuple):
    """What a bar shows.

    Attributes:
        first: First frame of the crowd.
        last: Its last frame.
        spans: First and last frames of stored ones, in order.
        color: Their color, without opacity.
        opacity: Their opacity.
    """

    first: int
    last: int
    spans: list[tuple[int, int]]
    color: tuple[float, float, float]
    opacity: float


def spans_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as ranges without gaps, each by its first and its last, in order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def stored(obj: bpy.types.Object) -> Stored:
    """The stored frames of a crowd."""
    steer, state = obj.steer, playback_state(obj)
    if state is not None:
        played = state.get(baked_file.RANGE_KEY)
        spans = [] if played is None else [(int(played[0]), int(played[1]))]
        return Stored(steer.frame_start, steer.frame_end, spans, BAKED, FULL)
    run = live.runs.get(obj)
    frames = {} if run is None else run.frames
    told = live.status(obj).diagnosis
    is_old = run is not None and run.out_of_date is not None
    is_old |= told is not None and told.code == "OUT_OF_DATE"
    opacity = FAINT if is_old else FULL
    whole = bool(frames) and max(frames) - min(frames) + 1 == len(frames)
    spans = [(min(frames), max(frames))] if whole else spans_of(frames)
    return Stored(steer.frame_start, steer.frame_end, spans, LIVE, opacity)


def draw() -> None:
    """Draw the bar into the region that Blender draws."""
    context = bpy.context
    obj, region = context.view_layer.objects.active, context.region
    if obj is None or region is None or not is_crowd(obj):
        return
    if not getattr(context.space_data, "show_cache", True):
        return
    found, scale = stored(obj), context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for spans, opacity in (([(found.first, found.last)], RANGE), (found.spans, found.opacity)):
        corners, triangles = rectangles(region, context.scene, spans, scale)
        if corners:
            batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=triangles)
            shader.uniform_float("color", (*found.color, opacity))
            batch.draw(shader)
    gpu.state.blend_set("NONE")


def rectangles(
    region: bpy.types.Region, scene: bpy.types.Scene, spans: list[tuple[int, int]], scale: float
) -> tuple[list[tuple[float, float]], list[tuple[int, int, int]]]:
    """Corners [px] and triangles of a rectangle over each span of frames of a crowd."""
    low, high = BOTTOM * scale, (BOTTOM + HEIGHT) * scale
    corners: list[tuple[float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    for span in spans:
        left, right = (
            region.view2d.view_to_region(place, 0.0, clip=False)[0]
            for place in _on_timeline(scene, span)
        )
        first = len(corners)
        corners += [(left, low), (right, low), (right, high), (left, high)]
        triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return corners, triangles


def _on_timeline(scene: bpy.types.Scene, span: tuple[int, int]) -> tuple[float, float]:
    """Where the frames of a span begin and end on the timeline: half a frame around each."""
    first, last = (sum(scene_moment(scene, number)) for number in span)
    return first - 0.5, last + 0.5
