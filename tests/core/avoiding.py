"""Inputs of `avoid_neighbors` for an agent and its neighbors, for tests of its parts."""

from __future__ import annotations

import numpy as np
from test_avoid_neighbors import RADIUS, SPEED, walkers

from steer_addon.core.behaviors.avoid_neighbors.foreseen import (
    ALIKE,
    BLOCK,
    FACING,
    FIRST,
    LINES,
    MOST,
    SQUARE,
    TOUCH,
    Own,
    U,
    X,
    Y,
)
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.crowd_step import world_view

DT = 1.0 / 30.0
AHEAD, RIGHT, UP = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)


def own_of(now=0.0, side=0, alone=True):
    """A walker in the origin that wishes to go along x."""
    return Own(
        eye=(0.0, 0.0, 0.3),
        normal=UP,
        frame=(AHEAD, RIGHT, UP),
        velocity=(now, 0.0, 0.0),
        speed=SPEED,
        radius=RADIUS,
        horizon=3.0,
        spare=0.085,
        headway=0.385,
        side=side,
        walls=True,
        alone=alone,
        clear=np.inf,
    )


def table_of(*others, speed=0.0, alike=1.0, first=0.0):
    """A table of neighbors at (x, y, gap) in the agent's frame, and how many columns it has."""
    made = np.zeros((LINES, MOST))
    made[ALIKE] = 1.0
    for n, (x, y, gap) in enumerate(others):
        made[X, n], made[Y, n], made[U, n], made[FACING, n] = x, y, speed, x
        made[SQUARE, n], made[TOUCH, n] = x * x + y * y, np.hypot(x, y) - gap
        made[ALIKE, n], made[FIRST, n] = alike, first
    return made, -(-len(others) // BLOCK) * BLOCK


def view_of(colliders, dt=DT):
    """The world with some colliders, as kernels see it."""
    return world_view(walkers(), make_world(colliders=list(colliders)), dt, 0, 0)
