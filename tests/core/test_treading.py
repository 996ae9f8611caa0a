"""Feet that step in turn, and those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.characters.legs import why_no_steps

PHASE = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)


def body(rises, apart):
    """Poses of a head at 1.8 m, and of two feet that swing by half a meter."""
    poses = np.zeros((len(PHASE), 3, 3))
    poses[:, 0, 2] = 1.8
    for foot, (rise, start) in enumerate(zip(rises, (0.0, apart), strict=True), 1):
        poses[:, foot, 1] = 0.25 * np.cos(PHASE + start)
        poses[:, foot, 2] = np.maximum(rise * np.sin(PHASE + start), 0.0)
    return poses


@pytest.mark.parametrize(
    ("rises", "apart", "stride", "why"),
    [
        ((0.1, 0.1), np.pi, 1.0, ""),
        # who drags a foot still walks, and who hops goes along
        ((0.1, 0.02), 2.6, 0.5, ""),
        ((0.3, 0.3), 0.0, 1.0, ""),
        ((0.1, 0.002), np.pi, 0.5, "one of its feet rises by 2 mm only"),
        ((0.1, 0.1), 0.3, 0.2, "both feet go ahead at once, and by 0.20 m only"),
    ],
)
def test_what_does_not_step_in_turn_is_no_walk(rises, apart, stride, why):
    feet = [np.array([1]), np.array([2])]
    assert why_no_steps(body(rises, apart), feet, stride) == why
