"""Runs of the solver beside a restatement of it, and how far the two are apart."""

from __future__ import annotations

import random

import numpy as np
from restated_crowds import Crowd
from restatements import State

from steer_addon.core.simulation import Simulation

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
