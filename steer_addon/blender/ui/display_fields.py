"""The Display section: the inputs of the Crowd modifier, and what goes with characters."""

from __future__ import annotations

import bpy
from bpy.types import Context, NodesModifier, Object, UILayout

from ...core.errors import SteerError
from ..characters import library, library_group, sources
from ..display import display
from ..operators.looks import why_no_levels
from .drawing import draw_named
from .heroes import draw_heroes
from .messages import draw_message, is_narrow

_POINTERS = {"Object": "objects", "Collection": "collections", "Material": "materials"}
_NAMELESS = (*_POINTERS, "Display", "Choose By", "Attribute", "Color By")
"""Inputs of the Crowd modifier whose fields have no room for their name."""
_BODY = ("Scale", "Align to Heading")
_SHOWN = {
    "Points": (),
    "Cones": ("Material", *_BODY),
    "Discs": ("Material", *_BODY),
    "Object": ("Object", *_BODY),
    "Collection": ("Collection", "Choose By", *_BODY),
    "Character": ("Object", *_BODY, "Upright", "Full Detail"),
    "Characters": ("Collection", "Choose By", *_BODY, "Upright", "Full Detail"),
}
"""Inputs of the Crowd modifier that each display uses."""
_CHOSEN = {"Random": ("Seed",), "Attribute": ("Attribute",)}
"""Inputs that a way to choose from a collection uses."""
_MOST_WEIGHTS = 12
"""Further characters have their weights in their own modifiers."""
_RANGED = ("Speed", "Density")


def shown_inputs(modifier: NodesModifier) -> list[str]:
    """Names of the inputs that have an effect, in the order in which they are drawn.

    Raises:
        SceneError: The modifier's node group was changed.
    """
    shown = display.get_input(modifier, "Display")
    known = display.input_names(modifier)
    chosen, color = (
        str(display.get_input(modifier, name)) if name in known else ""
        for name in ("Choose By", "Color By")
    )
    names = ["Display", *_SHOWN.get(shown, ())]
    if "Choose By" in names:
        place = names.index("Choose By") + 1
        names[place:place] = _CHOSEN.get(chosen, ())
    names.append("Color By")
    if color in _RANGED:
        names.append("Color Range")
    if color == "ID" and "Seed" not in names:
        names.append("Seed")
    if shown != "Points":
        names += "Viewport Limit", "Keep Points"
    return [name for name in names if name in known]


def _draw_characters(layout: UILayout, modifier: NodesModifier, name: str) -> None:
    """An input of each of several characters."""
    if display.get_input(modifier, "Display") != "Characters":
        return
    for character in library.among(display.shown_body(modifier))[:_MOST_WEIGHTS]:
        own = library_group.modifier_of(character)
        if own is not None and name in display.input_names(own):
            layout.prop(*display.input_path(own, name), text=f"{character.name} {name}")


def _can_be_made_anew(modifier: NodesModifier) -> bool:
    """Whether agents are shown as a character that knows its rig."""
    shown, body = display.shown_as(modifier)
    return shown == "Character" and body is not None and sources.KEY in body


def _draw_with_button(layout: UILayout, modifier: NodesModifier, name: str) -> None:
    """The field of the character, with a button beside it that makes it again."""
    beside = layout.use_property_split
    if not beside:
        layout.label(text=name)
    row = layout.row(align=True)
    owner, prop = display.input_path(modifier, name)
    text = name if beside else ""
    if prop == "value":
        row.prop(owner, prop, text=text)
    else:
        row.prop_search(owner, prop, bpy.data, _POINTERS[name], text=text)
    button = row.operator("object.steer_make_anew", text="", icon="FILE_REFRESH")
    button.name = display.get_input(modifier, name).name


def _draw_input(layout: UILayout, modifier: NodesModifier, name: str) -> None:
    """The field of an input."""
    owner, prop = display.input_path(modifier, name)
    if name in _NAMELESS:
        draw_named(layout, owner, prop, name, _POINTERS.get(name, "") if prop != "value" else "")
    else:
        layout.prop(owner, prop, text=name)


def draw_display(layout: UILayout, context: Context, obj: Object) -> None:
    """Inputs of the Crowd modifier that count."""
    layout.use_property_split = not is_narrow(context)
    modifier = display.find_modifier(obj)
    if modifier is None:
        return
    try:
        names = shown_inputs(modifier)
        for name in names:
            if name == "Object" and _can_be_made_anew(modifier):
                _draw_with_button(layout, modifier, name)
            else:
                _draw_input(layout, modifier, name)
            if name == "Viewport Limit" and display.get_input(modifier, name) == 0:
                layout.label(text="0: No Limit", icon="BLANK1")
            if name == "Choose By" and display.get_input(modifier, name) == "Random":
                _draw_characters(layout, modifier, library_group.WEIGHT)
            if name == "Upright":
                _draw_characters(layout, modifier, library_group.UPRIGHT)
            if name == "Full Detail" and not why_no_levels(context):
                layout.operator("object.steer_add_levels", icon="MOD_DECIM")
        if "Color By" in names and display.get_input(modifier, "Color By") != "Nothing":
            layout.operator("object.steer_color_material", icon="MATERIAL")
        if str(display.get_input(modifier, "Display")).startswith("Character"):
            draw_heroes(layout)
    except SteerError as error:
        draw_message(layout, context, str(error), "ERROR")
