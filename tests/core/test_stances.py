"""How bodies stand on slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.characters.picking import stances

SLOPES = st.floats(-2.0, 2.0)
SHARES = st.floats(0.0, 1.0)


@given(SLOPES, SLOPES, SHARES)
def test_soles_lie_on_the_slope_and_the_body_tilts_by_its_share(ahead, side, upright):
    (matrix,) = stances(np.array([[ahead, side, 0.0, 0.0]]), upright)
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
    (matrix,) = stances(np.array([[0.2, -0.1, 0.05, 0.03]]), 1.0)
    expected = [[1.0, 0.0, -0.03], [0.0, 1.0, -0.05], [0.1, -0.2, 1.0]]
    np.testing.assert_allclose(matrix[:3, :3], expected, atol=1e-12)
    np.testing.assert_array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0])


def test_on_level_ground_nothing_tilts():
    np.testing.assert_array_equal(stances(np.zeros((2, 4)), 0.3), np.tile(np.eye(4), (2, 1, 1)))
