"""Walking on terrain: a soup of triangles that agents stand on, climb, and are stopped by.

A face is walkable when its normal is at most max_slope off the vertical, |normal.z| >= min_up with
min_up = cos(max_slope); which way it points does not matter. Steeper faces are walls.

`walk` goes in pieces so short that walkable ground cannot rise by more than a step within one:
step_height / tan(max_slope). For each piece it

1. looks ahead: a ray from the knee (feet + step_height) along the move, rising like the steepest
   slope up to 45° so that stairs do not count, as long as the piece and the radius. A face that
   stops (a steep one, or a ceiling that comes down to the knee) turns the piece into a slide along
   it, leaning a hundredth away from it, which is tried once.
2. looks down for the first face below feet + reach, reach = step_height + length · tan(max_slope).
   It has to be walkable, and no more than step_height higher or lower than where the slope of the
   ground under the feet, or of the face itself, leads: so curbs and stairs are taken, and cliff
   edges, holes and the end of the terrain are not. Rays start at reach above the feet only, so
   that ceilings, bridges and floors above never come into play; agents have no height, and pass
   under whatever leaves their knees free.
3. takes the straight line from knee to knee, which no face may stop. This alone decides that no
   wall is ever crossed; the look ahead only keeps the distance of a radius where it can.

A piece that ends on a steep face lower than a step, as on beveled stairs, is stretched to the
walkable ground behind it; on a higher one, up or down, it becomes a slide as well. One that ends
nowhere turns by 30° and 60° to both sides along the edge, shortened by the cosine. When all of that
fails the agent stays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.jit import kernel, parallel_for
from ..numeric.vec import add, dot, length, load, project, scale, store, sub
from .bvh import ray_cast, ray_cast_stops, triangle_normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..views import F32, BvhView

SLACK = 1.0e-4
"""Room [m] for positions and corners rounded to 32 bits; also the least distance from a wall."""
UP_SLACK = 1.0e-5
"""The same for normals: a face exactly as steep as max_slope is walked."""
STILL = 1.0e-6
"""Moves shorter than this [m] do not count."""
STEEPEST = 20.0
"""Largest tangent of a slope that is reckoned with (87°)."""
MOST_PIECES = 64
LEAN = 0.01
"""How much a slide along a wall leads away from it: rounding must never bring agents through."""

FREE, WALL, STEEP, EDGE = 0, 1, 2, 3


def min_up(max_slope: float) -> float:
    """The least |normal.z| of walkable faces.

    Args:
        max_slope: Steepest walkable slope [deg], 0 to 90.
    """
    return math.cos(math.radians(max_slope))


@kernel
def _tangent(min_up):
    """Tangent of the steepest walkable slope."""
    return min(math.sqrt(max(1.0 - min_up * min_up, 0.0)) / max(min_up, 1.0e-3), STEEPEST)


@kernel
def _upward(normal):
    """A normal or its opposite, whichever points up."""
    return scale(normal, -1.0) if normal[2] < 0.0 else normal


@kernel
def _rise(normal, level):
    """How much higher a level way ends on the plane with this upward normal [m]."""
    return -(normal[0] * level[0] + normal[1] * level[1]) / max(normal[2], 1.0 / STEEPEST)


@kernel
def _ahead(ground, start, level, radius, step_height, min_up):
    """Look for a wall on the way: (met, its normal)."""
    size = length(level)
    slant = min(_tangent(min_up), 1.0)
    stretch = math.sqrt(1.0 + slant * slant)
    along = (level[0] / size / stretch, level[1] / size / stretch, slant / stretch)
    knee = (start[0], start[1], start[2] + max(step_height, SLACK))
    wall, _distance = ray_cast_stops(ground, knee, along, (size + radius) * stretch, min_up)
    if wall < 0:
        return False, (0.0, 0.0, 0.0)
    return True, triangle_normal(ground, wall)


@kernel
def _land(ground, start, level, normal, step_height, min_up):
    """Try to stand at start + level: (FREE or what is in the way, place, normal there)."""
    size = length(level)
    reach = step_height + size * _tangent(min_up) + SLACK
    x, y, top = start[0] + level[0], start[1] + level[1], start[2] + reach
    face, distance = ray_cast(ground, (x, y, top), (0.0, 0.0, -1.0), 2.0 * reach)
    if face < 0:
        return EDGE, start, normal
    up = _upward(triangle_normal(ground, face))
    if up[2] < min_up:
        return STEEP, start, up
    place = (x, y, top - distance)
    slope = max(abs(_rise(normal, level)), abs(_rise(up, level)))
    if abs(place[2] - start[2]) > step_height + slope + SLACK:
        return EDGE, start, normal
    way = sub(place, start)
    size = length(way)
    if length(level) > 0.0:
        knee = (start[0], start[1], start[2] + max(step_height, SLACK))
        wall, _distance = ray_cast_stops(ground, knee, scale(way, 1.0 / size), size + SLACK, min_up)
        if wall >= 0:
            return WALL, start, triangle_normal(ground, wall)
    return FREE, place, up


@kernel
def _slide(level, wall):
    """A level way turned along a wall, leaning away from it; zero when it leads straight at it."""
    size = math.sqrt(wall[0] * wall[0] + wall[1] * wall[1])
    if size < STILL:
        return (0.0, 0.0, 0.0)
    out = (wall[0] / size, wall[1] / size, 0.0)
    into = dot(level, out)
    if into > 0.0:
        out, into = scale(out, -1.0), -into
    along = sub(level, scale(out, into))
    return add(along, scale(out, LEAN * length(along)))


@kernel
def _turned(level, cosine, sine):
    """A level way turned about the vertical and shortened by the cosine."""
    return (
        (level[0] * cosine - level[1] * sine) * cosine,
        (level[0] * sine + level[1] * cosine) * cosine,
        0.0,
    )


@kernel
def _stretched(ground, start, level, normal, step_height, min_up):
    """Step over a steep face lower than a step, onto the walkable ground behind it."""
    size = length(level)
    widest = min(step_height / max(_tangent(min_up), 1.0 / STEEPEST), 2.0 * step_height)
    for k in range(1, 5):
        way = scale(level, 1.0 + 0.25 * k * widest / size)
        status, place, up = _land(ground, start, way, normal, step_height, min_up)
        if status == FREE:
            return True, place, up
        if status != STEEP:
            break
    return False, start, normal


@kernel
def _around(ground, start, level, normal, step_height, min_up):
    """Go along an edge instead of over it."""
    half = math.sqrt(0.75)
    for cosine, sine in ((half, 0.5), (half, -0.5), (0.5, half), (0.5, -half)):
        way = _turned(level, cosine, sine)
        status, place, up = _land(ground, start, way, normal, step_height, min_up)
        if status == FREE:
            return place, up
    return start, normal


@kernel
def _along_wall(ground, start, level, wall, normal, radius, step_height, min_up):
    """Slide along a wall with this normal: (place, normal), unmoved where there is no way."""
    way = _slide(level, wall)
    if length(way) > STILL:
        met, _wall = _ahead(ground, start, way, radius, step_height, min_up)
        if not met:
            status, place, up = _land(ground, start, way, normal, step_height, min_up)
            if status == FREE:
                return place, up
    return start, normal


@kernel
def _piece(ground, start, level, normal, radius, step_height, min_up):
    """One piece of a walk: (place, normal, blocked)."""
    status = WALL
    met, wall = _ahead(ground, start, level, radius, step_height, min_up)
    if not met:
        status, place, wall = _land(ground, start, level, normal, step_height, min_up)
        if status == FREE:
            return place, wall, False
    if status == STEEP:
        over, place, up = _stretched(ground, start, level, normal, step_height, min_up)
        if over:
            return place, up, False
    if status != EDGE:
        place, up = _along_wall(ground, start, level, wall, normal, radius, step_height, min_up)
        return place, up, True
    place, up = _around(ground, start, level, normal, step_height, min_up)
    return place, up, True


@kernel
def walk(ground, start, move, normal, radius, step_height, min_up):
    """Move a walking agent over terrain; the module says by which rules.

    Args:
        ground: BvhView of the terrain.
        start: Feet (x, y, z) [m], on the ground.
        move: Wanted displacement (x, y, z) [m]; its part along the ground counts.
        normal: Upward unit normal of the ground under the feet.
        radius: Body radius [m]: how far from walls agents turn.
        step_height: Highest step [m] that is climbed or descended.
        min_up: Cosine of the steepest walkable slope, see `min_up`.

    Returns:
        (feet [m], upward unit normal there, whether anything was in the way). An agent that has no
        ground where it stands, or none to go to, stays where it is.
    """
    least = max(min_up - UP_SLACK, 0.0)
    moved = project(move, normal)
    level = (moved[0], moved[1], 0.0)
    size = length(level)
    feet, up = (start[0] * 1.0, start[1] * 1.0, start[2] * 1.0), normal
    if not STILL < size < np.inf:
        # the ground itself may have moved
        status, place, below = _land(ground, feet, (0.0, 0.0, 0.0), up, step_height, least)
        return (place, below, False) if status == FREE else (feet, up, False)
    longest = max(radius, 0.05)
    longest = max(min(step_height / max(_tangent(least), 1.0 / STEEPEST), longest), 0.1 * longest)
    pieces = int(math.ceil(min(size / longest, float(MOST_PIECES))))
    level = scale(level, 1.0 / pieces)
    blocked = False
    for _piece_number in range(pieces):
        place, up, stopped = _piece(ground, feet, level, up, radius, step_height, least)
        blocked = blocked or stopped
        if stopped and place == feet:
            break
        feet = place
    return feet, up, blocked


@kernel
def place(ground, point, reach_up, reach_down, min_up):
    """Put a point on the ground straight below or above it, whichever is nearer.

    Only the first face in either direction can be that ground, and only when it is walkable: what
    lies behind it is another floor, or the inside of the terrain.

    Args:
        ground: BvhView of the terrain.
        point: Where the agent was put (x, y, z) [m].
        reach_up: How far above the point to look [m]; may be infinite.
        reach_down: How far below [m]; may be infinite.
        min_up: Cosine of the steepest walkable slope, see `min_up`.

    Returns:
        (feet [m], upward unit normal, found); the point itself, +Z and False without such ground.
    """
    feet = (point[0] * 1.0, point[1] * 1.0, point[2] * 1.0)
    up, nearest, found = (0.0, 0.0, 1.0), np.inf, False
    for sign, reach in ((-1.0, reach_down), (1.0, reach_up)):
        face, distance = ray_cast(ground, point, (0.0, 0.0, sign), reach)
        if face >= 0 and distance < nearest:
            normal = _upward(triangle_normal(ground, face))
            if normal[2] >= min_up - UP_SLACK:
                feet = (point[0] * 1.0, point[1] * 1.0, point[2] + sign * distance)
                up, nearest, found = normal, distance, True
    return feet, up, found


@kernel
def _place_rows(start, stop, ground, positions, min_up, feet, normals, found):
    """`place` for rows start to stop, however far the ground is."""
    for i in range(start, stop):
        feet_i, up, there = place(ground, load(positions, i), np.inf, np.inf, min_up)
        store(feet, i, feet_i)
        store(normals, i, up)
        found[i] = there


def place_many(view: BvhView, positions: Any, min_up: float) -> tuple[F32, F32, NDArray[np.bool_]]:
    """Put agents on the ground below or above them; the nearest one counts.

    Args:
        view: The terrain.
        positions: Where the agents were put [m], shape (n, 3).
        min_up: Cosine of the steepest walkable slope, see `min_up`.

    Returns:
        Feet [m], shape (n, 3); upward unit normals, shape (n, 3); found, shape (n,): agents without
        walkable ground keep their position, with +Z for a normal.
    """
    points = np.ascontiguousarray(positions, dtype=np.float32)
    # filled, as a dry run reads them though no kernel has written them
    feet, normals = points.copy(), np.zeros_like(points)
    normals[:, 2], found = 1.0, np.zeros(len(points), np.bool_)
    parallel_for(_place_rows, len(points), view, points, float(min_up), feet, normals, found)
    return feet, normals, found
