"""Whole walks of every built-in character on feet: nothing pops, and planted feet stay.

Between two frames no vertex moves by more than twice what its poses say. Below a floor that says
nothing, as the nearest pose is shown: two poses lie 6 mm of way apart in walks and 9 in runs, so a
sole, whose pose says that it stands still, is moved by as much, and a frame that begins to move, or
rounds a step, by a little more. At a start the body has shifted its weight by some millimeters, and
where gaits change, the slow parts do (the head, the planted foot). Measured: 6 to 14 mm.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from figuretools import made
from walktools import frames_until_it_stands, journey, random_journey, walk

from steer_addon.core.agents import make_agents
from steer_addon.core.characters.cast import MEMORY, POSTURE, Cast
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings
from steer_addon.core.step.gaits import gait
from tests.often import often

FLOOR = 14.0
"""What vertices move by beyond twice what their poses say [mm]."""
USUAL = 5.0
"""The same where no gait changes, and in 99 of 100 frames."""
LOW = 0.004
"""Height below which a sole is on the ground [m]."""


@pytest.mark.parametrize(
    ("name", "pull"),
    often(
        product(("woman", "man", "child", "dog"), (1.5, 4.0)),
        *(("woman", 1.5), ("child", 4.0), ("dog", 4.0)),
    ),
)
def test_nothing_pops_through_starts_stops_runs_and_turns(name, pull):
    went = walk(made(name).space, *journey(3.2, pull))
    names = [row.name for row in went.space.rows]
    shown = {names[number] for number in went.gaits}
    assert {"stand", "first steps", "walk", "turn left"} < shown and len(shown) > 8
    pops = went.pops()
    assert pops.max() <= FLOOR
    assert pops[np.diff(went.gaits) == 0].max() <= USUAL
    assert np.percentile(pops, 99.0) <= USUAL


@pytest.mark.parametrize(
    ("name", "seed"),
    often(
        product(("woman", "man", "child", "dog"), range(16)),
        *(("woman", 9), ("man", 1), ("child", 8), ("dog", 2)),
    ),
)
def test_nothing_pops_wherever_speeds_change(name, seed):
    pops = walk(made(name).space, *random_journey(seed)).pops()
    assert pops.max() <= FLOOR
    assert np.percentile(pops, 98.0) <= USUAL


@pytest.mark.parametrize("name", often(["woman", "man", "child", "dog"], "woman", "child", "dog"))
def test_bodies_that_are_stopped_at_once_soon_stand(name):
    space = made(name).space
    feet = replace(space, positions=space.positions[:, :1])
    for speed, latest in ((1.3, 50), (3.2, 60)):
        frames = [frames_until_it_stands(feet, speed, 24 + k) for k in range(0, 24, 4)]
        assert max(frames) <= latest
        assert np.median(frames) <= 40


@pytest.mark.parametrize("name", ["woman", "child", "dog"])
def test_bodies_that_stand_are_where_their_agents_are(name):
    """They are shifted as their gaits change, and back by the time that both feet are down."""
    space = made(name).space
    feet, shifted = replace(space, positions=space.positions[:, :1]), []
    for steady, slows in product(range(24, 48, 6), (2.0, 4.0, 100.0)):
        slowing = np.arange(1.3, 0.0, -slows / 24.0)
        speeds = np.concatenate([np.linspace(0.0, 1.3, 24), [1.3] * steady, slowing, [0.0] * 72])
        went = walk(feet, speeds, 0.0 * speeds)
        assert went.gaits[-1] == 0
        assert np.abs(went.moves[-1, 1:]).max() <= 0.008
        shifted.append(np.abs(went.moves[:, 1:]).max())
    assert max(shifted) > 0.01


@pytest.mark.parametrize("name", ["woman", "child", "dog"])
def test_planted_feet_stay_while_bodies_speed_up_stop_and_turn(name):
    went = walk(made(name).space, *journey(3.2, 1.5))
    assert np.percentile(went.slips(LOW), 95.0) <= 20.0


@pytest.mark.parametrize("fps", [24, 120])
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_bodies_that_stop_soon_stand_at_any_frame_rate_and_in_the_air(motion, fps):
    """People in the air did so after 4 to 46 s, as their feet forgot how fast they went."""
    cast = Cast((made("woman").space.gaits,))
    settings = CrowdSettings(motion=MotionSettings(motion=motion), cast=cast)
    agents = make_agents(
        [[0.0, 0.0, 0.0]], heading=[[0.0, -1.0, 0.0]], radius=0.25, mass=1.0, max_speed=3.0,
        max_force=9.0,
    )  # fmt: skip
    gait.begin(agents, settings)
    for speed in (*np.linspace(0.0, 1.3, fps), *[1.3] * fps, *[0.0] * (3 * fps)):
        after = agents.copy()
        after.velocity[:] = [0.0, -speed, 0.0]
        after.position += after.velocity / np.float32(fps)
        gait.advance(agents, after, settings, 1.0 / fps)
        agents = after
    assert agents.memory[MEMORY][0, POSTURE.index("gait")] == 0.0
