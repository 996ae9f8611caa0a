"""Random numbers as Blender's node *Random Value* draws them, by id and seed.

So a choice that the nodes show before a simulation is the one that the simulation makes.

Source: Jenkins 2006, "lookup3.c" (public domain), for two words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_START = 0xDEADBEEF + (2 << 2) + 13
_TURNS = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
"""Steps of the mixing: a word takes in another one, turned left by bits."""


def random_floats(ids: Any, seed: int) -> NDArray[np.float32]:
    """Numbers from 0 to 1, as those of the node for floats from 0 to 1.

    Args:
        ids: Ids of points, shape (count,); the node knows their low 32 bits.
        seed: Its seed.
    """
    with np.errstate(over="ignore"):
        low = np.asarray(ids, np.int64).astype(np.uint32)
        words = [np.full(low.shape, _START & 0xFFFFFFFF, np.uint32) for _ in range(3)]
        words[0] += np.uint32(seed & 0xFFFFFFFF)
        words[1] += low
        for to, of, bits in _TURNS:
            other = words[of]
            turned = (other << np.uint32(bits)) | (other >> np.uint32(32 - bits))
            words[to] = (words[to] ^ other) - turned
    result: NDArray[np.float32] = words[2].astype(np.float32) / np.float32(0xFFFFFFFF)
    return result
