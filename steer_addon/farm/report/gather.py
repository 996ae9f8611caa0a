"""What a batch left, read for its report.

Files of a batch may have come from another machine: they are data, and checked like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.cache import folder_name
from ...core.errors import FileError, short
from ...core.files.arrays import open_array
from ..books import BOOK, FORMAT, VARIATION, VARIATION_FORMAT
from ..errors import JobError
from ..results import read_json
from ..tasks import BAKE, SIMULATION

PICTURES = "frames"
MOST = 10_000
"""Variations in a report."""
_REPORT_FORMAT = "steer-simulation"
_PICTURE = re.compile(r"[\w.-]*\d\.(png|jpg)")
_NAME = re.compile(r"[^/\\:\x00-\x1f]{1,200}")


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """A crowd of a variation as it was simulated.

    Attributes:
        name: The crowd.
        positions: Where its agents are [m], shape (frames, agents, 3).
        velocities: Their velocities [m/s], of that shape.
        alive: Who is there, shape (frames, agents).
        numbers: Numbers of the frames, shape (frames,).
        fps: Frames a second.
        report: What its simulation says of it.
    """

    name: str
    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    alive: NDArray[np.bool_]
    numbers: NDArray[np.int64]
    fps: float
    report: Mapping[str, Any]

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds since the first frame, shape (frames,)."""
        found: NDArray[np.float64] = (self.numbers - self.numbers[0]) / self.fps
        return found

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Figures of the run; empty where none were measured."""
        return metrics_of(self.report)


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """A variation and what became of it.

    Attributes:
        number: Its number in the batch.
        name: Its folder.
        differs: What tells it from the others, by name.
        tracks: Its crowds; empty where it was not simulated.
        picture: A rendered picture from its middle; None where none was rendered.
        fault: Why there are no crowds; empty where there are.
    """

    number: int
    name: str
    differs: Mapping[str, Any]
    tracks: tuple[Track, ...]
    picture: Path | None
    fault: str

    @property
    def metrics(self) -> list[Mapping[str, Any]]:
        """Figures of each crowd."""
        return [track.metrics for track in self.tracks]


def outcomes(out: Path) -> list[Outcome]:
    """All variations of a batch, in the order of their numbers.

    Args:
        out: Folder of the batch.

    Raises:
        JobError: No batch wrote there, or what it wrote is broken.
    """
    rows = variations(out)
    return [_outcome(out, row) for row in rows]


def variations(out: Path) -> list[Mapping[str, Any]]:
    """What the batch wrote down of each variation, see `books`.

    Raises:
        JobError: No batch wrote there, or what it wrote is broken.
    """
    book = read_json(out / BOOK, FORMAT)
    if book is None:
        raise JobError(f"{out} holds no {BOOK}: give the folder of a batch")
    rows = book.get("variations")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows) or len(rows) > MOST:
        raise JobError(f"{out / BOOK} is broken: run `steer batch` again")
    return sorted(rows, key=lambda row: int(row["number"]))


def variation(out: Path, number: int) -> Mapping[str, Any]:
    """What the batch wrote down of one variation.

    Raises:
        JobError: There is none with that number.
    """
    rows = {int(row["number"]): row for row in variations(out)}
    if number not in rows:
        raise JobError(f"{out} has no variation {number}: choose one of {_ranges(sorted(rows))}")
    found = read_json(out / rows[number]["name"] / VARIATION, VARIATION_FORMAT)
    if found is None:
        raise JobError(
            f"{out / rows[number]['name']} holds no {VARIATION}: run `steer batch` again"
        )
    return found


def _ranges(numbers: list[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "".join(map(str, numbers))


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("differs"), dict):
        return False
    name, number = row.get("name"), row.get("number")
    plain = isinstance(name, str) and name not in (".", "..") and _NAME.fullmatch(name)
    return bool(plain) and isinstance(number, int) and not isinstance(number, bool)


def _outcome(out: Path, row: Mapping[str, Any]) -> Outcome:
    folder = out / row["name"]
    baked = folder / BAKE / SIMULATION
    try:
        reports = reports_of(baked if baked.is_dir() else folder / SIMULATION)
        tracks, fault = tuple(_track(*each) for each in reports), ""
    except FileError as error:
        tracks, fault = (), str(error)
    picture = _picture(folder / PICTURES)
    return Outcome(int(row["number"]), row["name"], row["differs"], tracks, picture, fault)


def reports_of(folder: Path) -> list[tuple[Path, Mapping[str, Any]]]:
    """What a simulation says of each of its crowds, and where their arrays are.

    Raises:
        FileError: It is not whole.
    """
    report = read_json(folder / "report.json", _REPORT_FORMAT)
    if report is None or report.get("complete") is not True:
        raise FileError(f"{folder} holds no whole simulation: run `steer batch` again")
    crowds = report.get("crowds")
    if not isinstance(crowds, list):
        return [(folder, report)]
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for row in crowds:
        name = row.get("crowd") if isinstance(row, dict) else None
        if not isinstance(name, str):
            raise FileError(f"{folder / 'report.json'} names no crowds: run `steer batch` again")
        own = folder / folder_name(name)
        inner = read_json(own / "report.json", _REPORT_FORMAT)
        if inner is None:
            raise FileError(f"{own} holds no simulation: run `steer batch` again")
        found.append((own, inner))
    return found


def metrics_of(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Figures of a crowd's run; empty where none were measured."""
    found = report.get("metrics")
    return found if isinstance(found, Mapping) else {}


def _track(folder: Path, report: Mapping[str, Any]) -> Track:
    numbers = np.asarray(open_array(folder / "frames.npy", np.dtype("<i8"), (None,)))
    count = len(numbers)
    positions = open_array(folder / "positions.npy", np.dtype("<f4"), (count, None, 3))
    shape = positions.shape
    velocities = open_array(folder / "velocities.npy", np.dtype("<f4"), shape)
    alive = open_array(folder / "alive.npy", np.dtype("u1"), shape[:2])
    fps = report.get("fps")
    if not count or not isinstance(fps, (int, float)) or not 0.0 < fps < 1e6:
        raise FileError(f"{folder} has {count} frames at {short(fps)} a second: simulate it again")
    return Track(
        name=str(report.get("crowd", "")),
        # as plain arrays of the same pages: each step of a mapped one takes longer
        positions=np.asarray(positions),
        velocities=np.asarray(velocities),
        alive=np.asarray(alive) != 0,
        numbers=numbers,
        fps=float(fps),
        report=report,
    )


def _picture(folder: Path) -> Path | None:
    """The picture in the middle of those that were rendered."""
    if not folder.is_dir() or folder.is_symlink():
        return None
    names = sorted(
        path.name for path in folder.iterdir() if _PICTURE.fullmatch(path.name) and path.is_file()
    )
    return folder / names[len(names) // 2] if names else None
