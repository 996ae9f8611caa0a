"""Buckets of cells by distance, in which each cell stands once: the nearest bucket comes first.

Of a bucket, the cell that was put in last comes first. A ring of buckets holds all that is less
than the ring away from the bucket whose turn it is; what is farther waits in the last one, and is
put in again from there.

`heads` has the first cell of each bucket, shape (RING,), and `before` and `after` the cells next to
each one in its bucket, shape (cells,): -1 is none, and the first one of a bucket has -2 - bucket
before it.

Source: Dial 1969, "Algorithm 360: Shortest-Path Forest with Topological Ordering".
"""

from __future__ import annotations

from ...compiled.jit import kernel

RING = 1 << 10
"""Number of buckets."""
_LAST = RING - 1


@kernel
def put(cell, bucket, now, heads, before, after):
    """Put a cell that is in no bucket into one.

    Args:
        cell: The cell.
        bucket: Number of the bucket, from 0 without end.
        now: The one whose turn it is.
        heads: See above.
        before: See above.
        after: See above.
    """
    bucket = min(max(bucket, now), now + _LAST) & _LAST
    first = heads[bucket]
    heads[bucket], after[cell], before[cell] = cell, first, -2 - bucket
    if first >= 0:
        before[first] = cell


@kernel
def drop(cell, heads, before, after):
    """Take a cell out of its bucket."""
    behind, ahead = after[cell], before[cell]
    if behind >= 0:
        before[behind] = ahead
    if ahead >= 0:
        after[ahead] = behind
    else:
        heads[-2 - ahead] = behind


@kernel
def nearest(now, keys, heads, before, after):
    """A cell of the nearest bucket, in which it stays: (the bucket whose turn it is, the cell).

    Args:
        now: A bucket before which there are none with cells; there are some.
        keys: Which bucket each cell belongs in, whole and part.
        heads: See above.
        before: See above.
        after: See above.
    """
    while True:
        while heads[now & _LAST] < 0:
            now += 1
        cell = heads[now & _LAST]
        if keys[cell] < now + 1:
            return now, int(cell)
        # it is farther than the ring went when it was put in
        drop(cell, heads, before, after)
        put(cell, int(keys[cell]), now, heads, before, after)
