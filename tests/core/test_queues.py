"""Queues: who goes first is told by where people turn to, is not waited for, and all set off."""

from __future__ import annotations

import numpy as np
import pytest
from crowdtools import box, simulation
from test_avoid_neighbors import RADIUS, walkers

from steer_addon.core.behaviors.anticipation import (
    ALIKE,
    BLOCK,
    FACING,
    FIRST,
    LINES,
    MOST,
    SQUARE,
    TOUCH,
    U,
    X,
    room_ahead,
)
from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.queues import RESPONSE, WITHOUT, at_door, goes_to, response
from steer_addon.core.inputs.world import make_targets, make_world
from steer_addon.core.step.solver import Solver

AHEAD = (1.0, 0.0, 0.0)
DT = 1.0 / 30.0


def ahead_of_it(gap, speed=0.0, first=0.0):
    """A table with one who is straight ahead, and goes at a speed."""
    made = np.zeros((LINES, MOST))
    made[X, 0], made[U, 0], made[TOUCH, 0] = gap + 0.5, speed, 0.5
    made[SQUARE, 0], made[ALIKE, 0], made[FACING, 0] = made[X, 0] ** 2, 1.0, made[X, 0]
    made[FIRST, 0] = first
    return made


def room(made, speed=0.0, foreseen=0.0):
    return room_ahead(made, BLOCK, AHEAD, (speed, 0.0, 0.0), foreseen)


def test_who_goes_first_does_not_wait_for_the_other():
    assert room(ahead_of_it(0.3)) == pytest.approx(0.3)
    assert room(ahead_of_it(0.3, first=1.0)) == pytest.approx(0.3)
    assert room(ahead_of_it(0.3, first=-1.0)) == np.inf


def test_the_gap_is_foreseen_as_both_go():
    assert room(ahead_of_it(0.3, speed=1.0), 0.0, 0.2) == pytest.approx(0.5)
    assert room(ahead_of_it(0.3, speed=1.0), 1.0, 0.2) == pytest.approx(0.3)
    assert room(ahead_of_it(0.3, speed=0.0), 1.0, 0.2) == pytest.approx(0.1)


def test_it_is_foreseen_in_queues_only_and_a_step_comes_anyway():
    assert response(WITHOUT, DT) == pytest.approx(RESPONSE - DT)
    assert response(2.0 * WITHOUT, DT) == 0.0
    assert response(0.0, 1.0) == 0.0


def test_who_turned_away_from_its_wish_goes_where_it_heads():
    aside, along = (0.0, 1.0, 0.0), (0.8, 0.6, 0.0)
    assert goes_to(AHEAD, aside) == aside
    assert goes_to(AHEAD, along) == AHEAD
    # who wishes nothing goes nowhere, wherever it looks
    assert goes_to((0.0, 0.0, 0.0), aside) == (0.0, 0.0, 0.0)


WALL = box((-1.2 * RADIUS - 0.5, 0.0, 0.0), (1.0, 8.0, 4.0), "behind both")


def sideways(other=None, walls=(WALL,)):
    """Velocities to the side after a step, of two abreast: the second, a little ahead, turned."""
    start = [[0.0, 0.0, 0.0], [0.05, 2.02 * RADIUS, 0.0]]
    goals = [[50.0, 0.0, 0.0], [50.05, 2.02 * RADIUS, 0.0]]
    if other is not None:
        start.append(other)
        goals.append([-50.0, *other[1:]])
    sim = simulation(walkers(goal=Arrive(target_choice="BY_ID"), side="NONE"), start)
    sim.agents.heading[:2] = AHEAD, (0.0, -1.0, 0.0)
    sim.step(make_world(targets=make_targets(goals), colliders=walls))
    return sim.agents.velocity[:2, 1]


def test_near_a_wall_who_walks_through_goes_before_who_comes_from_the_side():
    first, second = sideways()
    assert abs(first) < 1.0e-6
    assert second > 0.01


def test_in_the_open_the_wishes_tell():
    far = box((-4.0 * RADIUS - 0.5, 0.0, 0.0), (1.0, 8.0, 4.0), "too far away")
    for walls in ((), (far,)):
        first, _second = sideways(walls=walls)
        assert first < -0.01


def test_among_others_with_another_wish_the_wishes_tell():
    first, _second = sideways(other=[3.0, -1.0, 0.0])
    assert first < -0.01


def two_walls(span, thick, opening=1.6):
    """Walls on both sides of the x axis, across it or, when they are thick, along it."""
    aside = 0.5 * (opening + span)
    return [box((0.0, s * aside, 0.0), (thick, span, 4.0), f"wall {s}") for s in (1, -1)]


def door_at(x, colliders, y=0.0):
    """How near a door is to one who stands at a place and wishes to go along x."""
    sees = Solver(walkers()).world_view(make_world(colliders=colliders), DT, 0, 0)
    return at_door(sees, (x, y, 0.3), AHEAD, (0.0, -1.0, 0.0))


def test_a_door_is_near_before_it_and_behind_it():
    door = two_walls(20.0, 0.2)
    assert door_at(-1.0, door) == door_at(1.0, door) == 1.0
    assert 0.0 < door_at(-3.5, door) < 1.0
    assert door_at(-3.5, door) == pytest.approx(door_at(3.5, door))
    assert door_at(-8.0, door) == door_at(8.0, door) == 0.0


def test_walls_along_the_way_are_no_door():
    assert door_at(0.0, two_walls(1.0, 60.0)) == 0.0
    assert door_at(0.0, []) == 0.0


def first_step(colliders):
    """Speed after a step of one who stands 0.25 m behind another, who stays."""
    start = [[-1.0, 0.0, 0.0], [-1.0 + 2.0 * RADIUS + 0.25, 0.0, 0.0]]
    sim = simulation(walkers(goal=Arrive(target_choice="BY_ID"), side="NONE"), start)
    goals = make_targets([[50.0, 0.0, 0.0], [50.0, 0.0, 0.0]])
    sim.step(make_world(targets=goals, colliders=colliders))
    return sim.agents.velocity[0, 0]


def test_at_a_door_people_follow_more_closely():
    corridor, door = first_step(two_walls(1.0, 60.0)), first_step(two_walls(20.0, 0.2))
    assert corridor > 0.05
    assert door > 1.5 * corridor
