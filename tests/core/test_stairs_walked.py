"""Bodies on stairs: they rise evenly, although their agents are put from step to step."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made
from walktools import FPS, walk

from steer_addon.core.agents import make_agents
from steer_addon.core.characters.cast import MEMORY, POSTURE, Cast
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.step.gaits import gait

LIFT = 3
"""Column of the moves of a walk."""
COUNT = 12
"""Steps of the stairs."""


def stairs(height, tread, start=2.0):
    """Stairs along -Y, which begin after some way [m]."""

    def ground(place):
        return height * float(np.clip(np.floor((-place[1] - start) / tread) + 1.0, 0.0, COUNT))

    return ground


@pytest.mark.parametrize(("height", "tread"), [(0.17, 0.28), (0.19, 0.41), (-0.17, 0.29)])
@pytest.mark.parametrize("speed", [0.7, 1.4, 3.0])
def test_bodies_rise_evenly_on_stairs_and_stand_on_the_ground_after_them(height, tread, speed):
    way = 2.0 + COUNT * tread
    frames = int((way + 2.5) / speed * FPS)
    went = walk(made("woman").space, [speed] * frames, [0.0] * frames, ground=stairs(height, tread))
    gone, lift = -went.places[:, 1], went.moves[:, LIFT]
    body = went.heights + lift
    jump = np.abs(np.diff(went.heights)).max()
    assert jump >= 0.99 * abs(height)
    # in a frame less than half a step, or three times what a ramp as steep rises by
    rises = np.abs(np.diff(body))
    assert rises.max() < max(0.5 * jump, 3.0 * abs(height) / tread * speed / FPS)
    assert rises.max() < 0.75 * jump
    on = (gone > 2.0 + 3.0 * tread) & (gone < way - tread)
    # in the middle between the steps, and no further than two thirds of one away
    assert abs(np.mean(lift[on])) < 0.02
    assert np.abs(lift[on]).max() < 0.72 * abs(height)
    assert np.mean(went.slopes[on, 0]) == pytest.approx(height / tread, rel=0.15)
    # before them nothing, and after them soon nothing again
    assert not lift[gone < 1.9].any()
    assert np.abs(lift[gone > way]).max() < abs(height)
    assert np.abs(lift[gone > way + 1.0]).max() < 0.01
    assert np.abs(lift[gone > way + 2.0]).max() < 1.0e-3


def test_who_stops_on_a_step_comes_to_stand_on_it():
    speeds = [1.4] * 50 + [0.0] * 60
    went = walk(made("man").space, speeds, [0.0] * 110, ground=stairs(0.17, 0.28))
    assert np.abs(went.moves[40:50, LIFT]).max() > 0.03
    assert np.abs(went.moves[-1, LIFT]) < 2.0e-3 and np.abs(went.slopes[-1, 0]) < 5.0e-3


def test_slopes_and_uneven_ground_are_no_steps():
    went = walk(made("woman").space, [1.4] * 80, [0.3] * 80, rise=(0.4, -0.7))
    assert not went.moves[:, LIFT].any()

    def uneven(place):
        return 0.02 * np.sin(9.0 * place[1]) + 0.1 * np.sin(place[1])

    went = walk(made("woman").space, [1.4] * 80, [0.0] * 80, ground=uneven)
    assert not went.moves[:, LIFT].any()


def lifts(rows, dt=1.0 / FPS, radius=0.25):
    """How far above the ground a body is shown after each of some places [m], for its own size."""
    space = made("woman").space
    cast = Cast((space.gaits,), sized=True)
    settings = CrowdSettings(cast=cast)
    agents = make_agents(
        [rows[0]], heading=[[1.0, 0.0, 0.0]], radius=radius, mass=1.0, max_speed=9.0, max_force=9.0
    )
    gait.begin(agents, settings)
    found = []
    for place in rows[1:]:
        after = agents.copy()
        after.velocity[:] = (np.array(place) - agents.position[0]) / dt
        after.position[:] = place
        gait.advance(agents, after, settings, dt)
        found.append(float(after.memory[MEMORY][0, POSTURE.index("lift")]))
        agents = after
    return np.array(found)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_one_step_is_taken_as_the_formula_says(scale):
    x = scale * 0.001 * np.arange(1500)
    rows = np.column_stack([x, 0.0 * x, scale * 0.17 * (x > scale * 0.1)])
    found = lifts(rows, dt=1.0 / 240.0, radius=0.25 * scale)
    usual = x[1:] / scale - 0.1
    wanted = -0.17 * (1.0 - usual / 0.3) * np.exp(-usual / 0.3) * (usual > 0.0)
    np.testing.assert_allclose(found, wanted, atol=0.003)


def test_ground_that_moves_takes_bodies_along():
    x, lifted = 0.05 * np.arange(60), 0.04 * np.arange(60)
    # who stands on it, and who walks there: no more than where it begins
    assert not lifts(np.column_stack([0.0 * x, 0.0 * x, lifted])).any()
    walked = lifts(np.column_stack([x, 0.0 * x, lifted]))
    assert np.abs(walked).max() <= 0.04 and np.abs(walked[30:]).max() < 1.0e-3


def test_who_is_put_elsewhere_is_there_at_once():
    x = 0.05 * np.arange(40)
    rows = np.column_stack([x, 0.0 * x, 0.17 * np.floor(x / 0.3)])
    rows[30:] += [0.0, 0.0, 3.5]
    found = lifts(rows)
    assert np.abs(found[:29]).max() > 0.05 and found[29] == 0.0
