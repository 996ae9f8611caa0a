"""Pushes: pressed agents give way and pass the push on; walls and standing agents do not."""

from __future__ import annotations

import numpy as np
import pytest
from crowdtools import box

from steer_addon.core.contacts.near import ALIKE, find_near
from steer_addon.core.contacts.passes import BodyView, SpaceView
from steer_addon.core.contacts.pushes import pushed
from steer_addon.core.geometry import bvh
from steer_addon.core.inputs.world import make_world

RADIUS = 0.25
STEP = 0.05


def push(start, wish, *, mass=1.0, flat=True, colliders=()):
    """Wished places of bodies after pushes: (offsets from the start [m], flags of pushed ones)."""
    start = np.array(start, np.float32)
    n = len(start)
    goal = (start + np.array(wish, np.float32)).astype(np.float32)
    ids, radius = np.arange(n), np.full(n, RADIUS, np.float32)
    solid = make_world(colliders=list(colliders)).colliders
    space = SpaceView(
        walls=bvh.empty() if solid is None else solid.bvh,
        first=np.zeros(1, np.int32) if solid is None else solid.first,
        still=np.ones(len(colliders), np.uint8),
        ground=bvh.empty(),
        eye=0.0,
        rise=0.3,
        min_up=0.5,
        flat=flat,
        together=True,
    )
    span = np.full(n, 4.0 * STEP)
    near, touch = find_near(start, ids, radius, span, span, 0.3, flat)
    bodies = BodyView(
        id=ids,
        radius=radius,
        tall=np.zeros(n, np.float32),
        give=1.0 / np.broadcast_to(np.asarray(mass, float), n),
        back=np.zeros(n),
        origin=start,
        start=start,
        goal=goal,
        goal_normal=np.tile(np.array([0.0, 0.0, 1.0], np.float32), (n, 1)),
        level=np.zeros(n, np.uint8),
        shifted=np.zeros(n, np.uint8),
        flat=flat,
        kinds=ALIKE,
    )
    place, moved = pushed(bodies, [(space, slice(0, n))], near, touch, np.ones(n, np.uint8))
    return place.astype(np.float64) - start, moved


def row(count):
    """Bodies side by side along x, touching."""
    return [[2.0 * RADIUS * k, 0.0, 0.0] for k in range(count)]


@pytest.mark.parametrize("flat", [True, False])
def test_a_push_reaches_those_behind(flat):
    # the last of a row wishes to continue, the others a little to the side: none is in contact with
    # the pusher but its neighbor
    aside = 0.1 * STEP
    wish = [[STEP, 0.0, 0.0]] + [[0.0, aside, 0.0]] * 3
    way, moved = push(row(4), wish, flat=flat)
    assert moved.all()
    assert way[0, 0] < STEP
    assert (way[1:, 0] > 0.0).all()
    # it fades with every body, and they do not overlap by more than is left to the sweeps
    assert (np.diff(way[:, 0]) < 0.0).all()
    gaps = np.linalg.norm(np.diff(np.array(row(4)) + way, axis=0), axis=1) - 2.0 * RADIUS
    assert gaps.min() > -0.25 * STEP


def test_two_who_press_each_other_meet_by_mass():
    wish = [[STEP, 0.0, 0.0], [-STEP, 0.0, 0.0]]
    equal, _ = push(row(2), wish)
    assert equal[0, 0] == pytest.approx(0.0, abs=1.0e-6)
    assert equal[1, 0] == pytest.approx(0.0, abs=1.0e-6)
    # of an overlap of two steps the light one gives way by 3/4: both go half a step its way
    heavy, _ = push(row(2), wish, mass=[3.0, 1.0])
    assert heavy[0, 0] == pytest.approx(0.5 * STEP, abs=1.0e-6)
    assert heavy[1, 0] == pytest.approx(0.5 * STEP, abs=1.0e-6)


def test_who_stands_is_not_pushed_and_others_slide_along_it():
    start = [[0.0, 0.0, 0.0], [2.0 * RADIUS * np.cos(0.5), 2.0 * RADIUS * np.sin(0.5), 0.0]]
    way, moved = push(start, [[STEP, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert moved.tolist() == [1, 0]
    assert (way[1] == 0.0).all()
    assert way[0, 1] < -0.1 * STEP
    gap = np.linalg.norm(np.array(start[1]) - start[0] - way[0]) - 2.0 * RADIUS
    assert gap > -1.0e-3 * STEP


def test_nobody_is_pushed_where_wishes_do_not_meet():
    start = row(3)
    way, moved = push(start, [[STEP, 0.0, 0.0]] * 3)
    assert not moved.any()
    assert way == pytest.approx(np.array([[STEP, 0.0, 0.0]] * 3), abs=1.0e-6)


def test_those_who_overlap_already_are_not_pressed_apart_by_pushes():
    # that is what passes do; pushes only take what wishes add
    start = [[0.0, 0.0, 0.0], [1.5 * RADIUS, 0.0, 0.0]]
    way, moved = push(start, [[0.0, STEP, 0.0]] * 2)
    assert not moved.any()
    assert way[:, 1] == pytest.approx([STEP, STEP], abs=1.0e-6)


def test_nobody_is_pushed_into_a_wall():
    # an agent that walks with its flank at a wall is pressed against it from the other side
    wall = box((0.0, -RADIUS - 0.5, 0.0), (20.0, 1.0, 4.0))
    start = [[0.0, 1.0e-3, 0.0], [0.0, 2.0 * RADIUS + 1.0e-3, 0.0]]
    wish = [[0.2 * STEP, 0.0, 0.0], [0.0, -STEP, 0.0]]
    free, _ = push(start, wish)
    assert free[0, 1] < -0.2 * STEP
    way, moved = push(start, wish, colliders=[wall])
    assert moved.all()
    assert way[0, 1] > -2.0e-3
    assert way[0, 0] > 0.0
