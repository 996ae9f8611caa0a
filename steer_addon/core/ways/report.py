"""What a surface is: its size, its islands, and how long it takes to find them and a way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .ahead.found import takes_long
from .ahead.progress import found_surface
from .classes import class_radii
from .islands import find_roots, islands_at
from .known import Blocks, boxes_of
from .lattice import middles_of
from .looking import Islands, islands_of
from .room import BLOCKED
from .searching import Scratch, fill_field
from .surface import Bounds, Shape, Surface, bounds_of, lattice_of, make_surface

F32 = NDArray[np.float32]

FIELD_BYTES = 8
"""Memory of a field for each cell: its next corner, and the length of its way."""

COARSE = 16
"""How much larger the cells of large surfaces are while kernels are loaded."""

_Found = TypeVar("_Found")


class ClassReport(NamedTuple):
    """Bodies of about one size on a surface.

    Attributes:
        radius: Radius of the largest of them [m].
        agents: How many they are.
        cells: Cells in which they have room.
        islands: Number of islands.
        largest: Area of the largest island [m²], 0 for none.
        portals: Number of portals that join places for them.
    """

    radius: float
    agents: int
    cells: int
    islands: int
    largest: float
    portals: int


class Report(NamedTuple):
    """What a surface is.

    Attributes:
        cell_size: Size of a cell [m]; larger than asked for where memory would not do.
        columns: Columns of the lattice.
        cells: Walkable cells.
        layers: Most cells above one another.
        bytes: Memory of the surface, and of the room on it.
        field_bytes: Memory of the ways to one goal.
        classes: Bodies by their size, the largest first.
        seconds: How long it took to find the "surface", the "room" of the largest bodies with its
            islands, and a "field": all ways to one goal.
    """

    cell_size: float
    columns: int
    cells: int
    layers: int
    bytes: int
    field_bytes: int
    classes: tuple[ClassReport, ...]
    seconds: dict[str, float]


def report(shape: Shape, blocks: Blocks, goals: F32, radius: F32) -> Report:
    """Find a surface, its islands and the ways to a goal, and tell what they are.

    Args:
        shape: What the surface is made for.
        blocks: What it is found on.
        goals: Places of the goals [m], shape (n, 3); the first one is taken, without any a place on
            the largest island.
        radius: Radii of the agents [m], shape (agents,), one at least.
    """
    radii, counts = np.unique(class_radii(radius), return_counts=True)
    bounds = bounds_of(blocks.ground, blocks.colliders, goals, boxes_of(blocks.areas))
    options = blocks, bounds, goals, float(radii[-1])
    # this loads kernels
    factor = COARSE if takes_long(shape, bounds) else 1
    _find(replace(shape, cell_size=factor * lattice_of(shape, bounds)[0]), *options)
    surface, found, seconds = _find(shape, *options)
    every = [found, *(islands_of(surface, blocks, float(each)) for each in radii[-2::-1])]
    classes = tuple(
        ClassReport(
            float(each),
            int(count),
            int((islands.room.state != BLOCKED).sum()),
            len(islands.area),
            float(islands.area.max(initial=0.0)),
            len(np.unique(np.abs(islands.room.portal))),
        )
        for each, count, islands in zip(radii[::-1], counts[::-1], every, strict=True)
    )
    room = sum(array.nbytes for islands in every for array in (*islands.room, *islands.label))
    view = surface.view
    return Report(
        cell_size=view.size,
        columns=view.nx * view.ny,
        cells=surface.floors,
        layers=surface.layers,
        bytes=surface.bytes + room,
        field_bytes=FIELD_BYTES * surface.count,
        classes=classes,
        seconds=seconds,
    )


def _find(
    shape: Shape, blocks: Blocks, bounds: Bounds, goals: F32, radius: float
) -> tuple[Surface, Islands, dict[str, float]]:
    """A surface, its islands for bodies of a radius, and `Report.seconds`."""
    options = shape, blocks.ground, blocks.colliders, bounds, blocks.level, found_surface
    surface, for_surface = _timed(lambda: make_surface(*options))
    islands, for_room = _timed(lambda: islands_of(surface, blocks, radius))
    _none, for_field = _timed(lambda: _fill(surface, islands, goals))
    return surface, islands, {"surface": for_surface, "room": for_room, "field": for_field}


def _timed(call: Callable[[], _Found]) -> tuple[_Found, float]:
    """The result of a call, and its time [s]."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def _fill(surface: Surface, islands: Islands, goals: F32) -> None:
    """Find the ways to a goal."""
    view, cells, count = surface.view, surface.count, len(islands.area)
    if not count:
        return
    goal: Any = goals[0] if len(goals) else _place_on(surface, int(islands.area.argmax()), islands)
    roots = find_roots(view, islands.room, islands.label, count, goal)
    corner, distance = np.empty(cells, np.int32), np.empty(cells, np.float32)
    fill_field(view, islands.room, roots, None, (corner, distance), Scratch())


def _place_on(surface: Surface, island: int, islands: Islands) -> tuple[float, float, float]:
    """The middle of the first cell of an island."""
    cells = np.flatnonzero(islands.room.state != BLOCKED)
    first = (islands_at(islands.label, islands.room, cells) == island).argmax()
    x, y, z = middles_of(surface.view, cells[first : first + 1])[0].tolist()
    return x, y, z
