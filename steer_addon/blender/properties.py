"""`Object.steer`: what a crowd is told, as Blender properties generated from core's dataclasses.

The classes are made when the extension is registered, so that a behavior whose module was added
to `core/behaviors` is simply there: it gets a property group of its own beside the others.
"""

from __future__ import annotations

import zlib
from typing import Any

import bpy

from ..core.behaviors import REGISTRY, Behavior, own_parameters
from ..core.behaviors.base import TARGETS
from ..core.errors import ParameterError
from ..core.parameters import parameters
from ..core.settings import BLOCKS, CrowdSettings, make_behavior
from . import animation_paths
from .bake.keyframes import KeyframeBakeSettings
from .property_factory import (
    ANIMATED,
    FIXED,
    OVERRIDABLE,
    make_class,
    make_group,
    read_settings,
    read_values,
    sentence,
    write_settings,
    write_values,
)

BEHAVIORS_PATH = "steer.behaviors"
"""Data path of the list of behaviors, from its object."""

_ENTRY = ("enabled", "weight")
"""Parameters of every behavior that are properties of the list entry itself."""

_COMMON = {name: info for name, info in parameters(Behavior).items() if name in _ENTRY}

TARGET_KINDS = (
    ("OBJECT", "Object", "The origin of one object", "OBJECT_DATA", 0),
    (
        "COLLECTION",
        "Collection",
        "The origins of all objects of a collection",
        "OUTLINER_COLLECTION",
        1,
    ),
    ("POINTS", "Points", "The vertices of a mesh object", "MESH_DATA", 2),
)


def _fixed(prop: Any, **options: Any) -> Any:
    return prop(options=FIXED, override=OVERRIDABLE, **options)


