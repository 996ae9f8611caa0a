"""Keeping out: walkers stop at the edge of forbidden areas, and slide along it.

Ways lead round forbidden areas, yet people leave them to give way to others. An agent whose own
step leads into a forbidden cell, or deeper into such cells, keeps the part of the step along x or
y, whichever is longer and leads no deeper. Bodies that touch may still push each other in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import kernel
from ...numeric.vec import load, scale, store, sub
from ...views import RoomView, SurfaceView
from ..lattice import cell_at, neighbor_of
from ..room import BLOCKED, FORBIDDEN


@kernel
def depth_kernel(surface, room, depth, waiting):
    """How many cells it is out of forbidden cells, 0 in others; -1 where no way leads out."""
    size = 0
    for cell in range(len(depth)):
        depth[cell] = -1 if room.state[cell] == FORBIDDEN else 0
        if room.state[cell] not in (BLOCKED, FORBIDDEN):
            waiting[size] = cell
            size += 1
    first = 0
    while first < size:
        cell = waiting[first]
        first += 1
        for side in range(8):
            other = neighbor_of(surface, cell, side)
            if other >= 0 and depth[other] < 0:
                depth[other], waiting[size] = depth[cell] + 1, other
                size += 1


def depths(surface: SurfaceView, room: RoomView) -> NDArray[np.int32]:
    """`depth_kernel` for all cells, shape (cells,)."""
    depth, waiting = np.zeros(len(surface.z), np.int32), np.zeros(len(surface.z), np.int32)
    depth_kernel(surface, room, depth, waiting)
    return depth


@kernel
def _depth(surface, depth, place):
    """How deep in forbidden cells a place is [cells]."""
    cell = cell_at(surface, place[0], place[1], place[2])
    return int(depth[cell]) if cell >= 0 else 0


@kernel
def keep_out_kernel(start, stop, rows, surface, depth, before, normals, dt, positions, velocities):
    """Take back what leads agents into forbidden cells, or deeper.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents.
        surface: SurfaceView.
        depth: See `depths`.
        before: Where agents were [m].
        normals: Normals of the ground where they are now.
        dt: Length of the step [s].
        positions: Where they are [m], changed.
        velocities: Their velocities [m/s], changed.
    """
    for k in range(start, stop):
        i = rows[k]
        old, new = load(before, i), load(positions, i)
        most = _depth(surface, depth, old)
        if most < 0 or _depth(surface, depth, new) <= most:
            continue
        x, y, up = new[0] - old[0], new[1] - old[1], load(normals, i)
        steep = max(up[2], 0.1)
        # along one axis, on the plane of the ground
        only_x = (new[0], old[1], old[2] - up[0] * x / steep)
        only_y = (old[0], new[1], old[2] - up[1] * y / steep)
        first, second = (only_x, only_y) if abs(x) >= abs(y) else (only_y, only_x)
        kept = old
        if _depth(surface, depth, first) <= most:
            kept = first
        elif _depth(surface, depth, second) <= most:
            kept = second
        store(positions, i, kept)
        store(velocities, i, scale(sub(kept, old), 1.0 / dt))
