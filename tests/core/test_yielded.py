"""Yielded: a velocity that does not press on agents ahead with a similar wish."""

from __future__ import annotations

import numpy as np
import pytest
from avoiding import table_of
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.behaviors.avoid_neighbors.pacing import yielded

HEADWAY = 0.5


def table(*others, alike=1.0, first=1.0):
    """Neighbors who go first, and how many columns the table has."""
    return table_of(*others, alike=alike, first=first)


def asked(made, velocity, everybody=False, left=0.0):
    """The velocity that is left, as an array."""
    return np.array(yielded(*made, velocity, HEADWAY, everybody, left))


def test_the_gap_is_closed_within_the_headway():
    ahead = table((1.0, 0.0, 0.2))
    assert asked(ahead, (1.4, 0.0, 0.0)) == pytest.approx([0.2 / HEADWAY, 0.0, 0.0])
    # a velocity that does not close it sooner stays as it is, to the bit
    assert asked(ahead, (0.3, 0.7, 0.0)).tolist() == [0.3, 0.7, 0.0]
    assert asked(ahead, (1.4, 0.0, 0.0), left=0.1) == pytest.approx([0.1 / HEADWAY, 0.0, 0.0])


def test_only_what_leads_toward_the_other_is_taken():
    askew = table((1.0, 1.0, 0.0))
    assert asked(askew, (1.0, 0.0, 0.0)) == pytest.approx([0.5, -0.5, 0.0])


def test_bodies_that_overlap_are_not_backed_out_of_here():
    assert asked(table((0.4, 0.0, -0.1)), (1.0, 0.0, 0.0)) == pytest.approx([0.0, 0.0, 0.0])


@pytest.mark.parametrize("everybody", [False, True])
def test_those_who_go_after_count_only_when_everybody_does(everybody):
    after = table((1.0, 0.0, 0.0), first=0.0)
    left = asked(after, (1.0, 0.0, 0.0), everybody=everybody)
    assert left == pytest.approx([0.0 if everybody else 1.0, 0.0, 0.0])


@pytest.mark.parametrize("everybody", [False, True])
def test_those_with_another_wish_never_count(everybody):
    other = table((1.0, 0.0, 0.0), alike=0.7)
    assert asked(other, (1.0, 0.0, 0.0), everybody=everybody).tolist() == [1.0, 0.0, 0.0]


angles = st.lists(st.floats(-1.4, 1.4), min_size=1, max_size=6)


@given(angles, st.lists(st.floats(0.0, 0.3), min_size=6, max_size=6), st.floats(-3.0, 3.0))
def test_of_several_none_is_pressed_and_nothing_is_added(where, gaps, toward):
    made = table(*((np.cos(a), np.sin(a), g) for a, g in zip(where, gaps, strict=False)))
    wish = np.array([1.4 * np.cos(toward), 1.4 * np.sin(toward), 0.0])
    left = asked(made, tuple(wish))
    for a, gap in zip(where, gaps, strict=False):
        # what one takes may lead toward another: sweeps end when that is below 1 mm/s, or run out
        assert np.cos(a) * left[0] + np.sin(a) * left[1] <= gap / HEADWAY + 0.02
    # each takes a part toward itself away: never faster than the wish by that
    assert left[0] * wish[0] + left[1] * wish[1] <= wish @ wish + 1.0e-9
