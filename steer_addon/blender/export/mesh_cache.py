"""MDD and PC2: positions frame by frame, for Mesh Cache modifiers and other programs.

Both hold nothing but positions: a count of points, a count of frames, and all of them in turn. PC2
is little-endian and begins with the number of the first frame; MDD is big-endian and gives each
frame its time in seconds from the first one on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.frames import Frame
from ...core.roster import placed
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
        header: What they have in common.
        ids: All identities there will be, where agents appear later on.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames.
        AgentError: An agent appears that was not announced.
    """

    def begin(points: int, count: int) -> bytes:
        return _PC2.pack(_PC2_MARK, 1, points, float(header.start), 1.0, count)

    return _write(frames, path, header, ids, "<f4", begin)


def write_mdd(
    frames: Iterable[Frame], path: Path, header: Header, *, ids: NDArray[np.int64] | None = None
) -> int:
    """Write frames to an MDD file; memory does not grow with their number.

    Args:
        frames: Ascending frames without gaps, as many as the header says.
        path: File to write.
        header: What they have in common; its frame rate gives the times.
        ids: All identities there will be, where agents appear later on.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames, or fewer than the header says.
        AgentError: An agent appears that was not announced.
    """
    expected = header.count

    def begin(points: int, count: int) -> bytes:
        times = np.arange(expected, dtype=np.float64) / header.fps
        return struct.pack(">ii", expected, points) + times.astype(">f4").tobytes()

    return _write(frames, path, header, ids, ">f4", begin, expected)


def _write(
    frames: Iterable[Frame],
    path: Path,
    header: Header,
    ids: NDArray[np.int64] | None,
    kind: str,
    begin: Callable[[int, int], bytes],
    expected: int | None = None,
) -> int:
    with replacing(path) as partial, partial.open("wb") as file:
        points = count = 0
        for frame in placed(frames, ids):
            if not count:
                points = len(frame.id)
                file.write(begin(points, 0))
            _check_steady(frame, points)
            file.write(np.ascontiguousarray(frame.position, kind).tobytes())
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
        file.write(begin(points, count))
    return count


def _check_steady(frame: Frame, points: int) -> None:
    if len(frame.id) != points:
        raise SceneError(
            f"Frame {frame.number} has {len(frame.id)} agents instead of {points}, and this format "
            "needs as many in every frame: bake the crowd first, and export the bake"
        )
