"""Edit the list of behaviors, one entry or all; animation of the entries moves with them."""

from dataclasses import replace
from typing import Any

import bpy

from ...core.behaviors import REGISTRY
from ...core.crowd.settings import make_behavior
from ...core.errors import SceneError
from ..crowd import animation_paths, crowds
from ..crowd.properties import add_behavior, apply_settings, settings_of, write_behavior
from ..crowd.property_classes import ENTRY_INPUTS
from ..crowd.property_factory import copy_group, summary
from ..scene_units import units_per_meter
from .common import (
    Needs,
    Returned,
    SteerOperator,
    counted,
    why_no_crowd,
    why_no_editable_crowd,
)

_OWN_INPUTS = ("target_kind", "target_object", "target_collection", "colliders", "ground")


def behavior_groups() -> dict[str, list[str]]:
    """Behavior types by the heading that menus list them under."""
    groups: dict[str, list[str]] = {}
    for name, cls in REGISTRY.items():
        groups.setdefault(cls.definition.group, []).append(name)
    return groups


def active_place(obj: bpy.types.Object) -> int:
    """Place of the active entry in a list that has entries."""
    return min(obj.steer.active_behavior, len(obj.steer.behaviors) - 1)


_items: list[tuple[str, str, str]] = []
"""The types; Blender keeps no reference to their texts, which have to stay alive on this side."""


def _type_items(
    self: bpy.types.Operator | None, context: bpy.types.Context | None
) -> list[tuple[str, str, str]]:
    _items[:] = [(name, cls.definition.label, summary(cls)) for name, cls in REGISTRY.items()]
    return _items


def why_no_entry(context: bpy.types.Context) -> str:
    """Why the crowd has no active entry; empty when it has one."""
    return "" if context.object.steer.behaviors else "Add a behavior first"


ACTIVE_ENTRY: Needs = (why_no_editable_crowd, why_no_entry)
"""The needs of operators on the active entry."""


class OBJECT_OT_steer_behavior_add(SteerOperator, bpy.types.Operator):
    """Add a behavior to the crowd"""

    bl_idname = "object.steer_behavior_add"
    bl_label = "Add Behavior"

    type: bpy.props.EnumProperty(name="Type", description="What to add", items=_type_items)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """The behavior's own sentence."""
        cls_of_type = REGISTRY.get(properties.type)
        return "Add a behavior to the crowd" if cls_of_type is None else summary(cls_of_type)

    def run(self, context: bpy.types.Context) -> None:
        """Add it at the end, and make it the active one."""
        steer = context.object.steer
        add_behavior(context.object, self.type, units_per_meter(context.scene))
        steer.active_behavior = len(steer.behaviors) - 1


class OBJECT_OT_steer_behavior_remove(SteerOperator, bpy.types.Operator):
    """Remove the active behavior and its animation"""

    bl_idname = "object.steer_behavior_remove"
    bl_label = "Remove Behavior"
    needs = ACTIVE_ENTRY

    place: bpy.props.IntProperty(
        name="Place",
        description="Place of the behavior in the list; less than 0 is the active one",
        default=-1,
        min=-1,
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context) -> None:
        """Remove it."""
        obj = context.object
        items = obj.steer.behaviors
        place = active_place(obj) if self.place < 0 else self.place
        if place >= len(items):
            raise SceneError(
                f"Crowd {obj.name!r} has {counted(len(items), 'behavior')}, and none at place "
                f"{place}: choose one of them"
            )
        animation_paths.remap(obj, [i for i in range(len(items)) if i != place])
        items.remove(place)
        obj.steer.active_behavior = min(place, max(0, len(items) - 1))


def why_alone(context: bpy.types.Context) -> str:
    """Why there is no other entry to move one past; empty when there is one."""
    if len(context.object.steer.behaviors) > 1:
        return ""
    return "There is only one behavior: add another one to move it past"


