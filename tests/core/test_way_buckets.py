"""Buckets give cells out by distance, whatever is put in, taken out and put in again between."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.ways.fields.buckets import RING, drop, nearest, put

FAR = 3.5 * RING
gaps = st.one_of(st.floats(0.0, 4.0), st.floats(0.0, FAR))


@given(
    first=st.lists(gaps, min_size=1, max_size=20),
    later=st.lists(st.tuples(st.integers(0, 19), gaps), max_size=40),
)
def test_cells_come_bucket_by_bucket(first, later):
    keys = np.array(first, np.float32)
    heads = np.full(RING, -1, np.int32)
    before, after = np.zeros((2, len(keys)), np.int32)
    waits, now, order = set(range(len(keys))), 0, []
    for cell in waits:
        put(cell, int(keys[cell]), now, heads, before, after)
    while waits:
        now, cell = nearest(now, keys, heads, before, after)
        # the least that waits is in the same bucket
        assert int(keys[cell]) == min(int(keys[other]) for other in waits) == now
        drop(cell, heads, before, after)
        waits.remove(cell)
        order.append(cell)
        if later:
            # one that waits comes nearer, but not before the bucket whose turn it is
            other, gap = later.pop()
            if other in waits and now + gap < keys[other]:
                drop(other, heads, before, after)
                keys[other] = now + gap
                put(other, int(keys[other]), now, heads, before, after)
    assert sorted(order) == list(range(len(keys))) and (heads == -1).all()
