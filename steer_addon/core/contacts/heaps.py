"""Heaps: overlapping bodies in the midst of others, which have to make room for them.

In a heap of overlapping bodies the outer ones back out first. Once these only touch each other they
would stand, in a ring that keeps the others in. So each agent near a heap counts how many bodies
lie between the heap and itself, and makes room for agents that are nearer to the heap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..views import F32, I64
from .near import ALIKE, Kinds, NearView

HEAP = 0.01
"""Share of the radii by which bodies overlap that form a heap."""
CLOSE = 0.05
"""Gap, as a share of the radii, over which those around a heap make room."""
FARTHEST = 255


def heap_levels(
    near: NearView, position: F32, radius: F32, flat: bool, kinds: Kinds = ALIKE
) -> NDArray[np.uint8]:
    """How many bodies lie between each agent and the heap it stands close to.

    Args:
        near: The agents that each agent may touch.
        position: Their places [m], shape (n, 3).
        radius: Body radii [m], shape (n,).
        flat: Whether bodies are discs.
        kinds: What tells bodies of several crowds apart.

    Returns:
        0 in a heap, FARTHEST far from any, shape (n,).
    """
    levels = np.full(len(near.deep), FARTHEST, np.uint8)
    heaped = near.deep > HEAP
    if not heaped.any():
        return levels
    levels[heaped] = 0
    own, other = _close(near, position, radius, flat, kinds)
    for level in range(FARTHEST - 1):
        reached = own[(levels[other] == level) & (levels[own] == FARTHEST)]
        if not len(reached):
            break
        levels[reached] = level + 1
    return levels


def _close(near: NearView, position: F32, radius: F32, flat: bool, kinds: Kinds) -> tuple[I64, I64]:
    """Pairs of rows of agents that stand close together."""
    own = np.repeat(np.arange(len(near.count)), near.count)
    other = near.index[np.arange(near.index.shape[1]) < near.count[:, None]]
    offset = position[other].astype(np.float64) - position[own]
    if flat:
        offset[:, 2] = 0.0
    elif len(kinds.tall) > 1:
        rise, tall, others = offset[:, 2], kinds.tall[own], kinds.tall[other]
        apart = np.maximum(rise - tall, 0.0) + np.minimum(rise + others, 0.0)
        offset[:, 2] = np.where((tall > 0.0) & (others > 0.0), 0.0, apart)
    touch = radius[own].astype(np.float64) + radius[other]
    close = np.einsum("ij,ij->i", offset, offset) < (touch * (1.0 + CLOSE)) ** 2
    return own[close], other[close]
