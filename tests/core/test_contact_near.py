"""Whom agents may touch: the same lists whether neighbors are known already or not."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.contacts.near import Known, find_near
from steer_addon.core.geometry import neighbors

COUNT = 400


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("side", [2.0, 12.0, 40.0])
@pytest.mark.parametrize("most", [1, 10, COUNT])
def test_known_neighbors_change_no_list(flat: bool, side: float, most: int) -> None:
    rng = np.random.default_rng(most)
    position = rng.uniform(0.0, side, (COUNT, 3)).astype(np.float32)
    position[:, 2] *= 0.2
    position[1] = position[0]
    ids = rng.permutation(COUNT)
    radius = rng.uniform(0.1, 0.4, COUNT).astype(np.float32)
    wish, backing = rng.uniform(0.0, 0.3, COUNT), np.full(COUNT, 0.05)
    reach = rng.uniform(0.0, 6.0, COUNT).astype(np.float32)
    kept, around = np.array([most], np.float32), np.array([360.0], np.float32)
    heading = np.tile(np.array([1.0, 0.0, 0.0], np.float32), (COUNT, 1))
    grid = neighbors.build_grid(position, float(reach.max()), most)
    seen = neighbors.find(grid, position, heading, ids, reach, kept, around)
    asked = (position, ids, radius, wish, backing, 0.3, flat)
    searched, told = find_near(*asked)[0], find_near(*asked, Known(seen, reach, kept))[0]
    assert searched.count.sum() > 0
    assert np.array_equal(searched.count, told.count)
    for row, length in enumerate(searched.count):
        assert np.array_equal(searched.index[row, :length], told.index[row, :length])
    for name in ("span", "end", "last", "deep"):
        assert np.array_equal(getattr(searched, name), getattr(told, name)), name
