"""The section *Births*: who is born, where, and how many there are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.crowd.birth_memory import remembered, tally
from ...core.diagnoses import diagnose
from ..crowd.scene_time import moment
from ..live import live
from .drawing import draw_block, draw_choice, draw_named
from .messages import is_narrow
from .remedies import draw_sentence

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout


def draw_births(layout: UILayout, context: Context, obj: Object) -> None:
    """Sources, settings, volumes that take agents away, and the numbers of agents."""
    layout.use_property_split = not is_narrow(context)
    emits = obj.steer.births.emission != "NONE"
    column = layout.column()
    column.active = emits
    draw_choice(column, obj.steer, "births", "Sources", is_needed=emits)
    draw_block(layout, context, obj, "births")
    draw_named(layout, obj.steer, "exits", "Exits")
    kept = live.get_kept(obj, moment(context.scene)[0])
    if kept is not None and remembered(kept.agents) is not None:
        now = tally(kept.agents, 0)
        told = {"alive": now.alive, "waiting": now.waiting, "born": now.born}
        draw_sentence(layout, context, diagnose("BIRTHS_NOW", **told))
