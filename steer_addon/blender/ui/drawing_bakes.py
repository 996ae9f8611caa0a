"""Messages about bakes that play by themselves, and about rendering without a bake."""

from __future__ import annotations

import bpy

from ...core.diagnoses import diagnose
from ..crowd import baked_file
from ..crowd.state import plays_back
from ..export.formats import FORMATS
from ..live import live
from .remedies import draw_sentence


def draw_playback(
    layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object
) -> None:
    """What a bake lacks, or the advice to make one."""
    if not plays_back(obj):
        if not live.is_baked(obj):
            draw_sentence(layout, context, diagnose("BAKE_FIRST"))
        return
    # errors of the bake are shown above, with a remedy, in place of the live crowd's messages
    limits = baked_file.limits(obj)
    if limits is not None and baked_file.problem(obj) is None:
        draw_sentence(layout, context, limits)


def draw_export(layout: bpy.types.UILayout) -> None:
    """The formats that a crowd is exported to."""
    for entry in FORMATS.values():
        layout.operator(
            "object.steer_export", text=f"{entry.label} ({entry.suffix})"
        ).format = entry.name
