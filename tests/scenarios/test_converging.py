"""A crowd that wants one point: `STEER_CROWD=10000 pytest tests/scenarios/test_converging.py`."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from steer_addon.core.agents import make_agents
from steer_addon.core.metrics import Metrics
from steer_addon.core.presets import load_preset
from steer_addon.core.simulation import Simulation
from steer_addon.core.world import make_world

CROWD = int(os.environ.get("STEER_CROWD", "400"))
SECONDS = 60
FPS = 24


@pytest.mark.parametrize("mode", ["STAY", "HOLD_AREA"])
def test_a_crowd_that_converges_neither_overlaps_nor_explodes(mode):
    settings = load_preset("pedestrians").settings
    settings = replace(settings, bodies=replace(settings.bodies, on_arrival=mode))
    rng, body = np.random.default_rng(8), settings.agents
    # one per square meter, all over a disc: a lattice that is shaken
    side = np.arange(-np.sqrt(CROWD), np.sqrt(CROWD))
    points = np.stack([*np.meshgrid(side, side), np.zeros((len(side), len(side)))], axis=-1)
    points = points.reshape(-1, 3)
    start = points[np.argsort(np.linalg.norm(points, axis=1), kind="stable")[:CROWD]]
    start[:, :2] += rng.uniform(-0.2, 0.2, (CROWD, 2))
    simulation = Simulation(settings, make_agents(start, **body.to_dict()), frame=0, fps=FPS)
    metrics = Metrics(start, radius=body.radius, wished_speed=body.max_speed, dt=1.0 / FPS)
    world, energy = make_world(targets=[[0, 0, 0]]), []
    for _step in range(SECONDS * FPS):
        frame = simulation.step(world)
        metrics.add(frame.position, alive=frame.alive != 0, arrived=np.zeros(CROWD, bool))
        energy.append(0.5 * float((simulation.agents.speed**2).mean()))
    figures = metrics.figures()
    assert figures.overlap <= 0.05
    assert figures.fastest <= 1.0 + 1e-3
    assert np.mean(energy[-5 * FPS :]) < 0.05 * max(energy)
