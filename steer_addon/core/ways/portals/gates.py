"""Gates: the portals that agents head for on their ways."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Gates(NamedTuple):
    """The portal that each agent heads for next.

    Attributes:
        portal: Its key, see `portals.Portal`, negative backward; 0 for none, shape (agents,).
        exit: Where agents stand when they are through [m], shape (agents, 3).
    """

    portal: NDArray[np.int32]
    exit: NDArray[np.float32]


def no_gates(count: int) -> Gates:
    """No portal for any of some agents."""
    return Gates(np.zeros(count, np.int32), np.zeros((count, 3), np.float32))
