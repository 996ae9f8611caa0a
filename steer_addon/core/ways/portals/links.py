"""Links: which cells portals join, and how long the way through each seems.

The ends of a portal are the places next to those of its line, at most `REACH` away, where a body
can stand. The way through seems as long as agents walk in the time that it takes; without a time it
is as long as the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import kernel
from ...numeric.vec import length, sub
from ...views import RoomView, SurfaceView
from ..lattice import cells_above, stand_of
from ..room import BLOCKED, FORBIDDEN
from .declared import Portal, long

F32 = NDArray[np.float32]

REACH = 1.0
"""Farthest that agents stand from an end of a portal [m]."""
LEAST = 1.0e-3
"""Shortest way through a portal [m]."""
SAME = 1.0e-4
"""Share by which equal lengths may differ."""


@kernel
def end_cell(surface, room, point, reach):
    """The cell where a body stands nearest to a point; -1 where none is within reach [m]."""
    best, least = -1, reach
    half = int(reach / surface.size) + 1
    cx = int(math.floor((point[0] - surface.low[0]) / surface.size))
    cy = int(math.floor((point[1] - surface.low[1]) / surface.size))
    for y in range(max(cy - half, 0), min(cy + half + 1, surface.ny)):
        for x in range(max(cx - half, 0), min(cx + half + 1, surface.nx)):
            column = y * surface.nx + x
            begin, end = cells_above(surface, column)
            for cell in range(begin - 1, end):
                cell = column if cell < begin else cell
                if room.state[cell] in (BLOCKED, FORBIDDEN):
                    continue
                gap = length(sub(stand_of(surface, room, cell), point))
                if gap < least:
                    best, least = cell, gap
    return best


@kernel
def link_from(room, cell, distance):
    """The link that the way from a cell goes through; -1 where it does not go through one here.

    Args:
        room: RoomView.
        cell: The cell.
        distance: Lengths of the ways from all cells [m].
    """
    best = -1
    if len(room.gate) == 0 or room.gate[cell] == 0:
        return best
    least = distance[cell] * (1.0 + SAME) + SAME
    for k in range(len(room.portal)):
        way = distance[room.joined[k, 1]] + room.toll[k]
        if room.joined[k, 0] == cell and way < least:
            best, least = k, way
    return best


@kernel
def link_of(room, cell, portal):
    """The link of a portal from a cell; -1 where there is none any more."""
    if len(room.gate) > 0 and room.gate[cell] != 0:
        for k in range(len(room.portal)):
            if room.joined[k, 0] == cell and room.portal[k] == portal:
                return k
    return -1


def fault_of(surface: SurfaceView, room: RoomView, portal: Portal) -> str:
    """Why a portal joins nothing; empty for one that does."""
    return _fault(_ends(surface, room, portal))


def _fault(cells: tuple[int, int]) -> str:
    """Why the cells of both ends join nothing; empty for those that do."""
    for cell, name in zip(cells, ("first", "last"), strict=True):
        if cell < 0:
            return f"nobody can stand within {REACH:g} m of its {name} end"
    return "agents stand at one and the same place at both ends" if cells[0] == cells[1] else ""


def linked(
    room: RoomView, surface: SurfaceView, portals: Sequence[Portal], speed: float
) -> RoomView:
    """The room of bodies with the links that portals make; those that join nothing make none.

    Args:
        room: The room.
        surface: The cells.
        portals: The portals.
        speed: How fast agents walk [m/s].
    """
    joined, toll, keys = [], [], []
    for portal in portals:
        a, b = _ends(surface, room, portal)
        if _fault((a, b)):
            continue
        ends = np.array([stand_of(surface, room, cell) for cell in (a, b)])
        line = np.concatenate([ends[:1], portal.points, ends[1:]])
        way = long(line)
        cost = max(portal.seconds * speed if portal.seconds > 0.0 else way, LEAST)
        for link, key in (((a, b), portal.key), ((b, a), -portal.key)):
            if key > 0 or portal.both_ways:
                joined.append(link)
                toll.append(cost)
                keys.append(key)
    if not joined:
        return room
    cells = np.array(joined, np.int32)
    gate = np.zeros(len(surface.z), np.uint8)
    gate[cells.ravel()] = 1
    costs, known = np.array(toll, np.float32), np.array(keys, np.int32)
    return room._replace(joined=cells, toll=costs, portal=known, gate=gate)


def _ends(surface: SurfaceView, room: RoomView, portal: Portal) -> tuple[int, int]:
    """The cells of both ends, -1 for none."""
    first, last = (
        int(end_cell(surface, room, tuple(float(x) for x in point), REACH))
        for point in (portal.points[0], portal.points[-1])
    )
    return first, last
