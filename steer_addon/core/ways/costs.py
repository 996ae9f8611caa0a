"""Costs: how much longer the way through a cell seems, since people get on slowly there.

People look at the others now and then, and see how far each has come since: an agent that wished to
go at v_max and came s in the time T holds the way up by c_i = min(v_max·T/s, 30). Among people as
dense as ρ a cell costs

    c = 1 + (mean c_i - 1)·min(ρ/ρ_0, 1)²

so that a queue counts by the time that it takes, and people who walk apart count for little. With
the share itself in place of its square, too many take the long way at once, and some turn back: a
house of two stairs then empties 1.27 times as soon as by the shortest ways, in place of 1.35 times
(means of 10 and 20 starts).

Symbols: ρ people per m² within a square of 1.25 m around the cell, ρ_0 2 people per m².
Source: ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, parallel_for
from ..views import SurfaceView
from .lattice import cell_at

F32 = NDArray[np.float32]

AROUND = 0.625
"""Half the side of the square over which people are counted [m]."""
DENSE = 2.0
"""People per m² from which on the speed of the others counts in full."""
MOST = 30.0
"""Cost where nobody moves."""


@kernel
def crowding_kernel(surface, seen, half, people, sum_of):
    """Add people, and how much they hold the way up, to the cells around each of them."""
    side = (2 * half + 1) * surface.size
    for i in range(len(seen)):
        if seen[i, 3] <= 0.0:
            continue
        x, y, z = seen[i, 0] * 1.0, seen[i, 1] * 1.0, seen[i, 2] * 1.0
        for dy in range(-half, half + 1):
            for dx in range(-half, half + 1):
                cell = cell_at(surface, x + dx * surface.size, y + dy * surface.size, z)
                if cell >= 0 and abs(surface.z[cell] - z) < side:
                    people[cell] += 1.0
                    sum_of[cell] += seen[i, 3]


@kernel
def cost_kernel(start, stop, area, people, cost):
    """What it costs to go through cells; `cost` holds the sums before."""
    for cell in range(start, stop):
        count = people[cell] * 1.0
        if count == 0.0:
            cost[cell] = 1.0
        else:
            share = min(count / (area * DENSE), 1.0)
            cost[cell] = 1.0 + (cost[cell] / count - 1.0) * share * share


def crowding(surface: SurfaceView, seen: F32) -> F32:
    """What each cell costs, shape (cells,), 1 where nobody is.

    Args:
        surface: The cells.
        seen: Places of agents [m], and how much each holds the way up, 0 for those that do not
            count, shape (agents, 4).
    """
    people = np.zeros(len(surface.z), np.float32)
    cost = np.zeros_like(people)
    half = max(0, round(AROUND / surface.size - 0.5))
    crowding_kernel(surface, seen, half, people, cost)
    area = ((2 * half + 1) * surface.size) ** 2
    parallel_for(cost_kernel, len(cost), float(area), people, cost)
    return cost
