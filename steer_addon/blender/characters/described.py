"""Rows of poses as the text of a custom property, which files of strangers have too."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.characters.pose_space import PoseSpace, Row

_LARGEST = 1.0e9
"""Numbers of a row are smaller."""
_TURNING, _TURN = "turning", "turn"
_KINDS: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool}
"""Types of values by the type of a field, but for `_TURNING`."""


def text_of(version: int, space: PoseSpace) -> str:
    """The text that says what rows of poses there are."""
    gaits, clips = ([asdict(row) for row in rows] for rows in (space.gaits, space.clips))
    return json.dumps({"version": version, "gaits": gaits, "clips": clips})


@lru_cache(maxsize=64)
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
    triples = tuple((float(a), float(b), float(c)) for a, b, c in row.turning)
    if triples and not np.abs(triples).max() < _LARGEST:
        raise ValueError(_TURNING)
    row = replace(row, turning=triples)
    for info in fields(Row):
        if info.name == _TURNING:
            continue
        value, kind = getattr(row, info.name), str(info.type)
        if not isinstance(value, _KINDS[kind]) or isinstance(value, bool) != (kind == "bool"):
            raise TypeError(info.name)
        size = abs(value) if info.name == _TURN else value
        if kind in ("int", "float") and not 0 <= size < _LARGEST:
            raise ValueError(info.name)
    return row
