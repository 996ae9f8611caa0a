"""Edges become lines: every edge once, split at crossings, in an order that is always the same."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from steer_addon.core.geometry.chains import chains


def lines(edges):
    return [(line.tolist(), closed) for line, closed in chains(edges)]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], []),
        ([(0, 1)], [([0, 1], False)]),
        ([(2, 1), (0, 1), (3, 2)], [([0, 1, 2, 3], False)]),
        ([(5, 2), (5, 9)], [([2, 5, 9], False)]),
        ([(0, 1), (1, 2), (2, 0)], [([0, 1, 2], True)]),
        ([(0, 3), (3, 1), (1, 2), (2, 0)], [([0, 2, 1, 3], True)]),
        # a T: three lines that end at the crossing
        ([(0, 1), (1, 2), (1, 3)], [([0, 1], False), ([1, 2], False), ([1, 3], False)]),
        # a lasso: the loop hangs on the crossing
        ([(0, 1), (1, 2), (2, 3), (3, 1)], [([0, 1], False), ([1, 2, 3], True)]),
        ([(7, 7), (0, 1), (1, 0)], [([0, 1], False)]),
    ],
)
def test_lines_of_known_drawings(edges, expected):
    assert lines(edges) == expected


def test_several_lines_come_by_their_first_points():
    edges = [(8, 9), (4, 5), (6, 4), (5, 6), (1, 0)]
    assert lines(edges) == [([0, 1], False), ([8, 9], False), ([4, 5, 6], True)]


pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@hypothesis.given(pairs, st.randoms())
def test_every_edge_is_in_one_line_whatever_the_order(edges, random):
    wanted = {(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]}
    passed = []
    for line, closed in chains(edges):
        passed += list(zip(line[:-1], line[1:], strict=True))
        if closed:
            passed.append((line[-1], line[0]))
    found = [(int(min(pair)), int(max(pair))) for pair in passed]
    assert sorted(found) == sorted(wanted)
    shuffled = [pair[::-1] for pair in edges]
    random.shuffle(shuffled)
    assert lines(shuffled) == lines(edges)
    ends = np.bincount(np.array(sorted(wanted), int).ravel(), minlength=10) if wanted else []
    for line, _ in chains(edges):
        assert all(ends[point] == 2 for point in line[1:-1])
