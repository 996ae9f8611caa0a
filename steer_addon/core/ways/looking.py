"""Looking at ways: the islands of a surface as people see them, and the way of one agent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..views import LabelView, RoomView
from .areas.marking import Marker, marked
from .islands import islands_at, label_islands
from .known import Blocks
from .lattice import middles_of
from .portals.gates import no_gates
from .room import BLOCKED, FORBIDDEN, make_room, passable
from .surface import Shape, Surface
from .ways import Ways

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

MOST_CORNERS = 1000
"""Corners of a way that are followed."""


class Islands(NamedTuple):
    """Where bodies of one radius can walk.

    Attributes:
        room: Which cells have room for them, and which of these are forbidden.
        cost: How many times longer ways seem by areas, shape (cells,); None where nothing costs.
        label: The island of each cell with room.
        area: Area of each island without forbidden cells, from above [m²], shape (islands,).
    """

    room: RoomView
    cost: F32 | None
    label: LabelView
    area: F64


class Way(NamedTuple):
    """The way of one agent.

    Attributes:
        points: Where the agent is, its corners, and the end of its way [m], shape (n, 3).
        length: How long it is [m].
        arrives: Whether it ends at the goal, and not as near to it as can be.
    """

    points: F64
    length: float
    arrives: bool


def islands_of(surface: Surface, blocks: Blocks, radius: float, row: int = 0) -> Islands:
    """Find the islands for bodies of a radius.

    Args:
        surface: The surface.
        blocks: What it was found on.
        radius: Radius of the bodies [m], up to the reach of the surface.
        row: Row of an agent whose areas count.
    """
    room, marks = make_room(surface, blocks.ground, blocks.colliders, radius), None
    surface, rules = passable(surface, room), blocks.rules
    if rules is not None:
        bits = int(rules.bits[row]) if len(rules.bits) else 0
        options = rules.areas, bits, rules.costs, surface, rules.speed
        marks = Marker(surface, blocks.ground).marks(*options)
        room = marked(room, surface, marks, radius)
    label, count = label_islands(surface.view, room)
    free = np.flatnonzero((room.state != BLOCKED) & (room.state != FORBIDDEN))
    cells = np.bincount(islands_at(label, room, free), minlength=count)
    cost = None if marks is None else marks.cost
    return Islands(room, cost, label, cells * surface.view.size**2)


def cells_near(islands: Islands, surface: Surface, place: F64, most: int) -> I64:
    """The cells with room that are nearest to a place, in order of their number.

    Args:
        islands: The islands of the surface.
        surface: The surface.
        place: The place [m], shape (3,).
        most: Largest number of cells.
    """
    cells = np.flatnonzero(islands.room.state != BLOCKED)
    if len(cells) <= most:
        return cells
    away = middles(surface, cells) - place
    nearest = np.argpartition(np.einsum("ij,ij->i", away, away), most)[:most]
    return np.sort(cells[nearest])


def middles(surface: Surface, cells: I64) -> F64:
    """Middles of some cells [m], shape (cells, 3)."""
    return middles_of(surface.view, cells)


def way_of(
    ways: Ways,
    shape: Shape,
    blocks: Blocks,
    goals: F32,
    row: I64,
    agents: tuple[F32, I64, F32],
    who: int,
    seen: F32 | None = None,
) -> Way:
    """The way of one agent, corner by corner as it will head for them.

    Args:
        ways: What leads the crowd.
        shape: What its surface is made for.
        blocks: What its surface is found on.
        goals: Places of the goals [m], shape (goals, 3).
        row: Each agent's goal, -1 for none, shape (agents,).
        agents: (positions [m], ids, radii [m]) of all agents; their radii make the classes.
        who: The row of the agent, which has a goal.
        seen: The people that make ways seem longer, see `Ways.lead`.
    """
    position, ids, radius = agents
    alone = np.full(len(row), -1, np.int64)
    alone[who] = row[who]
    place, left = position.copy(), np.inf
    points = [place[who].astype(np.float64)]
    while len(points) <= MOST_CORNERS:
        gates = no_gates(len(row))
        told = (place, ids, radius)
        via, rest, _kept = ways.lead(shape, blocks, goals, alone, told, seen, gates=gates)
        points.append(via[who].astype(np.float64))
        if gates.portal[who]:
            points += _through(blocks, int(gates.portal[who]), gates.exit[who])
            place[who] = gates.exit[who]
            continue
        # from a corner on, each next one is nearer to the goal
        if not 0.0 < rest[who] < left:
            break
        left, place[who] = float(rest[who]), via[who]
    found = np.stack(points)
    length = float(np.linalg.norm(np.diff(found, axis=0), axis=1).sum())
    return Way(found, length, bool(np.array_equal(found[-1], goals[row[who]].astype(np.float64))))


def _through(blocks: Blocks, key: int, end: F32) -> list[F64]:
    """The line of a portal, up to where agents stand beyond it [m]."""
    portals = () if blocks.areas is None else blocks.areas.portals
    line = next((each.points for each in portals if each.key == abs(key)), end[None])
    return [*(line if key > 0 else line[::-1]).astype(np.float64), end.astype(np.float64)]
