"""Bodies turn a little while both feet are down, so that both stay; loads say which foot counts."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.characters import contacts
from steer_addon.core.characters.steadying import hats, loads, steadied

STEPS = 96
HEIGHT = 1.8


def two_feet(twist):
    """Soles of two feet that go back as evenly as the ground on a body, and which are planted.

    The body then turns to and fro by `twist` [rad] about the middle, as hips do in a clip whose
    feet were not held. Each foot is planted for 60 %, and swings ahead for the rest.
    """
    times = np.linspace(0.0, 1.0, STEPS + 1)
    sole = np.array([[x, y] for x in (-0.04, 0.04) for y in (-0.12, 0.0, 0.1)])
    low, planted = [], []
    for side, late in ((0.1, 0.0), (-0.1, 0.5)):
        part = (times + late) % 1.0
        down = part < 0.6
        y = np.where(down, part - 0.3, 0.3 - 1.5 * (part - 0.6))
        foot = np.zeros((STEPS + 1, len(sole), 3))
        foot[..., :2] = sole + np.stack([np.full_like(y, side), y], axis=1)[:, None]
        foot[..., 2] = np.where(down, 0.0, 0.1)[:, None]
        low.append(foot)
        planted.append(np.repeat((down[1:] & down[:-1])[:, None], len(sole), axis=1))
    turned = contacts.turned(np.concatenate(low, axis=1), twist * wave(times)[:, None])
    return turned, np.concatenate(planted, axis=1)


def wave(times):
    return np.sin(2.0 * np.pi * times)


def test_feet_that_stay_need_no_turn():
    low, planted = two_feet(0.0)
    assert np.abs(steadied(low, loads(planted), HEIGHT)).max() < 1e-9


def test_a_turn_that_takes_feet_along_is_taken_back():
    low, planted = two_feet(0.06)
    found = steadied(low, loads(planted), HEIGHT)
    assert found.shape == (STEPS + 1, 2)
    assert found[:-1].mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-6)
    times = np.linspace(0.0, 1.0, STEPS + 1)
    assert found[:, 0] == pytest.approx(-0.06 * wave(times), abs=0.02)
    held = contacts.turned(low, found[:, :1])
    held[..., 0] += found[:, 1:]
    assert apart(held, planted) < 0.4 * apart(low, planted)


def apart(low, planted):
    """How much the ways of planted vertices in a step differ, on average."""
    moves = np.diff(low[..., :2], axis=0)
    return np.mean([np.std(m[p], axis=0).sum() for m, p in zip(moves, planted, strict=True)])


def test_what_just_landed_or_lifts_soon_bears_little():
    planted = np.zeros((100, 3), bool)
    planted[10:70, 0] = planted[:, 1] = True
    planted[80:, 2] = planted[:30, 2] = True  # over the end of the cycle
    found = loads(planted)
    assert not found[~planted].any() and (found[:, 1] == 1.0).all()
    assert found[10:16, 0] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0])
    assert found[64:70, 0] == pytest.approx([1.0, 1.0, 0.8, 0.6, 0.4, 0.2])
    assert found[[80, 99, 0, 29], 2] == pytest.approx([0.2, 1.0, 1.0, 0.2])


def test_hats_are_shares_of_the_knots_beside():
    shares = hats(np.array([0.0, 0.125, 0.9375, 1.0]), 4)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares[1] == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert shares[2] == pytest.approx([0.75, 0.0, 0.0, 0.25])
    assert shares[3] == pytest.approx([1.0, 0.0, 0.0, 0.0])
