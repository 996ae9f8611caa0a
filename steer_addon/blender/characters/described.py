"""Rows of poses as the text of a custom property, which files of strangers have too."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.characters.pose_space import TABLES, PoseSpace, Row

_LARGEST = 1.0e9
"""Numbers of a row are smaller."""
_TURN = "turn"
"""A field that may be below 0."""
_KINDS: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool}
"""Types of values by the type of a field, but for `TABLES`."""


def text_of(version: int, space: PoseSpace) -> str:
    """The text that says what rows of poses there are."""
    # as they are: `asdict` would copy each number of their lists
    gaits, clips = ([row.__getstate__() for row in rows] for rows in (space.gaits, space.clips))
    return json.dumps({"version": version, "gaits": gaits, "clips": clips})


@lru_cache(maxsize=1024)
def read(text: str) -> tuple[Any, tuple[Row, ...], tuple[Row, ...]]:
    """Version, gaits and clips of a custom property; live crowds ask for them at every frame.

    Raises:
        CharacterError: The rows are none of a character.
        TypeError, ValueError, KeyError: The text is another one.
    """
    data = json.loads(text)
    gaits, clips = (tuple(_row(row) for row in data[part]) for part in ("gaits", "clips"))
    count = sum(row.count for row in (*gaits, *clips))
    # what rows have to be is said there
    PoseSpace(np.empty((count, 0, 3), np.float32), gaits, clips)
    return data["version"], gaits, clips


def _row(data: Any) -> Row:
    """A row from data of a stranger.

    Raises:
        TypeError: It has other fields, or one of another type.
        ValueError: A number is out of range.
    """
    row = Row(**data)
    lists: Any = {n: _entries(n, getattr(row, n), size) for n, (_rows, size) in TABLES.items()}
    row = replace(row, **lists)
    for info in fields(Row):
        if info.name in TABLES:
            continue
        value, kind = getattr(row, info.name), str(info.type)
        if not isinstance(value, _KINDS[kind]) or isinstance(value, bool) != (kind == "bool"):
            raise TypeError(info.name)
        size = abs(value) if info.name == _TURN else value
        if kind in ("int", "float") and not 0 <= size < _LARGEST:
            raise ValueError(info.name)
    return row


def _entries(name: str, value: Any, size: int) -> tuple[tuple[float, ...], ...]:
    """Entries of a list of a row, each of `size` numbers."""
    found = tuple(tuple(map(float, entry)) for entry in value)
    if any(len(entry) != size for entry in found):
        raise ValueError(name)
    if found and not np.abs(found).max() < _LARGEST:
        raise ValueError(name)
    return found
