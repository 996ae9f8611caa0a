"""Runs of the scenes that come with Steer, for tests that ask what happened in them."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from steer_addon.blender.live import simulate
from steer_addon.blender.making import demos
from steer_addon.core.results.frames import Frame

LAST = 120


@dataclass
class Played:
    """Recorded run of one crowd; frame number f is row f - 1."""

    obj: bpy.types.Object
    frames: list[Frame]

    @property
    def positions(self) -> np.ndarray:
        """Shape (frames, agents, 3) [m]."""
        return np.array([frame.position for frame in self.frames], np.float64)

    @property
    def velocities(self) -> np.ndarray:
        """Shape (frames, agents, 3) [m/s]."""
        return np.array([frame.velocity for frame in self.frames], np.float64)

    def attribute(self, name: str) -> np.ndarray:
        """State that a behavior shows, shape (frames, agents)."""
        return np.array([frame.attributes[name] for frame in self.frames])


def play(name: str, last: int = LAST) -> dict[str, Played]:
    """Make a scene and simulate all its crowds; by the crowds' names."""
    made = demos.make_demo(name)
    scene = bpy.context.scene
    found: dict[str, Played] = {}
    for crowd in made:
        if crowd.name not in found:
            simulated: simulate.Continued = {}
            for _ in simulate.continue_to(crowd, scene, last, simulated):
                pass
            for member, _, frames in simulated.values():
                found.setdefault(member.name, Played(member, frames))
    for played in found.values():
        assert len(played.frames) == last
        assert np.isfinite(played.positions).all() and np.isfinite(played.velocities).all()
    return found


def places_of(obj: bpy.types.Object, last: int = LAST) -> np.ndarray:
    """Where an object is in frames 1 to `last`, shape (last, 3) [m]."""
    found = []
    for number in range(1, last + 1):
        bpy.context.scene.frame_set(number)
        found.append(tuple(obj.matrix_world.translation))
    return np.array(found, np.float64)


def gaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances between two sets of points [m], shape (..., len(a), len(b))."""
    return np.linalg.norm(a[..., :, None, :] - b[..., None, :, :], axis=-1)


def nearest_neighbor(points: np.ndarray) -> np.ndarray:
    """Distance of each point to the nearest other one [m], shape (agents,)."""
    apart = gaps(points, points)
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)


def in_boxes(points: np.ndarray, objects: list[bpy.types.Object], margin: float = 0.0):
    """Which points are inside of box-shaped objects, seen from above; shape (...,)."""
    inside = np.zeros(points.shape[:-1], bool)
    for obj in objects:
        inverse = np.array(obj.matrix_world.inverted(), np.float64)
        local = points @ inverse[:3, :3].T + inverse[:3, 3]
        corners = np.array([v.co for v in obj.data.vertices], np.float64)
        low, high = corners.min(axis=0) + margin, corners.max(axis=0) - margin
        inside |= ((local > low) & (local < high))[..., :2].all(axis=-1)
    return inside


def crossings(paths: np.ndarray, walls: list[tuple]) -> int:
    """How many steps cross a wall, seen from above.

    Args:
        paths: Positions, shape (frames, agents, 3).
        walls: Pairs of end points (x, y).
    """
    start, end = paths[:-1, :, :2], paths[1:, :, :2]
    total = 0
    for a, b in walls:
        a, b = np.array(a, float), np.array(b, float)
        sides = [_side(a, b, start), _side(a, b, end), _side(start, end, a), _side(start, end, b)]
        total += int(((sides[0] * sides[1] < 0) & (sides[2] * sides[3] < 0)).sum())
    return total


def _side(a, b, p):
    way, to = b - a, p - a
    return way[..., 0] * to[..., 1] - way[..., 1] * to[..., 0]
