"""Data of each crowd that no .blend file holds: one record per crowd object.

Rooms declare the parts of a record that are theirs, and ask for them by the crowd. Records go by
the session uid of the object, which undo keeps while it replaces everything else. They go, all
parts at once, when the crowd is gone after an undo, when another file is opened, and when Steer is
disabled: no other module has to care.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers

_FRESH = 0.5
"""Time for which panels draw what they have found before they look again [s]."""
Value = TypeVar("Value")

_records: dict[int, dict[Part[Any], Any]] = {}
"""The parts of each record that are there, by the session uid of the crowd."""


class Part(Generic[Value]):
    """A part of the record of every crowd.

    Attributes:
        until_undo: Whether undo and redo empty it, as it depends on settings that may be gone.
    """

    def __init__(self, make: Callable[[], Value], *, until_undo: bool = False) -> None:
        """Declare the part.

        Args:
            make: Makes an empty one.
            until_undo: Whether undo and redo empty it.
        """
        self._make = make
        self.until_undo = until_undo

    def get(self, obj: bpy.types.Object) -> Value | None:
        """The part of a crowd's record, or None."""
        value: Value | None = _records.get(obj.session_uid, {}).get(self)
        return value

    def ensure(self, obj: bpy.types.Object) -> Value:
        """The part of a crowd's record, made where there is none."""
        record = _records.setdefault(obj.session_uid, {})
        if self not in record:
            record[self] = self._make()
        value: Value = record[self]
        return value

    def keep(self, obj: bpy.types.Object, value: Value) -> None:
        """Keep something in the record of a crowd."""
        _records.setdefault(obj.session_uid, {})[self] = value

    def drop(self, obj: bpy.types.Object) -> None:
        """Take it out of the record of a crowd."""
        _records.get(obj.session_uid, {}).pop(self, None)

    def by_uid(self) -> dict[int, Value]:
        """The part of all records, by the session uid of the crowd."""
        return {uid: record[self] for uid, record in list(_records.items()) if self in record}

    def keep_only(self, uids: set[int]) -> None:
        """Take it out of the records of all other crowds."""
        for uid in self.by_uid().keys() - uids:
            _records[uid].pop(self, None)

    def clear(self) -> None:
        """Take it out of all records."""
        self.keep_only(set())


class LastLook:
    """When panels looked at something that takes too long for every redraw."""

    def __init__(self) -> None:
        """Nobody has looked yet."""
        self._when = -1.0e9

    def is_due(self) -> bool:
        """Whether it is time to look again; if so, the caller does."""
        now = time.monotonic()
        due = now - self._when > _FRESH
        if due:
            self._when = now
        return due

    def forget(self) -> None:
        """It is time to look again."""
        self._when = -1.0e9


def drop_all() -> None:
    """Drop all records, as when another file is opened."""
    _records.clear()


@persistent
def on_undo(*_: object) -> None:
    """Drop the records of crowds that are gone, and the parts that no undo may keep."""
    there = {obj.session_uid for obj in bpy.data.objects}
    for uid in _records.keys() - there:
        _records.pop(uid, None)
    for record in list(_records.values()):
        for part in [part for part in record if part.until_undo]:
            record.pop(part, None)


@persistent
def on_load(*_: object) -> None:
    """Another file is open: the records were those of the file before."""
    drop_all()


HANDLERS = (("undo_post", on_undo), ("redo_post", on_undo), ("load_post", on_load))


def register() -> None:
    """Add the handlers; they come before those of the modules that keep something here."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Remove the handlers, and drop all records."""
    app_handlers.remove(HANDLERS)
    drop_all()
