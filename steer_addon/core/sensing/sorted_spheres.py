"""Spheres in the order of their centers along X: an agent tests only the ones around it."""

from __future__ import annotations

import math

from ..compiled.jit import kernel


@kernel
def first_from(swept, x):
    """The first sphere whose center is not before x, of those sorted along X."""
    low, high = 0, len(swept)
    while low < high:
        middle = (low + high) // 2
        if swept[middle, 0] < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def levelled(bounds, position, up, flat):
    """Length of distances along X when projected onto the plane of the ground.

    An offset to a center with the part x along X is in that plane at least |x| · level - lost long:
    |x| · up.z - |z| · √(1 - up.z²), z its greatest height.

    Args:
        bounds: Largest radius, least and greatest height of the centers [m].
        position: The agent's [m].
        up: Normal of its ground.
        flat: Whether it walks; for others nothing is lost.

    Returns:
        (level, lost [m]).
    """
    if not flat:
        return 1.0, 0.0
    low, high = bounds[1], bounds[2]
    steep = math.sqrt(up[0] * up[0] + up[1] * up[1])
    return max(abs(up[2]) - 1.0e-6, 0.0), max(
        abs(low - position[2]), abs(high - position[2])
    ) * steep
