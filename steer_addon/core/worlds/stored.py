"""A stored world: its manifest, checked in full before anything of it is used, and its crowds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis
from ..errors import FileError, ParameterError, WorldError
from ..files.signed import loaded
from ..runs.points import Points
from ..step.simulation import HIGHEST_FPS, LOWEST_FPS
from . import described
from .arrays import Arrays
from .described import flag, listed, number, place, require, text, whole
from .layout import (
    ARRAYS,
    FORMAT,
    KINDS,
    MANIFEST,
    MOST_BYTES,
    MOST_CROWDS,
    MOST_FRAMES,
    POINTS,
)

I64 = NDArray[np.int64]
_FRAME = 1_100_000
"""Blender's frame numbers stay below this one."""
_COLUMNS = {"float32": "float32", "int32": "int32", "int64": "int64", "bool": "uint8"}
"""Types of the columns of points, each with the file that holds it."""


class Row(NamedTuple):
    """What a crowd reads at a frame, by numbers: of the world, the settings, and the warnings."""

    record: int
    settings: int
    warnings: int


@dataclass(frozen=True, eq=False, repr=False)
class Begin:
    """The points of a crowd at a frame, and what it reads with them."""

    row: Row
    points: Points


@dataclass(frozen=True, eq=False, repr=False)
class StoredCrowd:
    """A crowd of a stored world."""

    session_uid: int
    """Its number there."""
    name: str
    name_full: str
    chosen: bool
    """Whether it was to be extracted, and not only met by one that was."""
    baked: bool
    """Whether it plays a bake in its file, unless it is simulated."""
    driving: bool
    """Whether a driver of the scene reads its settings."""
    keyed: bool
    """Whether other crowds see its settings as they are keyed, since physics play its scene."""
    first: int
    last: int
    """Its first frame, and the last one that is stored."""
    default: range
    """The frames that are written where none are asked for."""
    scenes: frozenset[int]
    """Numbers of the scenes that it is in."""
    met: frozenset[int]
    """Numbers of the crowds in the collection of those that it meets."""
    steers_by: Mapping[tuple[str, str], int]
    """Numbers of the crowds that it steers by, by the mapping of the world and the name there."""
    base: int
    """Number of the settings that others see."""
    settings: tuple[CrowdSettings, ...]
    """Its settings; those of characters have the names of all, whether a group asks or not."""
    warnings: tuple[tuple[Diagnosis, ...], ...]
    slots: tuple[tuple[str, str], ...]
    """Kind and name of each input."""
    versions: tuple[I64, ...]
    """Places of the arrays of each version of each input, shape (version_count, 2·array_count)."""
    records: tuple[I64, ...]
    """Number and version of the inputs of each world, shape (input_count, 2)."""
    begins: Mapping[int, Begin]
    frames: I64
    """The row of each frame from the first one on, shape (frame_count, 3)."""
    arrays: Arrays = field(repr=False)

    @property
    def moves(self) -> bool:
        """Whether anything that it reads may differ from frame to frame."""
        return len(self.frames) > 1

    def row(self, frame: int) -> Row:
        """What it reads at a frame."""
        return Row(*self.frames[min(max(frame - self.first, 0), len(self.frames) - 1)].tolist())

    @property
    def walls(self) -> bool:
        """Whether it has colliders."""
        return any(kind == "colliders" for kind, _ in self.slots)


@dataclass(frozen=True, eq=False, repr=False)
class StoredWorld:
    """A stored world."""

    path: Path
    steer: str
    file: str
    scene: str
    fps: float
    complete: bool
    """Whether all crowds of its scenes are there."""
    crowds: tuple[StoredCrowd, ...]


def open_world(path: Path) -> StoredWorld:
    """Open a stored world.

    Raises:
        WorldError: It is damaged, or of a newer format.
    """
    try:
        data = loaded(FORMAT.body_of(path / MANIFEST))
        described_arrays = {name: _counted(data["arrays"][name]) for name in ARRAYS}
        rows = listed(data["crowds"], MOST_CROWDS)
        require(rows)
        fps = number(data["fps"])
        require(LOWEST_FPS <= fps <= HIGHEST_FPS)
        arrays = Arrays(path, described_arrays)
        crowds = tuple(_Reader(arrays, k, len(rows)).crowd(row) for k, row in enumerate(rows))
        return StoredWorld(
            path,
            text(data["steer"]),
            text(data["file"]),
            text(data["scene"]),
            fps,
            flag(data["complete"]),
            crowds,
        )
    except FileError as error:
        raise WorldError(str(error)) from None
    except (ParameterError, WorldError) as error:
        raise WorldError(f"{path} cannot be used: {error}") from None
    except (ValueError, LookupError, TypeError, RecursionError, OverflowError, AttributeError):
        raise WorldError(f"{path} does not describe a world: extract it again") from None


def _counted(data: Any) -> dict[str, Any]:
    digest = text(data["sha256"])
    require(len(digest) == 64)
    return {"count": whole(data["count"], 0, MOST_BYTES), "sha256": digest}


