"""A lone walker that goes straight at its goal, and slides along obstacles in its way.

It finds a way if a local rule can: it never steps back, and knows nothing beyond corners.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steer_addon.core.geometry import bvh
from steer_addon.core.views import BvhView

from .scenario import F64, Scenario

EYE = 0.35
"""Height at which walkers meet walls [m]."""
STRIDE = 0.1
"""Length of a step as a share of the smallest radius."""
STANDS = 1.0e-3
"""Least progress in a hundred steps, as a share of a step; with less, a walker has no way."""


def finds_way(scenario: Scenario, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each agent, alone, reaches its goals from stage to stage; shape (len(rows),)."""
    tree = bvh.empty()
    if scenario.colliders:
        tree = bvh.build(np.concatenate([mesh.triangles for mesh in scenario.colliders]))
    place, radius = scenario.position[rows, :2].copy(), scenario.radius[rows]
    routes = [scenario.routes[r] for r in scenario.route[rows]]
    last = np.array([len(route) - 1 for route in routes], int)
    stage, done, stands = np.zeros(len(rows), int), np.zeros(len(rows), bool), np.zeros(len(rows))
    step, nearest = STRIDE * float(scenario.radius.min()), np.full(len(rows), np.inf)
    while (walking := np.flatnonzero(~done & (stands < 100))).size:
        now = [routes[i][stage[i]] for i in walking]
        ahead = np.array([s.points[0, :2] for s in now]) - place[walking]
        away = np.linalg.norm(ahead, axis=1)
        # what lasts for a time has no place to be found
        there = away <= [np.inf if np.isfinite(s.lasts) else s.reach for s in now]
        final = stage[walking] == last[walking]
        done[walking[there & final]] = True
        stage[walking[there & ~final]] += 1
        nearer = away < nearest[walking] - STANDS * step
        nearest[walking] = np.where(there, np.inf, np.where(nearer, away, nearest[walking]))
        stands[walking] = np.where(nearer | there, 0, stands[walking] + 1)
        ahead *= step / np.maximum(away, step)[:, None]
        place[walking] = _pushed_out(tree, place[walking] + ahead, radius[walking])
    return done


def _pushed_out(tree: BvhView, place: F64, radius: F64) -> F64:
    """Places (x, y) moved away from walls that are nearer than the radius."""
    for _corner in range(8):
        eyes = np.column_stack([place, np.full(len(place), EYE)])
        _triangle, point, distance = bvh.nearest_many(tree, eyes)
        near = distance < radius - 1.0e-9
        if not near.any():
            break
        out = (place - point[:, :2])[near]
        out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1.0e-9)
        place[near] = point[near, :2] + out * radius[near, None]
    return place
