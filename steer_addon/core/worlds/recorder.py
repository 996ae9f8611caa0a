"""Recorder: what crowds read, frame by frame, becomes a stored world.

All of it is written to a folder of a temporary name beside the goal, which gets its name at the
end: a world is there as a whole, or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis
from ..errors import OutputError, SceneError, short
from ..files.plain import is_folder, rename, sync_folder, write_file
from ..files.staging import as_output_errors, stage
from ..inputs.world import World
from ..runs.points import Points
from . import described
from .arrays import ArrayWriter, Place
from .layout import FILES, FORMAT, KINDS, MANIFEST, POINTS, is_world
from .parts import parts_of


class Variants:
    """Plain data that is the same in many frames, kept once; each has a number."""

    def __init__(self) -> None:
        self.data: list[Any] = []
        self._known: dict[Hashable, int] = {}

    def number(self, data: Any, key: Hashable = None) -> int:
        """The number of some data; `key` stands for it where that is quicker to make."""
        key = json.dumps(data, sort_keys=True) if key is None else key
        if key not in self._known:
            self._known[key] = len(self.data)
            self.data.append(data)
        return self._known[key]


class Read(NamedTuple):
    """What a crowd reads at a frame.

    Attributes:
        number: The frame.
        settings: Its settings there.
        world: The world.
        warnings: Diagnoses of it.
    """

    number: int
    settings: CrowdSettings
    world: World
    warnings: Iterable[Diagnosis]


class CrowdRecorder:
    """Records one crowd."""

    def __init__(self, arrays: ArrayWriter) -> None:
        self._arrays = arrays
        self._slots: dict[tuple[str, str], int] = {}
        self._values: list[Any] = []
        """The last value of each slot: no other may get its identity before the next frame."""
        self._versions: list[list[tuple[Place, ...]]] = []
        self._settings, self._casts, self._warnings = Variants(), Variants(), Variants()
        self._records: dict[bytes, tuple[int, np.ndarray[Any, Any]]] = {}
        self._frames: list[tuple[int, int, int]] = []
        self._begins: dict[int, dict[str, Any]] = {}
        self._last: tuple[CrowdSettings | None, int] = (None, -1)

    def settings(self, settings: CrowdSettings) -> int:
        """The number of settings.

        Raises:
            SceneError: They cannot be written and read again.
        """
        if settings is self._last[0]:
            return self._last[1]
        data = settings.to_dict()
        if CrowdSettings.from_dict(data).to_dict() != data:
            raise SceneError(f"Settings {short(data)} change when they are stored: set them again")
        cast = described.cast_to_dict(settings.cast)
        place = self._casts.number(cast, key=settings.cast) if cast is not None else -1
        self._last = settings, self._settings.number([data, place])
        return self._last[1]

    def begin(self, read: Read, points: Points, *, starts: bool) -> None:
        """Record the points of the crowd, and what it reads with them.

        Args:
            read: What it reads.
            points: Its points at that frame.
            starts: Whether this is its first frame, and not one before, at which others see it.
        """
        row = self._row(read)
        self._begins[read.number] = {
            "frame": read.number,
            "row": row,
            "points": self._points(points),
        }
        if starts:
            self._frames.append(row)

    def begun(self, number: int) -> bool:
        """Whether the points at a frame are recorded."""
        return number in self._begins

    def frame(self, read: Read) -> None:
        """Record the next frame."""
        self._frames.append(self._row(read))

    def _row(self, read: Read) -> tuple[int, int, int]:
        warnings = [described.diagnosis_to_dict(found) for found in read.warnings]
        return (
            self._record(read.world),
            self.settings(read.settings),
            self._warnings.number(warnings),
        )

    def _record(self, world: World) -> int:
        """The number of a world: which version of which input it has."""
        rows = []
        for part in parts_of(world):
            slot = self._slots.setdefault((part.kind, part.name), len(self._slots))
            if slot == len(self._values):
                self._values.append(None)
                self._versions.append([])
            if self._values[slot] is not part.value:
                files = [file for _, file, _ in KINDS[part.kind]]
                added = map(self._arrays.add, files, part.arrays)
                self._values[slot] = part.value
                self._versions[slot].append(tuple(added))
            rows.append((slot, len(self._versions[slot]) - 1))
        table = np.array(rows, np.int64).reshape(-1, 2)
        return self._records.setdefault(table.tobytes(), (len(self._records), table))[0]

    def _points(self, points: Points) -> dict[str, Any]:
        add = self._arrays.add
        vectors = {name: add(file, getattr(points, name)) for name, file, _ in POINTS}
        return {
            **vectors,
            "linear": add("float64", points.linear),
            "ids": self._column(points.ids),
            "attributes": {name: self._column(c) for name, c in points.attributes.items()},
            "weights": {name: self._column(c) for name, c in points.weights.items()},
        }

    def _column(self, column: Any) -> Any:
        """Kind and place of a column of numbers."""
        if column is None:
            return None
        name = "uint8" if column.dtype == np.bool_ else column.dtype.name
        return [column.dtype.name, self._arrays.add(name, column)]

    def to_dict(self) -> dict[str, Any]:
        """What is recorded, as plain data."""
        add = self._arrays.add
        tables = [table for _, table in self._records.values()]
        sizes = np.cumsum([0, *(len(table) for table in tables)])
        versions = [np.array(of, np.int64).reshape(len(of), -1) for of in self._versions]
        return {
            "settings": self._settings.data,
            "casts": self._casts.data,
            "warnings": self._warnings.data,
            "slots": [list(slot) for slot in self._slots],
            "versions": [add("int64", of) for of in versions],
            "records": add("int64", np.concatenate([np.zeros((0, 2), np.int64), *tables])),
            "record_first": add("int64", sizes),
            "begins": list(self._begins.values()),
            "frames": add("int64", np.array(self._frames).reshape(-1, 3)),
        }


@contextmanager
def new_world(path: Path) -> Iterator[Path]:
    """A folder to write to, which becomes the world at a path if the block ends without an error.

    An earlier world at that path is replaced; after an error it is as it was.

    Raises:
        OutputError: It cannot be written, or there is something that is no world.
    """
    check_own(path)
    with as_output_errors(path), stage(path.absolute().parent) as above:
        folder = above / "world"
        folder.mkdir()
        yield folder
        sync_folder(folder)
        check_own(path)
        old = above / "old"
        if os.path.lexists(path):
            rename(path, old)
        try:
            rename(folder, path)
        except OSError:
            with suppress(OSError):
                rename(old, path)
            raise
        sync_folder(path.absolute().parent)


def check_own(path: Path) -> None:
    """Refuse a path at which there is something else than a world, or than an empty folder.

    Raises:
        OutputError: There is.
    """
    if not os.path.lexists(path):
        return
    names = os.listdir(path) if is_folder(path) else [""]
    others = sorted(set(names) - set(FILES))
    if others or (names and not is_world(path)):
        raise OutputError(
            f"{path} is there and is no world that `steer extract` wrote"
            + (f": it holds {short(others[0])}" if others and others[0] else "")
            + "; give another --out, or move it away"
        )


def write_manifest(folder: Path, data: Mapping[str, Any]) -> None:
    """Write the manifest of a world.

    Raises:
        OSError: It cannot be written.
    """
    write_file(folder / MANIFEST, [FORMAT.signed(data)])
