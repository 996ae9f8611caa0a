"""Classes: bodies of about one size on a surface, and the fields to the goals that they go to."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..views import RoomView
from .ahead.digests import digest_of
from .areas.keeping_out import depths
from .areas.marking import Marks, marked
from .corners.crowded import Crowd, searches
from .corners.single import Aims, Singles
from .costs import crowding
from .finder import aims_kernel, islands_kernel, short_kernel
from .islands import (
    Roots,
    find_roots,
    islands_at,
    label_islands,
    reached_from,
)
from .room import passable
from .searching import NOTHING, Scratch, fill_field
from .surface import Surface

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]


CLASS_RATIO = 1.25
"""Bodies of one class differ by this factor at most: all go where the largest one has room."""
MEMORY = 1 << 28
"""Bytes of the fields that are kept for one class of bodies, beside those of the step itself."""
LARGE = 1 << 19
"""Cells from which on fields reach as far as agents need them, and serve their islands only."""
ALL_WAYS = 1.0e30
"""Reach of fields that know all ways on the islands that they serve [m]."""
MOST_BESIDE = 4
"""Islands next to which an agent in a wall may stand; where there are more, fields serve all."""
DETOUR, NEAR = 1.5, 10.0
"""By how much ways are longer than straight lines at first: a factor, and a length [m]."""
MORE = 0.2
"""Share of the time that is left for fields which turn out to be short, each time."""
MOST_PLACES, MOST_ENDS = 1 << 12, 64
"""Places of goals that are remembered, and ends of ways of which it is known what reaches them."""

Key = tuple[int, int, bytes, bytes, bytes]


@dataclass(eq=False)
class Needs:
    """How far fields to some goals have to reach.

    Attributes:
        which: The goal of each agent, shape (agents,).
        lengths: Length of ways that each field has to know when it is found [m], shape (goals,).
        least: Length of ways that a field has to know that is kept [m], shape (goals,).
        islands: The islands of each agent, -1 for none, shape (agents, k); None for all of them.
    """

    which: I64
    lengths: F64
    least: F64
    islands: I32 | None

    def served(self, number: int, count: int) -> Mask:
        """Which of a number of islands the field to a goal has to serve."""
        if self.islands is None:
            return np.ones(count, np.bool_)
        found = np.zeros(count + 1, np.bool_)
        found[self.islands[self.which == number]] = True
        return found[:-1]


def all_ways(which: I64, count: int) -> Needs:
    """What whole fields to a number of goals need."""
    return Needs(which, np.full(count, math.inf), np.zeros(count), None)


class Class:
    """Bodies of about one size on a surface, for which the same areas count.

    Attributes:
        surface: The surface, with the links where they fit through.
        plain: Where they have room, whatever areas there are.
        marks: What areas mean for them; None for nothing.
        room: Where they have room and may be.
        cost: How many times longer ways seem in each cell by areas, shape (cells,); None for once.
        strict: Whether areas forbid some ways.
        depth: How deep in forbidden areas each cell is, see `keeping_out.depths`; None without any.
        label: The island of each cell with room.
        islands: Number of islands.
        goals: The cell of the goal of the field in each slot, see `Roots.goal`, shape (slots,).
        corners: The next corner of each cell, shape (slots, cells).
        distances: The length of its way [m], shape (slots, cells).
        reach: The length of ways up to which each of them knows all [m], shape (slots,).
        served: The islands on which each of them does, shape (slots, islands).
        singles: What leads agents with goals of their own.
    """

    def __init__(
        self, surface: Surface, room: RoomView, radius: float, marks: Marks | None = None
    ) -> None:
        self.surface = surface = passable(surface, room)
        self.plain, self.marks = room, marks
        self.room = marked(room, surface, marks, radius)
        self.cost = None if marks is None else marks.cost
        self.strict = marks is not None and marks.strict
        forbids = marks is not None and bool(marks.shut.any())
        self.depth = depths(surface.view, self.room) if forbids else None
        self.label, self.islands = label_islands(surface.view, self.room)
        self.goals: I64 = np.zeros(0, np.int64)
        self.corners: I32 = np.zeros((0, surface.count), np.int32)
        self.distances: F32 = np.zeros((0, surface.count), np.float32)
        self.reach: F64 = np.zeros(0)
        self.served: Mask = np.zeros((0, self.islands), np.bool_)
        # the slot of each field; what was used last is at the end
        self._kept: OrderedDict[Key, int] = OrderedDict()
        self._roots: OrderedDict[bytes, Roots] = OrderedDict()
        # the cells that reach an end, a bit each
        self._ends: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()
        self._crowd: tuple[bytes, F32] | None = None
        self.singles = Singles(self.room, self.label, self.cost, self.strict, self.roots)

    def moved_to(self, surface: Surface) -> None:
        """Go on with a surface on which the room, and all links, are the same."""
        self.surface = passable(surface, self.plain)

    def roots(self, goal: Any) -> Roots:
        """Where ways to a goal end.

        Args:
            goal: Its place [m], shape (3,).
        """
        place = goal.tobytes()
        found = self._roots.pop(place, None)
        if found is None:
            options = self.surface.view, self.room, self.label, self.islands
            found = find_roots(*options, goal, self.strict)
        self._roots[place] = found
        if len(self._roots) > MOST_PLACES:
            self._roots.popitem(last=False)
        return found

    def slots(
        self, goals: F32, seen: F32 | None, scratch: Scratch, needs: Needs | None = None
    ) -> I64:
        """The fields to some goals; those that are not kept, or reach less than needed, are found.

        Args:
            goals: Their places [m], shape (goals, 3).
            seen: The people that make ways seem longer, see `costs.crowding`; None for nobody.
            scratch: Memory for the search.
            needs: How far they have to reach; None for all ways.

        Returns:
            Their slots, shape (goals,).
        """
        needs = needs or all_ways(np.arange(len(goals)), len(goals))
        roots = [self.roots(goal) for goal in goals]
        told = digest_of(seen)
        keys = [
            (root.goal, root.near, root.cells.tobytes(), root.far.tobytes(), told) for root in roots
        ]
        for key in keys:
            if key in self._kept:
                self._kept.move_to_end(key)
        most = max(len(set(keys)), MEMORY // max(1, 8 * self.surface.count))
        for number, (key, root) in enumerate(zip(keys, roots, strict=True)):
            slot, far = self._kept.pop(key, -1), needs.least[number]
            if slot < 0:
                slot, far = self._free_slot(most), needs.lengths[number]
                self.served[slot] = needs.served(number, self.islands)
            elif self.reach[slot] >= far:
                self._kept[key] = slot
                continue
            cost = self.cost if seen is None else self._crowded(seen, told)
            with scratch.progress.part(number / len(keys), (number + 1) / len(keys)):
                self._fill(slot, root, cost, scratch, float(far))
            self._kept[key] = slot
        return np.array([self._kept[key] for key in keys], np.int64)

    def _crowded(self, seen: F32, told: bytes) -> F32:
        """What cells cost by areas and by people, who are looked at now and then."""
        if self._crowd is None or self._crowd[0] != told:
            cost = crowding(self.surface.view, seen)
            self._crowd = told, cost if self.cost is None else cost * self.cost
        return self._crowd[1]

    def lead_singles(
        self,
        rows: I64,
        told: tuple[F32, I64, F32, I64],
        seen: F32 | None,
        kept: F32,
        scratch: Scratch,
        aims: Aims,
    ) -> None:
        """Lead agents by ways of their own, see `lead_all` and `Singles.lead`."""
        crowd = None
        if seen is not None and searches(self.surface.view):
            people = digest_of(seen)
            # whole numbers that a float holds, and not 0
            stamp = float(1 + int.from_bytes(people[:2], "little"))
            crowd = Crowd(stamp, self._crowded(seen, people))
        self.singles.lead(rows, self.surface.view, told, kept, scratch, aims, crowd)

    def _fill(self, slot: int, root: Roots, cost: F32 | None, scratch: Scratch, far: float) -> None:
        """Find a field on the islands that it serves, for ways up to a length [m]."""
        wanted = self.served[slot][islands_at(self.label, self.room, root.cells)]
        served = root._replace(cells=root.cells[wanted], far=root.far[wanted])
        options = served, cost, (self.corners[slot], self.distances[slot]), scratch
        reach = fill_field(self.surface.view, self.room, *options, limit=far)
        self.reach[slot] = reach if self.served[slot].all() else min(reach, ALL_WAYS)
        self.goals[slot] = root.goal

    def lead_all(
        self,
        rows: I64,
        told: tuple[F32, I64, F32, I64],
        seen: F32 | None,
        scratch: Scratch,
        aims: Aims,
    ) -> None:
        """Lead agents by fields to their goals.

        Args:
            rows: Rows of the agents.
            told: (places of the goals [m], each agent's goal, positions [m], ids).
            seen: The people that make ways seem longer, see `costs.crowding`; None for nobody.
            scratch: Memory for the search.
            aims: Where they head for, written; it holds their goals before.
        """
        _goals, _row, position, ids = told
        slot = self._slots_of(rows, told, seen, scratch)
        fields, agents = (self.corners, self.distances, self.goals), (position, ids)
        cost = NOTHING if self.cost is None else self.cost
        blocks = self.surface.view, self.room, cost, fields
        parallel_for(aims_kernel, len(rows), rows, *blocks, slot, agents, *aims)

    def _slots_of(
        self, rows: I64, told: tuple[F32, I64, F32, I64], seen: F32 | None, scratch: Scratch
    ) -> I64:
        """The slot of each agent's field, which reaches as far as the agent; see `lead_all`."""
        goals, row, position, _ids = told
        used, which = np.unique(row[rows], return_inverse=True)
        needs = self._needs(rows, which, goals[row[rows]], position)
        slot, short = np.zeros(len(row), np.int64), np.zeros(len(row), np.uint8)
        left = 1.0
        while True:
            with scratch.progress.part(1.0 - left, 1.0 - MORE * left):
                found = self.slots(goals[used], seen, scratch, needs)
            left *= MORE
            slot[rows] = found[which]
            known = self.distances, self.reach, slot, position, short
            parallel_for(short_kernel, len(rows), rows, self.surface.view, self.room, *known)
            if not short[rows].any():
                return slot
            for number in np.unique(which[short[rows] != 0]).tolist():
                self._extend(int(found[number]), number, needs)

    def _needs(self, rows: I64, which: I64, goals: F32, position: F32) -> Needs:
        """How far the fields to the goals of agents have to reach, at first."""
        needs, view, room = all_ways(which, int(which.max()) + 1), self.surface.view, self.room
        if self.surface.count < LARGE or self.strict or len(room.gate):
            # portals join islands, and areas cut them
            return needs
        islands = np.full((len(position), MOST_BESIDE), -1, np.int32)
        parallel_for(islands_kernel, len(rows), rows, view, room, self.label, position, islands)
        needs.lengths[:], needs.islands = 0.0, islands[rows]
        gaps = np.linalg.norm(position[rows] - goals, axis=1)
        np.maximum.at(needs.lengths, which, DETOUR * gaps + NEAR)
        return needs

    def _extend(self, slot: int, number: int, needs: Needs) -> None:
        """Let a field serve more islands, or else reach further, as it is short."""
        before, reach = self.served[slot], self.reach[slot]
        served = before | needs.served(number, self.islands)
        if (served != before).any():
            known = reach if reach < ALL_WAYS else 0.0
            needs.least[number] = max(known, needs.lengths[number])
        elif reach < ALL_WAYS:
            needs.least[number] = max(2.0 * reach, needs.lengths[number])
        else:
            served[:], needs.least[number] = True, math.inf
        self.served[slot], self.reach[slot] = served, 0.0

    def reaching(self, cells: I64, end: int) -> Mask:
        """Which of some cells a cell is reached from, shape (n,)."""
        bits = self._ends.pop(end, None)
        if bits is None:
            bits = np.packbits(reached_from(self.surface.view, self.room, end, backward=True))
        self._ends[end] = bits
        if len(self._ends) > MOST_ENDS:
            self._ends.popitem(last=False)
        found: Mask = (bits[cells >> 3] >> (7 - (cells & 7)) & 1) != 0
        return found

    def _free_slot(self, most: int) -> int:
        """A slot for one more field, of `most` slots."""
        used, have = set(self._kept.values()), len(self.goals)
        if len(used) >= most:
            return self._kept.popitem(last=False)[1]
        # a search that was ended leaves a slot without a field
        free = next(slot for slot in range(have + 1) if slot not in used)
        if free == have:
            more = min(max(4, have), most - have)
            cells = self.surface.count
            self.goals = np.concatenate([self.goals, np.full(more, -1, np.int64)])
            self.reach = np.concatenate([self.reach, np.zeros(more)])
            served = np.zeros((more, self.islands), np.bool_)
            self.served = np.concatenate([self.served, served])
            self.corners = np.concatenate([self.corners, np.zeros((more, cells), np.int32)])
            self.distances = np.concatenate([self.distances, np.zeros((more, cells), np.float32)])
        return free


def class_radii(radius: F32) -> NDArray[np.float64]:
    """The radius that each body's class goes by: that of the largest body, or less by its ratio."""
    largest = float(radius.max(initial=0.0))
    least = np.maximum(radius.astype(np.float64), 1.0e-3)
    steps = np.floor(np.log(max(largest, 1.0e-3) / least) / np.log(CLASS_RATIO) + 1.0e-9)
    found: NDArray[np.float64] = largest / CLASS_RATIO**steps
    return found
