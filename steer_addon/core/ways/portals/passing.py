"""Passing: how agents wait for portals, enter them, and move through.

Who heads for a portal and is within `near` of its entrance enters it, the nearest one first, when
nobody comes the other way and the last one that entered has gone on by its own size. It moves along
the line from where it stands to the place at the other end, in the time of the portal, or at its
maximum speed. Walls and ground in between do not count, bodies do: it waits where its next place
would be in another body, which for bodies on different heights is as high as the highest one. So
those on one portal keep their order. Others cannot move it.

The nearest one waits at the entrance. All others, and it too while somebody comes the other way or
is over the entrance, wait `ring` away from it, so that those who come have room.

    near = max(1.5·r, 0.25 m), ring = near + 2·r

Symbols: r radius of the largest body [m].
Source: ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...bounds import lengths
from ...compiled.jit import kernel
from ...numeric.vec import EPSILON, add_scaled, length, load, scale, store, sub, unit
from .declared import Portal

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

ON = "portal"
"""Name of the memory of agents in portals: the portal's key, 0 for none; the share of the line that
is gone; where they began, from its first point [m]; where they end, from its last point [m]."""
KEY, SHARE, BEGIN, END, WIDTH = 0, 1, 2, 5, 8
NEAR = 1.5
"""Entrances are this many radii wide to each side."""
LEAST_NEAR = 0.25
"""They are this wide at least [m]."""
BAND = 0.5
"""Depth of the ring in which others wait [m]."""


class Queue(NamedTuple):
    """Agents that head for portals.

    Attributes:
        rows: Their rows, the first of each portal and direction before the others, shape (n,).
        first: Whether each is the next one to enter, shape (n,).
        shut: Whether it has to wait since somebody comes the other way, shape (n,).
        gap: Distance from the entrance [m], shape (n,).
    """

    rows: I64
    first: Mask
    shut: Mask
    gap: NDArray[np.float64]


def entrance(radius: F32) -> tuple[float, float]:
    """How near agents have to be to enter, and how far away others wait [m]."""
    most = float(radius.max(initial=0.0))
    near = max(NEAR * most, LEAST_NEAR)
    return near, near + 2.0 * most


def queue(portal: NDArray[np.int32], via: F32, position: F32, ids: I64, on: F32) -> Queue:
    """Who waits for portals.

    Args:
        portal: The portal that each agent heads for, 0 for none, shape (agents,).
        via: Its entrance [m], shape (agents, 3).
        position: Places of the agents [m].
        ids: Their ids.
        on: What agents in portals remember, see `ON`, shape (agents, WIDTH).
    """
    rows = np.flatnonzero(portal)
    gap = lengths((via - position)[rows]).astype(np.float64)
    order = np.lexsort((ids[rows], gap, portal[rows]))
    rows, gap = rows[order], gap[order]
    keys = portal[rows]
    first = np.ones(len(rows), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return Queue(rows, first, np.isin(-keys, on[:, KEY].astype(np.int32)), gap)


def above(waits: Queue, via: F32, position: F32, radius: F32, on: F32, tall: float) -> Mask:
    """Whether somebody is over the entrance of each that waits, with no room for a body below.

    Args:
        waits: Those who wait.
        via: Where agents head for [m], shape (agents, 3).
        position: Places of the agents [m].
        radius: Their radii [m].
        on: What agents in portals remember.
        tall: Height of the highest body [m].
    """
    inside = np.flatnonzero(on[:, KEY])
    way = position[inside][None, :] - via[waits.rows][:, None]
    _near, ring = entrance(radius)
    level = np.hypot(way[..., 0], way[..., 1])
    rise = np.abs(way[..., 2])
    found: Mask = ((level < ring) & (rise > 2.0 * radius.max()) & (rise < tall)).any(axis=1)
    return found


def waiting(waits: Queue, via: F32, position: F32, radius: F32) -> None:
    """Let those who wait for portals keep away from the entrance; `via` is changed.

    Args:
        waits: They.
        via: Where agents head for [m], shape (agents, 3).
        position: Places of the agents [m].
        radius: Their radii [m].
    """
    _near, ring = entrance(radius)
    back = ~waits.first | waits.shut
    rows, gap = waits.rows[back], waits.gap[back]
    inside, there = gap < ring, gap <= ring + BAND
    away = position[rows] - via[rows]
    away[:, 2] = 0.0
    size = np.maximum(lengths(away), EPSILON)[:, None]
    out = via[rows] + away / size * np.float32(ring + BAND)
    stays = np.where(there[:, None], position[rows], via[rows])
    via[rows] = np.where(inside[:, None], out, stays)


def entering(waits: Queue, portal: NDArray[np.int32], on: F32, gone: F32, radius: F32) -> I64:
    """Rows of the agents that enter a portal now, one for each portal at most.

    Args:
        waits: Those who wait.
        portal: The portal that each agent heads for, shape (agents,).
        on: What agents in portals remember.
        gone: How far those have come [m], shape (agents,).
        radius: Radii of the agents [m].
    """
    near, _ring = entrance(radius)
    able = np.flatnonzero(waits.first & ~waits.shut & (waits.gap <= near))
    able = able[np.argsort(waits.gap[able], kind="stable")]
    found: list[int] = []
    taken: set[int] = set()
    for i in waits.rows[able].tolist():
        key = int(portal[i])
        ahead = gone[on[:, KEY] == key]
        if abs(key) not in taken and not (ahead < 2.0 * radius.max()).any():
            taken.add(abs(key))
            found.append(i)
    return np.array(found, np.int64)


def line_of(portal: Portal, row: F32) -> F32:
    """The line on which an agent goes [m], shape (n + 2, 3), by what it remembers."""
    points = portal.points if row[KEY] > 0.0 else portal.points[::-1]
    ends = points[:1] + row[BEGIN:END], points[-1:] + row[END:WIDTH]
    found: F32 = np.concatenate([ends[0], points, ends[1]])
    return found


@kernel
def place_on(line, share):
    """The place at a share of a line [m], and the unit direction there."""
    whole = 0.0
    for k in range(len(line) - 1):
        whole += length(sub(load(line, k + 1), load(line, k)))
    left = min(max(share, 0.0), 1.0) * whole
    place, ahead = load(line, len(line) - 1), (0.0, 0.0, 0.0)
    for k in range(len(line) - 1):
        way = sub(load(line, k + 1), load(line, k))
        size = length(way)
        if size > 0.0:
            ahead = unit(way)
            if left <= size:
                return add_scaled(load(line, k), ahead, left), ahead
        left -= size
    return place, ahead


@kernel
def is_free(i, place, there, radius, tall):
    """Whether no other body is where agent i would be, or it would get away from those that are.

    Args:
        i: Its row.
        place: Where all bodies are [m], shape (n, 3).
        there: Where it would be [m].
        radius: Radii [m], shape (n,).
        tall: Height of the highest body [m].
    """
    here = load(place, i)
    for j in range(len(radius)):
        other = load(place, j)
        way = sub(there, other)
        touch = radius[i] + radius[j]
        level = way[0] * way[0] + way[1] * way[1]
        if j == i or level >= touch * touch or abs(way[2]) >= tall:
            continue
        if length(way) < length(sub(here, other)):
            return False
    return True


@kernel
def pass_on(i, line, share, seconds, dt, bodies, place, after):
    """Move an agent on along its line: the share that it has gone then.

    Args:
        i: Its row.
        line: The line [m], shape (n, 3).
        share: The share of it that it has gone.
        seconds: The time that the whole line takes [s].
        dt: Length of the step [s].
        bodies: (radii [m], height of the highest body [m]); the height is 0 where bodies do not
            count.
        place: Where all bodies are [m], shape (n, 3); changed.
        after: (positions [m], velocities [m/s], headings, normals) of the crowd; changed.
    """
    positions, velocities, headings, normals = after
    radius, tall = bodies
    here = load(place, i)
    further = min(share + dt / max(seconds, dt), 1.0)
    there, ahead = place_on(line, further)
    if tall > 0.0 and not is_free(i, place, there, radius, tall):
        there, further = here, share
    store(place, i, there)
    store(positions, i, there)
    store(velocities, i, scale(sub(there, here), 1.0 / dt))
    store(normals, i, (0.0, 0.0, 1.0))
    level = math.sqrt(ahead[0] * ahead[0] + ahead[1] * ahead[1])
    if level > 0.1:
        store(headings, i, (ahead[0] / level, ahead[1] / level, 0.0))
    return further
