"""The built-in characters as objects: people and animals that crowds are shown as.

Colors come from Blender's random number per instance, so that all agents share the poses, and yet
differ in their clothes.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...core.characters import figures
from ...core.characters.figure import Figure
from ..characters import library, library_group
from .materials import plain_material, random_material

HEIGHT = 1.75
"""Height [m] of a person with the body radius `BODY_RADIUS`."""
BODY_RADIUS = 0.25
"""Body radius of a person of scale 1 [m]."""
CASTS = {
    "people": ("woman", "man", "child"),
    "person": ("man",),
    "dog": ("dog",),
    "bird": ("bird",),
    "fish": ("fish",),
}
"""Built-in characters by the kind of crowd that they make."""

WEIGHTS = {"child": 0.35}
"""How often characters are chosen, against the others, where not as often."""
UPRIGHT = {"dog": 0.3}
"""Shares by which characters stay upright on slopes, where not in full."""

_KEY = "steer_figure"
"""Custom property of objects and collections: which built-in characters they are."""


def ensure_character(name: str, scene: bpy.types.Scene, color: str = "") -> bpy.types.Object:
    """A built-in character in a scene's collection of characters, made where there is none.

    Args:
        name: One of `figures.NAMES`.
        scene: The scene.
        color: Code like #RRGGBB of its first material; empty for the colors of its own.
    """
    wanted = f"{name} {color}".strip()
    for obj in library.ensure_collection(scene).all_objects:
        if obj.get(_KEY) == wanted and library.is_character(obj):
            return obj
    figure, title = figures.built_in(name), name.title()
    made = library.make(title, _mesh(figure, title, color), figure.space, scene)
    made[_KEY] = wanted
    library_group.set_weight(made, WEIGHTS.get(name, 1.0))
    library_group.set_upright(made, UPRIGHT.get(name, 1.0))
    return made


def ensure_cast(
    names: Sequence[str], title: str, scene: bpy.types.Scene, color: str = ""
) -> bpy.types.Collection:
    """A collection of built-in characters, made where the scene has none of exactly these.

    Args:
        names: Some of `figures.NAMES`.
        title: Name that users see.
        scene: The scene.
        color: As in `ensure_character`.
    """
    wanted, parent = " ".join([*names, color]).strip(), library.ensure_collection(scene)
    for child in parent.children:
        if child.get(_KEY) == wanted and len(child.objects) == len(names):
            return child
    made = bpy.data.collections.new(title)
    made[_KEY] = wanted
    parent.children.link(made)
    for name in names:
        made.objects.link(ensure_character(name, scene, color))
    return made


def standing(name: str, title: str, color: str = "") -> bpy.types.Object:
    """A built-in character that stands still, as an object of its own; in no collection.

    Args:
        name: One of `figures.NAMES`.
        title: Name of the object.
        color: As in `ensure_character`.
    """
    return bpy.data.objects.new(title, _mesh(figures.built_in(name), title, color))


def scale_of(kind: str, radius: float) -> float:
    """Scale of the characters of a crowd whose agents have a body radius [m].

    Args:
        kind: One of `CASTS`.
        radius: The radius.
    """
    usual = BODY_RADIUS if kind in ("people", "person") else figures.built_in(CASTS[kind][0]).radius
    return radius / usual


def _mesh(figure: Figure, title: str, color: str) -> bpy.types.Mesh:
    """The body of a figure as it stands, with its materials."""
    made: list[bpy.types.Material] = []
    for number, slot in enumerate(figure.slots):
        colors = (color,) if color and not number else slot.colors
        name = f"{title} {slot.name}"
        if len(colors) == 1:
            made.append(plain_material(name, colors[0]))
        else:
            made.append(random_material(name, colors, number))
    return library.base_mesh(title, figure.space.positions[0], figure.surface, made)
