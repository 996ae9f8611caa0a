"""Runs of the solver beside a restatement of it, and how far the two are apart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from crowdtools import box, place
from restated_crowds import Crowd
from restated_forces import ForcesCrowd, Scene
from restatements import State, Triangle, Vector

from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.world import World, make_targets, make_world
from steer_addon.core.step.simulation import Simulation

STEPS = 200
FPS = 24.0
OF_PATH = 1e-4
"""Largest deviation from the restatement, as a part of the path length."""


def spread(count: int, size: float, seed: int, flat: bool = False):
    """Positions in a cube, and velocities along the axes, whose headings need no rounding."""
    rng = random.Random(seed)
    positions, velocities = [], []
    for _ in range(count):
        p = [rng.uniform(-size / 2, size / 2) for _ in range(3)]
        v = [0.0, 0.0, 0.0]
        v[rng.randrange(2 if flat else 3)] = rng.choice((-1.0, 1.0))
        positions.append([p[0], p[1], 0.0 if flat else p[2]])
        velocities.append(v)
    return positions, velocities


def box_triangles(center: Vector, extent: Vector) -> list[Triangle]:
    """A closed box, as the restatement reads meshes."""
    return [tuple(tuple(map(float, c)) for c in t) for t in box(center, extent).triangles]


def compare(simulation: Simulation, crowd: Crowd, state: State, worlds, targets, one_by_one: bool):
    """Run both; returns path lengths, deviations, and the largest difference of velocities.

    One by one, the restatement starts every step from where the solver is.
    """
    count = len(state.p)
    paths, deviations, velocity_errors = np.zeros(count), [], []
    for world, seen in zip(worlds, targets, strict=True):
        before = simulation.agents
        if one_by_one:
            rows = (before.position, before.velocity, before.heading)
            state = State(*([tuple(map(float, row)) for row in array] for array in rows))
        frame = simulation.step(world)
        state = crowd.step(state, seen, 1.0 / FPS)
        paths += np.linalg.norm(frame.position.astype(float) - before.position, axis=1)
        deviations.append(np.linalg.norm(frame.position - np.array(state.p), axis=1))
        velocity_errors.append(np.abs(frame.velocity - np.array(state.v)).max())
    return paths, np.array(deviations), max(velocity_errors)


@dataclass(frozen=True)
class Outcome:
    """How a run and its restatement went."""

    frequency: dict[str, int]
    """How often each rule spoke."""
    of_path: float
    """Largest deviation of any agent at any time, as a part of the length of its path."""
    velocity_error: float
    """Largest difference of velocities [m/s]."""
    paths: np.ndarray
    """Lengths of the paths [m], shape (agent_count,)."""

    def spoke(self, often: int) -> set[str]:
        """The rules that spoke so often."""
        return {name for name, times in self.frequency.items() if times >= often}


def world_of(scene: Scene) -> World:
    """Inputs of the restatement, as the solver has them."""
    rows = [(t.p, t.v, t.h, t.up) for t in scene.targets]
    meshes = [Mesh(f"mesh {n}", np.array(m, np.float32)) for n, m in enumerate(scene.meshes)]
    spheres = scene.spheres
    return make_world(
        targets=make_targets(*zip(*rows, strict=True)) if rows else None,
        colliders=meshes,
        spheres=make_spheres([s.center for s in spheres], [s.radius for s in spheres]),
        paths=[Path(points, cyclic=scene.cyclic) for points in scene.paths],
    )


def only_enabled(name: str, keys: Iterable[str]) -> CrowdSettings:
    """A preset in which exactly these entries act."""
    settings = load_preset(name).settings
    keys = set(keys)
    assert keys <= {b.key for b in settings.behaviors}
    stack = [replace(b, enabled=b.key in keys) for b in settings.behaviors]
    # the sources' agents face where they go at once; the presets calm the bodies that are shown
    motion = replace(settings.motion, min_turn_speed=0.0, body_turn_rate=0.0)
    return replace(settings, behaviors=tuple(stack), motion=motion)


def run_preset(
    settings: CrowdSettings,
    crowd: ForcesCrowd,
    start: tuple[list, list],
    scenes: list[Scene],
    one_by_one: bool = False,
) -> Outcome:
    """Run a preset's settings and the restated crowd through the same scenes."""
    simulation = Simulation(settings, place(settings, *start), frame=1, fps=FPS)
    state = State.start(*start)
    worlds = {id(scene): world_of(scene) for scene in scenes}
    seen = [worlds[id(scene)] for scene in scenes]
    paths, deviations, error = compare(simulation, crowd, state, seen, scenes, one_by_one)
    return Outcome(crowd.seen, float((deviations.max(axis=0) / paths).max()), error, paths)
