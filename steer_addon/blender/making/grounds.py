"""Where a new crowd stands: on which ground, where on an uneven one, and beside which others."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.kdtree import KDTree
from numpy.typing import NDArray

from ...core.crowd.settings import CrowdSettings
from ...core.errors import SceneError
from ..crowd import crowds
from ..reading.extents import (
    Box,
    box_of,
    footprint,
    free_shift,
    joined,
    object_box,
    start_box,
    start_points,
    with_obstacles,
)
from ..reading.scene_meshes import MESH_TYPES, walkable_triangles
from .arrangement import TERRAIN, Arrangement, Places
from .distribute import Draw
from .figures import BODY_RADIUS, HEIGHT
from .plans import ACTIVE, AUTO, Plan, Spot
from .walkable import Body, Ints, Walkable, find_walkable

WALKABLE_SHARE = 0.3
"""A mesh is taken as ground by itself from this share of its surface on; of a cube it is 1/6."""


@dataclass(frozen=True, eq=False)
class Field:
    """A mesh to walk on, with its triangles [m], shape (n, 3, 3)."""

    obj: bpy.types.Object
    triangles: NDArray[np.float32]

    @cached_property
    def box(self) -> Box:
        """The box around it."""
        return box_of(self.triangles)

    def is_level(self, step: float) -> bool:
        """Whether no part of it is higher than another by more than a step [m]."""
        low, high = self.box
        return bool(high[2] - low[2] <= step)

    def walkable(self, max_slope: float) -> tuple[float, float]:
        """Area seen from above of all faces that are walked [m²], and their share of all faces."""
        corners = self.triangles.astype(np.float64)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
        size = np.linalg.norm(normal, axis=1)
        up = normal[:, 2] >= math.cos(math.radians(max_slope)) * size
        return float(normal[up, 2].sum()), float(size[up].sum() / max(size.sum(), 1.0e-12))


def choose_field(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, plan: Plan) -> Field | None:
    """The existing ground of a new crowd: the active mesh, or that of another crowd.

    Raises:
        SceneError: The active mesh is wanted, and there is none that carries the agents.
    """
    active, wanted = layer.objects.active, plan.wish.ground
    if plan.flies or wanted not in (AUTO, ACTIVE):
        return None
    is_mesh = active is not None and active.type in MESH_TYPES and not crowds.is_crowd(active)
    if wanted == ACTIVE:
        if active is None or not is_mesh:
            raise SceneError("Ground is the active mesh, and there is none: select a mesh object")
        return Field(active, walkable_triangles(active, layer.depsgraph))
    if active is not None and is_mesh:
        field = _field(active, layer)
        if field is not None and _carries(field, plan):
            return field
    grounds = (crowd.steer.ground for crowd in crowds.crowds(scene))
    ground = next((g for g in grounds if g is not None and g.type in MESH_TYPES), None)
    return None if ground is None else _field(ground, layer)


def _field(obj: bpy.types.Object, layer: bpy.types.ViewLayer) -> Field | None:
    try:
        return Field(obj, walkable_triangles(obj, layer.depsgraph))
    except SceneError:
        return None


def _carries(field: Field, plan: Plan) -> bool:
    """Whether a mesh looks like ground, and has room for the agents."""
    area, share = field.walkable(plan.settings.motion.max_slope)
    x, y, z = field.box[1] - field.box[0]
    is_wide = share >= WALKABLE_SHARE or z < 0.5 * min(x, y)
    return bool(is_wide and area >= math.pi * (1.2 * plan.spread) ** 2)


def places_on(
    field: Field, settings: CrowdSettings, at: Any, half: float, blocking: Any = ()
) -> Walkable:
    """Places on a mesh where agents can stand, in a square around a point.

    Args:
        field: The mesh.
        settings: Settings of the crowd.
        at: The point, or one beside the mesh, in world space [m].
        half: Half width of the square [m].
        blocking: Triangles that nobody walks through [m], shape (n, 3, 3).

    Raises:
        SceneError: There is no such place.
    """
    low, high = field.box
    middle = np.clip(np.asarray(at, np.float64), low, high)[:2]
    # corner by corner: along an axis of three NumPy is ten times slower
    one, two, three = (field.triangles[:, corner, :2] for corner in range(3))
    reaches = np.maximum(np.maximum(one, two), three) >= middle - half
    reaches &= np.minimum(np.minimum(one, two), three) <= middle + half
    near = reaches[:, 0] & reaches[:, 1]
    radius = settings.agents.radius or 0.02
    body = Body(
        radius=radius,
        height=HEIGHT * radius / BODY_RADIUS,
        max_slope=settings.motion.max_slope,
        step_height=settings.motion.step_height,
    )
    try:
        return _walkable(field.triangles[near], np.reshape(blocking, (-1, 3, 3)), body)
    except SceneError:
        raise SceneError(
            f"{field.obj.name!r} has no place to stand near the 3D cursor: move the cursor over "
            "it, flip its normals, or choose another ground"
        ) from None


_last: dict[bytes, Walkable] = {}
"""The places that were found last, by a digest of what they were found from."""


def _walkable(ground: Any, blocking: Any, body: Body) -> Walkable:
    """`find_walkable`, once for the same ground: while a field is dragged it is asked again."""
    digest = hashlib.sha1(repr((body, ground.shape)).encode(), usedforsecurity=False)
    digest.update(ground.tobytes())
    digest.update(blocking.tobytes())
    key = digest.digest()
    if key not in _last:
        _last.clear()
        _last[key] = find_walkable(ground, blocking, body)
    return _last[key]


def heights(places: Walkable, points: Any) -> Any:
    """Heights of the places that are nearest to points, seen from above, shape (n,) [m]."""
    tree, rows, middle = _tree(places)
    near = [tree.find((x, y, 0.0))[1] for x, y in (points[:, :2] - middle).tolist()]
    return places.position[rows[near], 2]


@lru_cache(maxsize=1)
def _tree(places: Walkable) -> tuple[KDTree, Ints, Any]:
    """Finds the highest place of a column; the rows of these, and what its points relate to."""
    flat = places.position[:, :2]
    # places that lie above one another follow one another, from the top down
    rows = np.flatnonzero(np.append(True, (np.diff(flat, axis=0) != 0.0).any(axis=1)))
    tree = KDTree(len(rows))
    for row, (x, y) in enumerate((flat[rows] - flat[0]).tolist()):
        tree.insert((x, y, 0.0), row)
    tree.balance()
    return tree, rows, flat[0]


def rows_around(places: Walkable, start: int, reach: float, taken: Sequence[Box] = ()) -> Ints:
    """The places that are nearest to one of them on foot: as many as a disc of this radius has."""
    ways = places.ways(start)
    free = np.isfinite(ways) & ~_within(places.position, taken)
    rows = np.flatnonzero(free)
    wanted = math.ceil(math.pi * reach * reach / places.cell**2)
    nearest: Ints = rows[np.argsort(ways[rows], kind="stable")[:wanted]]
    return nearest


def draw_from(places: Walkable, rows: Ints, seed: Any, to_local: Any) -> Draw:
    """Draws points around some places, in the space that a matrix leads to."""
    random = np.random.default_rng(seed)

    def draw(count: int) -> NDArray[np.float64]:
        points = places.scatter(rows, random, count)
        local: NDArray[np.float64] = points @ to_local[:3, :3].T + to_local[:3, 3]
        return local

    return draw


def _within(points: Any, boxes: Sequence[Box]) -> NDArray[np.bool_]:
    inside = np.zeros(len(points), np.bool_)
    for low, high in boxes:
        inside |= ((points[:, :2] > low[:2]) & (points[:, :2] < high[:2])).all(axis=1)
    return inside


@dataclass(frozen=True, eq=False)
class Site:
    """Where a crowd stands; places are relative to the origin [m]."""

    origin: Any
    arrangement: Arrangement
    places: Places
    spots: list[Spot]
    target: tuple[float, float, float]
    walkable: Walkable | None = None
    """Where agents can stand; None on level ground."""

    def lifted(self, points: Any) -> Any:
        """Points with the heights of the nearest places to stand, shape (n, 3)."""
        found = np.array(points, np.float64).reshape(-1, 3)
        if self.walkable is None:
            return found
        found[:, 2] += heights(self.walkable, found + self.origin) - self.origin[2]
        return found


def find_site(field: Field, plan: Plan, at: Any, taken: Sequence[Box] = ()) -> Site:
    """Find the places of a crowd on an uneven mesh, or on one that is hardly larger.

    Args:
        field: The mesh.
        plan: The crowd.
        at: The 3D cursor [m].
        taken: Boxes around other crowds.

    Raises:
        SceneError: There is no place to stand.
    """
    around = 2.0 * (plan.reach + plan.spread)
    walkable = places_on(field, plan.settings, at, around)
    position, cell = walkable.position, walkable.cell
    near = 4.0 * plan.body
    boxes = [box + np.array([[-near], [near]]) for box in taken]
    free = ~_within(position, boxes)
    areas = np.bincount(walkable.region, weights=free) * cell**2
    wide = areas[walkable.region] >= min(math.pi * plan.spread**2, areas.max())
    candidates = np.flatnonzero(free & wide)
    if not len(candidates):
        raise SceneError(
            f"{field.obj.name!r} has no room beside the crowds that stand on it near the 3D "
            "cursor: move the cursor, or choose another ground"
        )
    start = int(candidates[np.linalg.norm(position[candidates] - at, axis=1).argmin()])
    ways, origin = walkable.ways(start), position[start]
    goal = _goal(walkable, ways, plan.reach)
    site = Site(
        origin, plan.arrangement([]), Places(np.zeros((0, 3), np.float32)), [], (0, 0, 0), walkable
    )
    spots = [
        replace(spot, z=spot.z + float(site.lifted([(spot.x, spot.y, 0.0)])[0, 2]))
        for spot in plan.spots()
        if np.linalg.norm(position[:, :2] - origin[:2] - (spot.x, spot.y), axis=1).min() < cell
    ]
    arrangement = plan.arrangement(spots)
    if plan.start.placement == "LANES":
        places = arrangement.places(plan.wish.count)
        places = replace(places, points=site.lifted(places.points).astype(np.float32))
    else:
        avoid = tuple((s.x, s.y, s.z, s.radius + 2.5 * plan.body) for s in spots)
        arrangement = replace(arrangement, kind=TERRAIN, center=(0.0, 0.0, 0.0), avoid=avoid)
        rows = rows_around(walkable, start, arrangement.reach(plan.wish.count), boxes)
        to_local = np.eye(4)
        to_local[:3, 3] = -origin
        draw = draw_from(walkable, rows, plan.wish.seed, to_local)
        places = arrangement.places(plan.wish.count, draw)
        places = replace(places, headings=headings(places.points, position[goal] - origin))
    x, y, z = map(float, position[goal] - origin)
    return replace(site, arrangement=arrangement, places=places, spots=spots, target=(x, y, z))


def _goal(walkable: Walkable, ways: Any, reach: float) -> int:
    """The roomiest place about this far on foot, or as far as there is one [m]."""
    finite = np.isfinite(ways)
    far = min(reach, ways[finite].max())
    rows = np.flatnonzero(finite & (np.abs(ways - far) <= 0.1 * far + walkable.cell))
    return int(rows[walkable.depth[rows].argmax()])


def headings(points: Any, target: Any) -> Any:
    """Level headings from points to a target, shape (n, 3)."""
    way = np.asarray(target, np.float64) - points
    way[:, 2] = 0.0
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.where(length > 1.0e-6, way / np.maximum(length, 1.0e-6), (0.0, -1.0, 0.0))


def free_seed(scene: bpy.types.Scene) -> int:
    """The smallest seed that no crowd of a scene has."""
    taken = {crowd.steer.seed for crowd in crowds.crowds(scene)}
    return next(number for number in count() if number not in taken)


def starts(scene: bpy.types.Scene) -> Any:
    """Start positions of all agents of a scene [m], shape (n, 3)."""
    return np.concatenate([np.zeros((0, 3), np.float32), *map(start_points, crowds.crowds(scene))])


def free_origin(
    scene: bpy.types.Scene,
    box: Box,
    ground: bpy.types.Object | None = None,
    new_ground: float = 0.0,
) -> tuple[Vector, bpy.types.Object | None]:
    """Where a new crowd is out of the way of others, as near to the 3D cursor as possible.

    Args:
        scene: The scene.
        box: Box around the crowd and what belongs to it, with the 3D cursor as its origin.
        ground: Ground that it should stay on, or None.
        new_ground: Width of the ground that is made where there is none; 0 for none.

    Returns:
        The origin [m], and the ground; None in place of a ground without room beside its crowds.
    """
    cursor = scene.cursor.location.copy()
    others = crowds.crowds(scene)
    if not others:
        return cursor, ground
    box = box + np.array(cursor)
    ways, places = (
        [with_obstacles(c, around(c)) for c in others] for around in (footprint, start_box)
    )
    if ground is not None:
        for taken in (ways, places):
            move = free_shift(box, taken, object_box(ground))
            if move is not None:
                return cursor + Vector(move.tolist()), ground
    if new_ground:
        # two grounds in one place would flicker
        half = np.array([[-0.5], [0.5]]) * new_ground
        box = joined([box, np.array(cursor) + half])
        ways += [object_box(c.steer.ground) for c in others if c.steer.ground is not None]
    move = free_shift(box, ways)
    assert move is not None  # there is no end of room
    return cursor + Vector(move.tolist()), None
