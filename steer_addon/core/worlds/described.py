"""What a manifest says of crowds, as plain data: settings, characters and diagnoses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from ..characters.cast import Cast
from ..characters.pose_space import TABLES, Row
from ..diagnoses import Diagnosis, catalog
from .layout import MOST_NAMES, MOST_TEXT

_ROWS = ("gaits", "clips", "rounds", "lasts")
"""Fields of a cast that hold rows of each character."""
_MOST_POSES = 1 << 24


def require(fits: object) -> None:
    """Refuse data that no Steer wrote.

    Raises:
        ValueError: It does not fit.
    """
    if not fits:
        raise ValueError


def whole(value: Any, least: int, most: int) -> int:
    """A whole number within bounds."""
    require(type(value) is int and least <= value <= most)
    return int(value)


def number(value: Any) -> float:
    """A finite number."""
    require(type(value) in (int, float) and math.isfinite(value))
    return float(value)


def text(value: Any) -> str:
    """A text that is not too long."""
    require(isinstance(value, str) and len(value) <= MOST_TEXT)
    return str(value)


def flag(value: Any) -> bool:
    """True or false."""
    require(isinstance(value, bool))
    return bool(value)


def listed(value: Any, most: int = MOST_NAMES) -> Sequence[Any]:
    """A list that is not too long."""
    require(isinstance(value, list) and len(value) <= most)
    found: Sequence[Any] = value
    return found


def place(value: Any) -> tuple[int, int]:
    """Place and rows of an array."""
    start, rows = listed(value, 2)
    return whole(start, -1, 1 << 40), whole(rows, 0, 1 << 40)


def cast_to_dict(cast: Cast | None) -> dict[str, Any] | None:
    """The characters of a crowd as plain data."""
    return None if cast is None else asdict(cast)


def cast_from_dict(data: Any) -> Cast | None:
    """The characters that plain data describes.

    Raises:
        ValueError, KeyError, TypeError: It describes none.
    """
    if data is None:
        return None
    rows: dict[str, Any] = {
        name: tuple(tuple(map(_row, listed(of))) for of in listed(data[name])) for name in _ROWS
    }
    count = len(rows["gaits"])
    weights = tuple(map(number, listed(data["weights"])))
    upright = tuple(map(number, listed(data["upright"])))
    names = None if data["names"] is None else tuple(map(text, listed(data["names"])))
    require(count and all(rows["gaits"]))
    for known in (rows["clips"], rows["rounds"], rows["lasts"], weights, upright, names or ()):
        require(len(known) in (0, count))
    require(all(len(turns) in (0, 2) for turns in rows["rounds"]))
    require(all(len(steps) in (0, 1) for steps in rows["lasts"]))
    return Cast(
        **rows,
        scale=number(data["scale"]),
        sized=flag(data["sized"]),
        choice=text(data["choice"]),
        seed=whole(data["seed"], -(2**31), 2**31 - 1),
        weights=weights,
        upright=upright,
        names=names,
    )


def _row(data: Any) -> Row:
    known = {field.name: field.default for field in fields(Row)}
    require(isinstance(data, Mapping) and data.keys() == known.keys())
    values: dict[str, Any] = {}
    for name, default in known.items():
        value = data[name]
        if isinstance(default, bool):
            values[name] = flag(value)
        elif isinstance(default, float):
            values[name] = number(value)
    values["name"] = text(data["name"])
    values["first"] = whole(data["first"], 0, _MOST_POSES)
    values["count"] = whole(data["count"], 1, _MOST_POSES)
    values.update((name, _table(data[name], *shape)) for name, shape in TABLES.items())
    row = Row(**values)
    require(row.duration > 0.0 and row.stride >= 0.0 and row.speed >= 0.0)
    require(0.0 <= row.round_from <= row.round_to <= 1.0)
    return row


def _table(value: Any, rows: int, columns: int) -> Any:
    found = tuple(tuple(map(number, listed(row, columns))) for row in listed(value, rows))
    require(len(found) in (0, rows) and all(len(row) == columns for row in found))
    return found


def diagnosis_to_dict(found: Diagnosis) -> dict[str, Any]:
    """A diagnosis as plain data that it can be made of again."""
    return {"code": found.code, "subject": found.subject, "values": _plain(dict(found.values))}


def _plain(value: Any) -> Any:
    if isinstance(value, Diagnosis):
        return {"diagnosis": diagnosis_to_dict(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if hasattr(value, "item"):
        value = value.item()
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def diagnosis_from_dict(data: Any) -> Diagnosis:
    """The diagnosis that plain data describes.

    Raises:
        ValueError, KeyError, TypeError: It describes none.
    """
    require(data["code"] in catalog() and isinstance(data["values"], Mapping))
    values = {text(name): _value(value) for name, value in data["values"].items()}
    found = Diagnosis(str(data["code"]), text(data["subject"]), values)
    # a value that its sentence lacks shows now, not in the middle of a run
    require(len(found.sentence) < MOST_NAMES)
    return found


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, listed(value)))
    if isinstance(value, Mapping):
        return diagnosis_from_dict(value["diagnosis"])
    if isinstance(value, str):
        return text(value)
    require(isinstance(value, (int, float)))
    return value
