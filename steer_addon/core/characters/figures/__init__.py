"""The built-in characters: people and animals, made by rules from tables.

People and the dog stand on z = 0. The bird and the fish have their middle at the origin, as agents
that fly or swim have theirs; their gaits go on by time.
"""

from __future__ import annotations

from functools import cache

from ...errors import CharacterError
from ..figure import Figure
from .bird import make_bird
from .dog import make_dog
from .fish import make_fish
from .people import make_person

NAMES = ("woman", "man", "child", "dog", "bird", "fish")
"""The built-in characters."""


def make_figure(name: str, tolerance: float = 0.0058) -> Figure:
    """A built-in character with all its poses.

    Args:
        name: One of `NAMES`.
        tolerance: Way of the ground from one pose to the next one [m]; smaller makes more poses.

    Raises:
        CharacterError: There is no such character, or the tolerance is not above 0.
    """
    if name not in NAMES:
        raise CharacterError(f"There is no character {name!r}: choose one of {', '.join(NAMES)}")
    if not tolerance > 0.0:
        raise CharacterError(f"The way from pose to pose is {tolerance:g} m: give more than 0")
    if name == "bird":
        return make_bird()
    if name == "fish":
        return make_fish()
    return make_dog(tolerance) if name == "dog" else make_person(name, tolerance)


@cache
def built_in(name: str) -> Figure:
    """A built-in character, made once; see `make_figure`."""
    return make_figure(name)
