"""Slopes of 15 degrees: planted soles stay on the ground, up and across it.

A point of the ground is as far as its sole in plan, and the rise more along the slope.
"""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made
from walktools import walk

from steer_addon.core.characters.picking import stances
from tests.often import often

RISE = np.tan(np.radians(15.0))
SETTLED = 72
RUNS = (
    "fast walk", "slow jog", "jog", "slow run", "run", "fast run",
    "amble", "slow trot", "trot", "fast trot",
)  # fmt: skip


def slips(went, rise, upright):
    """Ways [mm] along the slope that soles which are down move in a frame, and their heights."""
    low = went.space.positions[..., 2].min(axis=0) < 0.01
    points = went.space.positions[went.poses][:, low].astype(float)
    down = points[..., 2] < 0.004
    matrices = stances(np.hstack([went.slopes, went.moves]), upright)
    points = np.einsum("nij,nvj->nvi", matrices[:, :3, :3], points) + matrices[:, None, :3, 3]
    points *= went.scale
    # all go along -y
    points[..., :2] += went.places[:, None]
    points[..., 2] += (went.places @ rise)[:, None]
    above = points[..., 2] - points[..., :2] @ rise
    points[..., 2] -= above
    down = down[1:] & down[:-1]
    moved = 1000.0 * np.linalg.norm(np.diff(points, axis=0), axis=-1)
    return moved[SETTLED:][down[SETTLED:]], 1000.0 * above[1:][SETTLED:][down[SETTLED:]]


WHO = ("woman", 1.0), ("man", 1.0), ("child", 1.0), ("dog", 1.0), ("dog", 0.3)
"""Characters, and how upright they stay."""


@pytest.mark.parametrize(
    ("name", "upright", "scale"),
    often(
        [(*who, scale) for who in WHO for scale in (0.8, 1.2)],
        *(("woman", 1.0, 1.2), ("child", 1.0, 0.8), ("dog", 0.3, 1.2)),
    ),
)
def test_planted_soles_stay_on_a_slope_of_15_degrees(name, upright, scale):
    space, found = made(name).space, ([], [])
    for rise in RISE * np.array([[0.0, -1.0], [0.71, 0.71]]):
        for speed in np.arange(0.3, 3.55, 0.4):
            went = walk(space, [speed] * 120, [0.0] * 120, scale, rise)
            moved, above = slips(went, rise, upright)
            found[space.gaits[went.gaits[-1]].name in RUNS].append(moved)
            assert np.percentile(np.abs(above), 99) < 5.0 * scale
    walks, runs = (np.concatenate(moved) for moved in found)
    assert np.median(walks) <= 3.0 and np.percentile(walks, 95) <= 10.0
    assert np.median(runs) <= 5.0 and np.percentile(runs, 95) <= 25.0
