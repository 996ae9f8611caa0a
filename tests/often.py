"""Parameters of tests of which few values run each time, and all with --long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def often(values: Iterable[Any], *always: Any) -> list[Any]:
    """Values for `parametrize`: those of `always` run each time, the others with --long.

    Args:
        values: All of them.
        *always: Some of them.
    """
    given = list(values)
    assert set(always) <= set(given)
    return [v if v in always else pytest.param(v, marks=pytest.mark.long) for v in given]
