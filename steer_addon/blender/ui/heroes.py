"""What panels say about agents that are real rigs."""

from __future__ import annotations

from bpy.types import Object, Scene, UILayout

from ...core.diagnoses import Diagnosis, diagnose
from ..bake import heroes


def draw_heroes(layout: UILayout) -> None:
    """Buttons that choose agents, make rigs of them, and instances again."""
    row = layout.row(align=True)
    row.operator("object.steer_pick_agent", text="", icon="EYEDROPPER")
    row.operator("object.steer_promote", icon="OUTLINER_OB_ARMATURE")
    row.operator("object.steer_demote", text="", icon="TRASH")


def told_of_heroes(obj: Object, scene: Scene) -> list[Diagnosis]:
    """Diagnoses of agents that are hidden although their rigs are gone, and of old heroes."""
    lost = heroes.lost(obj)
    old = len(heroes.outdated(obj, scene))
    found = [diagnose("HEROES_LOST", obj.name, count=len(lost), which="LOST")] if lost else []
    return found + ([diagnose("HEROES_OUTDATED", obj.name, count=old)] if old else [])
