"""Searches of fields: the memory that they take, and how they report what is done."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..views import RoomView, SurfaceView
from .ahead.progress import Progress
from .fields.buckets import RING
from .fields.filling import FINE, UNFINISHED, corner_field
from .islands import Roots

NOTHING = np.zeros(0, np.float32)
BYTES, MOST_BYTES = 21, 1 << 29
"""Memory of a search for each cell, and that of all searches at once, at most."""


class Scratch:
    """Memory that a search needs, kept for the next one.

    Attributes:
        progress: How much of the search is done.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Progress()
        self._arrays: tuple[Any, ...] = ()
        self._field: tuple[Any, ...] = ()
        self._heads = np.zeros(RING, np.int32)
        self._others: list[Scratch] = []

    def of(self, count: int) -> tuple[Any, ...]:
        """Arrays for a number of cells, which hold anything: `phase`, `heap`, `keys`, `place`."""
        if not self._arrays or len(self._arrays[0]) < count:
            numbers = np.zeros((2, count), np.int32)
            phase, keys = np.zeros(count, np.uint8), np.zeros(count, np.float32)
            self._arrays = phase, numbers[0], keys, numbers[1]
        return tuple(array[:count] for array in self._arrays)

    def queue(self, count: int) -> tuple[Any, ...]:
        """Arrays for cells in buckets: `phase`, `keys`, `heads`, `before` and `after`."""
        phase, before, keys, after = self.of(count)
        return phase, keys, self._heads, before, after

    def field(self, count: int) -> tuple[Any, ...]:
        """Corners and lengths of ways, for a search that nobody keeps: they hold anything."""
        if not self._field or len(self._field[0]) < count:
            self._field = np.zeros(count, np.int32), np.zeros(count, np.float32)
        return tuple(array[:count] for array in self._field)

    def several(self, number: int, count: int) -> list[Scratch]:
        """This one and others, for searches at once among a number of cells.

        Args:
            number: How many at most; fewer where they would take more than `MOST_BYTES`.
            count: Number of cells.
        """
        number = max(1, min(number, MOST_BYTES // (BYTES * max(count, 1))))
        while len(self._others) < number - 1:
            self._others.append(Scratch(self.progress))
        return [self, *self._others[: number - 1]]


def fill_field(
    surface: SurfaceView,
    room: RoomView,
    roots: Roots,
    cost: NDArray[np.float32] | None,
    field: tuple[Any, ...],
    scratch: Scratch,
    toward: int = -1,
    limit: float = math.inf,
) -> float:
    """Find the next corners and the lengths of ways, see `corner_field`.

    Args:
        surface: The cells.
        room: Which of them have room.
        roots: Where ways end.
        cost: How many times longer ways through each cell seem; None for once.
        field: (corners, distances [m]), shape (cells,) each; written.
        scratch: Memory that is kept.
        toward: The cell at which the search may stop; -1 for none.
        limit: Length of ways at which it may stop [m].

    Returns:
        How long the ways are up to which all is found [m]; infinite for all there are.
    """
    progress, left = scratch.progress, np.array([-1, 0, 0, 0], np.int64)
    ends = toward, roots.near if toward < 0 else -1, float(limit), progress.slice, left
    options = *ends, roots.cells, roots.far, field, scratch.queue(len(surface.z))
    costs, reach, share = NOTHING if cost is None else cost, UNFINISHED, 0.0
    while reach == UNFINISHED:
        reach = float(corner_field(surface, room, costs, *options))
        if toward < 0 and reach == UNFINISHED:
            # cells grow with the square of the length; lengths in mazes grow without
            length = float(left[3]) * surface.size / FINE / max(limit, 1.0)
            share = max(share + int(left[2]) / len(surface.z), length * length)
        elif toward < 0:
            share = 1.0
        progress.searched(int(left[2]), share)
    return reach
