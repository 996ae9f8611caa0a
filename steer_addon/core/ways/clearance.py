"""Clearance: how far it is from a place to all that stops a body, and which cells can be crossed.

A body is a vertical cylinder from its step height to its head. Colliders stop it with every face
between the two; of the terrain, what is too high for any slope that leads up to it does, such as a
table top. What is lower may be stairs or a slope, which stop nobody: these are told apart by rays
that rise like the steepest slope, up to 45°, as the knees of walkers do (see `geometry.ground`),
and meet steep faces, and others from below.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..geometry.bvh import ray_cast, ray_cast_stops
from ..geometry.bvh_flat import flat_nearest, flat_on_triangle
from ..geometry.bvh_points import load_corners
from ..geometry.ground import SLACK, UP_SLACK
from .floors import slope_at
from .lattice import (
    LAYERED,
    SIDES,
    VOID,
    cells_above,
    column_of,
    layer_of,
    middle_of,
    neighbor_of,
    place_of,
    side_step,
    wide_of,
)

LEAST_UP = 1.0e-6
"""Least cosine of a slope that is walked."""
NEARLY = 1.0e-6
"""Distances that differ by less are alike [m]."""
RAYS = 16
"""Directions in which the terrain around a place is looked at."""
LEVELS = 3
"""Heights at which rays look for walls between two cells."""
SHARES = 255
"""Shares of a surface's reach in which clearance is kept."""


@kernel
def _rays_around(ground, point, body, reach):
    """The nearest thing of the terrain that stops a body: (distance, x, y) [m]."""
    step, height, min_up, slant = body
    stretch = math.sqrt(1.0 + slant * slant)
    best, x, y = reach, point[0], point[1]
    for k in range(RAYS):
        angle = 2.0 * math.pi * k / RAYS
        c, s = math.cos(angle), math.sin(angle)
        knee = (point[0], point[1], point[2] + step)
        along = (c / stretch, s / stretch, slant / stretch)
        wall, distance = ray_cast_stops(ground, knee, along, best * stretch, min_up)
        if wall >= 0 and distance / stretch < best:
            best = distance / stretch
            x, y = point[0] + c * best, point[1] + s * best
        head = (point[0], point[1], point[2] + height)
        wall, distance = ray_cast_stops(ground, head, (c, s, 0.0), best, min_up)
        if wall >= 0 and distance < best:
            best, x, y = distance, point[0] + c * distance, point[1] + s * distance
    return best, x, y


@kernel
def _reaches(ground, triangle, point, heights, distance):
    """Whether a triangle next to a place is as near to it between other heights, too."""
    a, b, c = load_corners(ground.triangles, triangle)
    if max(a[2], b[2], c[2]) <= heights[0] or heights[0] >= heights[1]:
        return False
    square, _place = flat_on_triangle(a, b, c, point[0], point[1], *heights)
    return math.sqrt(square) <= distance + NEARLY


@kernel
def clearance_at(ground, colliders, point, body, reach):
    """Distance from a place to what stops a body: (distance, x and y of what is next to it) [m].

    Args:
        ground: BvhView of the terrain.
        colliders: BvhView of the colliders.
        point: Where the feet are (x, y, z) [m].
        body: (step height [m], height [m], cosine of the steepest walkable slope, its tangent, 1 at
            most).
        reach: Distance beyond which nothing counts [m].
    """
    step, height, min_up, slant = body
    low, high = point[2] + step, point[2] + height
    best, x, y = reach, point[0], point[1]
    found, distance, place = flat_nearest(colliders, point, low, high, best)
    if found >= 0:
        best, x, y = distance, place[0], place[1]
    found, distance, place = flat_nearest(ground, point, low, high, best)
    if found >= 0:
        # no slope that is walked leads up to what is above this
        steepest = math.sqrt(1.0 - min_up * min_up) / max(min_up, LEAST_UP)
        above = low + distance * max(slant, steepest)
        if place[2] > above or _reaches(ground, found, point, (above, high), distance):
            return distance, place[0], place[1]
        around, at_x, at_y = _rays_around(ground, point, body, best)
        if around < best:
            best, x, y = around, at_x, at_y
    return best, x, y


@kernel
def shares_of(clear, reach):
    """How many 255ths of a reach are clear: the most that are not more than what is."""
    if clear >= reach:
        return SHARES
    shares = int(clear / reach * SHARES)
    # rounding may be off by one
    if (shares + 1) / SHARES * reach <= clear:
        shares += 1
    elif shares / SHARES * reach > clear:
        shares -= 1
    return max(shares, 0)


@kernel
def _clear_of(surface, cell, ground, colliders, body):
    """`clearance_at` in the middle of a cell."""
    x, y = middle_of(surface, cell)
    return clearance_at(ground, colliders, (x, y, surface.z[cell] * 1.0), body, surface.reach)[0]


