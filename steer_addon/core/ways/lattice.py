"""The lattice of walkable cells: where they are, and which one a point is in.

Nearly all cells are the lowest floor of their column: these have its number, and a bit for each
side that tells whether one goes on there. Only where floors are above one another, or next to that,
links tell to which of them. So a cell takes six bytes, and others should ask here for places,
layers and neighbors of cells (see `views.SurfaceView` for how they are kept).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..views import SurfaceView

I64 = NDArray[np.int64]

SIDES = 4
"""Sides 0 to 3 of a cell are +X, +Y, -X, -Y; 4 to 7 lie after each of them, at the corners."""
MOST_LAYERS = 15
"""Cells of a column, its layers: what four bits tell apart; floors above them are left out."""
VOID = math.inf
"""Height of the lowest floor of columns without any."""
LAYERED = 0xF0
"""In place of the links of cells that have them in `SurfaceView.wide`: corners without sides."""
BLOCK_BITS, BLOCK = 6, 64
"""Columns of a block, as a power of two."""
PART_BITS, PART = 4, 16
"""Cells of a part, as a power of two, see `RoomView.part`."""
STOREY = 1.0
"""Floors that are further above one another belong to different storeys [m]."""
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


def places_of(surface: SurfaceView, cells: I64) -> I64:
    """The columns that some cells lie in, along x and along y, shape (n, 2)."""
    columns, beyond = np.array(cells, np.int64), cells - surface.nx * surface.ny
    columns[beyond >= 0] = surface.above[beyond[beyond >= 0]]
    return np.stack([columns % surface.nx, columns // surface.nx], axis=1)


def middles_of(surface: SurfaceView, cells: I64) -> NDArray[np.float64]:
    """Middles of some cells [m], shape (n, 3)."""
    flat = surface.low + (places_of(surface, cells) + 0.5) * surface.size
    return np.column_stack([flat, surface.z[cells]]).astype(np.float64)


@kernel
def side_step(side):
    """Columns along x and y from a cell to the one at a side."""
    return int((_ALONG >> (2 * side)) & 3) - 1, int((_ACROSS >> (2 * side)) & 3) - 1


@kernel
def opposite(side):
    """The side from which a neighbor sees a cell."""
    return side ^ 2


@kernel
def column_of(surface, cell):
    """The column that a cell lies in."""
    beyond = cell - surface.nx * surface.ny
    return int(cell) if beyond < 0 else int(surface.above[beyond])


@kernel
def place_of(surface, cell):
    """The column that a cell lies in, along x and along y."""
    column = column_of(surface, cell)
    # exact: quotients are half a column or more away from whole numbers
    cy = int((column + 0.5) * surface.inverse)
    return column - cy * surface.nx, cy


@kernel
def cells_above(surface, column):
    """The cells of a column above its lowest one: the first, and the one after the last."""
    row = surface.row[column >> BLOCK_BITS]
    if row < 0:
        return 0, 0
    k = column & (BLOCK - 1)
    return int(surface.first[row, k]), int(surface.first[row, k + 1])


@kernel
def cell_in(surface, column, layer):
    """The cell in a layer of a column, 0 for the lowest one."""
    return column if layer == 0 else cells_above(surface, column)[0] + layer - 1


@kernel
def layer_of(surface, cell, column):
    """The layer of a cell in its column."""
    return 0 if cell == column else cell - cells_above(surface, column)[0] + 1


@kernel
def wide_of(surface, cell):
    """Where the links of a LAYERED cell are."""
    beyond = cell - surface.nx * surface.ny
    if beyond >= 0:
        return BLOCK * len(surface.first) + beyond
    return BLOCK * int(surface.row[cell >> BLOCK_BITS]) + (cell & (BLOCK - 1))


@kernel
def linked_in(surface, cell, side, column):
    """The cell at a side, which lies in a column; -1 where nobody can go on."""
    bits = int(surface.link[cell])
    if bits != LAYERED:
        return column if (bits >> side) & 1 else -1
    layer = (int(surface.wide[wide_of(surface, cell)]) >> (4 * side)) & 15
    return -1 if layer == 0 else cell_in(surface, column, layer - 1)


@kernel
def unlink(surface, cell, side, link, wide):
    """Let nobody go on at a side of a cell; `link` and `wide` are changed, copies of its links."""
    if link[cell] == LAYERED:
        wide[wide_of(surface, cell)] &= ~(15 << (4 * side))
    else:
        link[cell] &= ~(1 << side)


@kernel
def neighbor_of(surface, cell, side):
    """The cell at a side; -1 where nobody can go on."""
    dx, dy = side_step(side)
    return linked_in(surface, cell, side, column_of(surface, cell) + dy * surface.nx + dx)


@kernel
def middle_at(surface, cx, cy):
    """x and y of the middle of a column [m]."""
    x = surface.low[0] + (cx + 0.5) * surface.size
    return x, surface.low[1] + (cy + 0.5) * surface.size


@kernel
def middle_of(surface, cell):
    """x and y of the middle of a cell [m]."""
    cx, cy = place_of(surface, cell)
    return middle_at(surface, cx, cy)


@kernel
def stand_at(surface, room, cell, cx, cy):
    """Where a body stands in a cell of a known column (x, y, z) [m]."""
    x, y = middle_at(surface, cx, cy)
    half = 0.5 * surface.size / HALF
    row, k = room.part[cell >> PART_BITS], cell & (PART - 1)
    x, y = x + room.shift[row, k, 0] * half, y + room.shift[row, k, 1] * half
    return x, y, surface.z[cell] * 1.0


@kernel
def stand_of(surface, room, cell):
    """Where a body stands in a cell (x, y, z) [m]."""
    cx, cy = place_of(surface, cell)
    return stand_at(surface, room, cell, cx, cy)


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
    # where there is no floor it is infinitely far
    least = abs(surface.z[column] - z)
    best = column if least < math.inf else -1
    begin, end = cells_above(surface, column)
    for cell in range(begin, end):
        rise = abs(surface.z[cell] - z)
        if rise < least:
            best, least = cell, rise
    return best


@kernel
def floor_at(surface, x, y, z):
    """The cell on which somebody stands; -1 where there is none.

    At an edge the middle of a column may lie beyond it: the cell of the column is on another
    storey then, or missing, and the nearest of those beside it is taken.
    """
    cell = cell_at(surface, x, y, z)
    if cell >= 0 and abs(surface.z[cell] - z) < STOREY:
        return cell
    best, least = cell, math.inf
    for side in range(8):
        dx, dy = side_step(side)
        other = cell_at(surface, x + dx * surface.size, y + dy * surface.size, z)
        if other >= 0 and abs(surface.z[other] - z) < STOREY:
            to_x, to_y = middle_of(surface, other)
            gap = (to_x - x) ** 2 + (to_y - y) ** 2
            if gap < least:
                best, least = other, gap
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
    cx, cy = place_of(surface, cell)
    end_x, end_y = place_of(surface, end)
    x, y, _z = stand_at(surface, room, cell, cx, cy)
    to_x, to_y, _z = stand_at(surface, room, end, end_x, end_y)
    inverse = 1.0 / surface.size
    left_a, left_b = end_x - cx, end_y - cy
    go_a, go_b = (1 if left_a > 0 else -1), (1 if left_b > 0 else -1)
    side_a, side_b = (0 if left_a > 0 else 2), (1 if left_b > 0 else 3)
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
            layer = layer_of(surface, cell, column)
            last = next_a + (along - 1) * step_a
            across = min(int((last - next_b) * all_b) + 1, left_b) if next_b <= last else 0
            left_a -= along
            left_b -= across
            next_a = last + step_a
            next_b += across * step_b
            column += along * go_a + across * go_b
            cell = cell_in(surface, column, layer)
            continue
        if left_b == 0 or (left_a > 0 and next_a < next_b):
            side = side_a
            left_a -= 1
            next_a += step_a
            column += go_a
        else:
            side = side_b
            left_b -= 1
            next_b += step_b
            column += go_b
        cell = linked_in(surface, cell, side, column)
        if cell < 0:
            return HIDDEN
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
    cx, cy = place_of(surface, cell)
    end_x, end_y = place_of(surface, end)
    x, y, _z = stand_at(surface, room, cell, cx, cy)
    to_x, to_y, _z = stand_at(surface, room, end, end_x, end_y)
    inverse = 1.0 / surface.size
    left_x, left_y = end_x - cx, end_y - cy
    go_x, go_y = (1 if left_x > 0 else -1), (1 if left_y > 0 else -1)
    side_x, side_y = (0 if left_x > 0 else 2), (1 if left_y > 0 else 3)
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
            side, now = side_x, next_x
            left_x -= 1
            next_x += step_x
            column += go_x
        else:
            side, now = side_y, next_y
            left_y -= 1
            next_y += step_y
            column += go_y
        now = min(now, 1.0)
        total += (now - before) * cost[cell]
        before = now
        cell = linked_in(surface, cell, side, column)
        if cell < 0:
            return math.inf, HIDDEN
        if cost[cell] != first or (room.leap[cell] == 0 and left_x + left_y > 0):
            found = SEEN
        if room.state[cell] != 2 and left_x + left_y > 0:
            return math.inf, HIDDEN
        if lanes and against(room, cell, to_x - x, to_y - y):
            return math.inf, HIDDEN
    if cell != end:
        return math.inf, HIDDEN
    return (total + (1.0 - before) * cost[cell]) * whole, found
