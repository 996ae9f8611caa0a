"""Ways of single bodies, and walks of crowds that find theirs."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from steer_addon.core.agents import make_agents
from steer_addon.core.compiled.jit import kernel
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.geometry import bvh
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import Colliders, CollidersBuilder, World, make_world
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.ways.known import Blocks
from steer_addon.core.ways.lattice import neighbor_of
from steer_addon.core.ways.surface import Shape
from steer_addon.core.ways.ways import Ways

RADIUS = 0.25
ARRAYS = ("z", "clear", "link", "row", "first", "above", "wide")
"""What a surface is made of."""
SHAPE = Shape(cell_size=0.25, step_height=0.35, max_slope=45.0, height=1.75, reach=0.5)


@kernel
def _neighbors_kernel(surface, neighbors):
    for cell in range(len(neighbors)):
        for side in range(8):
            neighbors[cell, side] = neighbor_of(surface, cell, side)


def neighbors_of(view) -> np.ndarray:
    """The cell at each side of each cell of a surface, -1 for none, shape (cells, 8)."""
    found = np.zeros((len(view.z), 8), np.int64)
    _neighbors_kernel(view, found)
    return found


# few are kept, as grounds are large; without this a new surface would be made for each question
@lru_cache(maxsize=4)
def blocks_of(scene, *more) -> Blocks:
    """The ground and the colliders of a scene, and more colliders."""
    colliders = CollidersBuilder().build((*scene.colliders, *more))
    trees = dict(zip(colliders.names, colliders.trees, strict=True))
    return Blocks(bvh.build(scene.ground.triangles), colliders.bvh, trees)


def led(scene, starts, goal, radius=RADIUS, ways=None, blocks=None):
    """Where bodies head for on their way to a goal [m], and how long it is [m].

    Args:
        scene: The scene.
        starts: Places [m], shape (m, 3) or (3,).
        goal: A place [m], shape (3,).
        radius: Radius of the bodies [m].
        ways: What is kept; None for nothing.
        blocks: What ways are found on; None for the scene as it is.
    """
    starts = np.asarray(starts, np.float32).reshape(-1, 3)
    goals = np.asarray(goal, np.float32).reshape(1, 3)
    rows, n = np.zeros(len(starts), np.int64), len(starts)
    # bodies with id 0 have the lane next to the corner
    told = starts, np.zeros(n, np.int64), np.full(n, radius, np.float32)
    found = (ways or Ways()).lead(SHAPE, blocks or blocks_of(scene), goals, rows, told)
    via, rest, _kept = found
    return via, rest + np.linalg.norm(via - starts, axis=1)


def followed(scene, start, goal, radius=RADIUS, ways=None, blocks=None) -> float:
    """Length of the way from corner to corner, as a body goes that is led along it [m]."""
    ways, blocks = ways or Ways(), blocks or blocks_of(scene)
    here, length = np.asarray(start, np.float32), 0.0
    for _corner in range(200):
        via, rest = led(scene, here, goal, radius, ways, blocks)
        step = float(np.linalg.norm(via[0] - here))
        length, here = length + step, via[0]
        if step == 0.0 or rest[0] <= step:
            return length if np.linalg.norm(here - goal) < 1.0e-3 else np.inf
    return np.inf


class Walk:
    """People of the preset `pedestrians` who find their ways."""

    def __init__(self, scene, starts, goal, ways="AROUND", *overrides, fps=24.0) -> None:
        """Put them at their starts.

        Args:
            scene: The scene.
            starts: Places [m], shape (n, 3) or (3,).
            goal: A place [m], shape (3,).
            ways: The setting.
            overrides: More settings, as `block.name=value`.
            fps: Frames per second.
        """
        settings = load_preset("pedestrians").settings
        for text in (f"ways.ways={ways}", *overrides):
            settings = with_override(settings, text)
        body, starts = settings.agents, np.asarray(starts, np.float32).reshape(-1, 3)
        agents = make_agents(
            starts,
            radius=body.radius,
            mass=body.mass,
            max_speed=body.max_speed,
            max_force=body.max_force,
        )
        self._scene, self._builder = scene, CollidersBuilder()
        self._base: World = replace(
            make_world(ground=scene.ground), targets={"": make_targets(np.reshape(goal, (1, 3)))}
        )
        self.simulation = Simulation(settings, agents, frame=0, fps=fps, world=self._world(()))
        self.places = [starts.astype(float)]

    def _world(self, more, ground=None) -> World:
        colliders: Colliders = self._builder.build((*self._scene.colliders, *more))
        return replace(self._base, colliders=colliders, ground=ground or self._base.ground)

    def on(self, frames: int, more=lambda frame: (), ground=lambda frame: None) -> np.ndarray:
        """Walk on for some frames.

        Args:
            frames: Their number.
            more: More colliders of each frame.
            ground: The tree of the ground of each frame; None for that of the scene.

        Returns:
            All places so far [m], shape (frame_count, n, 3).
        """
        for _frame in range(frames):
            self.step(more, ground)
        return np.array(self.places)

    def step(self, more=lambda frame: (), ground=lambda frame: None) -> None:
        """Walk on for a frame, see `on`."""
        frame = len(self.places)
        self.simulation.advance(self._world(more(frame), ground(frame)))
        self.places.append(self.simulation.agents.position.astype(float))


def walked(places: np.ndarray) -> np.ndarray:
    """Lengths of walks [m], shape (n,)."""
    return np.linalg.norm(np.diff(places, axis=0), axis=2).sum(axis=0)
