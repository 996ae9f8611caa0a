"""Parameters of tests of which few values run each time, and all with --long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def often(values: Iterable[Any], *always: Any) -> list[Any]:
    """Values for `parametrize`: those of `always` run each time, the others with --long.

    Args:
        values: All of them.
        *always: Some of them.
    """
    given = list(values)
    assert all(value in given for value in always)
    return [v if v in always else _rarely(v) for v in given]


def _rarely(value: Any) -> Any:
    """A value, or a tuple of those of several parameters, that runs with --long only."""
    return pytest.param(*(value if type(value) is tuple else (value,)), marks=pytest.mark.long)


def pairs_of(*values: Sequence[Any]) -> list[Any]:
    """Sets of values of three parameters for `parametrize`: all with --long.

    Those that run each time hold every pair of values of two of the parameters.

    Args:
        *values: Those of each parameter, the longest first, and the last two equally many.
    """
    one, two, three = values
    assert len(one) >= len(two) == len(three)
    found = []
    for i, j, k in product(range(len(one)), range(len(two)), range(len(three))):
        # a Latin square: the first two tell the third
        marks = [] if (i + j + k) % len(two) == 0 else [pytest.mark.long]
        found.append(pytest.param(one[i], two[j], three[k], marks=marks))
    return found


def triples_of(*values: Sequence[Any]) -> list[Any]:
    """Sets of values of four parameters for `parametrize`: all with --long.

    Those that run each time, one half, hold every triple of values of three of the parameters.

    Args:
        *values: The two values of each parameter.
    """
    found = []
    for places in product(range(2), repeat=len(values)):
        given = [of_one[place] for of_one, place in zip(values, places, strict=True)]
        # the first three tell the fourth
        marks = [] if sum(places) % 2 == 0 else [pytest.mark.long]
        found.append(pytest.param(*given, marks=marks))
    return found
