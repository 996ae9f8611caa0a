"""Places on a mesh where people can stand, and the connections between them.

Vertical rays sample the ground on a grid of columns, as many floors as lie above each other.
Places that are level enough and have headroom are linked to adjacent places that a step
reaches without a wall between; linked places make a region. The mesh need not be clean or welded.
Only numbers go in and come out; nothing here needs Blender.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.geometry import bvh
from ...core.views import BvhView

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_COLUMNS = 150_000
"""Largest number of cells of the grid; beyond it, cells get larger."""
_MAX_FLOORS = 256
_MERGED = 1.0e-3
"""Faces this near to each other count as one [m]."""


@dataclass(frozen=True)
class Body:
    """Body of a walker.

    Attributes:
        radius: Body radius [m].
        height: Headroom that is needed [m].
        max_slope: Steepest ground that is walked [deg].
        step_height: Highest step [m].
    """

    radius: float
    height: float
    max_slope: float
    step_height: float


@dataclass(frozen=True, eq=False)
class Walkable:
    """Places where people can stand, one per cell and floor."""

    cell: float
    """Distance of neighboring places [m]."""
    position: Floats
    """Places [m], shape (place_count, 3)."""
    normal: Floats
    """Unit normals of the ground, up, shape (place_count, 3)."""
    beside: Ints
    """Neighbors at +x, -x, +y and -y, shape (place_count, 4); -1 for none."""
    region: Ints
    """Region number of each place, shape (place_count,); equal for connected places."""
    depth: Ints
    """Number of places from each place to the edge of its region, shape (place_count,)."""

    def nearest(self, point: NDArray[np.floating[Any]]) -> tuple[int, float]:
        """The place nearest to a point, and its distance [m]."""
        distance = np.linalg.norm(self.position - point, axis=1)
        row = int(distance.argmin())
        return row, float(distance[row])

    def ways(self, start: int) -> Floats:
        """Length of the way to each place from one of them [m], shape (place_count,).

        Ways follow the grid, so they are longer than true ones by up to 41 %; infinite if no
        way leads to a place.
        """
        steps = np.full(len(self.position), -1, np.int64)
        steps[start] = count = 0
        front = np.array([start])
        while len(front):
            count += 1
            reached = self.beside[front].ravel()
            front = np.unique(reached[(reached >= 0) & (steps[reached] < 0)])
            steps[front] = count
        return np.where(steps < 0, np.inf, steps * self.cell)

    def scatter(self, rows: Ints, random: np.random.Generator, count: int) -> Floats:
        """Random points around some of the places [m], even by area, shape (count, 3)."""
        chosen = rows[random.integers(0, len(rows), count)]
        offset = random.uniform(-0.5, 0.5, (count, 2)) * self.cell
        normal = self.normal[chosen]
        result: Floats = self.position[chosen].copy()
        result[:, :2] += offset
        result[:, 2] -= np.sum(normal[:, :2] * offset, axis=1) / normal[:, 2]
        return result


def find_walkable(
    ground: NDArray[np.floating[Any]], blocking: NDArray[np.floating[Any]], body: Body
) -> Walkable:
    """Find the places where people can stand and walk.

    Args:
        ground: Triangles to walk on [m], shape (t, 3, 3).
        blocking: Triangles that block, shape (s, 3, 3).
        body: Body of the walker.

    Raises:
        SceneError: There is no such place.
    """
    if not len(ground):
        raise SceneError("The ground has no faces to stand on: give a mesh with faces")
    corners = np.concatenate([ground, np.reshape(blocking, (-1, 3, 3))]).astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1.0e-30)
    steepest = math.cos(math.radians(body.max_slope))
    if not (normal[: len(ground), 2] >= steepest).any():
        # a terrain whose faces all point down has flipped normals
        normal = -normal
    view = bvh.build(corners.astype(np.float32))
    low, high = (np.array([f(c) for c in ground.reshape(-1, 3).T]) for f in (np.min, np.max))
    size = np.maximum(high[:2] - low[:2], 1.0e-3)
    cell = max(0.8 * body.radius, math.sqrt(float(size[0] * size[1]) / MAX_COLUMNS))
    shape = np.maximum(np.ceil(size / cell).astype(np.int64), 1)
    column, height, face = _floors(view, low, float(corners[:, :, 2].max()), cell, shape)
    up = normal[face, 2]
    # from below, a ray meets the underside of a solid first, and its upper side from inside
    blocked = (up[:-1] > 0.0) | (height[:-1] - height[1:] < body.height)
    covered = np.append(False, (column[1:] == column[:-1]) & blocked)
    free = (face < len(ground)) & (up >= steepest) & ~covered
    if not free.any():
        raise SceneError(
            f"The ground has no place to stand: none of its {len(ground)} triangles looks up "
            f"within {body.max_slope:g}° of level with {body.height:g} m of headroom; "
            "turn it with z up, flip its normals, or give a smaller --radius"
        )
    column, height, face = column[free], height[free], face[free]
    position = np.column_stack([_centers(low, column, cell, shape), height])
    beside = _link(view, column, position, cell, shape, body)
    return _without_edges(position, normal[face], beside, cell, body)


def _centers(low: NDArray[np.floating[Any]], column: Ints, cell: float, shape: Ints) -> Floats:
    # slightly off the middle: meshes often have edges at round coordinates
    x, y = np.divmod(column, shape[1])
    centers: Floats = low[:2] + (np.stack([x, y], axis=1) + 0.4971) * cell
    return centers


def _floors(
    view: BvhView, low: NDArray[np.floating[Any]], top: float, cell: float, shape: Ints
) -> tuple[Ints, Floats, Ints]:
    """All faces that vertical rays meet, by column and from the top down: column, height, face."""
    column = np.arange(int(shape[0] * shape[1]))
    origin = np.column_stack([_centers(low, column, cell, shape), np.full(len(column), top + 1.0)])
    none = np.zeros(0, np.int64)
    found: list[tuple[Ints, Floats, Ints]] = [(none, np.zeros(0), none)]
    for _ in range(_MAX_FLOORS):
        down = np.tile(np.array([0.0, 0.0, -1.0], np.float32), (len(column), 1))
        face, distance = bvh.ray_cast_many(view, origin.astype(np.float32), down)
        hit = face >= 0
        if not hit.any():
            break
        column, origin = column[hit], origin[hit]
        origin[:, 2] -= distance[hit]
        found.append((column, origin[:, 2].copy(), face[hit].astype(np.int64)))
        origin[:, 2] -= _MERGED
    columns, heights, faces = (np.concatenate(part) for part in zip(*found, strict=True))
    # layers were found from the top down, so a stable sort leaves each column in that order
    order = np.argsort(columns, kind="stable")
    return columns[order], heights[order], faces[order]


def _link(
    view: BvhView, column: Ints, position: Floats, cell: float, shape: Ints, body: Body
) -> Ints:
    """Neighbors that a step reaches without a wall between, as in `Walkable.beside`."""
    count = int(shape[0] * shape[1])
    first = np.searchsorted(column, np.arange(count + 1))
    reach = max(body.step_height, cell * math.tan(math.radians(body.max_slope))) + _MERGED
    x, y = np.divmod(column, shape[1])
    beside = np.full((len(column), 4), -1, np.int64)
    for side, inside, step in ((0, x + 1 < shape[0], int(shape[1])), (2, y + 1 < shape[1], 1)):
        rows = np.flatnonzero(inside)
        other = _nearest_floor(position[:, 2], rows, column[rows] + step, first, reach)
        rows, other = rows[other >= 0], other[other >= 0]
        clear = _no_wall(view, position[rows], position[other], body)
        beside[rows[clear], side] = other[clear]
        beside[other[clear], side + 1] = rows[clear]
    return beside


def _nearest_floor(height: Floats, rows: Ints, columns: Ints, first: Ints, reach: float) -> Ints:
    """For each row the floor of another column at about its height; -1 for none."""
    best = np.full(len(rows), -1, np.int64)
    least = np.full(len(rows), reach)
    floors = first[columns + 1] - first[columns]
    for floor in range(int(floors.max(initial=0))):
        here = np.flatnonzero(floor < floors)
        candidate = first[columns[here]] + floor
        rise = np.abs(height[candidate] - height[rows[here]])
        nearer = rise <= least[here]
        best[here[nearer]] = candidate[nearer]
        least[here[nearer]] = rise[nearer]
    return best


def _no_wall(view: BvhView, start: Floats, stop: Floats, body: Body) -> Bools:
    """Whether rays above step height get from place to place."""
    if not len(start):
        return np.zeros(0, np.bool_)
    way = stop - start
    length = np.linalg.norm(way, axis=1)
    origin = start + [0.0, 0.0, min(body.step_height + 0.1 * body.height, 0.9 * body.height)]
    # twice the needed length: a miss returns the length, in single precision
    _, distance = bvh.ray_cast_many(view, origin, way / length[:, None], 2.0 * float(length.max()))
    clear: Bools = distance >= length
    return clear


def _without_edges(
    position: Floats, normal: Floats, beside: Ints, cell: float, body: Body
) -> Walkable:
    """The places that are not too near to an edge for a body, with their regions."""
    margin = math.ceil((body.radius + 0.1 * cell) / cell)
    depth = _depths(beside)
    kept = depth >= margin
    if not kept.any():
        # narrower than a body everywhere, such as a single plank: keep it rather than nothing
        kept = np.ones(len(depth), np.bool_)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    beside = beside[kept]
    beside = np.where(beside >= 0, number[beside], -1)
    return Walkable(cell, position[kept], normal[kept], beside, _regions(beside), depth[kept])


def _depths(beside: Ints) -> Ints:
    """Number of places between each place and the nearest edge."""
    start, side = np.nonzero(beside >= 0)
    stop = beside[start, side]
    # by where links lead to: not all of them lead back
    order = np.argsort(stop, kind="stable")
    start, first = start[order], np.searchsorted(stop[order], np.arange(len(beside) + 1))
    count = np.diff(first)
    depth = np.where((beside < 0).any(axis=1), 0, -1)
    edge, steps = np.flatnonzero(depth == 0), 0
    while len(edge):
        steps += 1
        counts = count[edge]
        links = np.repeat(first[edge] - np.cumsum(counts) + counts, counts)
        found = start[links + np.arange(len(links))]
        edge = np.unique(found[depth[found] < 0])
        depth[edge] = steps
    # all have one: a row of columns ends in both directions
    return depth


def _regions(beside: Ints) -> Ints:
    """Number the connected places, 0, 1, 2, …"""
    start, side = np.nonzero(beside >= 0)
    stop = beside[start, side]
    label = np.arange(len(beside))
    while True:
        lower = np.minimum(label[start], label[stop])
        before = label.copy()
        np.minimum.at(label, before[start], lower)
        np.minimum.at(label, before[stop], lower)
        label = label[label]
        if (label == before).all():
            break
    numbers: Ints = np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers
