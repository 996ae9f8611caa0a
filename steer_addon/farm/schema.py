"""Job files are read into frozen dataclasses: a key, its default and its check are one field.

Example:
    >>> @dataclass(frozen=True)
    ... class Shot:
    ...     samples: int = key(16, whole(1, 64), "samples per pixel")
    >>> read_table(Shot, {"samples": 8}, "render")
    Shot(samples=8)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from ..core.errors import short
from .errors import JobError

_KEY = "steer"
Read = Callable[[str, Any], Any]
"""Makes a value of the name of a field, for messages, and what the file says; raises JobError."""
T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """What is known of a key of a job file.

    Attributes:
        read: Checks and converts what the file says.
        doc: Its meaning, in one sentence without a full stop.
    """

    read: Read
    doc: str


def key(default: Any, read: Read, doc: str) -> Any:
    """A field of a table; `MISSING` as the default stands for a key that has to be given."""
    known = {_KEY: Key(read, doc)}
    return field(metadata=known) if default is MISSING else field(default=default, metadata=known)


def keys_of(table: type[Any]) -> dict[str, Key]:
    """The keys of a table, in order."""
    return {entry.name: entry.metadata[_KEY] for entry in fields(table)}


def read_table(table: type[T], values: Any, name: str) -> T:
    """Make a table from what a file says.

    Args:
        table: A dataclass of fields by `key`.
        values: Names with values.
        name: Name of the table for messages; "" for the file itself.

    Raises:
        JobError: A key is unknown or missing, or a value does not fit.
    """
    where = f"[{name}]" if name else "the job file"
    if not isinstance(values, Mapping):
        raise JobError(f"{name} is {short(values)}: give a table, such as [{name}]")
    known = keys_of(table)
    for given in values:
        if given not in known:
            raise JobError(
                f"{where} has an unknown key {short(given)}: known are {', '.join(known)}"
            )
    for entry in fields(table):  # type: ignore[arg-type]
        if entry.default is MISSING and entry.name not in values:
            raise JobError(f"{where} lacks {entry.name}: give {known[entry.name].doc}")
    prefix = f"{name}." if name else ""
    return table(**{k: known[k].read(prefix + k, value) for k, value in values.items()})


def text(name: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str):
        raise JobError(f"{name} is {short(value)}: give a text in quotes")
    if not value.strip():
        raise JobError(f"{name} is empty: give a text")
    return value


def whole(least: int, most: int) -> Read:
    """A whole number in a range."""

    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise JobError(f"{name} is {short(value)}: give a whole number from {least} to {most}")
        return value

    return read


def one_of(choices: tuple[str, ...], change: Callable[[str], str] = str) -> Read:
    """One of several words."""

    def read(name: str, value: Any) -> str:
        found = change(text(name, value))
        if found not in choices:
            raise JobError(f"{name} is {short(value)}: give one of {', '.join(choices)}")
        return found

    return read


def as_typed(read_text: Callable[[str], Any], keep_text: bool = False) -> Read:
    """A text that the command line could hold, too.

    Args:
        read_text: A function of `words`.
        keep_text: Whether the value is the text itself, once it was checked.
    """

    def read(name: str, value: Any) -> Any:
        given = text(name, value)
        try:
            found = read_text(given)
        except argparse.ArgumentTypeError as error:
            raise JobError(f"{name}: {error}") from None
        return given if keep_text else found

    return read


def list_of(entry: Read, most: int) -> Read:
    """A list without repeated entries; a single entry may stand for itself."""

    def read(name: str, value: Any) -> tuple[Any, ...]:
        given = value if isinstance(value, list) else [value]
        if len(given) > most:
            raise JobError(f"{name} has {len(given)} entries: give at most {most}")
        found = [entry(f"{name}[{place}]", one) for place, one in enumerate(given)]
        twice = [one for place, one in enumerate(found) if one in found[:place]]
        if twice:
            raise JobError(f"{name} names {short(twice[0])} twice: leave one of them out")
        return tuple(found)

    return read
