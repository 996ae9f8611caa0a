"""MDD and PC2: positions frame by frame, for Mesh Cache modifiers and other programs.

Both hold nothing but positions: a count of points, a count of frames, and all of them in turn. PC2
is little-endian and begins with the number of the first frame; MDD is big-endian and gives each
frame its time in seconds from the first one on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.results.frames import Frame
from ...core.results.roster import placed
from .files import Header, replacing

_PC2 = struct.Struct("<12siiffi")
_PC2_MARK = b"POINTCACHE2\0"


@dataclass(frozen=True)
class Pc2Header:
    """The beginning of a PC2 file.

    Attributes:
        points: Points in every frame.
        start: Number of the first frame.
        frames: How many there are.
    """

    points: int
    start: float
    frames: int


def read_pc2_header(path: Path) -> Pc2Header:
    """Read the beginning of a PC2 file.

    Raises:
        SceneError: It is none, or is cut short.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_PC2.size)
        size = path.stat().st_size
    except OSError as error:
        raise SceneError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) < _PC2.size or data[:12] != _PC2_MARK:
        raise SceneError(f"{path} is no PC2 file: bake the crowd again")
    _, version, points, start, rate, frames = _PC2.unpack(data)
    if version != 1 or points < 0 or frames < 0 or rate != 1.0:
        raise SceneError(f"{path} is a PC2 file of another kind: bake the crowd again")
    if size != _PC2.size + 12 * points * frames:
        raise SceneError(f"{path} is cut short: bake the crowd again")
    return Pc2Header(points, start, frames)


def write_pc2(
    frames: Iterable[Frame], path: Path, header: Header, *, ids: NDArray[np.int64] | None = None
) -> int:
    """Write frames to a PC2 file; memory does not grow with their number.

    Args:
        frames: Ascending frames without gaps.
        path: File to write.
        header: Header of the frames.
        ids: All identities there will be, where agents appear later on.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames.
        AgentError: An agent appears that was not announced.
    """
    return write_points(_positions(frames, ids), path, header)


def write_points(
    points: Iterable[tuple[int, NDArray[np.float32]]], path: Path, header: Header
) -> int:
    """Write any points to a PC2 file.

    Args:
        points: Frame number and points, shape (point_count, 3), of each frame.
        path: File to write.
        header: Header of the frames.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames, or not as many points in all of them.
    """

    def begin(count: int, frames: int) -> bytes:
        return _PC2.pack(_PC2_MARK, 1, count, float(header.start), 1.0, frames)

    return _write(points, path, header, "<f4", begin)


def write_mdd(
    frames: Iterable[Frame], path: Path, header: Header, *, ids: NDArray[np.int64] | None = None
) -> int:
    """Write frames to an MDD file; memory does not grow with their number.

    Args:
        frames: Ascending frames without gaps, as many as the header says.
        path: File to write.
        header: Header of the frames; its frame rate gives the times.
        ids: All identities there will be, where agents appear later on.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames, or fewer than the header says.
        AgentError: An agent appears that was not announced.
    """
    expected = header.count

    def begin(count: int, frames: int) -> bytes:
        times = np.arange(expected, dtype=np.float64) / header.fps
        return struct.pack(">ii", expected, count) + times.astype(">f4").tobytes()

    return _write(_positions(frames, ids), path, header, ">f4", begin, expected)


def _positions(
    frames: Iterable[Frame], ids: NDArray[np.int64] | None
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    for frame in placed(frames, ids):
        yield frame.number, frame.position


def _write(
    points: Iterable[tuple[int, NDArray[np.float32]]],
    path: Path,
    header: Header,
    kind: str,
    begin: Callable[[int, int], bytes],
    expected: int | None = None,
) -> int:
    with replacing(path) as partial, partial.open("wb") as file:
        size = count = 0
        for number, places in points:
            if not count:
                size = len(places)
                file.write(begin(size, 0))
            if len(places) != size:
                raise SceneError(
                    f"Frame {number} has {len(places)} points instead of {size}, and this format "
                    "needs as many in every frame: bake the crowd first, and export the bake"
                )
            file.write(np.ascontiguousarray(places, kind).tobytes())
            count += 1
        if not count:
            raise SceneError(f"Crowd {header.name!r} has no frames to write: simulate it first")
        if expected is not None and count != expected:
            raise SceneError(
                f"{count} frames came instead of {expected} ({header.start} to {header.end}): "
                "give all frames of the range, one by one"
            )
        # now the count of frames is known
        file.seek(0)
        file.write(begin(size, count))
    return count
