"""Places on a path, shared by what follows paths: its pieces, and where on it a point belongs.

Piece k of a path joins its points k and k + 1, the last one of a cyclic path its last point and its
first. A lane is the line at some distance to the right of the direction of travel: its corners are
where the lines beside two pieces meet, at sharp corners not farther out than LONGEST · lane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled.jit import inlined_kernel, kernel, record_kernel
from ..numeric.vec import EPSILON, add_scaled, dot, length, load, sub, unit
from .targeting import side_axis

MOST_PIECES = 64
"""Pieces that one call walks over: bounds the cost of a step on densely sampled curves."""
LONGEST = 2.0
"""Most that the corner of a lane is moved from the path, in units of the lane."""


class Line(NamedTuple):
    """The course of an agent: a path, or a lane beside it, in a direction.

    It comes beside the points of all paths, since a tuple that holds an array is dear to pass on.
    """

    first: int  # row of the path's first point
    size: int  # number of points
    pieces: int  # number of pieces
    cyclic: bool
    direction: int  # +1, or -1 from the last point to the first
    flat: bool  # heights do not count: all is done in the plane z = 0
    lane: float  # [m] to the right of the direction of travel


@record_kernel
def line_of(first, cyclic, row, direction, flat, lane):
    """The line along path `row`, from the fields of a PathView."""
    start = int(first[row])
    size = int(first[row + 1]) - start
    closed = cyclic[row] != 0
    pieces = size if closed else size - 1
    return Line(start, size, pieces, closed, direction, flat, lane)


@kernel
def leveled(v, flat):
    """A vector, without its height in a flat crowd."""
    return (v[0], v[1], 0.0 if flat else v[2])


@kernel
def onward(line, k, total, direction):
    """The number after k of `total` points or pieces, or -1 past an open end."""
    following = k + direction
    if 0 <= following < total:
        return following
    if not line.cyclic:
        return -1
    return 0 if following > 0 else total - 1


@kernel
def _on_path(point, line, k):
    """Point k of the path [m]."""
    return leveled(load(point, line.first + k), line.flat)


@kernel
def _corner(point, line, k):
    """Corner k of a lane [m]."""
    here = _on_path(point, line, k)
    before = onward(line, k, line.size, -line.direction)
    after = onward(line, k, line.size, line.direction)
    came = unit(sub(here, _on_path(point, line, before if before >= 0 else k)))
    goes = unit(sub(_on_path(point, line, after if after >= 0 else k), here))
    if dot(came, came) == 0.0:
        came = goes
    elif dot(goes, goes) == 0.0:
        goes = came
    travel = unit((came[0] + goes[0], came[1] + goes[1], came[2] + goes[2]))
    if dot(travel, travel) == 0.0:
        # straight back, or no length at all
        if dot(came, came) == 0.0:
            return here
        travel = came
    right = side_axis(travel, (0.0, 0.0, 1.0))
    beside = dot(right, side_axis(came, (0.0, 0.0, 1.0)))
    return add_scaled(here, right, line.lane / max(beside, 1.0 / LONGEST))


@inlined_kernel
def waypoint(point, line, k):
    """Corner k of the line [m]."""
    return _on_path(point, line, k) if line.lane == 0.0 else _corner(point, line, k)


@kernel
def _start_of(line, k):
    """Number of the corner at which piece k starts, in the direction of travel."""
    if line.direction > 0:
        return k
    return k + 1 if k + 1 < line.size else 0


@kernel
def _end_of(line, k):
    """Number of the corner at which piece k ends, in the direction of travel."""
    if line.direction < 0:
        return k
    return k + 1 if k + 1 < line.size else 0


@kernel
def piece(point, line, k):
    """Start and end of piece k [m], in the direction of travel."""
    return waypoint(point, line, _start_of(line, k)), waypoint(point, line, _end_of(line, k))


@kernel
def share_of(a, b, q):
    """Where q belongs on the line through a and b: 0 at a, 1 at b; 1 when they coincide."""
    along = sub(b, a)
    whole = dot(along, along)
    if whole < EPSILON * EPSILON:
        return 1.0
    return dot(sub(q, a), along) / whole


@kernel
def foot_on(a, b, share):
    """The point of a segment next to where `share_of` is a share, and the share of that point."""
    share = min(1.0, max(0.0, share))
    return add_scaled(a, sub(b, a), share), share


@kernel
def nearest_piece(point, line, q):
    """The piece next to q, and its squared distance [m²]; of equally near ones the first.

    At the outside of a corner it is the piece that starts there: both have the corner as
    their nearest point, and rounding would decide between two directions of travel.
    """
    best, found = np.inf, 0
    for k in range(line.pieces):
        a, b = piece(point, line, k)
        offset = sub(foot_on(a, b, share_of(a, b, q))[0], q)
        gap = dot(offset, offset)
        if gap < best:
            best, found = gap, k
    return local_piece(point, line, found, q)[0], best


@kernel
def nearest_path(point, first, cyclic, flat, q):
    """The path next to q, whatever the lane, of a PathView's; of equally near ones the first."""
    best, found = np.inf, 0
    for row in range(len(cyclic)):
        gap = nearest_piece(point, line_of(first, cyclic, row, 1, flat, 0.0), q)[1]
        if gap < best:
            best, found = gap, row
    return found


@kernel
def local_piece(point, line, k, q):
    """The piece that q belongs to, found by walking from piece k on, as (k, start, end, share).

    Start and end are in [m], and the share of the way between them is where q belongs: see
    `share_of`. The walk leaves a piece only over an end that q is beyond, and where q is beyond
    both, at the outside of a corner, it goes forward. So pieces that pass near by, as at a crossing
    or after a turn straight back, are not mistaken for the one that the agent is on.
    """
    a, b = piece(point, line, k)
    share = share_of(a, b, q)
    for _ in range(MOST_PIECES):
        if 0.0 < share < 1.0:
            break
        forward = share >= 1.0
        following = onward(line, k, line.pieces, line.direction if forward else -line.direction)
        if following < 0:
            break
        if forward:
            c, d = b, waypoint(point, line, _end_of(line, following))
        else:
            c, d = waypoint(point, line, _start_of(line, following)), a
        other = share_of(c, d, q)
        if not forward and other >= 1.0:
            break
        k, a, b, share = following, c, d, other
    return k, a, b, share


@kernel
def moved_ahead(point, line, k, place, way):
    """The point [m] that lies `way` [m] along the line from `place` on piece k."""
    for _ in range(MOST_PIECES):
        end = waypoint(point, line, _end_of(line, k))
        rest = sub(end, place)
        left = length(rest)
        following = onward(line, k, line.pieces, line.direction)
        if way <= left or following < 0:
            return add_scaled(place, unit(rest), min(way, left))
        way -= left
        k, place = following, end
    return place


@kernel
def way_left(along, line, k, share):
    """Length of an open path [m] from a share of piece k to the end of travel; exactly 0 there."""
    before, after = along[line.first + k], along[line.first + k + 1]
    if line.direction < 0:
        return (1.0 - share) * (after - before) + before
    return (1.0 - share) * (after - before) + (along[line.first + line.size - 1] - after)
