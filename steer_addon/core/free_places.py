"""Free places: where agents go whose target lies inside of a collider.

A point is inside a closed mesh when the mesh winds around it: the solid angles of its triangles add
up to a whole number of spheres, other than none. That holds for meshes that are inside out as well,
and an open one, around which nobody can tell inside from outside, gives no whole number.

From a point inside, rays go out: in many directions (level ones in GROUND motion, at the height at
which the colliders are looked at), and along the normals of the meshes around it, where the next
way out of a box or a prism lies. Behind every face that a ray meets is a place with room for a
body, as far as no other face and no other collider is there. The nearest of them counts; where no
place has room for a body, the nearest outside of all colliders; where there is none, none.

Source of the winding number: Jacobson et al. 2013, "Robust Inside-Outside Segmentation using
Generalized Winding Numbers"; the solid angle of a triangle: Van Oosterom and Strackee 1983.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bvh, ground
from .agents import Agents
from .settings import CrowdSettings
from .targets import Targets
from .world import Colliders, World

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

WHOLE = 1.0e-5
"""How far a winding number of a closed mesh may be from a whole one."""
AROUND = 64
"""Rays of a level search; one through space takes four times as many."""
NORMALS = 256
"""Most directions that are taken from the faces of the meshes around a point."""
FACES = 24
"""So many faces a ray goes through."""
STEEPEST = 0.2
"""Cosine between ray and normal below which a body goes no farther to be clear of the face."""
MOST_TARGETS = 64
"""Longer lists are taken as they are: agents of other crowds, and clouds of points."""
SPARE = 1.0e-3
"""Room beside a body, as a share of its radius."""


def winding(triangles: Any, point: Any) -> float:
    """How often a mesh winds around a point: 1 inside a closed one, 0 outside, -1 inside out.

    Args:
        triangles: Corners [m], shape (triangle_count, 3, 3).
        point: Where to look [m], shape (3,).
    """
    corners = np.asarray(triangles, np.float64) - np.asarray(point, np.float64)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (a, b, c))
    over = np.einsum("ij,ij->i", a, np.cross(b, c))
    under = la * lb * lc
    for first, second, size in ((a, b, lc), (b, c, la), (c, a, lb)):
        under = under + np.einsum("ij,ij->i", first, second) * size
    return float(np.arctan2(over, under).sum() / (2.0 * np.pi))


def colliders_around(colliders: Colliders, point: Any) -> list[int]:
    """Numbers of the closed colliders that a point [m] is inside of."""
    offset = colliders.center.astype(np.float64) - point
    near = np.flatnonzero(np.linalg.norm(offset, axis=1) <= colliders.radius)
    found = []
    for number in near:
        turns = winding(_faces(colliders, int(number)), point)
        if abs(turns) > 0.5 and abs(turns - round(turns)) < WHOLE:
            found.append(int(number))
    return found


def _faces(colliders: Colliders, number: int) -> F32:
    return colliders.bvh.triangles[colliders.first[number] : colliders.first[number + 1]]


def nearest_free(colliders: Colliders, point: Any, radius: float, flat: bool) -> F64 | None:
    """The nearest place for a body outside of the colliders.

    Args:
        colliders: What blocks.
        point: Where it should be [m], shape (3,); in a flat crowd at eye height.
        radius: Radius of the body [m].
        flat: Look for it at the same height.

    Returns:
        The place [m], shape (3,): the point itself where it is inside of none, and None where
        there is no place.
    """
    start = np.asarray(point, np.float64)
    around = colliders_around(colliders, start)
    if not around:
        return start
    ways = np.concatenate([_spread(flat), _normals(colliders, around, flat)])
    ahead = _ways_out(colliders, start, ways, radius)
    outside = None
    for row in np.argsort(ahead[0], kind="stable"):
        place = start + ways[ahead[1][row]] * ahead[0][row]
        if colliders_around(colliders, place):
            continue
        if _has_room(colliders, place, radius, flat):
            return place
        outside = place if outside is None else outside
    return outside


def _spread(flat: bool) -> F64:
    """Unit directions all around, shape (direction_count, 3)."""
    count = AROUND if flat else 4 * AROUND
    turn = np.arange(count) * (2.0 * np.pi / count if flat else np.pi * (3.0 - np.sqrt(5.0)))
    height = np.zeros(count) if flat else 1.0 - (2.0 * np.arange(count) + 1.0) / count
    level = np.sqrt(1.0 - height**2)
    return np.stack([np.cos(turn) * level, np.sin(turn) * level, height], axis=1)


def _normals(colliders: Colliders, around: list[int], flat: bool) -> F64:
    """Directions along the normals of some colliders, both ways, shape (direction_count, 3)."""
    faces = np.concatenate([_faces(colliders, number) for number in around]).astype(np.float64)
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    if flat:
        normals[:, 2] = 0.0
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    units = (normals / np.maximum(sizes, 1.0e-300))[sizes[:, 0] > 1.0e-12]
    units = np.unique(np.round(units, 6), axis=0)
    units = units[:: max(1, len(units) * 2 // NORMALS)]
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    return np.concatenate([units, -units])


def _ways_out(
    colliders: Colliders, start: F64, ways: F64, radius: float
) -> tuple[F64, NDArray[np.int64]]:
    """Distances [m] of places behind faces, and the numbers of the directions that lead there."""
    triangles = colliders.bvh.triangles.astype(np.float64)
    gone = np.zeros(len(ways))
    rows = np.arange(len(ways))
    lengths, numbers = [np.zeros(0)], [np.zeros(0, np.int64)]
    least = 1.0e-4 + 1.0e-6 * float(np.abs(start).max())
    for _ in range(FACES):
        met, distance = bvh.ray_cast_many(
            colliders.bvh, start + ways[rows] * gone[rows, None], ways[rows]
        )
        rows, met, distance = rows[met >= 0], met[met >= 0], distance[met >= 0]
        if not len(rows):
            break
        a, b, c = (triangles[met, k] for k in range(3))
        normal = np.cross(b - a, c - a)
        size = np.maximum(np.linalg.norm(normal, axis=1), 1.0e-300)
        slant = np.abs(np.einsum("ij,ij->i", normal, ways[rows])) / size
        clear = radius * (1.0 + SPARE) / np.maximum(slant, STEEPEST) + least
        at = gone[rows] + distance
        lengths.append(at + clear)
        numbers.append(rows)
        gone[rows] = at + least
    return np.concatenate(lengths), np.concatenate(numbers)


def _has_room(colliders: Colliders, place: F64, radius: float, flat: bool) -> bool:
    if flat:
        ways = _spread(True)
        met, _ = bvh.ray_cast_many(colliders.bvh, np.tile(place, (len(ways), 1)), ways, radius)
    else:
        met, _, _ = bvh.nearest_many(colliders.bvh, place[None], radius)
    return not (met >= 0).any()


@dataclass(eq=False, repr=False)
class FreeTargets:
    """Keeps free places of targets from frame to frame: they are looked for when something moves.

    Attributes:
        warning: What the user may want to change, once a target was inside of a collider.
    """

    warning: str = ""
    _known: dict[str, tuple[Any, F32, Colliders, F32]] = field(default_factory=dict)

    def freed(self, world: World, agents: Agents, settings: CrowdSettings) -> World:
        """The world where no goal of a crowd with solid colliders is inside of one.

        Args:
            world: The world.
            agents: The crowd, whose heights count where there is no ground.
            settings: What it is told.
        """
        if not settings.bodies.collide_colliders or world.colliders is None:
            return world
        names = {b.target for b in settings.behaviors if b.enabled and b.goes_to_target}
        changed: dict[str, Targets] = {}
        for name in sorted(names & world.targets.keys()):
            targets = world.targets[name]
            if targets.own or targets.count > MOST_TARGETS:
                continue
            place = self._places(name, targets, world, agents, settings)
            if place is not targets.position:
                changed[name] = replace(targets, position=place)
        named: Mapping[str, Targets] = {**world.targets, **changed}
        return replace(world, targets=named) if changed else world

    def _places(
        self, name: str, targets: Targets, world: World, agents: Agents, settings: CrowdSettings
    ) -> F32:
        """Positions of targets, those inside of colliders moved out."""
        colliders = world.colliders
        assert colliders is not None
        flat = settings.motion.motion == "GROUND"
        eyes = _at_eye_height(targets.position, world, agents, settings) if flat else None
        looked = targets.position if eyes is None else eyes
        told = (settings.agents.radius, flat)
        known = self._known.get(name)
        if known is not None and known[0] == told and known[2] is colliders:
            if np.array_equal(known[1], looked):
                return _moved(targets.position, known[3])
        offset = np.zeros_like(looked)
        for row, point in enumerate(looked):
            around = colliders_around(colliders, point)
            if not around:
                continue
            self.warning = self.warning or (
                f"A target is inside of collider {colliders.names[around[0]]!r}: agents go to the "
                "nearest free place; move the target or the collider"
            )
            place = nearest_free(colliders, point, settings.agents.radius, flat)
            if place is not None:
                offset[row] = place - point
        self._known[name] = (told, looked, colliders, offset)
        return _moved(targets.position, offset)


def _moved(position: F32, offset: F32) -> F32:
    return position + offset if offset.any() else position


def _at_eye_height(position: F32, world: World, agents: Agents, settings: CrowdSettings) -> F32:
    """Targets at the height at which walking agents meet colliders."""
    eyes = position.copy()
    found = np.zeros(len(position), np.bool_)
    if world.ground is not None:
        steepest = ground.min_up(settings.motion.max_slope)
        feet, _, found = ground.place_many(world.ground, position, steepest)
        eyes[found] = feet[found]
    eyes[~found, 2] = np.median(agents.position[:, 2])
    eyes[:, 2] += settings.motion.step_height
    return eyes
