"""Everyone who arrives stands still, with both feet down: whole runs with several arrivals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, scatter
from figuretools import made

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.characters.cast import Cast
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation
from tests.often import pairs_of

FPS = 24
GOAL = make_world(targets=[[0.0, 0.0, 0.0]])
PEOPLE = ("woman", "child", "dog")
STEP = 3.0
"""Time in which feet are down after a body has come to rest [s]: what is left of a long step, then
a short one to the foot that leads, and one that brings the other foot beside it."""


def gone(mode, behavior, collide, count=12, seconds=22.0):
    """Arrivals, speeds, turns, gaits, phases and characters at each frame, and which ones live."""
    bodies = BodiesSettings(on_arrival=mode, collide_agents=collide, arrival_distance=0.5)
    settings = replace(
        crowd(REGISTRY[behavior](), motion="GROUND", agents={"max_force": 4.0, "max_speed": 1.4}),
        bodies=bodies,
        cast=Cast(tuple(made(name).space.gaits for name in PEOPLE)),
    )
    points = scatter(count, 4.0, flat=True) + np.float32([6.0, 1.0, 0.0])
    simulation = Simulation(settings, place(settings, points), frame=1, fps=FPS)
    states = []
    for _ in range(int(seconds * FPS)):
        frame = simulation.step(GOAL)
        told = frame.attributes
        agents = simulation.agents
        states.append((agents.id, agents.arrived > 0, agents.speed, agents.heading.copy(),
                       told["gait"], told["phase"], told["character"]))  # fmt: skip
    return states


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "behavior", "collide"),
    pairs_of(("STAY", "HOLD_AREA"), ("seek", "arrive"), (False, True)),
)
def test_all_who_have_arrived_stand_with_both_feet_down(mode, behavior, collide):
    states = gone(mode, behavior, collide)
    arrived = np.array([state[1] for state in states])
    speed = np.array([state[2] for state in states])
    ahead = np.array([state[3] for state in states])
    gait = np.array([state[4] for state in states])
    turns = np.linalg.norm(np.diff(ahead, axis=0, prepend=ahead[:1]), axis=-1)
    resting = (speed < 0.02) & (turns < 1e-3)
    if mode == "HOLD_AREA":
        assert arrived[-1].all()
    window = int(STEP * FPS)
    for agent in range(arrived.shape[1]):
        since = 0
        for frame in range(len(states)):
            since = since + 1 if resting[frame, agent] else 0
            if since > window:
                assert gait[frame, agent] == 0.0, (agent, frame)
    settled = resting[-window:].all(axis=0)
    assert settled[arrived[-1]].all()
    for agent in np.flatnonzero(settled):
        soles_are_down(PEOPLE[int(states[-1][6][agent])], states[-1][5][agent])


def soles_are_down(name, phase):
    """Both soles, left and right, lie on the ground in the pose of standing at this phase."""
    space = made(name).space
    row = space.gaits[0]
    pose = space.positions[row.first + int(np.floor(phase % 1 * row.count + 0.5)) % row.count]
    for side in (1.0, -1.0):
        low = pose[(pose[:, 0] * side > 0.0), 2]
        assert np.sum(low <= 0.01) >= 8, name


def test_a_body_that_leaves_is_gone():
    states = gone("LEAVE", "arrive", False)
    assert len(states[-1][0]) <= len(states[0][0])
