"""Giving way: an agent without progress for some time lets others go first."""

from __future__ import annotations

import pytest
from avoiding import DT, own_of
from test_avoid_neighbors import SPEED

from steer_addon.core.behaviors.avoid_neighbors.memory import held_up


def after(seconds, pace, now, held=0.0):
    """How long one is held up after some time."""
    for _ in range(round(seconds / DT)):
        held = held_up(held, pace * SPEED, own_of(now * SPEED), DT)
    return held


@pytest.mark.parametrize("pace", [0.101, 0.5, 1.0])
@pytest.mark.parametrize("now", [0.0, 0.025, 0.0495])
def test_who_stands_or_creeps_though_it_chose_to_go_is_held_up(pace, now):
    assert after(1.0, pace, now) == pytest.approx(1.0)
    assert after(2.0 + DT, pace, now) > 2.0


def test_who_goes_or_waits_in_a_queue_is_not_held_up():
    assert after(3.0, 1.0, 0.0505) == 0.0
    assert after(3.0, 0.099, 0.0) == 0.0
    assert after(0.5, 1.0, 0.5, held=1.0) == pytest.approx(0.5)


def test_way_is_given_for_about_the_width_of_a_body():
    # 0.5 m at 0.7 m/s, from where 2 s of waiting end
    seconds, held = 0.5 / 0.7, after(2.0 + DT, 1.0, 0.0)
    assert after(0.9 * seconds, 1.0, 0.5, held) > 2.0
    assert after(1.3 * seconds, 1.0, 0.5, held) == 0.0
