"""Scenes of one floor on which ways are looked for, and the outlines of what stands there.

Outlines go to `restated_ways`, which has the exact lengths. Buildings are in `way_buildings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from steer_addon.core.geometry.meshes import Mesh

TALL = 3.0
"""Height of walls [m]."""
FOOT = -0.5
"""Where walls begin, below the floor [m]."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A floor with obstacles, and places on it."""

    ground: Mesh
    colliders: tuple[Mesh, ...]
    outlines: tuple[np.ndarray, ...] = ()
    """Convex outlines (x, y) of all obstacles [m], for scenes on a plane."""
    places: dict[str, np.ndarray] = field(default_factory=dict)
    """Named places [m], each of shape (3,)."""


def rectangle(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    """Corners of a rectangle, counterclockwise, shape (4, 2)."""
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)


def boxes(low, high, name: str = "boxes") -> Mesh:
    """Closed boxes along the axes, normals outward.

    Args:
        low: Lower corners [m], shape (m, 3).
        high: Upper corners [m], shape (m, 3).
        name: Name of the mesh.
    """
    low, high = (np.asarray(ends, float).reshape(-1, 3) for ends in (low, high))
    which = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], bool)
    corners = np.where(which, high[:, None], low[:, None])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return Mesh(name, corners[:, faces].reshape(-1, 3, 3).astype(np.float32))


def quad(a, b, c, d) -> np.ndarray:
    """Two triangles [m], shape (2, 3, 3)."""
    return np.array([(a, b, c), (a, c, d)], float)


def floor(x0: float, y0: float, x1: float, y1: float, z: float = 0.0) -> Mesh:
    """A rectangle that faces up."""
    return Mesh("ground", quad((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)).astype("f4"))


def joined(name: str, *meshes: Mesh) -> Mesh:
    """One mesh of several."""
    return Mesh(name, np.concatenate([mesh.triangles for mesh in meshes]))


def upright(outlines: Sequence[np.ndarray], name: str = "walls") -> Mesh:
    """Walls over outlines: boxes over rectangles along the axes, sheets over two ends."""
    solid = np.array([(o.min(axis=0), o.max(axis=0)) for o in outlines if len(o) > 2])
    thin = [o for o in outlines if len(o) == 2]
    parts = []
    if len(solid):
        ends = [
            np.column_stack([solid[:, k], np.full(len(solid), z)])
            for k, z in enumerate((FOOT, TALL))
        ]
        parts.append(boxes(*ends).triangles)
    for a, b in thin:
        parts.append(quad((*a, FOOT), (*b, FOOT), (*b, TALL), (*a, TALL)).astype(np.float32))
    return Mesh(name, np.concatenate(parts))


def fence(x0: float, y0: float, x1: float, y1: float, thick: float = 0.5) -> list[np.ndarray]:
    """Outlines of four walls around a rectangle, outside of it."""
    return [
        rectangle(x0 - thick, y0 - thick, x0, y1 + thick),
        rectangle(x1, y0 - thick, x1 + thick, y1 + thick),
        rectangle(x0 - thick, y0 - thick, x1 + thick, y0),
        rectangle(x0 - thick, y1, x1 + thick, y1 + thick),
    ]


def on_plane(outlines: Sequence[np.ndarray], size: tuple[float, float], **places) -> Scene:
    """A floor from the origin with walls over outlines, and a fence around it."""
    every = [*outlines, *fence(0.0, 0.0, *size)]
    at = {name: np.array([*place, 0.0]) for name, place in places.items()}
    ground = floor(-1.0, -1.0, size[0] + 1.0, size[1] + 1.0)
    return Scene(ground, (upright(every),), tuple(every), at)


def free_places(scene: Scene, radius: float, count: int, seed: int) -> np.ndarray:
    """Random places on the floor that are clear of all outlines by the radius, shape (count, 3)."""
    rng = np.random.default_rng([seed, 21])
    low, high = (scene.ground.triangles.reshape(-1, 3)[:, :2] for _end in range(2))
    found: list[np.ndarray] = []
    while len(found) < count:
        place = rng.uniform(low.min(axis=0), high.max(axis=0))
        others = near(scene, place, radius)
        if all(distance(outline, place) > radius for outline in others) and inside(scene, place):
            found.append(np.array([*place, 0.0]))
    return np.array(found)


@lru_cache(maxsize=8)
def _ends(scene: Scene) -> np.ndarray:
    """Least and largest places of each outline, shape (n, 2, 2)."""
    return np.array([[outline.min(axis=0), outline.max(axis=0)] for outline in scene.outlines])


def near(scene: Scene, place: np.ndarray, reach: float) -> list[np.ndarray]:
    """The outlines that may be within reach of a place; all others are farther."""
    low, high = _ends(scene).transpose(1, 0, 2)
    rows = np.flatnonzero(((low <= place + reach) & (place - reach <= high)).all(axis=1))
    return [scene.outlines[row] for row in rows]


def inside(scene: Scene, place: np.ndarray) -> bool:
    """Whether a place lies within the fence, the last four outlines."""
    west, east, south, north = scene.outlines[-4:]
    x, y = place
    return bool(
        west[:, 0].max() < x < east[:, 0].min() and south[:, 1].max() < y < north[:, 1].min()
    )


