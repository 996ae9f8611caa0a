"""Ways of single agents: where many agents have goals of their own, each keeps its way.

A field for each goal would take too much memory then. An agent that does not see its goal looks for
a way once, among the corners of the surface where these are few, see `corners`, else by the same
search, which stops at the agent, and keeps its corners. It goes from one to the next, and near one
it heads for the one after as soon as it sees that, or for the line to it if it was pushed past the
corner beside that. It looks again when its goal has moved by more than `MOVED`, when it has gone by
all that it keeps, or when it does not see its next corner any more: it may have been pushed aside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..numeric.vec import add_scaled, dot, length, load, store, sub
from ..views import SurfaceView
from .finder import LANES, NEARLY, beside, has_room_along, lane_of, through
from .islands import island_of, nearest_on
from .lattice import cell_at, floor_at, neighbor_of, sees, stand_of
from .portals.links import link_from, link_of
from .room import BLOCKED, FORBIDDEN

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

CORNERS = 8
"""Corners that an agent keeps."""
COUNT, TAIL, FIRST = 3, 4, 5
"""Columns of what is kept, after the place of the goal: the number of corners, the length of the
way from the last of them [m], infinite where it ends there, as near to the goal as areas let agents
go, and their places [m]."""
GATE = FIRST + 3 * CORNERS
"""Column of the portal that is gone through at the last of them, 0 for none."""
STAMP = GATE + 1
"""Column of the look at the people ahead by which the way was good enough, see `crowded`."""
WIDTH = STAMP + 1
MOVED = 0.5
"""A goal that moved by more than this has a new way [m]."""

SEEN, KEPT, LOOKS = 0, 1, 2
"""In `state`: the goal is in sight or has no way, the way is kept, a way is to be found."""
GOAL, NEXT, AFTER, LOOKED = 0, 3, 6, 9
"""Columns of what agents looked at last: their goal, their next corner and the one after, each with
(cell, the cell looked at, whether it is in sight); and the number of columns."""


@kernel
def nearest_cell(surface, room, position):
    """The cell from which an agent goes on; -1 for none. Pressed to a wall, it is one beside it."""
    cell = floor_at(surface, position[0], position[1], position[2])
    if cell < 0 or room.state[cell] != BLOCKED:
        return cell
    best, least = -1, math.inf
    for side in range(8):
        other = neighbor_of(surface, cell, side)
        if other >= 0 and room.state[other] != BLOCKED:
            gap = length(sub(stand_of(surface, room, other), position))
            if gap < least:
                best, least = other, gap
    return best


@kernel
def ends_kernel(start, stop, rows, surface, room, label, goals, row, positions, cells, ends):
    """Where agents stand and where their ways end; -1 where no way leads to the goal itself.

    One-way and forbidden areas on the way are not looked at.
    """
    for k in range(start, stop):
        i = rows[k]
        goal = load(goals, row[i])
        cell, end = nearest_cell(surface, room, load(positions, i)), -1
        if cell >= 0:
            end = cell_at(surface, goal[0], goal[1], goal[2])
            island = island_of(label, room, end) if end >= 0 else -1
            if island < 0 or island != island_of(label, room, cell):
                end = -1
            if end >= 0 and room.state[end] == FORBIDDEN:
                end = -1
        cells[i], ends[i] = cell, end


@kernel
def as_near_kernel(
    start, stop, rows, surface, room, label, goals, row, cells, ends, via, asked, nearest
):
    """Let ways that lead to no goal end where the agents' islands come nearest to it.

    `asked` and `nearest` hold the goal, the island and the cell that was found for an agent last.
    """
    for k in range(start, stop):
        i = rows[k]
        goal, island = load(goals, row[i]), island_of(label, room, cells[i])
        gap = sub(goal, load(asked, i))
        if nearest[i, 0] != island or gap[0] != 0.0 or gap[1] != 0.0 or gap[2] != 0.0:
            store(asked, i, goal)
            nearest[i, 0] = island
            nearest[i, 1] = nearest_on(surface, room, label, island, goal) if island >= 0 else -1
        ends[i] = nearest[i, 1]
        if ends[i] >= 0:
            store(via, i, stand_of(surface, room, ends[i]))


@kernel
def corner_of(kept, i, k):
    """Place k of what agent i keeps (x, y, z) [m]."""
    at = FIRST + 3 * k
    return (kept[i, at] * 1.0, kept[i, at + 1] * 1.0, kept[i, at + 2] * 1.0)


@kernel
def left_of(kept, i, k):
    """How long what agent i keeps of its way is from corner k on [m]."""
    left = 0.0 if kept[i, TAIL] == math.inf else abs(kept[i, TAIL] * 1.0)
    for at in range(k, int(kept[i, COUNT]) - 1):
        left += length(sub(corner_of(kept, i, at + 1), corner_of(kept, i, at)))
    return left


@kernel
def _looks(surface, room, cell, there, looked, i, at):
    """Whether an agent sees a cell from its own; mostly both are those of the step before."""
    if looked[i, at] != cell or looked[i, at + 1] != there:
        looked[i, at], looked[i, at + 1] = cell, there
        looked[i, at + 2] = 1 if sees(surface, room, cell, there) else 0
    return looked[i, at + 2] != 0


@kernel
def _goes_by(surface, room, cell, position, place, looked, i, at):
    """Whether a place that an agent keeps is still in sight, or as good as reached."""
    there = cell_at(surface, place[0], place[1], place[2])
    if there < 0 or room.state[there] == BLOCKED:
        return False
    if length(sub(place, position)) < 2.0 * surface.size:
        return True
    # from where the agent is in its cell, it may see what the cell does not
    seen = _looks(surface, room, cell, there, looked, i, at)
    return seen or has_room_along(surface, room, position, place)


@kernel
def _looks_past(surface, room, kept, i, cell, position, looked):
    """Whether an agent near its next corner sees the one after, for which it heads then."""
    if kept[i, COUNT] < 2.0 or length(sub(corner_of(kept, i, 0), position)) > LANES:
        return False
    return _goes_by(surface, room, cell, position, corner_of(kept, i, 1), looked, i, AFTER)


@kernel
def _follow_leg(surface, room, kept, i, position):
    """Move the next corner on, toward the one after, if an agent is past it and does not see that.

    Pushed aside there, the agent would turn round to the corner, and round again when it is there.
    """
    near = corner_of(kept, i, 0)
    leg, past = sub(corner_of(kept, i, 1), near), sub(position, near)
    long = length(leg)
    if kept[i, COUNT] < 2.0 or long == 0.0 or length(past) > LANES:
        return
    gone = dot(past, leg) / long
    if gone <= 0.0:
        return
    place = add_scaled(near, leg, min((gone + NEARLY) / long, 1.0))
    if has_room_along(surface, room, position, place):
        for k in range(3):
            kept[i, FIRST + k] = place[k]


@kernel
def _passed(surface, room, kept, i, cell, position, looked):
    """Drop the corners that an agent is past; whether it may go on by the rest."""
    while _looks_past(surface, room, kept, i, cell, position, looked):
        near = corner_of(kept, i, 0)
        # pushed about before it, the agent may lose sight of the one after
        if dot(sub(position, near), sub(corner_of(kept, i, 1), near)) <= 0.0:
            return True
        for at in range(FIRST, GATE - 3):
            kept[i, at] = kept[i, at + 3]
        kept[i, COUNT] -= 1.0
    _follow_leg(surface, room, kept, i, position)
    return _goes_by(surface, room, cell, position, corner_of(kept, i, 0), looked, i, NEXT)


@kernel
def _gate(surface, room, kept, i):
    """The link of the portal that the last corner of an agent's way leads to; -1 for none."""
    place = corner_of(kept, i, int(kept[i, COUNT]) - 1)
    cell = cell_at(surface, place[0], place[1], place[2])
    return -1 if cell < 0 else link_of(room, cell, int(kept[i, GATE]))


