"""A heap of cells by distance, in which each cell stands once: the nearest one comes first.

Of cells at one distance the one with the lowest number does: so the order of some cells does not
depend on what others are in the heap.

`heap` holds the cells and `keys` their distances, shape (cells,); `place` is where each cell stands
in them, -1 for not in it.
"""

from __future__ import annotations

from ..compiled.jit import kernel


@kernel
def rise(cell, key, size, heap, keys, place):
    """Put a cell into the heap, or let it rise as its distance became less: the new size."""
    at = int(place[cell])
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] < key or (keys[above] == key and heap[above] < cell):
            break
        heap[at], keys[at] = heap[above], keys[above]
        place[heap[at]] = at
        at = above
    heap[at], keys[at], place[cell] = cell, key, at
    return size


@kernel
def take(size, heap, keys, place):
    """Take the nearest cell out: (the cell, the new size)."""
    first = int(heap[0])
    size -= 1
    place[first] = -1
    if size > 0:
        cell, key, at = heap[size], keys[size], 0
        while True:
            below = 2 * at + 1
            if below >= size:
                break
            if below + 1 < size and keys[below + 1] <= keys[below]:
                if keys[below + 1] < keys[below] or heap[below + 1] < heap[below]:
                    below += 1
            if keys[below] > key or (keys[below] == key and heap[below] > cell):
                break
            heap[at], keys[at] = heap[below], keys[below]
            place[heap[at]] = at
            at = below
        heap[at], keys[at], place[cell] = cell, key, at
    return first, size