def distance(outline: np.ndarray, place: np.ndarray) -> float:
    """Distance of a place from a convex outline [m], 0 inside."""
    a, b = outline, np.roll(outline, -1, axis=0)
    along = b - a
    share = np.clip(((place - a) * along).sum(axis=1) / (along * along).sum(axis=1), 0.0, 1.0)
    gap = np.linalg.norm(a + share[:, None] * along - place, axis=1).min()
    x, y = (place - a).T
    left = along[:, 0] * y - along[:, 1] * x >= 0.0
    return 0.0 if len(outline) > 2 and left.all() else float(gap)


def random_blocks(seed: int = 0, count: int = 60, size: float = 100.0) -> Scene:
    """Rectangles and walls without thickness at random places; the last third are such walls."""
    rng = np.random.default_rng([seed, 1])
    outlines: list[np.ndarray] = []
    for k in range(count):
        x, y = rng.uniform(2.0, size - 14.0, 2)
        w, h = rng.uniform(1.0, 12.0, 2)
        if k < 2 * count // 3:
            outlines.append(rectangle(x, y, x + w, y + h))
        else:
            outlines.append(np.array([(x, y), (x + w, y + h * rng.choice([-1, 1]))]))
    return on_plane(outlines, (size, size))


def maze(seed: int = 0, columns: int = 8, rows: int = 8, cell: float = 2.0) -> Scene:
    """A maze in which one way leads from each cell to each other, with walls 0.2 m thick."""
    rng = np.random.default_rng([seed, 2])
    open_to, been, stack = set(), {(0, 0)}, [(0, 0)]
    while stack:
        x, y = stack[-1]
        beside = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        new = [c for c in beside if 0 <= c[0] < columns and 0 <= c[1] < rows and c not in been]
        if not new:
            stack.pop()
            continue
        cell_next = new[rng.integers(len(new))]
        open_to.add(frozenset(((x, y), cell_next)))
        been.add(cell_next)
        stack.append(cell_next)
    outlines, half = [], 0.1
    for x in range(columns):
        for y in range(rows):
            if x + 1 < columns and frozenset(((x, y), (x + 1, y))) not in open_to:
                at = (x + 1) * cell
                outlines.append(
                    rectangle(at - half, y * cell - half, at + half, (y + 1) * cell + half)
                )
            if y + 1 < rows and frozenset(((x, y), (x, y + 1))) not in open_to:
                at = (y + 1) * cell
                outlines.append(
                    rectangle(x * cell - half, at - half, (x + 1) * cell + half, at + half)
                )
    start, goal = np.array([0.5, 0.5]) * cell, np.array([columns - 0.5, rows - 0.5]) * cell
    return on_plane(outlines, (columns * cell, rows * cell), start=start, goal=goal)


def rooms(*widths: float, shut: Sequence[int] = ()) -> Scene:
    """A row of rooms of 6 × 6 m; in each wall between is a door, turn by turn at its two ends.

    Args:
        widths: Widths of the doors [m].
        shut: Numbers of doors that are walls.
    """
    size, thick, outlines = 6.0, 0.2, []
    for k, width in enumerate(widths):
        x = (k + 1) * size
        low = 1.0 if k % 2 == 0 else size - 1.0 - width
        ends = [(0.0, size)] if k in shut else [(0.0, low), (low + width, size)]
        outlines += [rectangle(x - thick / 2, a, x + thick / 2, b) for a, b in ends]
    long = size * (len(widths) + 1)
    return on_plane(outlines, (long, size), start=(1.0, 3.0), goal=(long - 1.0, 3.0))


def two_doors(near: float = 1.2, far: float = 1.2) -> Scene:
    """Two rooms of 10 × 20 m with a door at y = 4 on the straight way, and one at y = 17."""
    middle, half = 10.0, 0.1
    ends = [(0.0, 4.0 - near / 2), (4.0 + near / 2, 17.0 - far / 2), (17.0 + far / 2, 20.0)]
    outlines = [rectangle(middle - half, a, middle + half, b) for a, b in ends]
    return on_plane(outlines, (20.0, 20.0), start=(3.0, 4.0), goal=(17.0, 4.0))


def door_leaf(shut: float, width: float = 1.2) -> Mesh:
    """The leaf of the near door of `two_doors`, which slides along its wall.

    Args:
        shut: How far it is shut, from 0 to 1.
        width: Width of the door [m].
    """
    y = 4.0 + width * (shut - 1.0)
    low, high = (9.95, y - width / 2, 0.0), (10.05, y + width / 2, 2.5)
    mesh = boxes([low], [high], "leaf")
    return Mesh("leaf", mesh.triangles, moving=True)


def blocks_of_a_town(streets: int = 41, pitch: float = 24.4, street: float = 8.0) -> Scene:
    """1 km² of houses between streets: 1,681 boxes, 20,174 triangles with the floor."""
    at = street / 2 + pitch * np.arange(streets)
    x, y = (axis.ravel() for axis in np.meshgrid(at, at, indexing="ij"))
    side = pitch - street
    outlines = [rectangle(a, b, a + side, b + side) for a, b in zip(x, y, strict=True)]
    size = pitch * streets
    places = {"start": np.array([1.0, 1.0, 0.0]), "goal": np.array([size - 1.0, size - 1.0, 0.0])}
    return Scene(floor(0, 0, size, size), (upright(outlines),), tuple(outlines), places)
