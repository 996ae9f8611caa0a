"""Random numbers of the node Random Value, which Blender 4.5, 5.0 and 5.2 gave."""

from __future__ import annotations

import numpy as np

from steer_addon.core.numeric.node_random import random_floats


def test_numbers_are_those_of_the_node():
    found = random_floats([-500, 7419, 15338], -5)
    assert found.tolist() == [np.float32(x) for x in (0.25333557, 0.08976302, 0.12543747)]


def test_ids_beyond_32_bits_count_by_their_low_bits():
    assert np.array_equal(random_floats([7, -1], 3), random_floats([7 + 2**32, 2**32 - 1], 3))
