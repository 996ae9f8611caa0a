"""What the panel says about bakes that play by themselves, and about rendering without one."""

from __future__ import annotations

from typing import Any

import bpy

from ..crowd import baked_file
from ..crowd.state import plays_back
from ..export.formats import FORMATS
from ..live import live
from .messages import draw_message

ADVICE = "Bake before rendering: farms and other Blenders then need no Steer"


def draw_playback(layout: Any, context: Any, obj: bpy.types.Object) -> None:
    """What a bake lacks, or the advice to make one."""
    if not plays_back(obj):
        if not live.is_baked(obj):
            draw_message(layout, context, ADVICE, "INFO")
        return
    # what is wrong stands above, with its way out, in place of what the live crowd would say
    if baked_file.limits(obj) and not baked_file.problem(obj):
        draw_message(layout, context, baked_file.limits(obj), "INFO")


def draw_export(layout: Any) -> None:
    """The formats that a crowd is exported to."""
    for entry in FORMATS.values():
        layout.operator(
            "object.steer_export", text=f"{entry.label} ({entry.suffix})"
        ).format = entry.name
