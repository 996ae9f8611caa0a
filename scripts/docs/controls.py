"""Controls of each section of the Crowd panel, found by drawing it.

The sections are drawn as Blender draws them, into a layout that only records its contents,
once for every state with different contents. Names, tooltips, defaults and limits are
read from Blender. Needs the bpy wheel.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="steer-docs-"))

import bpy

import steer_addon
from steer_addon.blender.bake.status import BakeStatus
from steer_addon.blender.crowd import crowds
from steer_addon.blender.crowd.properties import add_behavior
from steer_addon.blender.display import display
from steer_addon.blender.display.crowd_group import menu_node
from steer_addon.blender.operators import ways_out
from steer_addon.blender.ui import display_fields, drawing, variations
from steer_addon.blender.ui import overlay_table as table
from steer_addon.blender.variations import made

BIG = 1e6
"""Limits from here on are none."""


@dataclass(frozen=True)
class Control:
    """A row of a table.

    Attributes:
        label: Text in the panel.
        meaning: The tooltip, with the meanings of choices.
        default: Default value as text.
        limits: Range as text.
    """

    label: str
    meaning: str
    default: str = ""
    limits: str = ""


class Notes:
    """A layout that records its contents, by identifiers that are the same in every state."""

    def __init__(self, found: dict[str, Control]) -> None:
        self.found = found

    def __getattr__(self, name: str) -> Any:
        return None

    def _part(self, **options: Any) -> Notes:
        return Notes(self.found)

    row = column = box = split = grid_flow = _part

    def _nothing(self, *words: Any, **options: Any) -> None:
        """Ignore calls that add no control."""

    label = separator = progress = template_icon = popover = _nothing

    def template_list(
        self, kind: str, name: str, data: Any, entries: str, *more: Any, **_: Any
    ) -> None:
        """The rows of a list are drawn like the rest."""
        for item in getattr(data, entries)[:1]:
            wide = SimpleNamespace(region=SimpleNamespace(width=400))
            getattr(bpy.types, kind).draw_item(None, wide, self, data, item, 0, data, more[-1])

    def menu(self, menu: str, *, text: str | None = None, **options: Any) -> None:
        """A menu, with its entries."""
        cls = getattr(bpy.types, menu)
        self.found.setdefault(menu, Control(f"*{text or cls.bl_label}*", cls.__doc__ or ""))
        if menu == "STEER_MT_behavior_specials":
            cls.draw(SimpleNamespace(layout=self), bpy.context)

    def operator(self, idname: str, *, text: str = "", **options: Any) -> Any:
        """A button."""
        module, name = idname.split(".")
        rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
        # numbers tell buttons of one operator apart
        label = rna.name if not text or text.isdecimal() else text
        self.found.setdefault(idname, Control(f"*{label}*", rna.description))
        return SimpleNamespace()

    def prop(self, data: Any, name: str, *, text: str | None = None, **options: Any) -> None:
        """A property: of a settings block, or an input of the Crowd modifier."""
        if (
            isinstance(data, bpy.types.NodesModifier)
            or not hasattr(data, "bl_rna")
            or name == "value"
        ):
            self.found.setdefault(f"input {text}", _input(text or name))
            return
        info = data.bl_rna.properties[name]
        label = (text or "").strip()
        control = Control(label or info.name, _meaning(info), _default(info), _limits(info))
        self.found.setdefault(f"{data.bl_rna.identifier}.{name} {label}", control)

    def prop_search(self, data: Any, name: str, *_: Any, text: str = "", **options: Any) -> None:
        """A property that is chosen among data-blocks."""
        self.prop(data, name, text=text)


def _choices(items: Iterable[Any]) -> str:
    """The meanings of the choices of a menu."""
    return "; ".join(
        f"*{item.name}*: {item.description[:1].lower()}{item.description[1:]}" for item in items
    )


def _meaning(info: Any) -> str:
    text: str = info.description
    return f"{text}: {_choices(info.enum_items)}" if info.type == "ENUM" else text


def _number(value: float) -> str:
    return "" if abs(value) >= BIG else f"{value:g}"


def _default(info: Any) -> str:
    if info.type == "BOOLEAN":
        return "on" if info.default else "off"
    if info.type == "ENUM":
        if info.is_enum_flag:
            return "all" if len(info.default_flag) == len(info.enum_items) else ""
        return info.enum_items[info.default].name
    if info.type not in ("INT", "FLOAT"):
        return "–"
    return f"{_number(_shown(info, info.default))}{'°' if info.unit == 'ROTATION' else ''}"


def _shown(info: Any, value: float) -> float:
    """A value in the unit that people see."""
    return math.degrees(value) if info.unit == "ROTATION" else value


def _limits(info: Any) -> str:
    if info.type not in ("INT", "FLOAT"):
        return ""
    return _between(_shown(info, info.hard_min), _shown(info, info.hard_max))


def _between(least: float, most: float) -> str:
    low, high = _number(least), _number(most)
    return f"{low} to {high}" if low and high else f"{low} and more" if low else ""


def _input(name: str) -> Control:
    """An input of the Crowd modifier, as its node group has it."""
    group = display.ensure_node_group()
    socket = next(s for s in display.sockets_of(group) if s.name == name)
    text, default, limits = socket.description, getattr(socket, "default_value", None), ""
    kind = socket.socket_type.removeprefix("NodeSocket")
    if kind == "Menu":
        text = f"{text}: {_choices(menu_node(group, name).enum_items)}"
    elif kind in ("Int", "Float"):
        limits = _between(socket.min_value, socket.max_value)
        default = _number(default)
    elif kind == "Bool":
        default = "on" if default else "off"
    else:
        default = "–" if default in (None, "") else str(default)
    return Control(name, text, str(default), limits)


def _crowd() -> bpy.types.Object:
    """A crowd in a new file, with behaviors that have every kind of input."""
    bpy.ops.wm.read_homefile(use_empty=True)
    mesh = bpy.data.meshes.new("Crowd")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [], [])
    obj = bpy.data.objects.new("Crowd", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    crowds.make_crowd(obj, scene=bpy.context.scene)
    obj.steer.behaviors.clear()
    for name in ("arrive", "interpose", "follow_path", "flow_field", "containment"):
        add_behavior(obj, name)
    return obj


def _behaviors(obj: bpy.types.Object) -> Iterator[None]:
    for place, item in enumerate(obj.steer.behaviors):
        obj.steer.active_behavior = place
        for own in (False, True):
            item.use_own_target = own
            for kind in ("OBJECT", "COLLECTION"):
                item.target_kind = item.second_target_kind = item.source_kind = kind
                yield


def _inputs(obj: bpy.types.Object) -> Iterator[None]:
    for kind in ("OBJECT", "COLLECTION"):
        obj.steer.target_kind = kind
        yield


def _display(obj: bpy.types.Object) -> Iterator[None]:
    modifier = display.find_modifier(obj)
    for shown in ("Cones", "Discs", "Object", "Collection", "Points"):
        display.set_input(modifier, "Display", shown)
        for choice in ("Random", "Index", "Attribute"):
            display.set_input(modifier, "Choose By", choice)
            for color in ("Nothing", "Speed", "State", "ID", "Density"):
                display.set_input(modifier, "Color By", color)
                yield


def _bake(obj: bpy.types.Object) -> Iterator[None]:
    yield
    found = BakeStatus(Path("steer_cache"), range(1, 11), 250)
    with patch.object(drawing.status, "status", return_value=found):
        yield
    with (
        patch.object(drawing, "plays_back", return_value=True),
        patch.object(drawing.baked_file, "problem", return_value="missing"),
    ):
        yield


def _debug(obj: bpy.types.Object) -> Iterator[None]:
    overlay = bpy.context.scene.steer_overlay
    overlay.show, overlay.extent = True, "IN_VIEW"
    yield


def _once(obj: bpy.types.Object) -> Iterator[None]:
    yield


def _main(layout: Any, context: Any, obj: bpy.types.Object) -> None:
    """States: no object, a mesh that is no crowd, and a crowd with a removed part."""
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    drawing.draw_main(layout, context, None)
    drawing.draw_main(layout, context, other)
    with patch.object(crowds, "has_remains", return_value=True):
        drawing.draw_main(layout, context, other)
    for way_out in ways_out.classes:
        # these buttons are remedies, below the sentences of their diagnoses
        layout.operator(way_out.bl_idname)


def _presets(layout: Any, context: Any, obj: bpy.types.Object) -> None:
    panel = SimpleNamespace(layout=layout)
    with patch.object(drawing, "draw_gallery"):
        bpy.types.STEER_PT_presets.draw(panel, context)


def _draw_bake(layout: Any, context: Any, obj: bpy.types.Object) -> None:
    """The section and all of its parts, in a file that is saved and in one that is not."""
    drawing.draw_bake(layout, context, obj)
    several = patch.object(drawing.crowds, "crowds", return_value=[obj, obj])
    with several, patch.object(drawing.places, "why_no_folder", return_value=""):
        drawing.draw_cache(layout, context, obj)
    drawing.draw_cache(layout, context, obj)
    _draw_variations(layout, context, obj)
    for draw in (drawing.draw_keyframes, drawing.draw_export):
        draw(layout, context, obj)


def _draw_variations(layout: Any, context: Any, obj: bpy.types.Object) -> None:
    """The section where one of two is made, and while the other one is being made."""
    found = [made.Variation(number, number, Path()) for number in (1, 2)]
    run = SimpleNamespace(share=0.5, text=lambda: "1/2 tasks")
    there = patch.object(variations.made, "seen", return_value=(found, {1}))
    with there, patch.object(variations.places, "why_no_folder", return_value=""):
        variations.draw_variations(layout, context, obj)
        with patch.object(variations.current, "run", return_value=run):
            variations.draw_variations(layout, context, obj)


Draw = Callable[[Any, Any, bpy.types.Object], None]
States = Callable[[bpy.types.Object], Iterator[None]]
SECTIONS: dict[str, tuple[Draw, States]] = {
    "crowd": (_main, _once),
    "presets": (_presets, _once),
    "behaviors": (drawing.draw_behaviors, _behaviors),
    "inputs": (drawing.draw_inputs, _inputs),
    "display": (display_fields.draw_display, _display),
    "bake": (_draw_bake, _bake),
    "debug": (table.draw_debug, _debug),
}
"""Draw function and states of a section; all other sections are settings blocks."""


def _rows(controls: Iterable[Control]) -> Iterator[str]:
    yield "| control | default | range | what it is |"
    yield "|---|---|---|---|"
    for control in controls:
        yield f"| {control.label} | {control.default} | {control.limits} | {control.meaning} |"


def controls_of(section: str) -> dict[str, Control]:
    """All controls that a section can show, in order, by identifiers."""
    draw, states = SECTIONS[section]
    obj = _crowd()
    found: dict[str, Control] = {}
    own = "SteerBehavior"
    for _ in states(obj):
        draw(Notes(found), bpy.context, obj)
    # parameters of one behavior are on the page of behaviors
    return {
        name: control
        for name, control in found.items()
        if not (name.startswith(own) and not name.startswith(f"{own}."))
    }


def tables() -> dict[str, str]:
    """The table of controls of each section, as Markdown."""
    steer_addon.register()
    try:
        return {name: "\n".join(_rows(controls_of(name).values())) + "\n" for name in SECTIONS}
    finally:
        steer_addon.unregister()
