"""How bodies stand on slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.characters.picking import SHEARS, stances

SLOPES = st.floats(-2.0, 2.0)
SHARES = st.floats(0.0, 1.0)


def shears(**values):
    """Values of one body; those that are not given are 0."""
    return np.array([[values.get(name, 0.0) for name in SHEARS]])


@given(SLOPES, SLOPES, SHARES)
def test_soles_lie_on_the_slope_and_the_body_tilts_by_its_share(ahead, side, upright):
    (matrix,) = stances(shears(slope_ahead=ahead, slope_side=side, twist=0.3), upright)
    # ahead is -Y, the right is -X
    for x, y in ((1.0, 0.0), (0.0, 1.0), (-0.3, 0.7)):
        sole = matrix[:3, :3] @ [x, y, 0.0]
        assert sole[2] == pytest.approx(-side * sole[0] - ahead * sole[1], abs=1e-9)
    tilt = (1.0 - upright) * math.atan(math.hypot(ahead, side))
    up = matrix[:3, 2]
    assert math.atan2(math.hypot(up[0], up[1]), up[2]) == pytest.approx(tilt, abs=1e-7)
    assert np.linalg.norm(up) == pytest.approx(1.0)
    # away from where the ground rises
    assert up[0] * side + up[1] * ahead >= -1e-12


def test_upright_bodies_are_only_sheared():
    tilted = shears(slope_ahead=0.2, slope_side=-0.1, lean_ahead=0.05, lean_side=0.03)
    (matrix,) = stances(tilted, 1.0)
    expected = [[1.0, 0.0, -0.03], [0.0, 1.0, -0.05], [0.1, -0.2, 1.0]]
    np.testing.assert_allclose(matrix[:3, :3], expected, atol=1e-12)
    np.testing.assert_array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0])


def test_on_level_ground_nothing_tilts():
    np.testing.assert_array_equal(
        stances(np.zeros((2, len(SHEARS))), 0.3), np.tile(np.eye(4), (2, 1, 1))
    )


def test_bodies_turn_to_the_left_and_are_shifted_ahead_and_to_the_right():
    (matrix,) = stances(shears(twist=0.5 * math.pi, shift_ahead=0.1, shift_side=0.02), 1.0)
    # a nose at -Y points to the left, which is +X
    np.testing.assert_allclose(matrix[:3, :3] @ [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(matrix[:3, 3], [-0.02, -0.1, 0.0], atol=1e-12)


def test_shifted_bodies_stay_on_their_slope():
    (matrix,) = stances(shears(slope_ahead=0.2, slope_side=0.1, shift_ahead=0.1, twist=0.2), 0.4)
    for place in ([0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.0, 1.0]):
        x, y, z, _ = matrix @ place
        assert z == pytest.approx(-0.1 * x - 0.2 * y, abs=1e-9)
