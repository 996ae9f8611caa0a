"""The Display section: shape and color of agents, and their number in a viewport."""

from __future__ import annotations

import bpy

from ...core.errors import SteerError
from ..display import display
from .messages import draw_message

_POINTERS = {"Object": "objects", "Collection": "collections", "Material": "materials"}
_BODY = ("Scale", "Align to Heading")
_SHOWN = {
    "Points": (),
    "Cones": ("Material", *_BODY),
    "Discs": ("Material", *_BODY),
    "Object": ("Object", *_BODY),
    "Collection": ("Collection", "Choose By", *_BODY),
}
"""Inputs of the Crowd modifier that each display uses."""
_CHOSEN = {"Random": ("Seed",), "Attribute": ("Attribute",)}
"""Inputs that a way to choose from a collection uses."""
_RANGED = ("Speed", "Density")


def shown_inputs(modifier: bpy.types.NodesModifier) -> list[str]:
    """Names of the inputs that have an effect, in the order in which they are drawn.

    Raises:
        SceneError: The modifier's node group was changed.
    """
    shown = display.get_input(modifier, "Display")
    names = ["Display", *_SHOWN.get(shown, ())]
    if shown == "Collection":
        place = names.index("Choose By") + 1
        names[place:place] = _CHOSEN.get(display.get_input(modifier, "Choose By"), ())
    names.append("Color By")
    color = display.get_input(modifier, "Color By")
    if color in _RANGED:
        names.append("Color Range")
    if color == "ID" and "Seed" not in names:
        names.append("Seed")
    return names if shown == "Points" else [*names, "Viewport Limit"]


def draw_display(
    layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object
) -> None:
    """Inputs of the Crowd modifier that count."""
    layout.use_property_split = True
    modifier = display.find_modifier(obj)
    if modifier is None:
        return
    try:
        names = shown_inputs(modifier)
        for name in names:
            owner, prop = display.input_path(modifier, name)
            if name in _POINTERS and prop != "value":
                layout.prop_search(owner, prop, bpy.data, _POINTERS[name], text=name)
            else:
                layout.prop(owner, prop, text=name)
        if display.get_input(modifier, "Color By") != "Nothing":
            layout.operator("object.steer_color_material", icon="MATERIAL")
    except SteerError as error:
        draw_message(layout, context, str(error), "ERROR")
