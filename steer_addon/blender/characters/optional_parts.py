"""Optional parts of characters: a hat or a bag that some agents have, by chance.

The vertices of each part have its number, and the Crowd node group shows it at the agents that drew
it. Everyone keeps what they have drawn, however many agents there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.characters.recipe import from_text
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import CharacterError
from ...core.numeric.node_random import random_floats
from . import sources

ATTRIBUTES = _NUMBER, _CHANCE = "part_number", "part_chance"
"""Attributes of the mesh: the part of each vertex, 0 for what all have; in the first vertices, the
chance of each part."""
_SEED_STEP = 7919
"""Between the seeds of parts, as in `display/crowd_group.toml`."""
Chances = Sequence[tuple[str, float]]


def check(names: Sequence[str], optional: Chances) -> None:
    """Refuse optional parts that there are not, and a body of nothing else.

    Args:
        names: Names of all parts.
        optional: Names of the optional ones, each with its chance.

    Raises:
        CharacterError: It is so.
    """
    for name, _chance in optional:
        if name not in names:
            raise CharacterError(
                f"There is no part {name!r} to be optional: the parts are "
                f"{', '.join(map(repr, names))}"
            )
    if len(dict(optional)) == len(names):
        raise CharacterError(
            f"All parts are optional ({', '.join(names)}): give one of them a chance of 100%, as "
            "agents without any part are not seen"
        )


def mark(
    mesh: bpy.types.Mesh,
    names: Sequence[str],
    sizes: Sequence[int],
    order: NDArray[np.intp],
    optional: Chances,
) -> None:
    """Write to a mesh which vertices are optional, and by what chance.

    Args:
        mesh: All parts, joined.
        names: Names of the parts.
        sizes: Number of vertices of each.
        order: Number of each vertex of the mesh among those of all parts, one after another.
        optional: Names of the optional parts, each with its chance; nothing is written for none.
    """
    if not optional:
        return
    numbers = {name: number for number, (name, _chance) in enumerate(optional, 1)}
    part = np.repeat([numbers.get(name, 0) for name in names], sizes)[order].astype(np.int32)
    mesh.attributes.new(_NUMBER, "INT", "POINT").data.foreach_set("value", part)
    chances = np.zeros(len(part), np.float32)
    chances[: len(optional)] = [chance for _name, chance in optional]
    mesh.attributes.new(_CHANCE, "FLOAT", "POINT").data.foreach_set("value", chances)


def parts_of(character: bpy.types.Object) -> Chances:
    """Names of the optional parts of a character, each with its chance.

    Raises:
        CharacterError: What the character was made by is damaged.
    """
    source = sources.source_of(character)
    return () if source is None else from_text(source.recipe).optional


def at_all(characters: Iterable[bpy.types.Object]) -> list[Diagnosis]:
    """A diagnosis for each character whose optional parts are seen at all agents."""
    return [diagnose("PARTS_AT_ALL", one.name) for one in characters if count_of(one)]


def count_of(character: bpy.types.Object) -> int:
    """Number of optional parts of a character, as its mesh has them."""
    numbers = character.data.attributes.get(_NUMBER)
    if numbers is None or numbers.domain != "POINT" or numbers.data_type != "INT":
        return 0
    found = np.zeros(len(numbers.data), np.int32)
    numbers.data.foreach_get("value", found)
    return int(found.max(initial=0))


def carried(
    optional: Chances, ids: ArrayLike, seed: int, given: NDArray[np.float32] | None = None
) -> NDArray[np.bool_]:
    """Which agents have which part, as the Crowd node group draws them, shape (n, part_count).

    Args:
        optional: Names of the optional parts, each with its chance.
        ids: Ids of the agents, shape (n,).
        seed: *Seed* of the Crowd modifier.
        given: What the point attribute `parts` says instead, shape (n,); None where there is none.
    """
    if given is not None:
        worth = 2 ** np.arange(len(optional))
        named: NDArray[np.bool_] = np.floor_divide(given[:, None], worth) % 2.0 > 0.5
        return named
    found = [
        random_floats(ids, seed + _SEED_STEP * number) < np.float32(chance)
        for number, (_name, chance) in enumerate(optional, 1)
    ]
    return np.stack(found, axis=-1) if found else np.zeros((np.size(ids), 0), np.bool_)
