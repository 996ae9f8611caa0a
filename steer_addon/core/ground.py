"""Placeholder until the ground module lands."""

import math

import numpy as np

from .jit import kernel


def min_up(slope):
    """cos."""
    return math.cos(math.radians(slope))


@kernel
def walk(ground, start, move, normal, radius, step_height, min_up):
    """Flat."""
    return (start[0] + move[0], start[1] + move[1], start[2] + move[2]), normal, False


def place_many(view, positions, min_up):
    """No-op."""
    n = len(positions)
    return positions.copy(), np.tile(np.float32([0, 0, 1]), (n, 1)), np.ones(n, bool)