def _is_other(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data


def _is_target(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data and (self.target_kind != "POINTS" or obj.type == "MESH")


def _is_other_mesh(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data and obj.type == "MESH"


def _keep_name_unique(self: Any, context: bpy.types.Context) -> None:
    """Names tell entries apart on the command line and name their targets."""
    wanted = self.name or self.type
    others = [
        item.name for item in self.id_data.steer.behaviors if item.as_pointer() != self.as_pointer()
    ]
    name = unique_name(wanted, others)
    if name != self.name:
        self.name = name


def unique_name(wanted: str, taken: list[str]) -> str:
    """`wanted`, or `wanted.001` and so on where that is taken."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}.{number:03d}"
    return name


def _target_properties() -> dict[str, Any]:
    return {
        "target_kind": _fixed(
            bpy.props.EnumProperty,
            name="Target Kind",
            description="What the targets are",
            items=TARGET_KINDS,
            default="OBJECT",
        ),
        "target_object": _fixed(
            bpy.props.PointerProperty,
            name="Target",
            description="Object that agents steer by",
            type=bpy.types.Object,
            poll=_is_target,
        ),
        "target_collection": _fixed(
            bpy.props.PointerProperty,
            name="Targets",
            description="Collection whose objects agents steer by",
            type=bpy.types.Collection,
        ),
    }


def type_number(type_name: str) -> int:
    """Number that a .blend file stores for a type: the same whatever other types there are.

    It stays below 2**24, so that it is exact as a 32-bit float too.
    """
    return zlib.crc32(type_name.encode()) & 0xFFFFFF


def _type_items() -> list[tuple[str, str, str, str, int]]:
    items = []
    for name, cls in REGISTRY.items():
        text = sentence((cls.__doc__ or cls.definition.label).strip().partition("\n\n")[0])
        items.append((name, cls.definition.label, text, cls.definition.icon, type_number(name)))
    numbers = [item[4] for item in items]
    if len(set(numbers)) < len(numbers):
        raise ParameterError("Two behavior types have the same number in files: rename the new one")
    return items


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _behavior_class(groups: dict[str, type]) -> type:
    properties: dict[str, Any] = {
        "name": bpy.props.StringProperty(
            name="Name",
            description="Name of this entry, as in presets and on the command line",
            options=FIXED,
            override=OVERRIDABLE,
            update=_keep_name_unique,
        ),
        "type": _fixed(
            bpy.props.EnumProperty,
            name="Type",
            description="Which behavior this is",
            items=_type_items(),
        ),
        **make_group("STEER_Entry", _COMMON.values(), "").__annotations__,
        "use_own_target": _fixed(
            bpy.props.BoolProperty,
            name="Own Target",
            description="Use a target of its own instead of the crowd's",
        ),
        **_target_properties(),
    }
    for name, group in groups.items():
        properties[name] = bpy.props.PointerProperty(type=group, override=OVERRIDABLE)
    return make_class("SteerBehavior", properties, "One entry of a crowd's list of behaviors.")


def _inputs() -> dict[str, Any]:
    return {
        **_target_properties(),
        "colliders": _fixed(
            bpy.props.PointerProperty,
            name="Colliders",
            description="Collection whose meshes block agents and are seen by them",
            type=bpy.types.Collection,
        ),
        "ground": _fixed(
            bpy.props.PointerProperty,
            name="Ground",
            description="Terrain that agents walk on; without it they stay at their own height",
            type=bpy.types.Object,
            poll=_is_other_mesh,
        ),
        "seed": bpy.props.IntProperty(
            name="Seed",
            description="Changes everything that is random; the same seed gives the same motion",
            options=ANIMATED,
            override=OVERRIDABLE,
        ),
    }


def _bake() -> dict[str, Any]:
    return {
        "frame_start": _fixed(
            bpy.props.IntProperty,
            name="Start",
            description="Frame at which agents stand on the mesh's vertices and the motion begins",
            default=1,
            min=-1_000_000,
            max=1_000_000,
        ),
        "frame_end": _fixed(
            bpy.props.IntProperty,
            name="End",
            description="Last frame that is simulated",
            default=250,
            min=-1_000_000,
            max=1_000_000,
        ),
        "bake_collection": _fixed(
            bpy.props.PointerProperty,
            name="Baked Objects",
            description="Collection that holds the result of the keyframe bake",
            type=bpy.types.Collection,
        ),
        "bake_source_object": _fixed(
            bpy.props.PointerProperty,
            name="Object",
            description="Object that every agent gets a linked copy of; empty makes empties",
            type=bpy.types.Object,
            poll=_is_other,
        ),
        "bake_source_collection": _fixed(
            bpy.props.PointerProperty,
            name="Collection",
            description="Collection of objects of which every agent gets a linked copy",
            type=bpy.types.Collection,
        ),
        "hidden_by_bake": bpy.props.EnumProperty(
            name="Hidden by Bake",
            description="Where baking hid the crowd; deleting the bake shows it there again",
            items=(
                ("VIEWPORT", "Viewport", "It was seen in the viewport", 1),
                ("RENDER", "Render", "It was seen in renders", 2),
            ),
            options={*FIXED, "ENUM_FLAG", "HIDDEN"},
            override=OVERRIDABLE,
        ),
    }


def _crowd_class(entry: type, blocks: dict[str, type]) -> type:
    properties: dict[str, Any] = {
        "is_crowd": _fixed(
            bpy.props.BoolProperty,
            name="Crowd",
            description="The vertices of this mesh object are agents",
        ),
        "behaviors": bpy.props.CollectionProperty(
            type=entry, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
        ),
        "active_behavior": _fixed(
            bpy.props.IntProperty,
            name="Active Behavior",
            description="Place of the chosen entry in the list of behaviors",
            min=0,
        ),
        **_inputs(),
        **_bake(),
    }
    for name, group in blocks.items():
        properties[name] = bpy.props.PointerProperty(type=group, override=OVERRIDABLE)
    return make_class("SteerCrowd", properties, "All settings of a crowd.")


_registered: list[type] = []


def register() -> None:
    """Make the classes from the dataclasses as they are now, and add `Object.steer`."""
    behaviors = {
        name: make_group(
            f"SteerBehavior{_camel(name)}", own_parameters(cls).values(), cls.__doc__ or name
        )
        for name, cls in REGISTRY.items()
    }
    settings = {**BLOCKS, "bake": KeyframeBakeSettings}
    blocks = {
        name: make_group(f"SteerCrowd{_camel(name)}", parameters(cls).values(), cls.__doc__ or name)
        for name, cls in settings.items()
    }
    entry = _behavior_class(behaviors)
    crowd = _crowd_class(entry, blocks)
    for cls in (*behaviors.values(), *blocks.values(), entry, crowd):
        bpy.utils.register_class(cls)
        _registered.append(cls)
    bpy.types.Object.steer = bpy.props.PointerProperty(type=crowd, override=OVERRIDABLE)


def unregister() -> None:
    """Take back what `register` did."""
    del bpy.types.Object.steer
    while _registered:
        bpy.utils.unregister_class(_registered.pop())


def definition_of(item: Any) -> Any:
    """The definition of a list entry's type, or None for a type of another version."""
    cls = REGISTRY.get(item.type)
    return None if cls is None else cls.definition


def uses_targets(item: Any) -> bool:
    """Whether a list entry steers by targets."""
    definition = definition_of(item)
    return definition is not None and TARGETS in definition.uses


def behavior_of(item: Any) -> Behavior:
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
    values |= read_values(item, _COMMON.values())
    own_target = item.use_own_target and TARGETS in cls.definition.uses
    # core calls an entry without a name by its type; saying so twice would differ from a preset
    name = "" if item.name == item.type else item.name
    return cls(**values, name=name, target=item.name if own_target else "")


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
    return CrowdSettings(**blocks, behaviors=stack, seed=steer.seed)


def bake_settings_of(obj: bpy.types.Object) -> KeyframeBakeSettings:
    """The keyframe-bake settings of a crowd."""
    result: KeyframeBakeSettings = read_settings(obj.steer.bake, KeyframeBakeSettings)
    return result


def write_behavior(item: Any, behavior: Behavior) -> None:
    """Set a list entry from a core behavior; target objects stay as they are."""
    type_name = behavior.definition.type
    item.type = type_name
    item.name = behavior.key
    values = behavior.to_dict()
    write_values(item, _COMMON.values(), values)
    write_values(getattr(item, type_name), own_parameters(type(behavior)).values(), values)
    item.use_own_target = bool(behavior.target)


def add_behavior(obj: bpy.types.Object, type_name: str) -> Any:
    """Add a behavior of a type with default values to the end of the list; returns the entry.

    Raises:
        ParameterError: There is no such type.
    """
    behavior = make_behavior({"type": type_name})
    item = obj.steer.behaviors.add()
    write_behavior(item, behavior)
    return item


def apply_settings(obj: bpy.types.Object, settings: CrowdSettings) -> None:
    """Set all properties of a crowd from settings, such as those of a preset.

    Behaviors that the crowd had under the same name and type keep their target and animation;
    the animation of those that go is removed.

    Raises:
        SceneError: Animation of the list lies in a linked action.
    """
    steer = obj.steer
    before = {(item.name, item.type): place for place, item in enumerate(steer.behaviors)}
    order = [before.get((b.key, b.definition.type)) for b in settings.behaviors]
    animation_paths.remap(obj, BEHAVIORS_PATH, order)
    targets = [
        (item.target_kind, item.target_object, item.target_collection) for item in steer.behaviors
    ]
    steer.behaviors.clear()
    for behavior, place in zip(settings.behaviors, order, strict=True):
        item = steer.behaviors.add()
        write_behavior(item, behavior)
        if place is not None:
            item.target_kind, item.target_object, item.target_collection = targets[place]
    steer.active_behavior = min(steer.active_behavior, max(0, len(settings.behaviors) - 1))
    for name in BLOCKS:
        write_settings(getattr(steer, name), getattr(settings, name))
    steer.seed = settings.seed