class OBJECT_OT_steer_behavior_move(SteerOperator, bpy.types.Operator):
    """Move the active behavior in the list; with priorities, higher ones come first"""

    bl_idname = "object.steer_behavior_move"
    bl_label = "Move Behavior"
    needs = (*ACTIVE_ENTRY, why_alone)

    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Where to move it",
        items=(("UP", "Up", "Toward the top"), ("DOWN", "Down", "Toward the end")),
    )

    def execute(self, context: bpy.types.Context) -> Returned:
        """Move it by one place; at the end of the list it stays, which is no step to undo."""
        self._to = active_place(context.object) + (-1 if self.direction == "UP" else 1)
        if not 0 <= self._to < len(context.object.steer.behaviors):
            return {"CANCELLED"}
        return super().execute(context)

    def run(self, context: bpy.types.Context) -> None:
        """Move it."""
        obj = context.object
        place, order = active_place(obj), list(range(len(obj.steer.behaviors)))
        order.insert(self._to, order.pop(place))
        animation_paths.remap(obj, order)
        obj.steer.behaviors.move(place, self._to)
        obj.steer.active_behavior = self._to


class OBJECT_OT_steer_behavior_duplicate(SteerOperator, bpy.types.Operator):
    """Duplicate the active behavior with its animation"""

    bl_idname = "object.steer_behavior_duplicate"
    bl_label = "Duplicate Behavior"
    needs = ACTIVE_ENTRY

    def run(self, context: bpy.types.Context) -> None:
        """Copy it; the copy comes right after it."""
        obj = context.object
        items, place = obj.steer.behaviors, active_place(obj)
        order = list(range(len(items)))
        order.insert(place + 1, place)
        animation_paths.remap(obj, order)
        # adding moves the entries in memory: one that was fetched before would be read too late
        twin = items.add()
        copy_group(items[place], twin)
        items.move(len(items) - 1, place + 1)
        obj.steer.active_behavior = place + 1


class OBJECT_OT_steer_behaviors_enable(SteerOperator, bpy.types.Operator):
    """Enable all behaviors, or only the active one to see what it does alone"""

    bl_idname = "object.steer_behaviors_enable"
    bl_label = "Enable Behaviors"
    needs = ACTIVE_ENTRY

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
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Tooltip of the menu entry."""
        return {
            "ALL": "Enable all behaviors",
            "ACTIVE": "Enable the active behavior alone, to see what it does",
        }.get(properties.which, "Disable all behaviors")

    def run(self, context: bpy.types.Context) -> None:
        """Switch them."""
        active = active_place(context.object)
        for place, item in enumerate(context.object.steer.behaviors):
            item.enabled = self.which == "ALL" or (self.which == "ACTIVE" and place == active)


def why_unknown(context: bpy.types.Context) -> str:
    """Why the active entry has no defaults; empty when it has."""
    item = context.object.steer.behaviors[active_place(context.object)]
    if item.type in REGISTRY:
        return ""
    return f"{item.name!r} is of a type that this version of Steer does not have"


class OBJECT_OT_steer_behavior_reset(SteerOperator, bpy.types.Operator):
    """Set weight and parameters of the active behavior to their defaults; its inputs stay"""

    bl_idname = "object.steer_behavior_reset"
    bl_label = "Reset to Defaults"
    needs = (*ACTIVE_ENTRY, why_unknown)

    def run(self, context: bpy.types.Context) -> None:
        """Reset it."""
        item = context.object.steer.behaviors[active_place(context.object)]
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


def why_no_others(context: bpy.types.Context) -> str:
    """Why no crowd is selected to copy to; empty when there is one."""
    if other_crowds(context):
        return ""
    return "Select the crowds to copy to, and last the one to copy from"


class OBJECT_OT_steer_copy_settings(SteerOperator, bpy.types.Operator):
    """Give behaviors and settings of the active crowd to the other selected crowds"""

    bl_idname = "object.steer_copy_settings"
    bl_label = "Copy to Selected Crowds"
    needs = (why_no_crowd, why_no_others)

    inputs: bpy.props.BoolProperty(
        name="Inputs", description="Copy targets, colliders, ground and paths too", default=True
    )

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
    OBJECT_OT_steer_behavior_add,
    OBJECT_OT_steer_behavior_remove,
    OBJECT_OT_steer_behavior_move,
    OBJECT_OT_steer_behavior_duplicate,
    OBJECT_OT_steer_behaviors_enable,
    OBJECT_OT_steer_behavior_reset,
    OBJECT_OT_steer_copy_settings,
)
