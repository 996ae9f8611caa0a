"""MDD and PC2: positions frame by frame, for Mesh Cache modifiers and other programs.

Both hold only positions: the number of points, the number of frames, and all frames in turn. PC2 is
little-endian and begins with the number of the first frame; MDD is big-endian and gives each frame
its time in seconds after the first one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.results.frames import Frame
from ...core.results.roster import placed
from .files import Header, replacing

Points = Iterable[tuple[int, NDArray[np.float32]]]
"""Number and points [m], shape (point_count, 3), of each frame, in ascending order."""

_PC2 = struct.Struct("<12siiffi")
_PC2_MARK = b"POINTCACHE2\0"


def read_point_count(path: Path) -> int:
    """The number of points in every frame of a PC2 file.

    Raises:
        SceneError: The file is no PC2 file, or is cut short.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_PC2.size)
        size = path.stat().st_size
    except OSError as error:
        raise SceneError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) < _PC2.size or data[:12] != _PC2_MARK:
        raise SceneError(f"{path} is no PC2 file: bake the crowd again")
    _, version, points, _, rate, frames = _PC2.unpack(data)
    if version != 1 or points < 0 or frames < 0 or rate != 1.0:
        raise SceneError(f"{path} is a PC2 file of another kind: bake the crowd again")
    if size != _PC2.size + 12 * points * frames:
        raise SceneError(f"{path} is cut short: bake the crowd again")
    return int(points)


def positions(frames: Iterable[Frame], ids: NDArray[np.int64] | None = None) -> Points:
    """The positions of all agents in each frame; a later agent is at the origin until it appears.

    Args:
        frames: Ascending frames without gaps.
        ids: All identities that there will be; None takes those of the first frame.
    """
    return ((frame.number, frame.position) for frame in placed(frames, ids))


def write_pc2(points: Points, path: Path, header: Header) -> int:
    """Write points to a PC2 file, see `writing`.

    Raises:
        SceneError: The number of points changes.
    """

    def begin(count: int, frames: int) -> bytes:
        return _PC2.pack(_PC2_MARK, 1, count, float(header.start), 1.0, frames)

    return _write(points, path, header, "<f4", begin)


def write_mdd(points: Points, path: Path, header: Header) -> int:
    """Write points to an MDD file, see `writing`; the header's frame rate gives the times.

    Raises:
        SceneError: The number of points changes, or there are fewer frames than in the header.
    """
    expected = header.count

    def begin(count: int, frames: int) -> bytes:
        times = np.arange(expected, dtype=np.float64) / header.fps
        return struct.pack(">ii", expected, count) + times.astype(">f4").tobytes()

    return _write(points, path, header, ">f4", begin, expected)


def _write(
    points: Points,
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
        # now the number of frames is known
        file.seek(0)
        file.write(begin(size, count))
    return count
