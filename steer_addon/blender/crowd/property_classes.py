"""`Object.steer`: settings of a crowd, as Blender properties generated from core's dataclasses.

The classes are made when the extension is registered, so that a behavior whose module was added
to `core/behaviors` needs nothing more: it gets a property group of its own beside the others.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...core.behaviors import REGISTRY, Behavior, own_parameters
from ...core.crowd.area_settings import AreaSettings
from ...core.crowd.groups import GroupSettings
from ...core.errors import ParameterError
from ...core.parameters import parameters
from ..display import display
from . import agent_count, slots
from .bake_settings import SHOWN_BLOCKS
from .property_factory import (
    FIXED,
    OVERRIDABLE,
    make_class,
    make_group,
    make_property,
    summary,
    unique_name,
)
from .slots import (
    collection_property,
    fixed,
    inputs,
    is_other,
    is_second_target,
    object_property,
    set_title,
    source_properties,
    target_properties,
    title_of,
)

if TYPE_CHECKING:
    pass

ENTRY_PARAMETERS = ("enabled", "weight", "group")
"""Parameters of every behavior that are properties of the list entry itself."""

ENTRY_INPUTS = tuple(
    f"{role}_{part}"
    for role in ("target", "second_target", "source")
    for part in ("kind", "object", "collection")
)
"""Properties of a list entry that name objects of the scene; presets do not hold them."""

COMMON = {name: info for name, info in parameters(Behavior).items() if name in ENTRY_PARAMETERS}


def _keep_name_unique(self: Any, context: bpy.types.Context) -> None:
    """Names tell entries apart on the command line and name their targets."""
    wanted = self.name or self.type
    others = [
        item.name for item in self.id_data.steer.behaviors if item.as_pointer() != self.as_pointer()
    ]
    name = unique_name(wanted, others)
    if name != self.name:
        self.name = name


def sync_display(obj: bpy.types.Object) -> None:
    """Tell the Crowd modifier what it needs of the settings to show the agents."""
    modifier = display.find_modifier(obj)
    if modifier is None:
        return
    steer = obj.steer
    wanted = {
        "Radius": steer.agents.radius,
        "Size by Radius": steer.agents.size_spread > 0.0,
        "Forward Axis": steer.motion.forward_axis,
    }
    for name in wanted.keys() & display.input_names(modifier):
        value = wanted[name]
        if display.get_input(modifier, name) != value:
            display.set_input(modifier, name, value)


def _sync_display(self: Any, context: bpy.types.Context) -> None:
    sync_display(self.id_data)


def _tag_object(self: Any, _context: bpy.types.Context) -> None:
    """Let Blender evaluate an object whose settings a script changed, as it does for the user."""
    self.id_data.update_tag()


def type_number(type_name: str) -> int:
    """Number that a .blend file stores for a type: the same whatever other types there are.

    It stays below 2**24, so that it is exact as a 32-bit float too.
    """
    return zlib.crc32(type_name.encode()) & 0xFFFFFF


def _type_items() -> list[tuple[str, str, str, str, int]]:
    items = []
    for name, cls in REGISTRY.items():
        text = summary(cls) or cls.definition.label
        items.append((name, cls.definition.label, text, cls.definition.icon, type_number(name)))
    numbers = [item[4] for item in items]
    if len(set(numbers)) < len(numbers):
        raise ParameterError("Two behavior types have the same number in files: rename the new one")
    return items


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _behavior_class(groups: dict[str, type]) -> type:
    properties: dict[str, Any] = {
        "name": fixed(
            StringProperty,
            "Name",
            "Name of this entry, as in presets and on the command line",
            update=_keep_name_unique,
        ),
        "title": StringProperty(
            name="Name",
            description="Name of this entry; double-click to change it",
            options={"SKIP_SAVE"},
            get=title_of,
            set=set_title,
        ),
        "type": fixed(
            EnumProperty, "Type", "Behavior that this entry adds to the crowd", items=_type_items()
        ),
        **make_group("STEER_Entry", COMMON.values(), "").__annotations__,
        "group": make_property(COMMON["group"], search=slots.search_groups),
        "use_own_target": fixed(
            BoolProperty, "Own Target", "Use a target of its own instead of the crowd's"
        ),
        **target_properties(),
        **target_properties("second_", "Second ", is_second_target),
        **source_properties(),
    }
    for name, group in groups.items():
        if name in properties:
            raise ParameterError(f"A behavior cannot be named {name!r}: rename its class")
        properties[name] = PointerProperty(type=group, override=OVERRIDABLE)
    return make_class("SteerBehavior", properties, "One entry of a crowd's list of behaviors.")


def _group_class() -> type:
    updates = {"name": slots.keep_group_name}
    searches = {"name": slots.search_names, "characters": slots.search_characters}
    properties = {
        # membership does not change from frame to frame
        name: make_property(info, updates.get(name), searches.get(name), FIXED)
        for name, info in parameters(GroupSettings).items()
    }
    return make_class("SteerGroup", properties, GroupSettings.__doc__ or "")


def _cache() -> dict[str, Any]:
    # from 5.0 on Blender has to know
    relative = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (5,) else set()
    return {
        "cache_directory": fixed(
            StringProperty,
            "Folder",
            "Folder that the bake is written into; empty takes steer_cache beside the file, with a "
            "folder of the file's name",
            subtype="DIR_PATH",
            options=FIXED | relative,
        ),
        "cache_folder": fixed(
            StringProperty, "Baked Cache", "Folder of the bake, where there is one"
        ),
        "cache_owner": fixed(
            StringProperty, "Owner", "Crowd that the bake was made for; duplicates of it own none"
        ),
        "variation": fixed(
            IntProperty, "Variation", "Number of the variation that is shown; 0 for none", min=0
        ),
        "own_seed": fixed(IntProperty, "Own Seed", "Seed of the crowd while it shows a variation"),
        "own_cache_folder": fixed(
            StringProperty, "Own Bake", "Folder of the crowd's bake while it shows a variation"
        ),
    }


def _bake() -> dict[str, Any]:
    limits = {"min": -1_000_000, "max": 1_000_000}
    start = "Frame at which agents stand on the mesh's vertices and the motion begins"
    return {
        "frame_start": fixed(IntProperty, "Start", start, default=1, **limits),
        "frame_end": fixed(
            IntProperty, "End", "Last frame that is simulated", default=250, **limits
        ),
        **_cache(),
        "bake_collection": collection_property(
            "Baked Objects", "Collection that holds the result of the keyframe bake"
        ),
        "bake_source_object": object_property(
            "Object",
            "Object that every agent gets a linked copy of; empty takes what Display shows, or "
            "empties for points, cones and discs",
            is_other,
        ),
        "bake_source_collection": collection_property(
            "Collection",
            "Collection of objects of which every agent gets a linked copy; counts where no "
            "object is chosen",
        ),
        "hidden_by_bake": fixed(
            EnumProperty,
            "Hidden by Bake",
            "Where baking hid the crowd; deleting the bake shows it there again",
            items=(
                ("VIEWPORT", "Viewport", "It was seen in the viewport", 1),
                ("RENDER", "Render", "It was seen in renders", 2),
            ),
            options=FIXED | {"ENUM_FLAG", "HIDDEN"},
        ),
    }


def _crowd_class(entry: type, group: type, blocks: dict[str, type]) -> type:
    properties: dict[str, Any] = {
        "is_crowd": fixed(BoolProperty, "Crowd", "The vertices of this mesh object are agents"),
        "behaviors": CollectionProperty(
            type=entry, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
        ),
        "active_behavior": fixed(
            IntProperty,
            "Active Behavior",
            "Place of the chosen entry in the list of behaviors",
            min=0,
        ),
        "groups": CollectionProperty(type=group, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}),
        "active_group": fixed(
            IntProperty, "Active Group", "Place of the chosen group in the list", min=0
        ),
        **agent_count.properties(),
        **inputs(),
        **_bake(),
    }
    for name, group in blocks.items():
        properties[name] = PointerProperty(type=group, override=OVERRIDABLE)
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
    shown = dict.fromkeys(("radius", "size_spread", "forward_axis"), _sync_display)
    blocks = {
        name: make_group(
            f"SteerCrowd{_camel(name)}", parameters(cls).values(), cls.__doc__ or name, shown
        )
        for name, cls in SHOWN_BLOCKS.items()
    }
    entry, group = _behavior_class(behaviors), _group_class()
    crowd = _crowd_class(entry, group, blocks)
    settings = parameters(AreaSettings)
    area = make_group(
        "SteerArea",
        settings.values(),
        AreaSettings.__doc__ or "",
        dict.fromkeys(settings, _tag_object),
    )
    for cls in (*behaviors.values(), *blocks.values(), entry, group, crowd, area):
        bpy.utils.register_class(cls)
        _registered.append(cls)
    bpy.types.Object.steer = PointerProperty(type=crowd, override=OVERRIDABLE)
    bpy.types.Object.steer_area = PointerProperty(type=area, override=OVERRIDABLE)


def unregister() -> None:
    """Take back what `register` did, as far as it came."""
    for name in ("steer", "steer_area"):
        if hasattr(bpy.types.Object, name):
            delattr(bpy.types.Object, name)
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
