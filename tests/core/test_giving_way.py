"""Giving way: who does not get on for some time lets others go first."""

from __future__ import annotations

import pytest

from steer_addon.core.behaviors.giving_way import (
    BLOCKED,
    CREEPING,
    GIVEN,
    GIVES_WAY,
    PATIENCE,
    RETREAT,
    held_up,
)

SPEED, RADIUS, DT = 1.4, 0.25, 1.0 / 30.0


def after(seconds, pace, now, held=0.0):
    """How long one is held up after some time."""
    for _ in range(round(seconds / DT)):
        held = held_up(held, pace * SPEED, now * SPEED, SPEED, RADIUS, DT)
    return held


@pytest.mark.parametrize("pace", [1.01 * CREEPING, 0.5, 1.0])
@pytest.mark.parametrize("now", [0.0, 0.5 * BLOCKED, 0.99 * BLOCKED])
def test_who_stands_or_creeps_though_it_chose_to_go_is_held_up(pace, now):
    assert after(1.0, pace, now) == pytest.approx(1.0)
    assert after(PATIENCE + DT, pace, now) > PATIENCE


def test_who_goes_or_waits_in_a_queue_is_not_held_up():
    assert after(3.0, 1.0, 1.01 * BLOCKED) == 0.0
    assert after(3.0, 0.99 * CREEPING, 0.0) == 0.0
    assert after(0.5, 1.0, 0.5, held=1.0) == pytest.approx(0.5)


def test_way_is_given_for_about_the_width_of_a_body():
    seconds = GIVEN * RADIUS / (RETREAT * SPEED)
    assert after(0.9 * seconds, 1.0, 0.5, held=GIVES_WAY) > PATIENCE
    assert after(1.3 * seconds, 1.0, 0.5, held=GIVES_WAY) == 0.0
