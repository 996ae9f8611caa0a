"""Edit the list of behaviors; animation of the entries goes along with them."""

from __future__ import annotations

import bpy

from ...core.behaviors import REGISTRY
from ...core.errors import SceneError
from ..crowd import animation_paths
from ..crowd.properties import BEHAVIORS_PATH, add_behavior
from ..crowd.property_factory import copy_group, sentence
from .common import Returned, SteerOperator, why_no_editable_crowd


def behavior_groups() -> dict[str, list[str]]:
    """Behavior types by the heading that menus list them under."""
    groups: dict[str, list[str]] = {}
    for name, cls in REGISTRY.items():
        groups.setdefault(cls.definition.group, []).append(name)
    return groups


def require_entry(obj: bpy.types.Object) -> int:
    """Place of the active entry.

    Raises:
        SceneError: The list is empty.
    """
    count = len(obj.steer.behaviors)
    if count == 0:
        raise SceneError(f"Crowd {obj.name!r} has no behaviors: add one first")
    return min(obj.steer.active_behavior, count - 1)


def _remap(obj: bpy.types.Object, order: list[int]) -> None:
    """Let the animation of entries go along with them; see `animation_paths.remap`."""
    animation_paths.remap(obj, BEHAVIORS_PATH, order)


def remove_behavior(obj: bpy.types.Object, place: int) -> None:
    """Remove an entry with its animation.

    Raises:
        SceneError: Animation of the list lies in a linked action.
    """
    items = obj.steer.behaviors
    order = [i for i in range(len(items)) if i != place]
    _remap(obj, order)
    items.remove(place)
    obj.steer.active_behavior = min(place, max(0, len(items) - 1))


def move_behavior(obj: bpy.types.Object, place: int, to: int) -> None:
    """Move an entry with its animation.

    Raises:
        SceneError: Animation of the list lies in a linked action.
    """
    items = obj.steer.behaviors
    order = list(range(len(items)))
    order.insert(to, order.pop(place))
    _remap(obj, order)
    items.move(place, to)
    obj.steer.active_behavior = to


def duplicate_behavior(obj: bpy.types.Object, place: int) -> None:
    """Copy an entry with its animation; the copy comes right after it.

    Raises:
        SceneError: Animation of the list lies in a linked action.
    """
    items = obj.steer.behaviors
    order = list(range(len(items)))
    order.insert(place + 1, place)
    _remap(obj, order)
    # adding moves the entries in memory: one that was fetched before would be read after its end
    twin = items.add()
    copy_group(items[place], twin)
    items.move(len(items) - 1, place + 1)
    obj.steer.active_behavior = place + 1


_items: list[tuple[str, str, str]] = []
"""The types; Blender keeps no reference to their texts, which have to stay alive on this side."""


def _type_items(
    self: bpy.types.Operator | None, context: bpy.types.Context | None
) -> list[tuple[str, str, str]]:
    _items[:] = [
        (name, cls.definition.label, sentence((cls.__doc__ or "").partition("\n\n")[0]))
        for name, cls in REGISTRY.items()
    ]
    return _items


class OnEntry(SteerOperator):
    """Base of operators on the active entry."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Only while there is an entry."""
        reason = why_no_editable_crowd(context)
        if not reason and not context.object.steer.behaviors:
            reason = "Add a behavior first"
        return reason


class OBJECT_OT_steer_behavior_add(SteerOperator, bpy.types.Operator):
    """Add a behavior to the crowd"""

    bl_idname = "object.steer_behavior_add"
    bl_label = "Add Behavior"

    type: bpy.props.EnumProperty(name="Type", description="What to add", items=_type_items)

    @classmethod
    def description(
        cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        """The behavior's own sentence."""
        known = {item[0]: item[2] for item in _type_items(None, None)}
        return known.get(properties.type, "Add a behavior to the crowd")

    def run(self, context: bpy.types.Context) -> None:
        """Add it at the end, and make it the active one."""
        steer = context.object.steer
        add_behavior(context.object, self.type)
        steer.active_behavior = len(steer.behaviors) - 1


class OBJECT_OT_steer_behavior_remove(OnEntry, bpy.types.Operator):
    """Remove the active behavior and its animation"""

    bl_idname = "object.steer_behavior_remove"
    bl_label = "Remove Behavior"

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
        active = require_entry(obj)
        if self.place >= len(obj.steer.behaviors):
            raise SceneError(
                f"Crowd {obj.name!r} has {len(obj.steer.behaviors)} behaviors, and none at place "
                f"{self.place}: choose one of them"
            )
        remove_behavior(obj, active if self.place < 0 else self.place)


class OBJECT_OT_steer_behavior_move(OnEntry, bpy.types.Operator):
    """Move the active behavior in the list; with priorities, higher ones come first"""

    bl_idname = "object.steer_behavior_move"
    bl_label = "Move Behavior"

    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Where to move it",
        items=(("UP", "Up", "Toward the top"), ("DOWN", "Down", "Toward the end")),
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Only where there is another one to move it past."""
        reason = super().why_not(context)
        if not reason and len(context.object.steer.behaviors) < 2:
            reason = "There is only one behavior: add another one to move it past"
        return reason

    def execute(self, context: bpy.types.Context) -> Returned:
        """Move it by one place; at the end of the list it stays, which is no step to undo."""
        place = require_entry(context.object)
        to = place + (-1 if self.direction == "UP" else 1)
        if not 0 <= to < len(context.object.steer.behaviors):
            return {"CANCELLED"}
        return super().execute(context)

    def run(self, context: bpy.types.Context) -> None:
        """Move it by one place."""
        place = require_entry(context.object)
        move_behavior(context.object, place, place + (-1 if self.direction == "UP" else 1))


class OBJECT_OT_steer_behavior_duplicate(OnEntry, bpy.types.Operator):
    """Duplicate the active behavior with its animation"""

    bl_idname = "object.steer_behavior_duplicate"
    bl_label = "Duplicate Behavior"

    def run(self, context: bpy.types.Context) -> None:
        """Duplicate it."""
        duplicate_behavior(context.object, require_entry(context.object))


classes = (
    OBJECT_OT_steer_behavior_add,
    OBJECT_OT_steer_behavior_remove,
    OBJECT_OT_steer_behavior_move,
    OBJECT_OT_steer_behavior_duplicate,
)
