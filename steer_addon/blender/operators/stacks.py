"""Operators on a whole list of behaviors: enable only one, reset all, copy to other crowds."""

from __future__ import annotations

from dataclasses import replace

import bpy

from ...core.behaviors import REGISTRY
from ...core.crowd.settings import make_behavior
from ..crowd import crowds
from ..crowd.properties import apply_settings, settings_of, write_behavior
from ..crowd.property_classes import ENTRY_INPUTS
from .behaviors import OnEntry, require_entry
from .common import SteerOperator, why_no_crowd

_OWN_INPUTS = ("target_kind", "target_object", "target_collection", "colliders", "ground")


class OBJECT_OT_steer_behaviors_enable(OnEntry, bpy.types.Operator):
    """Enable all behaviors, or only the active one to see what it does alone"""

    bl_idname = "object.steer_behaviors_enable"
    bl_label = "Enable Behaviors"

    which: bpy.props.EnumProperty(
        name="Which",
        description="Which behaviors are enabled; the others are not",
        items=(
            ("ALL", "All", "All behaviors"),
            ("ACTIVE", "Only Active", "The active behavior alone"),
            ("NONE", "None", "No behavior"),
        ),
    )

    @classmethod
    def description(
        cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        """Tooltip of the menu entry."""
        return {
            "ALL": "Enable all behaviors",
            "ACTIVE": "Enable the active behavior alone, to see what it does",
        }.get(properties.which, "Disable all behaviors")

    def run(self, context: bpy.types.Context) -> None:
        """Switch them."""
        active = require_entry(context.object)
        for place, item in enumerate(context.object.steer.behaviors):
            item.enabled = self.which == "ALL" or (self.which == "ACTIVE" and place == active)


class OBJECT_OT_steer_behavior_reset(OnEntry, bpy.types.Operator):
    """Set weight and parameters of the active behavior to their defaults; its inputs stay"""

    bl_idname = "object.steer_behavior_reset"
    bl_label = "Reset to Defaults"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Not on entries of another version, whose defaults are unknown."""
        reason = super().why_not(context)
        if not reason:
            item = context.object.steer.behaviors[require_entry(context.object)]
            if item.type not in REGISTRY:
                reason = f"{item.name!r} is of a type that this version of Steer does not have"
        return reason

    def run(self, context: bpy.types.Context) -> None:
        """Reset it."""
        item = context.object.steer.behaviors[require_entry(context.object)]
        own, name = item.use_own_target, item.name
        write_behavior(item, make_behavior({"type": item.type, "name": name}))
        item.use_own_target = own


def other_crowds(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected crowds that can be changed, without the active one."""
    return [
        obj
        for obj in context.selected_objects
        if obj != context.object and crowds.is_crowd(obj) and not crowds.why_not_editable(obj)
    ]


class OBJECT_OT_steer_copy_settings(SteerOperator, bpy.types.Operator):
    """Give behaviors and settings of the active crowd to the other selected crowds"""

    bl_idname = "object.steer_copy_settings"
    bl_label = "Copy to Selected Crowds"

    inputs: bpy.props.BoolProperty(
        name="Inputs", description="Copy targets, colliders, ground and paths too", default=True
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Only with another crowd; the active one is only read."""
        reason = why_no_crowd(context)
        if not reason and not other_crowds(context):
            reason = "Select the crowds to copy to, and last the one to copy from"
        return reason

    def run(self, context: bpy.types.Context) -> str:
        """Copy; every crowd keeps its seed, or all would wander alike."""
        source, others = context.object, other_crowds(context)
        settings = settings_of(source)
        for obj in others:
            apply_settings(obj, replace(settings, seed=obj.steer.seed))
            if self.inputs:
                copy_inputs(source, obj)
        return f"Copied to {len(others)} crowd{'s' if len(others) > 1 else ''}"


def copy_inputs(source: bpy.types.Object, target: bpy.types.Object) -> None:
    """Let a crowd perceive what another one does, as far as that is not the crowd itself."""
    pairs: list[tuple[bpy.types.PropertyGroup, bpy.types.PropertyGroup, tuple[str, ...]]] = [
        (source.steer, target.steer, _OWN_INPUTS)
    ]
    pairs += [
        (one, other, ENTRY_INPUTS)
        for one, other in zip(source.steer.behaviors, target.steer.behaviors, strict=True)
    ]
    for one, other, names in pairs:
        for name in names:
            value = getattr(one, name)
            setattr(other, name, None if value == target else value)


classes = (
    OBJECT_OT_steer_behaviors_enable,
    OBJECT_OT_steer_behavior_reset,
    OBJECT_OT_steer_copy_settings,
)
