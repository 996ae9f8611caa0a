"""Flyers lean into curves as planes do: roll against its closed form, and what is seen of it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from crowdtools import crowd, simulation
from toy_behaviors import Circling, Held

from steer_addon.core.characters.cast import Cast
from steer_addon.core.characters.pose_space import Row
from steer_addon.core.inputs.world import make_world
from steer_addon.core.results.frames import rotations
from tests.often import often

G = 9.81
SPEED, RATE = 6.0, 1.2
"""Of a circle of 5 m radius, flown to the left [m/s, rad/s]."""
FORWARD = {"POS_X": [1, 0, 0], "POS_Y": [0, 1, 0], "NEG_X": [-1, 0, 0], "NEG_Y": [0, -1, 0]}


def circling(rate=RATE, seconds=3.0, climb=0.0, motion="FLY", fps=240.0, size=1.0, **settings):
    """The simulation of one bird after some time on its circle, which it begins without a lean."""
    speeds = {"max_speed": 100.0 * size}
    settings_ = crowd(Circling(rate=rate), motion=motion, motion_settings=settings, agents=speeds)
    if size != 1.0:
        settings_ = replace(settings_, cast=Cast(((Row("fly", 0, 1),),), scale=size))
    sim = simulation(settings_, [[0, 0, 0]], [[SPEED * size, 0, climb]], fps=fps)
    for _ in range(round(seconds * fps)):
        sim.advance(make_world())
    return sim


def turned(quaternions, vector):
    """A vector after the turns of quaternions (w, x, y, z), by their rotation matrices."""
    w, x, y, z = np.asarray(quaternions, float).T
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("ijn,j->ni", matrix, np.asarray(vector, float))


@pytest.mark.parametrize(
    ("rate", "banking"),
    often(product((RATE, -RATE), (0.5, 1.0, 2.0)), (RATE, 0.5), (-RATE, 2.0)),
)
def test_a_bird_in_a_steady_circle_leans_as_in_a_coordinated_turn(rate, banking):
    # v²/(r·g) with r = v/ω
    expected = np.arctan(banking * SPEED * RATE / G)
    roll = circling(rate, banking=banking).agents.roll[0]
    assert abs(roll) == pytest.approx(expected, rel=1e-3)
    # to the right in a right turn
    assert np.sign(roll) == -np.sign(rate)


def test_a_bird_in_a_scene_in_centimeters_leans_as_in_one_in_meters():
    # it is shown at 100 times its size
    assert circling(size=100.0, banking=1.0).agents.roll[0] == pytest.approx(
        circling(banking=1.0).agents.roll[0], rel=1e-4
    )


def test_the_lean_comes_with_its_delay():
    expected = np.arctan(SPEED * RATE / G)
    for seconds in (0.05, 0.25, 0.5):
        roll = -circling(seconds=seconds, banking=1.0).agents.roll[0]
        assert roll == pytest.approx(expected * (1 - np.exp(-seconds / 0.25)), rel=5e-3)


def test_the_lean_is_bounded():
    steep = circling(seconds=6.0, banking=10.0, max_bank=30.0).agents.roll[0]
    # the last steps toward it are smaller than half the spacing of 32-bit numbers at π/6
    left = 2.0**-25 / (1.0 - np.exp(-1.0 / (240.0 * 0.25)))
    assert steep == pytest.approx(-np.pi / 6, abs=1.01 * left)
    assert circling(banking=1.0, max_bank=0.0).agents.roll[0] == 0.0


def test_straight_flight_is_level_and_so_is_what_does_not_bank():
    for sim in (
        circling(rate=0.0, seconds=1.0, banking=1.0),
        circling(rate=0.0, seconds=1.0, climb=3.0, banking=1.0),
        circling(seconds=1.0),
        circling(seconds=1.0, motion="GROUND", banking=1.0),
    ):
        assert sim.agents.roll.tolist() == [0.0]


def test_a_bird_levels_out_after_its_curve():
    sim = circling(banking=1.0, fps=24.0)
    leaning = abs(sim.agents.roll[0])
    straight = crowd(Circling(), motion="FLY", motion_settings={"banking": 1.0})
    rolls = []
    for _ in range(48):
        sim.advance(make_world(), straight)
        rolls.append(abs(float(sim.agents.roll[0])))
    assert leaning > 0.5 and (np.diff(rolls) < 0.0).all() and rolls[-1] < 0.01 * leaning


@pytest.mark.parametrize("heading", [[0, 0, 1], [0, 0, -1]])
def test_straight_up_or_down_there_is_no_lean_to_compute(heading):
    settings = crowd(Circling(), motion="FLY", motion_settings={"banking": 1.0})
    sim = simulation(settings, [[0, 0, 0]], [heading])
    frame = sim.step(make_world())
    assert sim.agents.roll.tolist() == [0.0] and np.isfinite(frame.rotation).all()


def test_a_fish_that_swims_over_the_top_rolls_upright_again_without_a_jump():
    aside, angles = 0.05, np.radians(np.arange(0.0, 181.0, 4.0))
    still = [angles[-1]] * 24
    motions = [(np.cos(a), aside, np.sin(a)) for a in [*angles, *still]]

    def settings(x, y, z):
        return crowd(Held(x=x, y=y, z=z), motion="FLY", motion_settings={"banking": 0.5})

    sim = simulation(settings(*motions[0]), [[0, 0, 0]], [motions[0]], fps=24.0)
    turns = np.array([sim.step(make_world(), settings(*m)).rotation[0] for m in motions], float)
    cosines = np.abs((turns[1:] * turns[:-1]).sum(axis=1))
    assert np.degrees(2.0 * np.arccos(np.minimum(cosines, 1.0))).max() < 20.0
    # at half of the loop it is on its back, and at the end its back is up again
    assert turned(turns[-1:], [0, 0, 1])[0, 2] > 0.99


@pytest.mark.parametrize(
    ("axis", "climb"),
    often(
        product(FORWARD, (0.0, 2.0)),
        *(("POS_X", 2.0), ("POS_Y", 0.0), ("NEG_X", 2.0), ("NEG_Y", 0.0)),
    ),
)
def test_the_object_looks_ahead_and_its_head_tilts_to_the_inside(axis, climb):
    sim = circling(seconds=1.0, climb=climb, banking=1.0, forward_axis=axis)
    frame = sim.current()
    ahead = frame.velocity[0].astype(float) / np.linalg.norm(frame.velocity[0])
    np.testing.assert_allclose(turned(frame.rotation, FORWARD[axis])[0], ahead, atol=1e-5)
    # the middle of the circle is to the left: a quarter turn from the level part of the motion
    left = np.array([-ahead[1], ahead[0], 0.0]) / np.hypot(ahead[0], ahead[1])
    level_up = np.cross(ahead, left)
    roll = abs(float(sim.agents.roll[0]))
    up = turned(frame.rotation, [0, 0, 1])[0]
    np.testing.assert_allclose(up, np.cos(roll) * level_up + np.sin(roll) * left, atol=1e-5)
    assert up @ left > 0.5


def test_rotations_roll_each_agent_by_its_own_angle_about_the_heading():
    rng = np.random.default_rng(3)
    heading = rng.normal(size=(50, 3))
    heading = (heading / np.linalg.norm(heading, axis=1)[:, None]).astype(np.float32)
    roll = rng.uniform(-np.pi, np.pi, 50).astype(np.float32)
    for axis, forward in FORWARD.items():
        level, rolled = rotations(heading, axis), rotations(heading, axis, roll)
        np.testing.assert_allclose(np.linalg.norm(rolled, axis=1), 1.0, atol=1e-6)
        np.testing.assert_allclose(turned(rolled, forward), heading, atol=1e-5)
        up, right = turned(level, [0, 0, 1]), turned(level, np.cross(forward, [0, 0, 1]))
        expected = np.cos(roll)[:, None] * up + np.sin(roll)[:, None] * right
        np.testing.assert_allclose(turned(rolled, [0, 0, 1]), expected, atol=1e-5)
