"""Feelers against the bare rule of the source, in steps so fine that their making is no matter.

The nearest hit among a straight feeler of length L and two at ±45° of L/2 pushes by
Δ/τ = k·overshoot·n: nothing else is restated here. Where that rule alone keeps an agent in front of
a wall, the behavior does the same. From 5° to 60° off the normal it does not: the feeler to the
side, half as long, takes over before the straight one has stopped the agent. There the behavior
departs from it on purpose, and nobody passes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from crowdtools import place
from restated_runs import OF_PATH, STEPS, box_triangles, only_enabled
from restatements import Vector, cast, direction, plus, size, times

from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation
from tests.often import often

STIFFNESS, MASS, SPEED = 16.0, 1.0, 2.0
LENGTH = SPEED * math.sqrt(MASS / STIFFNESS)
WALL = box_triangles((1.0, 0.0, 0.0), (2.0, 60.0, 8.0))
"""Its face is at x = 0; agents come from the left."""
FACE = [triangle for triangle in WALL if all(corner[0] == 0.0 for corner in triangle)]
"""What agents in front of it feel: two triangles."""
FINEST = 24 * 1024
"""Steps of the restatement in a second."""


def push(p: Vector, v: Vector) -> Vector:
    """The force of the nearest hit."""
    ahead = direction(v)
    right = (ahead[1], -ahead[0], 0.0)
    feelers = [(ahead, LENGTH)]
    feelers += [(direction(plus(ahead, times(right, side))), LENGTH / 2) for side in (1.0, -1.0)]
    hits = [(*cast(p, way, [FACE]), reach) for way, reach in feelers]
    felt = [(d, n, reach) for d, n, reach in hits if d <= reach]
    if not felt:
        return (0.0, 0.0, 0.0)
    d, n, reach = min(felt, key=lambda hit: hit[0])
    return times(n, STIFFNESS * (reach - d))


def restated(p: Vector, v: Vector, seconds: float, fps: float) -> tuple[list[Vector], float]:
    """Places after each step, and the smallest distance to the wall [m]."""
    dt, places, least = 1.0 / FINEST, [], -p[0]
    for _ in range(round(seconds * fps)):
        for _ in range(round(FINEST / fps)):
            # far from the wall no feeler reaches it
            force = push(p, v) if -p[0] < LENGTH else (0.0, 0.0, 0.0)
            v = plus(v, times(force, dt / MASS))
            v = times(v, min(1.0, SPEED / size(v)))
            p = plus(p, times(v, dt))
            least = min(least, -p[0])
        places.append(p)
    return places, least


def walked(starts: list[Vector], velocities: list[Vector], steps: int, fps: float) -> np.ndarray:
    """Places of the preset's agents after each step, shape (steps, agents, 3)."""
    settings = only_enabled("feelers_hide_path", ["wall_avoidance"])
    simulation = Simulation(settings, place(settings, starts, velocities), frame=1, fps=fps)
    world = make_world(colliders=[Mesh("wall", np.array(WALL, np.float32))])
    return np.array([simulation.step(world).position.astype(float) for _ in range(steps)])


def coming(degrees: float, gap: float = 0.8) -> tuple[Vector, Vector]:
    """Start and velocity of an agent that comes at full speed, at an angle to the wall's normal."""
    turn = math.radians(degrees)
    return (-gap, 0.0, 0.0), (SPEED * math.cos(turn), SPEED * math.sin(turn), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "angles", [(63.0, -74.0), pytest.param((-66.0, 70.0, 79.0), marks=pytest.mark.long)]
)
def test_where_the_bare_rule_holds_agents_they_go_as_it_says(angles):
    # 1 s, in which they come, are pushed and turn away. Later, along the wall, the end of the side
    # feeler goes in and out with every step, and what it does depends on their length for both
    fps, seconds = 24.0 * 64, 1.0
    # no feeler reaches farther than 0.24 m: they touch the wall after 0.6 s
    gaps = [0.24 + 0.6 * SPEED * math.cos(math.radians(degrees)) for degrees in angles]
    pairs = [coming(degrees, gap) for degrees, gap in zip(angles, gaps, strict=True)]
    found = walked(*map(list, zip(*pairs, strict=True)), round(seconds * fps), fps)
    for k, (p, v) in enumerate(pairs):
        expected, least = restated(p, v, seconds, fps)
        assert 0.0 < least < 0.2
        apart = np.linalg.norm(found[:, k] - expected, axis=1).max()
        assert apart <= OF_PATH * SPEED * seconds, angles[k]


@pytest.mark.slow
def test_coarse_steps_are_as_near_to_it_as_steps_can_be():
    # first order: from 24 steps a second to 48 the difference is halved, at least
    p, v = coming(66.0)
    expected, _ = restated(p, v, 2.0, 48.0)
    apart = []
    for fps, there in ((24.0, expected[1::2]), (48.0, expected)):
        found = walked([p], [v], round(2.0 * fps), fps)[:, 0]
        apart.append(np.linalg.norm(found - there, axis=1).max())
    assert apart[1] < 0.6 * apart[0] < 0.01


def test_head_on_it_is_a_spring_until_it_has_stopped_the_agent():
    p, v = coming(0.0)
    fps, rate = 24.0, math.sqrt(STIFFNESS / MASS)
    touched, turned = 0.3 / SPEED, 0.3 / SPEED + math.pi / 2 / rate
    found = walked([p], [v], 24, fps)[:, 0, 0]
    for step in range(1, math.ceil(turned * fps)):
        t = step / fps
        gap = 0.8 - SPEED * t if t < touched else LENGTH * (1.0 - math.sin(rate * (t - touched)))
        assert -found[step - 1] == pytest.approx(gap, abs=2e-3 * LENGTH)
    assert -0.02 * LENGTH < found.max() < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("degrees", often([5, 15, 30, 45, -55], 30))
def test_where_the_bare_rule_lets_agents_through_they_stay_in_front(degrees):
    p, v = coming(degrees)
    _, least = restated(p, v, 1.0, 24.0)
    assert least < -0.05
    assert walked([p], [v], STEPS, 24.0)[..., 0].max() < 0.0
