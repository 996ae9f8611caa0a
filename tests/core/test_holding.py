"""Between two poses bodies are held back by 0.44 of the way: planted feet slip by the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from figuretools import made
from hypothesis import given
from hypothesis import strategies as st
from walktools import walk

from steer_addon.core.characters.holding import held_back


@given(st.floats(-50.0, 50.0), st.floats(0.1, 5.0), st.integers(1, 900))
def test_bodies_are_held_back_by_a_part_of_the_way_to_the_nearest_pose(phase, stride, count):
    poses = np.arange(np.floor(phase) * count, np.ceil(phase) * count + 1.0) / count
    nearest = np.abs(poses - phase).min() * stride
    held = held_back(phase, stride, count)
    assert abs(held) == pytest.approx(0.44 * nearest, abs=1e-9)
    # on from a pose it is held back, and before one it is ahead
    assert held_back(2.0 + 0.2 / count, stride, count) > 0.0 > held_back(-0.2 / count, 1.0, count)


def test_a_gait_without_a_stride_is_not_held():
    assert held_back(0.3, 0.0, 72) == 0.0


@pytest.mark.parametrize(("name", "speed"), [("woman", 1.3), ("child", 1.2), ("dog", 2.7)])
def test_planted_feet_slip_by_less_than_their_poses(name, speed):
    went = walk(made(name).space, [speed] * 144, [0.0] * 144)
    without = replace(went, moves=np.zeros_like(went.moves))
    held, shown = (np.mean(w.slips(0.003, 96)) for w in (went, without))
    assert 0.5 * shown < held < 0.65 * shown
