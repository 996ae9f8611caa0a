"""Queues: the order follows from where people turn to; no wait for the first; all set off."""

from __future__ import annotations

import numpy as np
import pytest
from avoiding import AHEAD, RIGHT, table_of, view_of
from crowdtools import box, crowd, simulation
from test_avoid_neighbors import RADIUS, SPEED, walkers

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.avoid_neighbors.foreseen import goes_to
from steer_addon.core.behaviors.avoid_neighbors.pacing import room_ahead
from steer_addon.core.behaviors.avoid_neighbors.walls import at_door
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.world import make_targets, make_world


def test_who_goes_first_does_not_wait_for_the_other():
    for first, room in ((0.0, 0.3), (1.0, 0.3), (-1.0, np.inf)):
        others = table_of((0.8, 0.0, 0.3), first=first)
        assert room_ahead(*others, AHEAD, (0.0, 0.0, 0.0), 0.0) == pytest.approx(room)


def chosen_speed(gap, own=0.0, ahead=0.0, dt=1.0 / 30.0, other=()):
    """The speed that an agent chooses at a gap behind another, in a corridor that is too narrow to
    pass: a step as long as the relaxation time ends at it. A third one stands or goes elsewhere."""
    start = [[0.0, 0.0, 0.0], [gap + 2.0 * RADIUS, 0.0, 0.0], *other]
    goals = [[90.0, 0.0, 0.0], [90.0, 0.0, 0.0], *([-90.0, 0.0, 0.0] for _ in other)]
    velocity = [[own, 0.0, 0.0], [ahead, 0.0, 0.0], *([0.0, 0.0, 0.0] for _ in other)]
    body = {"radius": RADIUS, "max_speed": SPEED, "max_force": 1.0e6}
    settings = crowd(AvoidNeighbors(), Seek(target_choice="BY_ID"), agents=body, relaxation_time=dt)
    walls = [box((0.0, y, 0.0), (200.0, 1.0, 4.0), f"at {y}") for y in (-0.8, 0.8)]
    sim = simulation(settings, start, velocity, fps=1.0 / dt)
    sim.step(make_world(targets=make_targets(goals), colliders=walls))
    return sim.agents.velocity[0, 0]


def test_queues_foresee_the_gap_by_a_quarter_of_a_second_less_the_step():
    # (gap - personal space) / headway
    assert chosen_speed(0.3) == pytest.approx(0.215 / 0.385, abs=1.0e-3)
    # the gap in 0.25 s, of which a step of 1/30 s comes anyway
    for own, ahead in ((0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (0.5, 0.2)):
        gap = 0.3 + (0.25 - 1.0 / 30.0) * (ahead - own)
        assert chosen_speed(0.3, own, ahead) == pytest.approx((gap - 0.085) / 0.385, abs=1.0e-3)
    assert chosen_speed(0.3, 0.0, 1.0, dt=0.5) == pytest.approx(0.215 / 0.385, abs=1.0e-3)


def test_those_among_others_with_another_wish_do_not():
    still = chosen_speed(0.3, other=[[4.0, 0.0, 0.0]])
    assert chosen_speed(0.3, ahead=0.2, other=[[4.0, 0.0, 0.0]]) == pytest.approx(still, abs=1.0e-3)


def test_who_turned_away_from_its_wish_goes_where_it_heads():
    aside, along = (0.0, 1.0, 0.0), (0.8, 0.6, 0.0)
    assert goes_to(AHEAD, aside) == aside
    assert goes_to(AHEAD, along) == AHEAD
    # an agent without a wish goes nowhere, in any heading
    assert goes_to((0.0, 0.0, 0.0), aside) == (0.0, 0.0, 0.0)


WALL = box((-1.2 * RADIUS - 0.5, 0.0, 0.0), (1.0, 8.0, 4.0), "behind both")


def sideways(other=None, walls=(WALL,)):
    """Sideways velocities after a step, of two side by side: the second, slightly ahead, turned."""
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
    """Distance of a door from an agent that stands at a place and wishes to go along x."""
    return at_door(view_of(colliders), (x, y, 0.3), (AHEAD, RIGHT, (0.0, 0.0, 1.0)))


def test_a_door_is_near_before_it_and_behind_it():
    door = two_walls(20.0, 0.2)
    assert door_at(-1.0, door) == door_at(1.0, door) == 1.0
    assert 0.0 < door_at(-3.5, door) < 1.0
    assert door_at(-3.5, door) == pytest.approx(door_at(3.5, door))
    assert door_at(-8.0, door) == door_at(8.0, door) == 0.0


@pytest.mark.slow
def test_walls_along_the_way_are_no_door():
    assert door_at(0.0, two_walls(1.0, 60.0)) == 0.0
    assert door_at(0.0, []) == 0.0


def first_step(colliders):
    """Speed after a step of an agent 0.25 m behind another one that stays."""
    start = [[-1.0, 0.0, 0.0], [-1.0 + 2.0 * RADIUS + 0.25, 0.0, 0.0]]
    sim = simulation(walkers(goal=Arrive(target_choice="BY_ID"), side="NONE"), start)
    goals = make_targets([[50.0, 0.0, 0.0], [50.0, 0.0, 0.0]])
    sim.step(make_world(targets=goals, colliders=colliders))
    return sim.agents.velocity[0, 0]


def test_at_a_door_people_follow_more_closely():
    corridor, door = first_step(two_walls(1.0, 60.0)), first_step(two_walls(20.0, 0.2))
    assert corridor > 0.05
    assert door > 1.5 * corridor
