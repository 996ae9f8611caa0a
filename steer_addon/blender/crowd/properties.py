"""Settings of a crowd in and out of Blender's properties, in core's own units and types."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ...core.behaviors import REGISTRY, Behavior, own_parameters
from ...core.crowd.groups import GroupSettings
from ...core.crowd.scaling import scaled
from ...core.crowd.settings import BLOCKS, CrowdSettings, make_behavior
from ...core.errors import ParameterError
from ...core.sensing.declare import TARGETS
from . import animation_paths, casting
from .bake_settings import KeyframeBakeSettings
from .property_classes import COMMON, ENTRY_INPUTS
from .property_factory import made_of, read_settings, read_values, write_settings, write_values
from .slots import NEW_GROUP, uses_of

if TYPE_CHECKING:
    from .property_types import SteerBehavior


def definition_of(item: SteerBehavior) -> Any:
    """The definition of a list entry's type, or None for a type of another version."""
    cls = REGISTRY.get(item.type)
    return None if cls is None else cls.definition


def uses_targets(item: SteerBehavior) -> bool:
    """Whether a list entry steers by targets."""
    return TARGETS in uses_of(item)


def behavior_of(item: SteerBehavior) -> Behavior:
    """The core behavior that a list entry describes.

    Raises:
        ParameterError: Its type is unknown, or a value does not fit.
    """
    cls = REGISTRY.get(item.type)
    if cls is None:
        raise ParameterError(
            f"Behavior {item.name!r} is of a type that this version of Steer does not have: "
            "remove it from the list or update Steer"
        )
    values = read_values(getattr(item, item.type), own_parameters(cls).values())
    values |= read_values(item, COMMON.values())
    own_target = item.use_own_target and TARGETS in cls.definition.uses
    # core calls an entry without a name by its type; saying so twice would differ from a preset
    name = "" if item.name == item.type else item.name
    values |= {"name": name, "target": item.name if own_target else ""}
    behavior: Behavior = made_of(cls, tuple(values.items()))
    return behavior


def settings_of(obj: bpy.types.Object) -> CrowdSettings:
    """The settings of a crowd, with values as they are animated at the current frame.

    Args:
        obj: Original (not evaluated) crowd object.

    Raises:
        ParameterError: A behavior type or a choice is unknown to this version.
    """
    steer = obj.steer
    blocks = {name: read_settings(getattr(steer, name), cls) for name, cls in BLOCKS.items()}
    stack = tuple(behavior_of(item) for item in steer.behaviors)
    groups = tuple(read_settings(item, GroupSettings) for item in steer.groups)
    return CrowdSettings(
        **blocks,
        behaviors=stack,
        groups=groups,
        seed=steer.seed,
        **casting.from_display(obj),
    )


def staged_settings(shown: bpy.types.Object, obj: bpy.types.Object) -> CrowdSettings:
    """The settings of a crowd as a stage shows it: without its Crowd modifier.

    Args:
        shown: What the stage has of the crowd.
        obj: Original (not evaluated) crowd object, whose modifier says as what agents are shown.

    Raises:
        ParameterError: A behavior type or a choice is unknown to this version.
    """
    return replace(settings_of(shown), **casting.from_display(obj))


def bake_settings_of(obj: bpy.types.Object) -> KeyframeBakeSettings:
    """The keyframe-bake settings of a crowd."""
    result: KeyframeBakeSettings = read_settings(obj.steer.bake, KeyframeBakeSettings)
    return result


def write_behavior(item: SteerBehavior, behavior: Behavior) -> None:
    """Set a list entry from a core behavior; the objects that it reads stay as they are."""
    type_name = behavior.definition.type
    item.type = type_name
    item.name = behavior.key
    values = behavior.to_dict()
    write_values(item, COMMON.values(), values)
    write_values(getattr(item, type_name), own_parameters(type(behavior)).values(), values)
    item.use_own_target = bool(behavior.target)


def add_behavior(obj: bpy.types.Object, type_name: str, unit: float = 1.0) -> Any:
    """Add a behavior of a type with default values to the end of the list; returns the entry.

    Args:
        obj: The crowd.
        type_name: The type.
        unit: Units of its scene in a meter.

    Raises:
        ParameterError: There is no such type.
    """
    behavior = scaled(make_behavior({"type": type_name}), unit)
    item = obj.steer.behaviors.add()
    write_behavior(item, behavior)
    return item


def add_group(obj: bpy.types.Object, name: str = NEW_GROUP) -> Any:
    """Add a group to the end of the list, and make it the active one; returns the entry."""
    item = obj.steer.groups.add()
    item.name = name
    obj.steer.active_group = len(obj.steer.groups) - 1
    return item


def apply_settings(obj: bpy.types.Object, settings: CrowdSettings) -> None:
    """Set all properties of a crowd from settings, such as those of a preset.

    Behaviors that the crowd had under the same name and type keep their inputs and animation;
    the animation of removed entries is removed.

    Raises:
        SceneError: Animation of the list lies in a linked action.
    """
    steer = obj.steer
    before = {(item.name, item.type): place for place, item in enumerate(steer.behaviors)}
    order = [before.get((b.key, b.definition.type)) for b in settings.behaviors]
    animation_paths.remap(obj, order)
    inputs = [{name: getattr(item, name) for name in ENTRY_INPUTS} for item in steer.behaviors]
    steer.behaviors.clear()
    for behavior, place in zip(settings.behaviors, order, strict=True):
        item = steer.behaviors.add()
        write_behavior(item, behavior)
        if place is not None:
            for name, value in inputs[place].items():
                setattr(item, name, value)
    steer.active_behavior = min(steer.active_behavior, max(0, len(settings.behaviors) - 1))
    for name in BLOCKS:
        write_settings(getattr(steer, name), getattr(settings, name))
    steer.groups.clear()
    for group in settings.groups:
        write_settings(steer.groups.add(), group)
    steer.active_group = min(steer.active_group, max(0, len(settings.groups) - 1))
    steer.seed = settings.seed
