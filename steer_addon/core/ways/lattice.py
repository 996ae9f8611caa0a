"""The lattice of walkable cells: where they are, and which one a point is in."""

from __future__ import annotations

import math

from ..compiled.jit import kernel

SIDES = 4
"""Sides 0 to 3 of a cell are +X, +Y, -X, -Y; 4 to 7 lie after each of them, at the corners."""
MOST_LAYERS = 15
"""Cells of a column: what four bits tell apart; floors above them are left out."""
MOST_ALONG = 32_000
"""Columns along x or y."""
TINY = 1.0e-12
"""Ways along x or y shorter than this [cells] cross no side."""
BACK = 1.0e-3
"""Sine of the angle by which ways may lead against a one-way area, so that straight across counts
as across."""
HALF = 127.0
"""What `RoomView.shift` holds for half a cell."""
HIDDEN, SEEN, WIDE = 0, 1, 2
"""What `look` finds."""

_ALONG = sum((x + 1) << (2 * side) for side, x in enumerate((1, 0, -1, 0, 1, -1, -1, 1)))
_ACROSS = sum((y + 1) << (2 * side) for side, y in enumerate((0, 1, 0, -1, 1, 1, -1, -1)))


@kernel
def side_step(side):
    """Columns along x and y from a cell to the one at a side."""
    return int((_ALONG >> (2 * side)) & 3) - 1, int((_ACROSS >> (2 * side)) & 3) - 1


@kernel
def opposite(side):
    """The side from which a neighbor sees a cell."""
    return side ^ 2


@kernel
def middle_of(surface, cell):
    """x and y of the middle of a cell [m]."""
    x = surface.low[0] + (surface.at[cell, 0] + 0.5) * surface.size
    return x, surface.low[1] + (surface.at[cell, 1] + 0.5) * surface.size


@kernel
def neighbor_of(surface, cell, side):
    """The cell at a side; -1 where nobody can go on."""
    layer = (int(surface.link[cell]) >> (4 * side)) & 15
    if layer == 0:
        return -1
    dx, dy = side_step(side)
    column = (int(surface.at[cell, 1]) + dy) * surface.nx + int(surface.at[cell, 0]) + dx
    return int(surface.first[column]) + layer - 1


@kernel
def stand_of(surface, room, cell):
    """Where a body stands in a cell (x, y, z) [m]."""
    x, y = middle_of(surface, cell)
    half = 0.5 * surface.size / HALF
    return x + room.shift[cell, 0] * half, y + room.shift[cell, 1] * half, surface.z[cell] * 1.0


@kernel
def cell_at(surface, x, y, z):
    """The cell below or above a point, the one at the nearest height; -1 where there is none.

    On a plane that goes on around the lattice, points outside have the cell on its edge.
    """
    cx = math.floor((x - surface.low[0]) / surface.size)
    cy = math.floor((y - surface.low[1]) / surface.size)
    if surface.endless:
        cx = min(max(cx, 0), surface.nx - 1)
        cy = min(max(cy, 0), surface.ny - 1)
    elif not (0 <= cx < surface.nx and 0 <= cy < surface.ny):
        return -1
    column = int(cy) * surface.nx + int(cx)
    best, least = -1, math.inf
    for cell in range(surface.first[column], surface.first[column + 1]):
        rise = abs(surface.z[cell] - z)
        if rise < least:
            best, least = cell, rise
    return best


@kernel
def against(room, cell, x, y):
    """Whether who goes along (x, y) goes against the one-way area that a cell lies in."""
    lane = int(room.lane[cell])
    if lane == 0:
        return False
    along = x * room.heading[lane - 1, 0] + y * room.heading[lane - 1, 1]
    return along < -BACK * math.sqrt(x * x + y * y)


@kernel
def sees(surface, room, cell, end):
    """Whether a body walks straight from one cell to another without leaving open cells."""
    return look(surface, room, cell, end) != HIDDEN


