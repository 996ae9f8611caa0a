"""The cast of a crowd: the characters that its Display shows, as the solver has to know them."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ...core.characters.cast import INDEX, RANDOM, Cast
from ...core.characters.pose_space import split_clips
from ...core.errors import SceneError, SteerError
from ..characters import library, library_group
from ..display import display
from ..display.look import look_of

CHOICES = {"Random": RANDOM, "Index": INDEX}
"""Ways of *Choose By* other than an attribute."""


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
    modifier = display.find_modifier(obj)
    try:
        shown = () if modifier is None else characters_of(modifier)
    except SceneError:
        # the panel says so: the crowd is simulated as any other
        return None
    if modifier is None or not shown:
        return None
    choice = str(display.get_input(modifier, "Choose By"))
    asked = any(group.characters for group in obj.steer.groups)
    gaits, others = zip(*map(library.rows_of, shown), strict=True)
    clips, rounds = zip(*map(split_clips, others), strict=True)
    look = look_of(modifier)
    upright = tuple(look.upright * library_group.upright_of(character) for character in shown)
    return Cast(
        gaits=gaits,
        clips=clips,
        rounds=rounds,
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


def character_names(obj: bpy.types.Object) -> list[str]:
    """Names of the characters of a crowd; none where its display was changed.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    return [found.name for found in shown_characters(obj)]


def clip_names(obj: bpy.types.Object) -> list[str]:
    """Names of the clips that the characters of a crowd have, in order; none of damaged ones.

    Args:
        obj: Original (not evaluated) crowd object.
    """
    with suppress(SteerError):
        cast = cast_of(obj)
        return sorted({clip.name for clips in cast.clips for clip in clips}) if cast else []
    return []


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
    with suppress(SteerError):
        cast = cast_of(obj)
        return max(map(len, cast.clips), default=0) if cast else 0
    return 0
