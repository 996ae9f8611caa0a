"""Classes: bodies of about one size on a surface, and the fields to the goals that they go to."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..views import RoomView
from .costs import crowding
from .fields import Scratch, fill_field
from .islands import Roots, find_roots, label_islands
from .surface import Surface

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

CLASS_RATIO = 1.25
"""Bodies of one class differ by this factor at most: all go where the largest one has room."""
MEMORY = 1 << 28
"""Bytes of the fields that are kept for one class of bodies, beside those of the step itself."""
MOST_PLACES = 1 << 12
"""Places of goals that are remembered."""

Key = tuple[int, bytes, bytes, bytes]


class Class:
    """Bodies of about one size on a surface.

    Attributes:
        room: Where they have room.
        label: The island of each cell.
        islands: Number of islands.
        goals: The cell of the goal of the field in each slot, see `Roots.goal`, shape (slots,).
        corners: The next corner of each cell, shape (slots, cells).
        distances: The length of its way [m], shape (slots, cells).
    """

    def __init__(self, surface: Surface, room: RoomView) -> None:
        self.room = room
        self.label, self.islands = label_islands(surface.view, room)
        self.goals: I64 = np.zeros(0, np.int64)
        self.corners: I32 = np.zeros((0, surface.count), np.int32)
        self.distances: F32 = np.zeros((0, surface.count), np.float32)
        self._surface = surface
        # the slot of each field; what was used last is at the end
        self._kept: OrderedDict[Key, int] = OrderedDict()
        self._roots: OrderedDict[bytes, Roots] = OrderedDict()

    def moved_to(self, surface: Surface) -> None:
        """Go on with a surface on which the room, and all links, are the same."""
        self._surface = surface

    def roots(self, goal: Any) -> Roots:
        """Where ways to a goal end.

        Args:
            goal: Its place [m], shape (3,).
        """
        place = goal.tobytes()
        found = self._roots.pop(place, None)
        if found is None:
            found = find_roots(self._surface.view, self.room, self.label, self.islands, goal)
        self._roots[place] = found
        if len(self._roots) > MOST_PLACES:
            self._roots.popitem(last=False)
        return found

    def slots(self, goals: F32, seen: F32 | None, scratch: Scratch) -> I64:
        """The fields to some goals; those that are not kept are found.

        Args:
            goals: Their places [m], shape (goals, 3).
            seen: The people that make ways seem longer, see `costs.crowding`; None for nobody.
            scratch: Memory for the search.

        Returns:
            Their slots, shape (goals,).
        """
        roots = [self.roots(goal) for goal in goals]
        told = b"" if seen is None else hashlib.blake2b(seen.tobytes(), digest_size=16).digest()
        keys = [(root.goal, root.cells.tobytes(), root.far.tobytes(), told) for root in roots]
        for key in keys:
            if key in self._kept:
                self._kept.move_to_end(key)
        most = max(len(set(keys)), MEMORY // max(1, 8 * self._surface.count))
        cost: F32 | None = None
        for key, root in zip(keys, roots, strict=True):
            if key not in self._kept:
                if seen is not None and cost is None:
                    cost = crowding(self._surface.view, seen)
                slot = self._free_slot(most)
                field = self.corners[slot], self.distances[slot]
                fill_field(self._surface.view, self.room, root, cost, field, scratch)
                self.goals[slot] = root.goal
                self._kept[key] = slot
        return np.array([self._kept[key] for key in keys], np.int64)

    def _free_slot(self, most: int) -> int:
        """A slot for one more field: one of at most so many."""
        used = len(self._kept)
        if used >= most:
            return self._kept.popitem(last=False)[1]
        have = len(self.goals)
        if used == have:
            more = min(max(4, have), most - have)
            cells = self._surface.count
            self.goals = np.concatenate([self.goals, np.full(more, -1, np.int64)])
            self.corners = np.concatenate([self.corners, np.zeros((more, cells), np.int32)])
            self.distances = np.concatenate([self.distances, np.zeros((more, cells), np.float32)])
        return used


def class_radii(radius: F32) -> NDArray[np.float64]:
    """The radius that each body's class goes by: that of the largest body, or less by its ratio."""
    largest = float(radius.max(initial=0.0))
    least = np.maximum(radius.astype(np.float64), 1.0e-3)
    steps = np.floor(np.log(max(largest, 1.0e-3) / least) / np.log(CLASS_RATIO) + 1.0e-9)
    found: NDArray[np.float64] = largest / CLASS_RATIO**steps
    return found
