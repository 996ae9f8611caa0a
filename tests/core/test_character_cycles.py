"""How many cycles a motion has."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.characters.aligning import rounds_of


def walk(count, steps=120, uneven=0.0, seed=1):
    """Two feet that go to and fro, one against the other, each cycle a little otherwise."""
    part = np.linspace(0.0, count, steps + 1)[:, None]
    start = np.array([0.0, 0.5, 0.02, 0.52])
    angle = 2.0 * np.pi * (part + start)
    points = np.stack([np.cos(angle), 0.1 * start + 0.0 * angle, 0.3 * np.sin(angle)], axis=-1)
    bent = np.random.default_rng(seed).normal(size=(count, 4, 3))[np.int64(part[:-1, 0])]
    points[:-1] += uneven * bent
    points[-1] = points[0]
    return points.astype(np.float32)


@pytest.mark.parametrize("count", range(1, 13))
def test_cycles_are_counted(count):
    assert rounds_of(walk(count)) == count


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_cycles_that_differ_are_counted(count, seed):
    assert rounds_of(walk(count, uneven=0.06, seed=seed)) == count


def test_a_step_of_each_foot_is_one_cycle():
    # a foot's step looks like that of the other one, but is none of it
    poses = walk(1)
    half = len(poses) // 2
    assert np.allclose(poses[0, 0], poses[half, 1], atol=0.06)
    assert rounds_of(poses) == 1


def test_what_never_repeats_has_one():
    assert rounds_of(np.random.default_rng(3).normal(size=(121, 9, 3)).astype(np.float32)) == 1
