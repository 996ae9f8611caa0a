"""Crowds and meshes for benchmarks: random, but the same every time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings, make_behavior
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import World, make_world

F32 = NDArray[np.float32]

DT = 1.0 / 24.0
REACH = 2.0
"""Neighbor distance of the flock [m]."""
NEIGHBORS = 9.5
"""Agents within reach of one in the middle of the crowd; some 9 with those at the border."""
ALL = 32
"""More neighbors than any agent of the flock has."""
STRENGTH = (3.0, 1.5, 2.0)
"""Separation, cohesion and alignment [m/s]."""
COLLIDER_TRIANGLES = 16_000


def scatter(count: int, reach: float, neighbors: float = NEIGHBORS, seed: int = 1) -> F32:
    """Points in a cube, sized for a given number of neighbors within reach [m], (count, 3)."""
    volume = count * (4.0 / 3.0 * np.pi * reach**3) / neighbors
    side = volume ** (1.0 / 3.0)
    points = np.random.default_rng(seed).uniform(-side / 2, side / 2, (count, 3))
    return points.astype(np.float32)


def place(settings: CrowdSettings, position: F32, seed: int = 2) -> Agents:
    """Agents of a crowd at positions, on their way in random directions."""
    body = settings.agents
    direction = np.random.default_rng(seed).normal(size=position.shape)
    if settings.motion.motion == "GROUND":
        direction[:, 2] = 0.0
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return make_agents(
        position,
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        velocity=direction * (0.5 * body.max_speed),
    )


def flock(count: int, max_neighbors: int = ALL) -> tuple[CrowdSettings, Agents]:
    """A flock: separation, cohesion and alignment, flying."""
    names = ("separation", "cohesion", "alignment")
    stack = tuple(
        make_behavior(
            {
                "type": name,
                "strength": strength,
                "neighbor_distance": REACH,
                "max_neighbors": max_neighbors,
            }
        )
        for name, strength in zip(names, STRENGTH, strict=True)
    )
    settings = CrowdSettings(motion=MotionSettings(motion="FLY"), behaviors=stack)
    return settings, place(settings, scatter(count, REACH))


def ball(center: F32, radius: float, rows: int = 11, columns: int = 16) -> F32:
    """Triangles of a closed sphere [m], shape (2·columns·(rows - 1), 3, 3)."""
    theta = np.pi * np.arange(rows + 1) / rows
    phi = 2.0 * np.pi * np.arange(columns + 1) / columns
    ring = np.sin(theta)[:, None]
    grid = np.stack(
        [ring * np.cos(phi), ring * np.sin(phi), np.repeat(np.cos(theta)[:, None], columns + 1, 1)],
        axis=2,
    )
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    upper = np.stack([a, b, c], axis=2)[:-1].reshape(-1, 3, 3)
    lower = np.stack([a, c, d], axis=2)[1:].reshape(-1, 3, 3)
    return (np.concatenate([upper, lower]) * radius + center).astype(np.float32)


def balls(extent: float, triangles: int = COLLIDER_TRIANGLES, flat: bool = False) -> list[Mesh]:
    """Obstacles strewn over a cube or a square: spheres of 320 triangles each."""
    rng = np.random.default_rng(3)
    found: list[Mesh] = []
    for number in range(triangles // 320):
        center = rng.uniform(-extent / 2, extent / 2, 3).astype(np.float32)
        if flat:
            center[2] = 0.0
        found.append(Mesh(f"Ball {number}", ball(center, extent * float(rng.uniform(0.02, 0.05)))))
    return found


def terrain(extent: float, cells: int = 64) -> Mesh:
    """A square of gentle hills [m], 2·cells² triangles."""
    line = np.linspace(-extent / 2, extent / 2, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    height = 0.02 * extent * np.sin(12.0 * x / extent) * np.cos(9.0 * y / extent)
    grid = np.stack([x, y, height], axis=2)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    faces = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return Mesh("Terrain", faces.reshape(-1, 3, 3).astype(np.float32))


def houdini(count: int = 10_000) -> tuple[CrowdSettings, Agents, World]:
    """The preset `houdini_vex` in full: all its behaviors, obstacles, a target in the middle."""
    settings = load_preset("houdini_vex").settings
    position = scatter(count, 0.5)
    extent = float(position.max() - position.min())
    world = make_world(targets=[[0.0, 0.0, 0.0]], colliders=balls(extent))
    return settings, place(settings, position), world


def pedestrians(count: int = 10_000) -> tuple[CrowdSettings, Agents, World]:
    """The preset `pedestrians` on hills, 1 person per 2 m², among obstacles."""
    settings = load_preset("pedestrians").settings
    extent = float(np.sqrt(2.0 * count))
    flat = np.random.default_rng(4).uniform(-0.48 * extent, 0.48 * extent, (count, 3))
    flat[:, 2] = 0.0
    world = make_world(
        targets=[[0.45 * extent, 0.0, 0.0]],
        colliders=balls(extent, flat=True),
        ground=terrain(extent),
    )
    return settings, place(settings, flat.astype(np.float32)), world
