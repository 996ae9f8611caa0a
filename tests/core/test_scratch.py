"""`jit.scratch`: arrays on the stack, the same compiled and not."""

import pytest

from steer_addon.core.compiled import jit
from steer_addon.core.compiled.jit import kernel, scratch

ROWS = 7


@kernel
def squares(count):
    """Sum of the squares of 0 to count - 1, each by way of an array of its own."""
    total = 0.0
    for k in range(count):
        rows = scratch(ROWS, 2)
        rows[k % ROWS, 0], rows[k % ROWS, 1] = k, k
        total += _product(rows[k % ROWS])
    return total


@kernel
def _product(row):
    own = scratch(1, 1)
    own[0, 0] = row[0] * row[1]
    return own[0, 0]


@kernel
def as_large_as(size):
    """Asks for a size that is not known beforehand."""
    return scratch(size, 2)[0, 0]


def test_arrays_of_calls_do_not_touch_one_another():
    assert squares(10) == 285
    assert squares.function(10) == 285


def test_a_million_of_them_take_no_room():
    n = 10**6
    assert squares(n) == pytest.approx(n * (n - 1) * (2 * n - 1) / 6, rel=1e-9)


def test_sizes_must_be_known():
    if not jit.status().compiled:
        pytest.skip("plain Python takes any size")
    with pytest.raises(Exception, match="scratch takes sizes that are constants"):
        as_large_as(3)
