"""Along walls: who got between two that leave no room for its body goes around them."""

from __future__ import annotations

import numpy as np
import pytest
from avoiding import own_of, view_of
from crowdtools import box, simulation
from test_avoid_neighbors import RADIUS, walkers

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.avoid_neighbors.memory import along_walls, turned_frame
from steer_addon.core.inputs.world import make_targets, make_world

DT = 1.0 / 30.0
RIGHT, LEFT = 0, 1
GONE = 1.0e-6
"""Remembered side of a way along walls."""
EAST, SOUTH, UP = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
WALL = box((0.5 + RADIUS, 0.0, 0.0), (1.0, 8.0, 4.0), "straight ahead")


def after(left, stuck=False, colliders=(WALL,), side=RIGHT, dt=DT):
    """Rest of a way along walls after a step."""
    return along_walls(left, stuck, view_of(colliders, dt), own_of(side=side))


@pytest.mark.slow
def test_who_is_held_up_at_a_wall_goes_to_its_side_and_then_to_the_other():
    # four bodies' widths of 0.5 m, to the right or to the left
    assert after(0.0, True) == 2.0
    assert after(0.0, True, side=LEFT) == -2.0
    assert after(GONE, True) == -2.0
    assert after(-GONE, True) == after(-GONE, True, side=LEFT) == 2.0


def test_who_gets_on_or_has_no_wall_near_does_not():
    far = box((9.0, 0.0, 0.0), (1.0, 8.0, 4.0), "far away")
    for left in (0.0, GONE, -GONE):
        assert after(left, False) == left
        assert after(left, True, [far]) == after(left, True, []) == left


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_way_is_as_long_as_it_takes_at_the_wished_speed(sign):
    left, steps = sign * 2.0, 0
    while abs(left) > GONE:
        left, steps = after(left), steps + 1
    # 2 m at 1.4 m/s, in steps of 1/30 s
    assert steps == 43
    assert left == sign * GONE
    # however long a step is
    assert after(sign * 2.0, dt=100.0) == sign * GONE


def test_the_frame_is_turned_by_a_quarter_to_the_right_or_to_the_left():
    assert turned_frame(EAST, SOUTH, UP, 0.0) == (EAST, SOUTH, UP)
    assert turned_frame(EAST, SOUTH, UP, -GONE) == (EAST, SOUTH, UP)
    for sign in (1.0, -1.0):
        turned = np.array(turned_frame(EAST, SOUTH, UP, sign))
        assert np.array_equal(turned[0], sign * np.array(SOUTH))
        assert np.linalg.det(turned) == pytest.approx(np.linalg.det([EAST, SOUTH, UP]))
        assert np.array_equal(turned[2], UP)


def posts(mirrored):
    """Three posts around the origin with less than a body's width between them, open to the south.

    Goals to the northwest, or in the mirror to the northeast, lie behind the gap.
    """
    places = [(-0.495, -0.233), (0.41, 0.434), (0.563, 0.273)]
    sign = -1.0 if mirrored else 1.0
    size = (0.49, 0.49, 4.0)
    return [box((sign * x, y, 0.0), size, f"post {n}") for n, (x, y) in enumerate(places)]


@pytest.mark.parametrize("side", ["RIGHT", "LEFT", "NONE"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_one_who_got_between_posts_gets_out(side, mirrored):
    goal = np.array([10.0 if mirrored else -10.0, 14.0, 0.0])
    sim = simulation(walkers(goal=Arrive(slow_radius=1.0), side=side), [[0.0, 0.0, 0.0]])
    world = make_world(targets=make_targets([goal]), colliders=posts(mirrored))
    for _step in range(24 * 60):
        sim.step(world)
        if np.linalg.norm(sim.agents.position[0] - goal) < 2.0:
            return
    pytest.fail(f"still at {sim.agents.position[0]}")