@kernel
def is_clear(surface, cell, gap, ground, colliders, body):
    """Whether nothing that stops a body is nearer to a cell's middle than a gap [m].

    It is exact: where what is kept does not tell, clearance is found again.
    """
    shares = int(surface.clear[cell])
    if shares / SHARES * surface.reach >= gap:
        return True
    if shares == SHARES or (shares + 1) / SHARES * surface.reach < gap:
        return False
    return _clear_of(surface, cell, ground, colliders, body) >= gap


@kernel
def clearance_kernel(start, stop, cells, surface, ground, colliders, body, clear):
    """The clearance of some of the cells."""
    for row in range(start, stop):
        cell = cells[row]
        clear[cell] = 0
        if surface.z[cell] != VOID:
            clear[cell] = shares_of(
                _clear_of(surface, cell, ground, colliders, body), surface.reach
            )


@kernel
def _walled(ground, colliders, a, b, body):
    """Whether a thing stands between the middles of two cells."""
    step, height, min_up, _slant = body
    way = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    size = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    along = (way[0] / size, way[1] / size, way[2] / size)
    for k in range(LEVELS):
        up = step + (height - step) * k / (LEVELS - 1) + SLACK
        eye = (a[0], a[1], a[2] + up)
        if ray_cast(colliders, eye, along, size)[0] >= 0:
            return True
        if ray_cast_stops(ground, eye, along, size, min_up)[0] >= 0:
            return True
    return False


@kernel
def _linked(surface, i, j, side, free, ground, colliders, body):
    """Whether a body can go from a cell to one at a side; `free`: nothing is near the cell."""
    gap, up = abs(surface.z[j] - surface.z[i]) - body[0] - SLACK, body[2] - UP_SLACK
    if gap > 0.0:
        # the steepest slope that is walked explains no more
        if gap * gap * up * up > surface.size * surface.size * (1.0 - up * up):
            return False
        along, a, b = side % 2, slope_at(surface, ground, i), slope_at(surface, ground, j)
        if gap > max(abs(a[along]), abs(b[along])) * surface.size:
            return False
    if free or is_clear(surface, j, surface.size, ground, colliders, body):
        return True
    # always seen from the same end, so that links lead both ways
    low, high = (i, j) if column_of(surface, i) < column_of(surface, j) else (j, i)
    ax, ay = middle_of(surface, low)
    bx, by = middle_of(surface, high)
    a, b = (ax, ay, surface.z[low] * 1.0), (bx, by, surface.z[high] * 1.0)
    return not _walled(ground, colliders, a, b, body)


@kernel
def _layer_at(surface, cell, other, side, free, ground, colliders, body):
    """1 + the layer of the cell in a column at a side that a body can go to; 0 for none."""
    blocks = side, free, ground, colliders, body
    if surface.z[other] != VOID and _linked(surface, cell, other, *blocks):
        return 1
    begin, end = cells_above(surface, other)
    for k in range(end - begin):
        if _linked(surface, cell, begin + k, *blocks):
            return k + 2
    return 0


@kernel
def links_kernel(start, stop, cells, surface, ground, colliders, body, link, wide):
    """Which cells at the sides of some of the cells a body can go to; no corners yet."""
    for row in range(start, stop):
        cell = cells[row]
        cx, cy = place_of(surface, cell)
        bits, layers, there = 0, 0, surface.z[cell] != VOID
        free = there and is_clear(surface, cell, surface.size, ground, colliders, body)
        for side in range(SIDES if there else 0):
            dx, dy = side_step(side)
            if not (0 <= cx + dx < surface.nx and 0 <= cy + dy < surface.ny):
                continue
            other = (cy + dy) * surface.nx + cx + dx
            layer = _layer_at(surface, cell, other, side, free, ground, colliders, body)
            bits |= min(layer, 1) << side
            layers |= layer << (4 * side)
        if link[cell] == LAYERED:
            wide[wide_of(surface, cell)] = layers
        else:
            link[cell] = bits


@kernel
def _corner_layer(surface, cell, side):
    """1 + the layer of the cell between a side and the next one, to which both ways round lead."""
    other = (side + 1) % SIDES
    a, b = neighbor_of(surface, cell, side), neighbor_of(surface, cell, other)
    if a < 0 or b < 0:
        return 0
    c = neighbor_of(surface, a, other)
    if c < 0 or c != neighbor_of(surface, b, side):
        return 0
    return layer_of(surface, c, column_of(surface, c)) + 1


@kernel
def corner_links_kernel(start, stop, cells, surface, link, wide):
    """Add the links across the corners of some of the cells to those across their sides.

    Others read the sides meanwhile, which stay as they are.
    """
    for row in range(start, stop):
        cell = cells[row]
        bits, layers = int(link[cell]) & 15, 0
        for side in range(SIDES):
            layer = _corner_layer(surface, cell, side)
            bits |= min(layer, 1) << (SIDES + side)
            layers |= layer << (4 * (SIDES + side))
        if link[cell] == LAYERED:
            slot = wide_of(surface, cell)
            wide[slot] = (int(wide[slot]) & 0xFFFF) | layers
        else:
            link[cell] = bits
