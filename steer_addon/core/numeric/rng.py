"""Counter-based random numbers: the same bits for the same (seed, agent id, step, purpose).

There is no state: a number depends on nothing but its four names, so neither the order of agents,
nor threads, nor earlier calls, nor resuming a run can change it.

Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3",
Philox4x32 with 10 rounds.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from ..compiled.jit import kernel
from ..errors import ParameterError

_MASK = 0xFFFFFFFF
_TO_UNIT = 1.0 / 4294967296.0
_MULTIPLIER_0 = 0xD2511F53
_MULTIPLIER_1 = 0xCD9E8D57
_WEYL_0 = 0x9E3779B9
_WEYL_1 = 0xBB67AE85
_ROUNDS = 10
_ATTEMPTS = 16
_ATTEMPT_SHIFT = 16
_NUMBERED = 256
"""Purposes below this were numbered by hand: 1, 2, 6 and 7 are in use, 3 to 5 never were."""
_PURPOSES = 1 << _ATTEMPT_SHIFT

_taken: dict[int, str] = {}


def random_purpose(name: str, number: int | None = None) -> int:
    """The purpose of random draws that carry a name: a constant of the module that draws them.

    Two draws of the same agent in the same step are independent exactly when their purposes differ.

    Args:
        name: What is drawn for, such as the type of a behavior.
        number: The purpose itself, for those that had one before purposes had names; None derives
            one from the name, the same in every process and on every machine.

    Raises:
        ParameterError: Another name has the same number.
    """
    if number is None:
        number = _NUMBERED + zlib.crc32(name.encode()) % (_PURPOSES - _NUMBERED)
    other = _taken.setdefault(number, name)
    if other != name:
        raise ParameterError(
            f"random purpose {name!r} has the number {number} of {other!r}: choose another name"
        )
    return number


@kernel
def philox(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10: a counter and a key of 32-bit words give four random 32-bit words.

    Args:
        c0: First word of the counter, a whole number from 0 to 2^32 - 1.
        c1: Second word, likewise.
        c2: Third word, likewise.
        c3: Fourth word, likewise.
        k0: First word of the key, likewise.
        k1: Second word of the key, likewise.

    Returns:
        Four whole numbers from 0 to 2^32 - 1.
    """
    for _ in range(_ROUNDS):
        # Products need 64 unsigned bits. Compiled, they wrap to a negative number and the shift
        # drags its sign along; the mask cuts that off, so both ways give the same 32 bits.
        p0 = _MULTIPLIER_0 * c0
        p1 = _MULTIPLIER_1 * c2
        n0 = ((p1 >> 32) & _MASK) ^ c1 ^ k0
        n2 = ((p0 >> 32) & _MASK) ^ c3 ^ k1
        c1 = p1 & _MASK
        c3 = p0 & _MASK
        c0 = n0
        c2 = n2
        k0 = (k0 + _WEYL_0) & _MASK
        k1 = (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


def drawn_words(seed: int, ids: Any, purpose: int, step: Any = 0) -> tuple[Any, ...]:
    """Four random words of 32 bits for each id, each of shape (agent_count,).

    Args:
        seed: Random seed.
        ids: Ids of the agents, shape (agent_count,).
        purpose: See `random_purpose`.
        step: Number of the draw from 0 to 2^32 - 1, one or of shape (agent_count,).
    """
    number, none = np.asarray(ids, np.int64), np.zeros(len(ids), np.int64)
    low, high = number & _MASK, (number >> 32) & _MASK
    keys = seed & _MASK, (seed >> 32) & _MASK
    # not compiled: it is called seldom
    words: tuple[Any, ...] = philox.__wrapped__(low, high, none + step, none + purpose, *keys)
    return words


@kernel
def uniform4(seed, agent_id, step, purpose):
    """Four independent numbers in [0, 1), each a multiple of 2^-32.

    Args:
        seed: Seed of the crowd, any 64-bit whole number.
        agent_id: Identity of the agent, any 64-bit whole number.
        step: Number of the step; its low 32 bits count.
        purpose: From `random_purpose`.

    Returns:
        Four 64-bit floats.
    """
    # int() first: without numba these may be NumPy scalars, whose products warn on overflow
    low = int(agent_id) & _MASK
    high = (int(agent_id) >> 32) & _MASK
    k0 = int(seed) & _MASK
    k1 = (int(seed) >> 32) & _MASK
    a, b, c, d = philox(low, high, int(step) & _MASK, int(purpose) & _MASK, k0, k1)
    return a * _TO_UNIT, b * _TO_UNIT, c * _TO_UNIT, d * _TO_UNIT


@kernel
def uniform(seed, agent_id, step, purpose):
    """One number in [0, 1): the first of `uniform4` with the same arguments."""
    return uniform4(seed, agent_id, step, purpose)[0]


@kernel
def unit_vector(seed, agent_id, step, purpose):
    """A direction, uniform on the unit sphere, as a tuple (x, y, z) of 64-bit floats.

    Points are drawn in a square until one lies in the unit disc, and lifted to the sphere
    (Marsaglia 1972, "Choosing a point from the surface of a sphere"). Unlike sine and cosine,
    whose last bit differs between math libraries, this gives the same bits on every machine.
    Attempt number n draws with `purpose` + 65536·n.
    """
    for attempt in range(_ATTEMPTS):
        a, b, c, d = uniform4(seed, agent_id, step, purpose + (attempt << _ATTEMPT_SHIFT))
        x = 2.0 * a - 1.0
        y = 2.0 * b - 1.0
        s = x * x + y * y
        if s >= 1.0:
            x = 2.0 * c - 1.0
            y = 2.0 * d - 1.0
            s = x * x + y * y
        if s < 1.0:
            factor = 2.0 * math.sqrt(1.0 - s)
            return x * factor, y * factor, 1.0 - 2.0 * s
    # Chance of getting here: (1 - pi/4)^32, about 4e-22.
    return 0.0, 0.0, 1.0
