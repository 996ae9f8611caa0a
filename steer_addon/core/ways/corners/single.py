"""Agents with goals of their own: who looks for a way, and what is known from step to step.

All of that follows from the cells alone: it only saves time, see `own` for what agents keep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import CHUNK, on_threads, parallel_for, threads
from ...views import LabelView, RoomView, SurfaceView
from .. import own
from ..islands import BEYOND, Roots, nearest_reached, reached_from
from ..portals.gates import Gates
from ..searching import NOTHING, Scratch, fill_field
from .crowded import Crowd, crowded, go_straight
from .graph import Corners, find_corners
from .search import ways_kernel

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

SEARCHES_AT_ONCE = 8
"""Agents to a task that search among corners, or for the place nearest to their goal."""
NEVER = -2
"""In place of an island: no agent asked yet."""

Aims = tuple[F32, F32, Gates]
"""Where agents head for [m], shape (agents, 3); lengths of the ways from there [m], shape
(agents,); and the portals that they go through there."""


class Singles:
    """Agents of one class that have goals of their own."""

    def __init__(
        self,
        room: RoomView,
        label: LabelView,
        cost: F32 | None,
        strict: bool,
        roots: Callable[[Any], Roots],
    ) -> None:
        """Begin with nothing known.

        Args:
            room: Where they have room and may be.
            label: The island of each cell with room.
            cost: How many times longer ways seem in each cell; None for once.
            strict: Whether areas forbid some ways.
            roots: Where ways to a place end.
        """
        self._room, self._label, self._cost = room, label, cost
        self._strict, self._roots = strict, roots
        # areas and portals lead to ways that bend elsewhere too
        self._plain = cost is None and not strict and not len(room.lane) and not len(room.gate)
        self._corners: Corners | None = None
        self._before: tuple[Corners | None, I64 | None] = None, None
        self._ahead: dict[tuple[bytes, int, int], list[float]] = {}
        """Ways that were found ahead of the step that needs them, by goal and ends."""
        self._forget(0)

    def begin_with(self, other: Singles, changed: I64) -> None:
        """Begin with the corners of a surface that only differed in some cells."""
        self._before = other._corners, changed

    def lead(
        self,
        rows: I64,
        surface: SurfaceView,
        told: tuple[F32, I64, F32, I64],
        kept: F32,
        scratch: Scratch,
        aims: Aims,
        crowd: Crowd | None = None,
    ) -> None:
        """Lead agents by ways of their own.

        Args:
            rows: Rows of the agents.
            surface: The cells.
            told: (places of the goals [m], each agent's goal, positions [m], ids).
            kept: The ways that they keep, changed.
            scratch: Memory for searches.
            aims: Where they head for, written; it holds their goals before.
            crowd: The people ahead; None where only areas count.
        """
        goals, row, position, ids = told
        room, count = self._room, len(row)
        if len(self._looked) != count:
            self._forget(count)
        cells, ends = np.full((2, count), -1, np.int64)
        state = np.zeros(count, np.uint8)
        seen = surface, room, self._label, goals, row, position
        parallel_for(own.ends_kernel, len(rows), rows, *seen, cells, ends)
        self._as_near(rows[(ends[rows] < 0) & (cells[rows] >= 0)], surface, told, cells, ends, aims)
        costly = self._cost is not None or crowd is not None
        follows = costly, goals, row, position, cells, ends, kept, state
        known = surface, room, *follows, self._looked
        parallel_for(own.follow_kernel, len(rows), rows, *known)
        looks = rows[state[rows] == own.LOOKS]
        if crowd is not None and self._cost is None:
            sees = self._looked[looks, own.GOAL + 2] == 1
            straight, looks = looks[sees], looks[~sees]
            go_straight(kept, straight, goals[row[straight]], aims[0])
        if len(looks):
            self._find(looks, surface, told, (cells, ends), kept, scratch)
        if crowd is not None:
            self._look_again(rows, surface, told, (cells, ends, kept, state), scratch, crowd)
        lanes = position, ids, cells, self._looked, kept, state, *aims
        parallel_for(own.own_aims_kernel, len(rows), rows, surface, room, *lanes)

    def _forget(self, count: int) -> None:
        """Begin with nothing known of a number of agents."""
        self._looked: I32 = np.full((count, own.LOOKED), -1, np.int32)
        self._asked: F32 = np.zeros((count, 3), np.float32)
        self._nearest: I32 = np.full((count, 2), NEVER, np.int32)

    def _as_near(
        self,
        rows: I64,
        surface: SurfaceView,
        told: tuple[F32, I64, F32, I64],
        cells: I64,
        ends: I64,
        aims: Aims,
    ) -> None:
        """Let the ways of agents end where their islands come nearest to their goals."""
        goals, row, _position, _ids = told
        beyond = np.zeros(len(rows), np.bool_)
        for k in range(len(rows)) if surface.endless else ():
            roots = self._roots(goals[row[rows[k]]])
            beyond[k] = roots.goal == BEYOND
            if beyond[k]:
                ends[rows[k]] = roots.cells[int(np.argmin(roots.far))]
        rows = rows[~beyond]
        known = cells, ends, aims[0], self._asked, self._nearest
        seen = rows, surface, self._room, self._label, goals, row
        searched = (self._nearest[rows, 0] == NEVER).any()
        chunk = SEARCHES_AT_ONCE if searched else CHUNK
        parallel_for(own.as_near_kernel, len(rows), *seen, *known, chunk=chunk)

    def _find(
        self,
        looks: I64,
        surface: SurfaceView,
        told: tuple[F32, I64, F32, I64],
        between: tuple[I64, I64],
        kept: F32,
        scratch: Scratch,
    ) -> None:
        """Find ways for agents: among corners, or among all cells where that finds none."""
        goals, row, _position, _ids = told
        cells, ends = between
        if self._plain and self._corners is None:
            self._corners = find_corners(surface, self._room, *self._before)
            self._plain, self._before = self._corners is not None, (None, None)
        if self._corners is not None:
            graph = surface, self._room, self._corners
            looks = by_corners(looks, graph, (goals, row, *between), kept, scratch)

        ahead, known, progress = {}, self._ahead, scratch.progress

        def search(memory: Scratch, k: int) -> None:
            i = looks[k]
            goal, cell, end = goals[row[i]], int(cells[i]), int(ends[i])
            key = goal.tobytes(), cell, end
            kept[i] = ahead[key] = known.get(key) or self._own_way(surface, goal, cell, end, memory)
            progress.tell(len(ahead) / len(looks))

        _share(search, len(looks), scratch, len(surface.z))
        self._ahead = {} if progress.told is None else ahead

    def _look_again(
        self,
        rows: I64,
        surface: SurfaceView,
        told: tuple[F32, I64, F32, I64],
        ways: tuple[I64, I64, F32, NDArray[np.uint8]],
        scratch: Scratch,
        crowd: Crowd,
    ) -> None:
        """Let agents take other ways where many people are ahead, see `crowded`."""
        goals, row, _position, _ids = told
        cells, ends, kept, _state = ways
        base = NOTHING if self._cost is None else self._cost
        looks = crowded(rows, (surface, self._room), crowd, base, ways)

        def search(memory: Scratch, k: int) -> None:
            i = looks[k]
            cell, end = int(cells[i]), int(ends[i])
            field = self._searched(surface, cell, end, memory, crowd.cost)
            if field[0][cell] >= 0:
                goal = goals[row[i]]
                kept[i] = own.keep(surface, self._room, goal, cell, end, field, straight=True)
            kept[i, own.STAMP] = crowd.stamp

        _share(search, len(looks), scratch, len(surface.z))

    def _own_way(
        self, surface: SurfaceView, goal: Any, cell: int, end: int, scratch: Scratch
    ) -> list[float]:
        """What an agent keeps of a way to a goal, or as near to it as areas let it go."""
        room = self._room
        field = self._searched(surface, cell, end, scratch, self._cost)
        short = self._strict and field[0][cell] < 0
        if short:
            reached = reached_from(surface, room, cell, backward=False)
            end = int(nearest_reached(surface, room, reached, tuple(float(x) for x in goal)))
            end = cell if end < 0 else end
            field = self._searched(surface, cell, end, scratch, self._cost)
        straight = self._cost is not None
        return own.keep(surface, room, goal, cell, end, field, short=short, straight=straight)

    def _searched(
        self, surface: SurfaceView, cell: int, end: int, scratch: Scratch, cost: F32 | None
    ) -> tuple[Any, ...]:
        """A search from the end of a way that stops at an agent."""
        field = scratch.field(len(surface.z))
        roots = Roots(end, np.array([end], np.int64), np.zeros(1))
        fill_field(surface, self._room, roots, cost, field, scratch, cell)
        return field


def by_corners(
    looks: I64,
    graph: tuple[SurfaceView, RoomView, Corners],
    told: tuple[F32, I64, I64, I64],
    kept: F32,
    scratch: Scratch,
) -> I64:
    """Find ways among corners: the rows of the agents for which there are none."""
    lost, size = np.zeros(len(looks), np.uint8), len(graph[2].cells)

    def search(memory: Scratch, k: int) -> None:
        begin, end = k * SEARCHES_AT_ONCE, min((k + 1) * SEARCHES_AT_ONCE, len(looks))
        arrays = *memory.field(2 * size), *memory.of(2 * size)
        ways_kernel(begin, end, looks, *graph, *told, kept, lost, arrays)

    _share(search, -(-len(looks) // SEARCHES_AT_ONCE), scratch, 2 * size)
    found: I64 = looks[lost != 0]
    return found


def _share(search: Callable[[Scratch, int], None], count: int, scratch: Scratch, size: int) -> None:
    """Call a function for the numbers 0 to count - 1 on all threads, each with its memory."""
    memories = scratch.several(min(count, threads()), size)
    waiting = iter(range(count))

    def work() -> None:
        try:
            memory = memories.pop()
        except IndexError:
            return
        for k in waiting:  # shared, so that each number goes to one thread
            search(memory, k)

    on_threads(work) if count > 1 and len(memories) > 1 else work()
