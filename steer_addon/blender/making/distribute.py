"""Start positions of a new crowd: on a grid, on a disc, or scattered on a surface.

Only numbers go in and come out; nothing here needs Blender.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError

FloatArray = NDArray[np.float32]
Draw = Callable[[int], NDArray[np.float64]]
"""Draws the given number of points, shape (number, 3) [m]."""
Seed = Any
"""What NumPy takes as a seed: a whole number or several, or a generator."""

_ROUNDS = 60
_BATCH = 100_000
_OFFSETS = np.array(list(product((-1, 0, 1), repeat=3)), np.int64)


def grid_points(count: int, spacing: float) -> FloatArray:
    """Points on a square grid around the origin, filled row by row.

    Args:
        count: Number of points.
        spacing: Distance between neighbors [m].

    Returns:
        Positions [m], shape (count, 3).
    """
    side = max(math.ceil(math.sqrt(count)), 1)
    row, column = np.divmod(np.arange(count), side)
    rows = -(-count // side)
    result = np.zeros((count, 3), np.float32)
    result[:, 0] = (column - (side - 1) / 2) * spacing
    result[:, 1] = (row - (rows - 1) / 2) * spacing
    return result


def disc_points(count: int, radius: float, spacing: float, seed: int) -> FloatArray:
    """Random points on a disc around the origin, fewer than `count` where it is full.

    Args:
        count: Number of points wanted.
        radius: Radius of the disc [m].
        spacing: Smallest distance between two points [m].
        seed: Random seed.

    Returns:
        Positions [m], shape (at most count, 3).
    """
    return throw_darts(disc_draw(radius, seed), count, spacing)


def disc_draw(radius: float, seed: Seed) -> Draw:
    """A function that draws points on a disc around the origin, even by area."""
    random = np.random.default_rng(seed)

    def draw(number: int) -> NDArray[np.float64]:
        angle = random.uniform(0.0, 2.0 * math.pi, number)
        # the root makes them even by area
        distance = radius * np.sqrt(random.uniform(0.0, 1.0, number))
        flat = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance[:, None]
        return np.concatenate([flat, np.zeros((number, 1))], axis=1)

    return draw


def scatter(
    count: int, size_x: float, size_y: float, spacing: float, *, center: Any = (0, 0, 0), seed: int
) -> Any:
    """Random points on a rectangle that keep a distance from one another, shape (n, 3) [m]."""
    random = np.random.default_rng(seed)
    found: list[Any] = []
    for _ in range(200 * count):
        point = random.uniform((-size_x / 2, -size_y / 2), (size_x / 2, size_y / 2))
        if all(math.dist(point, other) >= spacing for other in found):
            found.append(point)
            if len(found) == count:
                break
    rows = np.column_stack([np.array(found).reshape(-1, 2), np.zeros(len(found))])
    return (rows + np.asarray(center, np.float64)).astype(np.float32)


def ball_of_points(count: int, radius: float, seed: Seed) -> FloatArray:
    """Random points in a ball around the origin, shape (n, 3) [m]."""
    random = np.random.default_rng(seed)
    ways = random.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    reach = radius * random.uniform(size=(count, 1)) ** (1 / 3)
    return (ways * reach).astype(np.float32)


def surface_draw(triangles: NDArray[np.floating[Any]], seed: Seed, max_slope: float) -> Draw:
    """A function that draws points on triangles, even by area.

    Args:
        triangles: Corners [m], shape (triangle_count, 3, 3), counter-clockwise from outside.
        seed: Random seed.
        max_slope: Steepest face that is used [deg]; faces that point down are never used.

    Raises:
        SceneError: There is no face flat enough.
    """
    corners = np.asarray(triangles, np.float64).reshape(-1, 3, 3)
    sides = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(*sides)
    size = np.linalg.norm(normal, axis=1)
    steepest = math.cos(math.radians(max_slope)) - 1.0e-6
    usable = (size > 1.0e-12) & (normal[:, 2] >= steepest * size)
    if not usable.any():
        raise SceneError(
            f"none of its {len(corners)} triangles looks up within {max_slope:g}° of level: "
            "raise Max Slope, or flip the normals"
        )
    corners, share = corners[usable], size[usable]
    edges = np.cumsum(share / share.sum())
    random = np.random.default_rng(seed)

    def draw(number: int) -> NDArray[np.float64]:
        face = np.minimum(np.searchsorted(edges, random.uniform(size=number)), len(edges) - 1)
        u, v = np.sqrt(random.uniform(size=number)), random.uniform(size=number)
        weights = np.stack([1.0 - u, u * (1.0 - v), u * v], axis=1)
        points: NDArray[np.float64] = np.einsum("nk,nkd->nd", weights, corners[face])
        return points

    return draw


def outside(draw: Draw, balls: Sequence[Sequence[float]]) -> Draw:
    """A function that draws the same points without those in balls.

    Args:
        draw: Draws points.
        balls: Centers and radii of the balls [m].
    """
    return lambda number: not_in(draw(number), balls)


def not_in(points: Any, balls: Sequence[Sequence[float]]) -> Any:
    """The points that are in none of some balls, given by centers and radii [m]."""
    for ball in balls:
        points = points[np.linalg.norm(points - ball[:3], axis=1) > ball[3]]
    return points


def apart(draw: Draw, others: FloatArray, spacing: float) -> Draw:
    """A function that draws the same points without those closer than `spacing` to others."""

    def clear(number: int) -> NDArray[np.float64]:
        points = draw(number)
        return points[~near(points, others, spacing)]

    return clear if len(others) and spacing > 0.0 else draw


def throw_darts(
    draw: Draw, count: int, spacing: float, taken: FloatArray | None = None
) -> FloatArray:
    """Keep drawn points that are no closer than `spacing` to the points kept before.

    Args:
        draw: Draws random points.
        count: Number of points wanted.
        spacing: Smallest distance between two points [m]; 0 keeps everything.
        taken: Points that are kept in any case, shape (at most count, 3), or None.

    Returns:
        Positions [m], shape (at most count, 3), those taken first; fewer where there is hardly any
        room left.
    """
    kept = np.zeros((0, 3)) if taken is None else taken.astype(np.float64)
    for _ in range(_ROUNDS):
        missing = count - len(kept)
        if spacing <= 0.0:
            kept = np.concatenate([kept, draw(missing)])
            if len(kept) == count:
                break
            continue
        batch = draw(min(max(4 * missing, 256), _BATCH))
        batch = batch[~near(batch, kept, spacing)]
        # at most one per cell
        first = np.unique(_keys(np.floor(batch / spacing)), return_index=True)[1]
        batch = batch[np.sort(first)]
        batch = batch[~near(batch, batch, spacing, earlier=True)]
        kept = np.concatenate([kept, batch[:missing]])
        if len(kept) == count:
            break
    return kept.astype(np.float32)


def _keys(cells: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """A number for each cell; cells that share one only cost an unneeded distance check."""
    # 21 bits per axis
    part = cells.astype(np.int64) & 0x1FFFFF
    keys: NDArray[np.int64] = (part[:, 0] << 42) | (part[:, 1] << 21) | part[:, 2]
    return keys


def near(
    points: NDArray[np.float64],
    others: NDArray[np.floating[Any]],
    spacing: float,
    *,
    earlier: bool = False,
) -> NDArray[np.bool_]:
    """Whether each point has another point closer than `spacing`.

    With `earlier`, `others` are the points themselves, and only those before a point count.
    """
    result = np.zeros(len(points), np.bool_)
    cells, theirs = np.floor(points / spacing), np.floor(others / spacing)
    keys = _keys(theirs)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    rows = np.arange(len(points))
    heights = np.append(cells[:, 2], theirs[:, 2])
    level = (heights == heights[:1]).all()
    # on a plane no cell has others above or below
    for offset in _OFFSETS[_OFFSETS[:, 2] == 0] if level else _OFFSETS:
        wanted = _keys(cells + offset)
        first = np.searchsorted(keys, wanted, "left")
        last = np.searchsorted(keys, wanted, "right")
        for step in range(int((last - first).max(initial=0))):
            here = rows[first + step < last]
            other = order[first[here] + step]
            close = np.sum((points[here] - others[other]) ** 2, axis=1) < spacing * spacing
            if earlier:
                close &= other < here
            result[here[close]] = True
    return result