@kernel
def look(surface, room, cell, end):
    """What a straight look from one cell to another finds: HIDDEN, SEEN or WIDE.

    Cells are followed over their links, so storeys stay apart. In tight cells bodies stand off the
    middle: there the way goes from cell to cell. Where all is open around (`RoomView.leap`), many
    cells are passed at once. The line crosses more sides along a than along b. It is WIDE where
    all cells before the end are linked to all eight neighbors.
    """
    x, y, _z = stand_of(surface, room, cell)
    to_x, to_y, _z = stand_of(surface, room, end)
    inverse = 1.0 / surface.size
    cx, cy = int(surface.at[cell, 0]), int(surface.at[cell, 1])
    left_a, left_b = int(surface.at[end, 0]) - cx, int(surface.at[end, 1]) - cy
    go_a, go_b = (1 if left_a > 0 else -1), (1 if left_b > 0 else -1)
    side_a, side_b = (0 if left_a > 0 else 8), (4 if left_b > 0 else 12)
    a, b = (x - surface.low[0]) * inverse - cx, (y - surface.low[1]) * inverse - cy
    all_a = max(abs(to_x - x) * inverse, TINY)
    all_b = max(abs(to_y - y) * inverse, TINY)
    step_a, step_b = 1.0 / all_a, 1.0 / all_b
    next_a = ((1.0 - a) if go_a > 0 else a) * step_a
    next_b = ((1.0 - b) if go_b > 0 else b) * step_b
    left_a, left_b = abs(left_a), abs(left_b)
    column = cy * surface.nx + cx
    go_b *= surface.nx
    if step_b < step_a:
        left_a, left_b, go_a, go_b, all_b = left_b, left_a, go_b, go_a, all_a
        side_a, side_b, step_a, step_b = side_b, side_a, step_b, step_a
        next_a, next_b = next_b, next_a
    lanes = len(room.lane) > 0
    if lanes and against(room, cell, to_x - x, to_y - y):
        return HIDDEN
    found = WIDE
    while left_a + left_b > 0:
        if room.leap[cell] == 0:
            found = SEEN
        along = min(int(room.leap[cell]) - 2, left_a)
        if along > 1:
            layer = cell - int(surface.first[column])
            last = next_a + (along - 1) * step_a
            across = min(int((last - next_b) * all_b) + 1, left_b) if next_b <= last else 0
            left_a -= along
            left_b -= across
            next_a = last + step_a
            next_b += across * step_b
            column += along * go_a + across * go_b
            cell = int(surface.first[column]) + layer
            continue
        if left_b == 0 or (left_a > 0 and next_a < next_b):
            layer = (int(surface.link[cell]) >> side_a) & 15
            left_a -= 1
            next_a += step_a
            column += go_a
        else:
            layer = (int(surface.link[cell]) >> side_b) & 15
            left_b -= 1
            next_b += step_b
            column += go_b
        if layer == 0:
            return HIDDEN
        cell = int(surface.first[column]) + layer - 1
        if room.state[cell] != 2 and left_a + left_b > 0:
            return HIDDEN
        if lanes and against(room, cell, to_x - x, to_y - y):
            return HIDDEN
    return found if cell == end else HIDDEN


@kernel
def line_cost(surface, room, cost, cell, end):
    """What the straight way from one cell to another costs [m], and what `look` finds.

    `cost` says for each cell how much longer ways through it seem. Where there is no straight way
    the cost is infinite; it is WIDE only where all cells cost the same, too.
    """
    x, y, _z = stand_of(surface, room, cell)
    to_x, to_y, _z = stand_of(surface, room, end)
    inverse = 1.0 / surface.size
    cx, cy = int(surface.at[cell, 0]), int(surface.at[cell, 1])
    left_x, left_y = int(surface.at[end, 0]) - cx, int(surface.at[end, 1]) - cy
    go_x, go_y = (1 if left_x > 0 else -1), (1 if left_y > 0 else -1)
    side_x, side_y = (0 if left_x > 0 else 2), (4 if left_y > 0 else 12)
    side_x *= 4
    px, py = (x - surface.low[0]) * inverse - cx, (y - surface.low[1]) * inverse - cy
    step_x = 1.0 / max(abs(to_x - x) * inverse, TINY)
    step_y = 1.0 / max(abs(to_y - y) * inverse, TINY)
    next_x = ((1.0 - px) if go_x > 0 else px) * step_x
    next_y = ((1.0 - py) if go_y > 0 else py) * step_y
    left_x, left_y = abs(left_x), abs(left_y)
    to_z = surface.z[end] - surface.z[cell]
    whole = math.sqrt((to_x - x) ** 2 + (to_y - y) ** 2 + to_z * to_z)
    total, before = 0.0, 0.0
    lanes = len(room.lane) > 0
    if lanes and against(room, cell, to_x - x, to_y - y):
        return math.inf, HIDDEN
    column = cy * surface.nx + cx
    go_y *= surface.nx
    first = cost[cell]
    found = WIDE if room.leap[cell] > 0 else SEEN
    while left_x + left_y > 0:
        if left_y == 0 or (left_x > 0 and next_x < next_y):
            layer = (int(surface.link[cell]) >> side_x) & 15
            now = next_x
            left_x -= 1
            next_x += step_x
            column += go_x
        else:
            layer = (int(surface.link[cell]) >> side_y) & 15
            now = next_y
            left_y -= 1
            next_y += step_y
            column += go_y
        if layer == 0:
            return math.inf, HIDDEN
        now = min(now, 1.0)
        total += (now - before) * cost[cell]
        before = now
        cell = int(surface.first[column]) + layer - 1
        if cost[cell] != first or (room.leap[cell] == 0 and left_x + left_y > 0):
            found = SEEN
        if room.state[cell] != 2 and left_x + left_y > 0:
            return math.inf, HIDDEN
        if lanes and against(room, cell, to_x - x, to_y - y):
            return math.inf, HIDDEN
    if cell != end:
        return math.inf, HIDDEN
    return (total + (1.0 - before) * cost[cell]) * whole, found