class _Reader:
    """Reads one crowd of a manifest; a wrong value raises a ValueError, LookupError or TypeError.

    Attributes:
        arrays: The numbers of the world.
        number: Number of the crowd.
        count: Number of crowds.
    """

    def __init__(self, arrays: Arrays, number: int, count: int) -> None:
        self.arrays, self.number, self.count = arrays, number, count

    def crowd(self, data: Any) -> StoredCrowd:
        """The crowd that plain data describes."""
        slots = tuple((text(kind), text(name)) for kind, name in listed(data["slots"]))
        require(len(set(slots)) == len(slots) and KINDS.keys() >= {kind for kind, _ in slots})
        versions = self._versions(slots, data["versions"])
        records = self._records(versions, data)
        casts = [described.cast_from_dict(cast) for cast in listed(data["casts"])]
        settings = [self._settings(row, casts) for row in listed(data["settings"])]
        warnings = [
            tuple(map(described.diagnosis_from_dict, listed(row)))
            for row in listed(data["warnings"])
        ]
        bounds = len(records), len(settings), len(warnings)
        first = whole(data["first"], -_FRAME, _FRAME)
        last = whole(data["last"], first, first + MOST_FRAMES)
        frames = self.arrays.part("int64", place(data["frames"]), (3,))
        # none of a crowd that begins after the last frame
        require(len(frames) in (0, 1, last - first + 1))
        require((frames >= 0).all() and (frames < bounds).all())
        begins = {}
        for row in listed(data["begins"]):
            at = whole(row["frame"], -_FRAME, first)
            numbers = [whole(n, 0, most - 1) for n, most in zip(row["row"], bounds, strict=True)]
            begins[at] = Begin(Row(*numbers), self._points(row["points"]))
        require((first in begins) == (len(frames) > 0))
        low, high = (whole(frame, first, last) for frame in listed(data["default"], 2))
        return StoredCrowd(
            session_uid=self.number,
            name=text(data["name"]),
            name_full=text(data["name_full"]),
            chosen=flag(data["chosen"]),
            baked=flag(data["baked"]),
            driving=flag(data["driving"]),
            keyed=flag(data["keyed"]),
            first=first,
            last=last,
            default=range(low, high + 1),
            scenes=frozenset(whole(s, 0, MOST_CROWDS) for s in listed(data["scenes"])),
            met=frozenset(map(self._other, listed(data["met"]))),
            steers_by=self._steers_by(data["steers_by"]),
            base=whole(data["base"], 0, len(settings) - 1),
            settings=tuple(settings),
            warnings=tuple(warnings),
            slots=slots,
            versions=versions,
            records=records,
            begins=begins,
            frames=frames,
            arrays=self.arrays,
        )

    def _other(self, value: Any) -> int:
        return whole(value, 0, self.count - 1)

    def _steers_by(self, data: Any) -> dict[tuple[str, str], int]:
        found = {}
        for role, name, other in listed(data):
            require(role in ("targets", "second_targets"))
            found[role, text(name)] = self._other(other)
        return found

    def _settings(self, row: Any, casts: list[Any]) -> CrowdSettings:
        data, cast = listed(row, 2)
        found = CrowdSettings.from_dict(data)
        number = whole(cast, -1, len(casts) - 1)
        return found if number < 0 else replace(found, cast=casts[number])

    def _versions(self, slots: tuple[tuple[str, str], ...], data: Any) -> tuple[I64, ...]:
        places = listed(data)
        require(len(places) == len(slots))
        return tuple(
            self.arrays.part("int64", place(where), (2 * len(KINDS[kind]),))
            for (kind, _), where in zip(slots, places, strict=True)
        )

    def _records(self, versions: tuple[I64, ...], data: Any) -> tuple[I64, ...]:
        table = self.arrays.part("int64", place(data["records"]), (2,))
        ends = self.arrays.part("int64", place(data["record_first"]))
        require(
            len(ends) and ends[0] == 0 and ends[-1] == len(table) and (np.diff(ends) >= 0).all()
        )
        slot, version = table.T
        counts = np.array([len(of) for of in versions], np.int64)
        require((slot >= 0).all() and (slot < len(counts)).all())
        require((version >= 0).all() and (version < counts[slot]).all())
        return tuple(table[low:high] for low, high in zip(ends[:-1], ends[1:], strict=True))

    def _points(self, data: Any) -> Points:
        part = self.arrays.optional
        vectors = {name: part(file, place(data[name]), shape) for name, file, shape in POINTS}
        position, linear = vectors["position"], part("float64", place(data["linear"]), (3,))
        if position is None or linear is None:
            raise ValueError
        require(len(linear) == 3)
        count = len(position)
        require(all(len(rows) == count for rows in vectors.values() if rows is not None))
        columns = {
            key: {text(name): self._column(c, count) for name, c in dict(data[key]).items()}
            for key in ("attributes", "weights")
        }
        ids = None if data["ids"] is None else self._column(data["ids"], count)
        return Points(
            position=position,
            linear=linear,
            velocity=vectors["velocity"],
            rotation=vectors["rotation"],
            heading=vectors["heading"],
            ids=ids,
            **columns,
        )

    def _column(self, data: Any, count: int) -> NDArray[Any]:
        kind, where = listed(data, 2)
        # those that are not finite are refused where they are used: few of them are
        found = self.arrays.part(_COLUMNS[kind], place(where), finite=False)
        require(len(found) == count)
        if kind == "bool":
            require((found <= 1).all())
            return found.view(np.bool_)
        return found
