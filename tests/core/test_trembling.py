"""Bodies that are moved to and fro in their place stand, and slow walks are walks."""

from __future__ import annotations

import numpy as np
import pytest
from test_gait import DT, GAIT, crowd, walked


def trembling(speed, period, seconds=6.0):
    """Velocities of a body that moves to and fro along +X, by halves of a period [s]."""
    times = np.arange(int(seconds / DT)) * DT
    return np.where(times % period < 0.5 * period, speed, -speed)


@pytest.mark.parametrize("speed", [0.25, 0.35, 0.6])
def test_a_body_that_trembles_in_its_place_stands(speed):
    # the slowest gait goes at 0.4 m/s: agents start to walk at 0.24 m/s
    agents, settings = crowd()
    found, _ = walked(agents, settings, trembling(speed, 0.5))
    assert (found[int(3.0 / DT) :, 0, GAIT] == 0.0).all()


def test_a_body_that_trembles_after_walking_puts_both_feet_down():
    agents, settings = crowd()
    found, _ = walked(agents, settings, [0.4] * 48 + list(trembling(0.35, 0.4)))
    assert found[47, 0, GAIT] == 1.0
    assert (found[48 + int(3.0 / DT) :, 0, GAIT] == 0.0).all()


def test_a_slow_way_round_a_narrow_circle_is_a_walk():
    agents, settings = crowd()
    # a circle of 0.4 m radius in 8 s, and shorter and longer steps
    times = np.arange(240) * DT
    speed = 0.3 * (1.0 + 0.15 * np.sin(9.0 * times))
    ways = np.stack([np.cos(0.75 * times), np.sin(0.75 * times), 0.0 * times], axis=1)
    found, _ = walked(agents, settings, speed[:, None] * ways)
    assert (found[24:, 0, GAIT] == 1.0).all()


def test_a_start_after_trembling_is_not_delayed():
    agents, settings = crowd()
    starts = list(np.minimum(1.2, 1.5 * DT * np.arange(1, 49)))
    still, _ = walked(agents, settings, [0.0] * 144 + starts)
    after, _ = walked(agents, settings, [*trembling(0.25, 0.5), *starts])
    begins = [int(np.flatnonzero(run[144:, 0, GAIT] >= 1.0)[0]) for run in (still, after)]
    # a body that moves at twice the speed of the slowest gait walks, whatever it did before
    assert begins[1] - begins[0] <= 14
