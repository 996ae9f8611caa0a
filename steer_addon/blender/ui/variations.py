"""The section *Variations*: how many, how far they are, and a button for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..bake import places
from ..variations import current, made
from . import drawing, messages

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

_WIDTH = 46
"""Width of a button with a number [px]."""
_MOST_BUTTONS = 200
"""Further variations are shown by *Show Variation* with their number."""


def draw_variations(layout: UILayout, context: Context, obj: Object) -> None:
    """Settings and progress, then the variations that are there."""
    run, (found, done) = current.run(), made.seen(obj)
    if run is None:
        drawing.draw_block(layout, context, obj, "variations")
        reason = places.why_no_folder(obj)
        if reason:
            messages.draw_message(layout, context, reason, "INFO")
        layout.operator("object.steer_variations_make", icon="FILE_REFRESH" if done else "ADD")
    else:
        row = layout.row(align=True)
        row.progress(factor=run.share, text=run.text())
        row.operator("object.steer_variations_stop", text="", icon="X")
    if fault := current.fault_of(obj):
        messages.draw_message(layout, context, fault, "ERROR")
    if found or obj.steer.variation:
        _draw_buttons(layout, context, obj)


def _draw_buttons(layout: UILayout, context: Context, obj: Object) -> None:
    found, done = made.seen(obj)
    shown = obj.steer.variation
    columns = max(2, int(messages.region_width(context) / _WIDTH))
    grid = layout.grid_flow(row_major=True, columns=columns, even_columns=True, align=True)
    grid.operator("object.steer_variation_back", text="Own", depress=not shown)
    for one in found[:_MOST_BUTTONS]:
        cell = grid.row(align=True)
        cell.enabled = one.number in done
        number = one.number
        cell.operator(
            "object.steer_variation_show", text=str(number), depress=number == shown
        ).number = number
    told = f"Variation {shown} is shown, seed {obj.steer.seed}" if shown else "The crowd's own seed"
    layout.label(text=f"{told}; {len(done)} of {len(found)} are made")
    if shown and (went := made.figures_of(obj, shown)):
        layout.label(text=went)
    row = layout.row(align=True)
    row.operator("object.steer_variation_keep", text="Keep This One", icon="PINNED")
    if current.run() is None and len(done) < len(found):
        row.operator("object.steer_variations_continue", text="Make the Rest", icon="PLAY")
    row.operator("object.steer_variations_delete", text="", icon="TRASH")
