"""What panels say about agents that are real rigs."""

from __future__ import annotations

from bpy.types import Object, UILayout

from ...core.diagnoses import Diagnosis, diagnose
from ..bake import heroes


def draw_heroes(layout: UILayout) -> None:
    """Buttons that make rigs of agents, and instances again."""
    row = layout.row(align=True)
    row.operator("object.steer_promote", icon="OUTLINER_OB_ARMATURE")
    row.operator("object.steer_demote", text="", icon="TRASH")


def lost_heroes(obj: Object) -> list[Diagnosis]:
    """A diagnosis of agents that are hidden although their rigs are gone."""
    lost = len(heroes.lost(obj))
    return [diagnose("HEROES_LOST", obj.name, count=lost, which="LOST")] if lost else []
