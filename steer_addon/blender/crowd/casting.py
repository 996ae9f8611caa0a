"""The cast of a crowd: the characters that its Display shows, as the solver has to know them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import bpy

from ...core.characters.cast import INDEX, RANDOM, Cast
from ...core.characters.pose_space import split_clips
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError, SteerError
from ..characters import library, library_group
from ..display import display
from ..display.look import look_of
from .state import ATTRIBUTES

CHOICES = {"Random": RANDOM, "Index": INDEX}
"""Ways of *Choose By* other than an attribute."""
_WRITTEN = {*ATTRIBUTES, "color"}
"""What materials find on every copy."""
_LONGEST = 63
"""Most bytes in the name of a custom property."""
_MADE = {"heading"}
"""What *Add ▸ Crowd* gives to points: materials are not looked through for that alone."""


def characters_of(modifier: bpy.types.NodesModifier) -> tuple[bpy.types.Object, ...]:
    """The characters that a Crowd modifier shows, in the order in which it numbers them.

    Raises:
        SceneError: The modifier's node group was changed.
    """
    if display.get_input(modifier, "Display") not in ("Character", "Characters"):
        return ()
    return library.among(display.shown_body(modifier))


def cast_of(obj: bpy.types.Object) -> Cast | None:
    """The cast of a crowd; None where its display shows no characters, or was changed.

    Args:
        obj: Original (not evaluated) crowd object.

    Raises:
        CharacterError: A character is damaged.
    """
    modifier, shown = display.find_modifier(obj), shown_characters(obj)
    if modifier is None or not shown:
        # where the display was changed, the panel says so: the crowd is simulated as any other
        return None
    choice = str(display.get_input(modifier, "Choose By"))
    asked = any(group.characters for group in obj.steer.groups)
    gaits, others = zip(*map(library.rows_of, shown), strict=True)
    clips, rounds, lasts = zip(*map(split_clips, others), strict=True)
    look = look_of(modifier)
    upright = tuple(look.upright * library_group.upright_of(character) for character in shown)
    return Cast(
        gaits=gaits,
        clips=clips,
        rounds=rounds,
        lasts=lasts,
        scale=look.scale,
        sized=look.full_radius > 0.0,
        choice=CHOICES.get(choice, str(display.get_input(modifier, "Attribute"))),
        seed=int(display.get_input(modifier, "Seed")),
        weights=tuple(library_group.weight_of(character) for character in shown),
        names=tuple(character.name for character in shown) if asked else None,
        upright=upright if min(upright) < 1.0 else (),
    )


def body_attribute(obj: bpy.types.Object) -> str:
    """Point attribute that says which object of a collection an agent takes; empty for none.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    modifier = display.find_modifier(obj)
    with suppress(SceneError):
        if modifier is not None and display.get_input(modifier, "Display") == "Collection":
            if display.get_input(modifier, "Choose By") == "Attribute":
                return str(display.get_input(modifier, "Attribute"))
    return ""


def carried_of(obj: bpy.types.Object) -> tuple[str, ...]:
    """Point attributes of a crowd that materials read of the copies that it shows, by name.

    Those that its own mesh has; where further modifiers may make some, all that materials read.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    own = {name for name in obj.data.attributes.keys() if name[0] != "."} - _WRITTEN - _MADE
    made = len(obj.modifiers) > 1
    if not (own or made):
        return ()
    found = {name for tree in _shaders_of(obj) for name in _read_by(tree, set())} - _WRITTEN
    return tuple(sorted(found if made else found & own))


def properties_of(obj: bpy.types.Object) -> tuple[list[str], list[Diagnosis]]:
    """Those of `carried_of` that objects have as custom properties, and diagnoses of the others."""
    names = carried_of(obj)
    long = [name for name in names if len(name.encode()) > _LONGEST]
    told = [diagnose("ATTRIBUTE_TOO_LONG", name) for name in long]
    return [name for name in names if name not in long], told


def _shaders_of(obj: bpy.types.Object) -> Iterator[bpy.types.NodeTree]:
    """Nodes of the materials of what a crowd shows."""
    modifier = display.find_modifier(obj)
    with suppress(SceneError):
        if modifier is None:
            return
        shown = display.shown_body(modifier)
        objects = shown.all_objects if isinstance(shown, bpy.types.Collection) else [shown]
        slots = [slot.material for one in objects if one is not None for slot in one.material_slots]
        for material in {*slots, display.get_input(modifier, "Material")} - {None}:
            if material.node_tree is not None:
                yield material.node_tree


def _read_by(tree: bpy.types.NodeTree, seen: set[bpy.types.NodeTree]) -> Iterator[str]:
    """Names of the attributes that nodes, and those of groups in them, read of copies."""
    seen.add(tree)
    node: Any
    for node in tree.nodes:
        kind = node.type
        if kind == "ATTRIBUTE":
            if node.attribute_type == "INSTANCER":
                yield node.attribute_name
        elif kind == "GROUP" and node.node_tree is not None and node.node_tree not in seen:
            yield from _read_by(node.node_tree, seen)


def from_display(obj: bpy.types.Object) -> dict[str, Any]:
    """What settings have of the display of a crowd: its cast, and attributes that frames carry.

    Args:
        obj: Original (not evaluated) crowd object.

    Raises:
        CharacterError: A character is damaged.
    """
    return {"cast": cast_of(obj), "body": body_attribute(obj), "carried": carried_of(obj)}


def character_names(obj: bpy.types.Object) -> list[str]:
    """Names of the characters of a crowd; none where its display was changed.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    return [found.name for found in shown_characters(obj)]


def clip_names(obj: bpy.types.Object) -> list[str]:
    """Names of the clips that the characters of a crowd have; none of damaged ones.

    They are in the order of the first character, by which the attribute `clip` numbers them, then
    those that only others have.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    return _in_order(_clips_of(obj))


def numbered_clips(obj: bpy.types.Object) -> list[str]:
    """The same, each with its number where all characters count them alike.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    clips = _clips_of(obj)
    names = _in_order(clips)
    if any(own != names[: len(own)] for own in clips):
        return names
    return [f"{number} {name}" for number, name in enumerate(names)]


def shown_characters(obj: bpy.types.Object) -> tuple[bpy.types.Object, ...]:
    """The characters that a crowd shows; none where its display was changed.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    modifier = display.find_modifier(obj)
    with suppress(SceneError):
        return () if modifier is None else characters_of(modifier)
    return ()


def most_clips(obj: bpy.types.Object) -> int:
    """Number of clips of the character of a crowd that has most; 0 where one is damaged.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    return max(map(len, _clips_of(obj)), default=0)


def _clips_of(obj: bpy.types.Object) -> list[list[str]]:
    """Names of the clips of each character of a crowd; none where one is damaged."""
    with suppress(SteerError):
        cast = cast_of(obj)
        return [[clip.name for clip in clips] for clips in cast.clips] if cast else []
    return []


def _in_order(clips: list[list[str]]) -> list[str]:
    """Names of the clips of all characters, each once."""
    return list(dict.fromkeys(name for own in clips for name in own))
