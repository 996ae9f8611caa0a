"""Trajectories as text, as tools for pedestrian dynamics read them (PedPy, JuPedSim).

Columns between tabs: id, frame, x, y, z in meters. Comments above them give the frame rate and the
unit; the first number in the line with `framerate` is the rate. A dead agent has no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import SceneError
from ...core.results.frames import Frame
from ..writing.files import Header, replacing

_ROW = "%d\t%d\t%.5f\t%.5f\t%.5f\n"


def write_trajectories(
    frames: Iterable[Frame], path: Path, header: Header, unit: float = 1.0
) -> int:
    """Write frames to a text file, see `writing`.

    The crowd's name stays out of the file, since the readers would look for units in it.

    Args:
        frames: The frames.
        path: File to write.
        header: Header of the frames.
        unit: How many meters a unit of their positions has.
    """
    count = 0
    with replacing(path) as partial, partial.open("w", encoding="ascii", newline="\n") as file:
        file.write("# description: crowd simulated by Steer\n")
        file.write(f"# framerate: {header.fps:.6g}\n")
        file.write("# id\tframe\tx/m\ty/m\tz/m\n")
        for frame in frames:
            file.write(rows_of(frame, unit))
            count += 1
        if not count:
            raise SceneError(f"Crowd {header.name!r} has no frames to write: simulate it first")
    return count


def rows_of(frame: Frame, unit: float = 1.0) -> str:
    """The lines of one frame."""
    living = frame.alive != 0
    rows = int(living.sum())
    cells: Any = np.empty((rows, 5), object)
    cells[:, 0] = frame.id[living].tolist()
    cells[:, 1] = frame.number
    cells[:, 2:] = unit * frame.position[living]
    return (_ROW * rows) % tuple(cells.ravel().tolist())