@kernel
def follow_kernel(
    start,
    stop,
    rows,
    surface,
    room,
    costly,
    goals,
    row,
    positions,
    cells,
    ends,
    kept,
    state,
    looked,
):
    """Whether agents see their goals, still have a way, or have to look for one.

    Where ways cost, goals in sight count from nearby only: others may have a better way.
    """
    for k in range(start, stop):
        i = rows[k]
        state[i], cell, end = SEEN, cells[i], ends[i]
        position, goal = load(positions, i), load(goals, row[i])
        seen = cell < 0 or end < 0 or _looks(surface, room, cell, end, looked, i, GOAL)
        far = length(sub(goal, position))
        moved = length(sub(goal, (kept[i, 0] * 1.0, kept[i, 1] * 1.0, kept[i, 2] * 1.0)))
        if seen and (not costly or end < 0 or far <= LANES):
            # past corners, goals come and go out of sight: a way that leads on may still be needed
            if moved > MOVED or kept[i, GATE] != 0.0 or left_of(kept, i, 0) > far - LANES:
                kept[i, COUNT] = 0.0
            continue
        state[i] = LOOKS
        if kept[i, COUNT] > 0.0 and moved <= MOVED:
            ends_here = kept[i, COUNT] == 1.0 and kept[i, TAIL] < 0.0
            if _passed(surface, room, kept, i, cell, position, looked):
                place = corner_of(kept, i, 0)
                back = sub(position, place)
                near = length(back) <= LANES
                if kept[i, COUNT] == 1.0 and kept[i, GATE] != 0.0:
                    near = _gate(surface, room, kept, i) < 0
                elif kept[i, COUNT] == 1.0 and kept[i, TAIL] != math.inf:
                    # beyond its last corner it would see the goal
                    ends_here = ends_here or dot(back, sub(goal, place)) > 0.0
                state[i] = LOOKS if ends_here and near else KEPT


