"""Smooth noise of a position: the same value at the same place, in every run and on every machine.

Value noise, defined to the last bit. All whole numbers are unsigned and have 32 bits: results of
sums and products are taken modulo 2^32.

    mix(h):        h ← (h xor (h >> 16))·0x85EBCA6B
                   h ← (h xor (h >> 13))·0xC2B2AE35
                   h ← h xor (h >> 16)
    step(h, i):    mix(h + i + 0x9E3779B9)
    L(i, j, k):    step(step(step(0, i), j), k) / 2^32,    for whole i, j, k modulo 2^32
    fade(t):       t³·(t·(6t - 15) + 10), at most 1
    lerp(a, b, t): a + (b - a)·t
    noise(x, y, z) with i = floor(x), u = fade(x - i), and j, v of y and k, w of z likewise:
        lerp along x with u, of the results along y with v, of the results along z with w,
        between the eight lattice values L(i or i + 1, j or j + 1, k or k + 1)

Sources: Perlin 2002, "Improving Noise", for the fade; the finalizer of MurmurHash3 (Austin Appleby,
public domain) for mix; 0x9E3779B9 is 2^32 divided by the golden ratio.
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import inlined_kernel

_MASK = 0xFFFFFFFF
_GOLDEN = 0x9E3779B9
_TWO_32 = 4294967296.0


@inlined_kernel
def _step(h, i):
    """Take one more lattice coordinate into the hash."""
    h = (h + i + _GOLDEN) & _MASK
    # Compiled, a product may wrap to a negative number; the mask makes both ways the same.
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _MASK
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _MASK
    return h ^ (h >> 16)


@inlined_kernel
def _cell(value):
    """Lattice coordinate modulo 2^32, and the faded part of the way to the next one."""
    # np.floor stays a float when compiled; math.floor would not, and 1e300 fits no whole number.
    floor = float(np.floor(value))
    t = value - floor
    fade = min(t * t * t * (t * (t * 6.0 - 15.0) + 10.0), 1.0)
    # Exact for every float: dividing by a power of two and taking whole multiples do not round.
    return int(floor - float(np.floor(floor / _TWO_32)) * _TWO_32), fade


@inlined_kernel
def _along_z(h, k, w):
    """Noise on one lattice line along z."""
    a = _step(h, k) / _TWO_32
    b = _step(h, k + 1) / _TWO_32
    return a + (b - a) * w


@inlined_kernel
def _along_y(h, j, v, k, w):
    """Noise on one lattice plane across x."""
    a = _along_z(_step(h, j), k, w)
    b = _along_z(_step(h, j + 1), k, w)
    return a + (b - a) * v


@inlined_kernel
def value_noise(x, y, z):
    """Smooth noise at a point, as this module's docstring defines it.

    Args:
        x: First coordinate, any finite 64-bit float; one unit is one cell of the lattice.
        y: Second coordinate, likewise.
        z: Third coordinate, likewise.

    Returns:
        A 64-bit float from 0 to 1, with mean 0.5 over space; first and second derivatives are
        continuous.
    """
    i, u = _cell(x)
    j, v = _cell(y)
    k, w = _cell(z)
    a = _along_y(_step(0, i), j, v, k, w)
    b = _along_y(_step(0, i + 1), j, v, k, w)
    return a + (b - a) * u
