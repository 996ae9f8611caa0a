"""What the Display panel says about agents that are real rigs."""

from __future__ import annotations

from bpy.types import Context, Object, UILayout

from ...core.diagnoses import diagnose
from ..bake import heroes
from .remedies import draw_diagnosis


def draw_heroes(layout: UILayout, context: Context, obj: Object) -> None:
    """Buttons that make rigs of agents, and instances again."""
    row = layout.row(align=True)
    row.operator("object.steer_promote", icon="OUTLINER_OB_ARMATURE")
    row.operator("object.steer_demote", text="", icon="TRASH")
    lost = len(heroes.lost(obj))
    if lost:
        draw_diagnosis(layout, context, diagnose("HEROES_LOST", obj.name, count=lost, which="LOST"))
