"""3-vectors inside kernels: plain tuples (x, y, z) of 64-bit floats.

Arrays hold 32-bit floats; kernels compute in 64 bits and round once, when they store.
"""

from __future__ import annotations

import math

import numpy as np

from ..bounds import LARGEST
from ..compiled.jit import kernel

EPSILON = 1.0e-6
Vec3 = tuple[float, float, float]


@kernel
def load(array, i):
    """Row i of an (N, 3) array."""
    return (np.float64(array[i, 0]), np.float64(array[i, 1]), np.float64(array[i, 2]))


@kernel
def store(array, i, v):
    """Write v to row i of an (N, 3) array, limited to ±LARGEST, so that all is finite."""
    array[i, 0] = min(max(v[0], -LARGEST), LARGEST)
    array[i, 1] = min(max(v[1], -LARGEST), LARGEST)
    array[i, 2] = min(max(v[2], -LARGEST), LARGEST)


@kernel
def pick(array, i):
    """Value of a parameter for agent i: the array holds one value for all, or one per agent."""
    return np.float64(array[i if array.size > 1 else 0])


@kernel
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(a, s):
    """a · s."""
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def add_scaled(a, b, s):
    """a + b · s."""
    return (a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s)


@kernel
def dot(a, b):
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """Vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def length(a):
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def unit(a):
    """a/|a|, and the zero vector for |a| < 1e-6: no division can go wrong."""
    size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    if size < EPSILON:
        return (0.0, 0.0, 0.0)
    return (a[0] / size, a[1] / size, a[2] / size)


@kernel
def truncate(a, limit):
    """a, shortened to `limit` when it is longer."""
    size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    if size <= limit or size < 1.0e-300:
        return a
    return (a[0] * (limit / size), a[1] * (limit / size), a[2] * (limit / size))


@kernel
def project(a, n):
    """The part of a in the plane with unit normal n."""
    s = dot(a, n)
    return (a[0] - n[0] * s, a[1] - n[1] * s, a[2] - n[2] * s)
