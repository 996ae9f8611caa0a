"""Assignments: the least sum of ways, held against brute force and scipy, and the best subset."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.geometry.assignment import _nearly_least, assigned
from tests.often import often

whole = st.integers(-3, 3)
few = st.lists(st.tuples(whole, whole, whole), min_size=1, max_size=6)
many = st.lists(st.tuples(whole, whole, whole), min_size=0, max_size=40)


def total(goers, places, rows):
    """The sum of the ways of those that have a place."""
    has = rows >= 0
    return np.linalg.norm(np.asarray(goers)[has] - np.asarray(places)[rows[has]], axis=1).sum()


def brute_force(goers, places):
    """The least sum of ways among all that there are."""
    small, large = sorted((np.array(goers), np.array(places)), key=len)
    gaps = np.linalg.norm(small[:, None] - large[None], axis=2)
    rows = np.arange(len(small))
    return min(gaps[rows, list(p)].sum() for p in permutations(range(len(large)), len(small)))


@given(few, few)
def test_no_other_assignment_has_shorter_ways(goers, places):
    rows = assigned(goers, places)
    assert total(goers, places, rows) == pytest.approx(brute_force(goers, places), abs=1e-5)


@given(many, many)
def test_each_place_has_one_goer_and_as_many_as_can_have_one(goers, places):
    goers, places = np.reshape(goers, (-1, 3)), np.reshape(places, (-1, 3))
    rows = assigned(goers, places)
    taken = rows[rows >= 0]
    assert len(rows) == len(goers)
    assert len(set(taken)) == len(taken) == min(len(goers), len(places))
    assert not len(taken) or taken.max() < len(places)


def scene(kind, goers, places, seed=0):
    """Points in a square, and places in the square too, in a grid, or in one that is far away."""
    random = np.random.default_rng(seed)
    made = np.zeros((2, max(goers, places), 3))
    made[:, :, :2] = random.uniform(0.0, 50.0, (2, max(goers, places), 2))
    if kind != "square":
        side = np.ceil(np.sqrt(places))
        numbers = np.arange(max(goers, places))
        made[1, :, 0], made[1, :, 1] = numbers % side, numbers // side
        made[1, :, 0] += 200.0 * (kind == "far")
    return made[0, :goers], made[1, :places]


@pytest.mark.parametrize("kind", ["square", "grid", "far"])
@pytest.mark.parametrize("counts", [(300, 300), (200, 300), (300, 40), (3, 300)])
def test_the_sum_is_that_of_scipy(kind, counts):
    optimize = pytest.importorskip("scipy.optimize")
    goers, places = scene(kind, *counts)
    gaps = np.linalg.norm(goers[:, None] - places[None], axis=2)
    least = gaps[optimize.linear_sum_assignment(gaps)].sum()
    assert total(goers, places, assigned(goers, places)) == pytest.approx(least, rel=1e-7)


@pytest.mark.parametrize("kind", ["square", "grid"])
def test_no_two_ways_cross(kind):
    goers, places = scene(kind, 120, 120)
    p, q = goers[:, :2], places[assigned(goers, places), :2]

    def side(a, b, c):
        (x, y), (u, v) = np.moveaxis(b - a, -1, 0), np.moveaxis(c - a, -1, 0)
        return x * v - y * u

    a, b, c, d = p[:, None], q[:, None], p[None], q[None]
    crosses = (side(a, b, c) * side(a, b, d) < -1e-6) & (side(c, d, a) * side(c, d, b) < -1e-6)
    assert not crosses.any()


def test_a_row_of_goers_moves_on_into_the_row_before_it():
    # every assignment has the same sum: the hardest case for auctions
    line = np.zeros((300, 3))
    line[:, 0] = np.arange(300)
    rows = assigned(line, line + [300.0, 0.0, 0.0])
    assert sorted(rows) == list(range(300))
    assert total(line, line + [300.0, 0.0, 0.0], rows) == pytest.approx(300.0 * 300.0)


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_all_in_one_place_is_no_trouble(apart):
    rows = assigned(np.zeros((40, 3)), np.full((50, 3), apart))
    assert len(set(rows)) == 40


@pytest.mark.parametrize(
    ("kind", "counts"),
    often(
        product(("square", "grid", "far"), ((900, 900), (620, 900))),
        ("square", (900, 900)),
        ("grid", (620, 900)),
    ),
)
def test_that_of_large_crowds_is_near_the_least_sum(kind, counts):
    goers, places = scene(kind, *counts)
    rows = _nearly_least(goers, places, 0.0)
    assert len(set(rows)) == len(goers)
    assert rows.min() >= 0
    least = total(goers, places, assigned(goers, places))
    assert least * (1.0 - 1e-7) <= total(goers, places, rows) <= 1.15 * least


@pytest.mark.slow
def test_more_than_the_optimum_can_be_found_for():
    goers, places = scene("grid", 6000, 5500)
    rows = assigned(goers, places)
    assert len(set(rows[rows >= 0])) == 5500


def test_squares_of_ways_keep_the_order_of_those_who_go_in_a_line():
    line = np.zeros((30, 3))
    line[:, 0] = np.random.default_rng(0).permutation(30)
    rows = assigned(line, line + [100.0, 0.0, 0.0], 1e-3)
    # everybody goes as far
    assert rows.tolist() == list(range(30))


def test_squares_of_ways_hardly_lengthen_them():
    goers, places = scene("grid", 200, 200)
    ways = [total(goers, places, assigned(goers, places, bend)) for bend in (0.0, 0.1 / 50.0)]
    assert ways[0] <= ways[1] <= 1.02 * ways[0]