@kernel
def own_aims_kernel(
    start, stop, rows, surface, room, positions, ids, cells, looked, kept, state, via, rest, gates
):
    """Where agents head for that keep a way, and how long it is from there; see `finder`."""
    for k in range(start, stop):
        i = rows[k]
        count = int(kept[i, COUNT])
        if state[i] == SEEN or count == 0:
            continue
        position, lane = load(positions, i), lane_of(ids[i])
        past = _looks_past(surface, room, kept, i, cells[i], position, looked)
        at = 1 if past else 0
        place, beyond = corner_of(kept, i, at), load(via, i)
        rest[i] = left_of(kept, i, at)
        if at + 1 < count:
            beyond = corner_of(kept, i, at + 1)
        elif kept[i, GATE] != 0.0:
            link = _gate(surface, room, kept, i)
            if link >= 0:
                through(surface, room, link, gates, i)
                store(via, i, place)
                continue
        elif kept[i, TAIL] == math.inf:
            # where the way ends short of the goal, its last corner is gone to itself
            store(via, i, place)
            continue
        cell = cell_at(surface, place[0], place[1], place[2])
        store(via, i, beside(surface, room, cells[i], cell, place, beyond, lane, position))


def keep(
    view: SurfaceView,
    room: Any,
    goal: Any,
    cell: int,
    end: int,
    field: Any,
    *,
    short: bool = False,
    straight: bool = False,
) -> list[float]:
    """What an agent keeps of a way that was found, see `WIDTH`.

    Args:
        view: The cells.
        room: Which of them have room.
        goal: The place of the goal [m], shape (3,).
        cell: Where the agent stands.
        end: The last cell of the way.
        field: (corners, distances [m]) of the search.
        short: Whether the way ends short of the goal.
        straight: Whether a straight way is kept too.
    """
    corners, distances = field
    found: list[int] = []
    here = int(corners[cell])
    while here not in (end, cell, -1) and len(found) < CORNERS:
        found.append(here)
        cell, here = here, int(corners[here])
    link = int(link_from(room, cell, distances)) if here == cell != end else -1
    if link >= 0:
        found = found or [cell]
    elif here in (end, cell) and len(found) < CORNERS and (short or (straight and not found)):
        found.append(end)
    row = [*map(float, goal), float(len(found)), 0.0, *([0.0] * (WIDTH - FIRST))]
    if link >= 0:
        row[GATE] = float(room.portal[link])
    if found:
        # negative where the way has more corners than are kept
        ends = found[-1] == end
        whole = ends or (here in (end, -1) and not short)
        row[TAIL] = float(distances[found[-1]]) * (1.0 if whole else -1.0)
        if short and ends:
            row[TAIL] = math.inf
        places = [coordinate for at in found for coordinate in stand_of(view, room, at)]
        row[FIRST : FIRST + len(places)] = map(float, places)
    return row
