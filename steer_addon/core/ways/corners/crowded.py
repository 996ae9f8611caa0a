"""Quickest ways of single agents: those with a crowd ahead look whether another way is quicker.

People look at the others now and then, see `costs`. After each look an agent adds up what the way
that it keeps costs. Where that is more than `SLOW` times as much as without people, it searches by
costs, and keeps the way that it finds. The searches of a step go through `MOST` cells or so;
whoever is left has its turn in one of the next steps. On larger surfaces nobody searches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import kernel, parallel_for
from ...numeric.vec import length, sub
from ...views import RoomView, SurfaceView
from .. import own
from ..lattice import HIDDEN, cell_at, line_cost, stand_of

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

SLOW = 1.2
"""How many times longer a way has to seem before an agent looks for another one."""
MOST = 1 << 21
"""Cells that are searched in a step; where a surface has more, nobody searches."""


class Crowd(NamedTuple):
    """The people ahead as they were looked at last.

    Attributes:
        stamp: Tells this look from others; not 0.
        cost: How many times longer they make ways seem in each cell, shape (cells,).
    """

    stamp: float
    cost: F32


def searches(surface: SurfaceView) -> int:
    """How many agents may search a surface in a step."""
    return MOST // len(surface.z)


@kernel
def _leg(surface, room, cost, base, here, there, hidden):
    """What a straight way costs with people and without [m]; `hidden` where there is none."""
    paid, seen = line_cost(surface, room, cost, here, there)
    if seen == HIDDEN:
        return hidden, hidden
    if len(base) > 0:
        return paid, line_cost(surface, room, base, here, there)[0]
    return paid, length(sub(stand_of(surface, room, there), stand_of(surface, room, here)))


@kernel
def crowded_kernel(
    start, stop, rows, surface, room, cost, base, stamp, cells, ends, kept, state, looks
):
    """Whether ways that agents keep cost much more than without people.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents.
        surface: SurfaceView.
        room: RoomView.
        cost: How many times longer ways seem in each cell, shape (cells,).
        base: The same without people, shape (cells,), or (0,) for once.
        stamp: See `Crowd`; it is noted for agents whose ways are not crowded.
        cells: Where they stand.
        ends: Where their ways end.
        kept: See `own.WIDTH`.
        state: See `own.KEPT`.
        looks: 1 for them, else 0, written.
    """
    for k in range(start, stop):
        i = rows[k]
        looks[i] = 0
        if state[i] != own.KEPT or kept[i, own.STAMP] == stamp or ends[i] < 0:
            continue
        here, now, alone = cells[i], 0.0, 0.0
        for at in range(int(kept[i, own.COUNT])):
            place = own.corner_of(kept, i, at)
            there = cell_at(surface, place[0], place[1], place[2])
            if there >= 0:
                far = length(sub(place, stand_of(surface, room, here)))
                more, plain = _leg(surface, room, cost, base, here, there, far)
                now, alone, here = now + more, alone + plain, there
        rest = abs(kept[i, own.TAIL] * 1.0)
        more, plain = _leg(surface, room, cost, base, here, ends[i], rest)
        now, alone = now + more, alone + plain
        if now > SLOW * alone:
            looks[i] = 1
        else:
            kept[i, own.STAMP] = stamp


def crowded(
    rows: I64,
    solid: tuple[SurfaceView, RoomView],
    crowd: Crowd,
    base: F32,
    ways: tuple[I64, I64, F32, NDArray[np.uint8]],
) -> I64:
    """The agents that look for another way in this step.

    Args:
        rows: Rows of the agents.
        solid: (surface, room).
        crowd: The people ahead.
        base: What ways cost without them, see `crowded_kernel`.
        ways: (where agents stand, where their ways end, what they keep, their states).
    """
    looks = np.zeros(len(ways[0]), np.uint8)
    people = crowd.cost, base, crowd.stamp
    parallel_for(crowded_kernel, len(rows), rows, *solid, *people, *ways, looks)
    found: I64 = rows[looks[rows] != 0][: searches(solid[0])]
    return found


def go_straight(kept: F32, rows: I64, goals: F32, via: F32) -> None:
    """Let agents that see their goals keep the straight way, which people may be on.

    Args:
        kept: What agents keep, written.
        rows: Rows of the agents.
        goals: Their goals [m], shape (len(rows), 3).
        via: Where the ways of all agents end [m], shape (agents, 3).
    """
    kept[rows] = 0.0
    kept[rows, : own.COUNT] = goals
    kept[rows, own.COUNT] = 1.0
    kept[rows[:, None], own.FIRST + np.arange(3)] = via[rows]
