"""Walkable surface: cells on all storeys, stairs, ramps and bridges, with their clearance.

Cells of one size lie in columns. Rays go down through each column and find its floors (`floors`);
neighbors are linked where their heights differ by at most the step height, beside what the slope of
the ground explains, and where no wall is between them; each cell knows how far the next thing is
that stops a body (`clearance`). So one surface serves bodies of all radii up to its reach.

Source: ours; layered cells are known from Mononen 2009, "Recast Navigation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..geometry.ground import min_up
from ..views import BvhView, SurfaceView
from .clearance import clearance_kernel, corner_links_kernel, links_kernel
from .floors import floors_kernel, gather_kernel, mean_floors, slopes_kernel
from .lattice import MOST_ALONG, MOST_LAYERS

F32 = NDArray[np.float32]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

MOST_COLUMNS = 1 << 24
"""Columns of the largest lattice; larger scenes get larger cells."""
MOST_CELLS = 1 << 25
"""Cells of all storeys of the largest surface, about; with more of them cells are larger too."""
CELLS_REACH = 1.02
"""Clearance is known up to this many cells at least: nothing is between open cells then, and rays
need not look for it."""
BAND = 1 << 18
"""Columns or cells that are looked at at a time."""
Told = Callable[[float], None]
_FLOORS, _CLEARED = 0.25, 0.6
"""Share of the time that floors take, and clearance of the rest."""
PAD = 3.0
"""Room around the colliders where there is no terrain [m]."""


@dataclass(frozen=True)
class Shape:
    """What a surface is made for.

    Attributes:
        cell_size: Size of a cell [m].
        step_height: Highest step [m].
        max_slope: Steepest slope [deg].
        height: Height of the bodies [m].
        reach: Distance up to which clearance counts: the largest radius [m].
    """

    cell_size: float
    step_height: float
    max_slope: float
    height: float
    reach: float

    @property
    def body(self) -> tuple[float, float, float, float]:
        """What kernels know of a body, see `clearance.clearance_at`."""
        up = min_up(self.max_slope)
        slant = min(math.tan(math.radians(self.max_slope)), 1.0)
        return self.step_height, max(self.height, self.step_height + 0.01), up, slant


class Bounds(NamedTuple):
    """What a lattice covers: low and high corners [m], shape (3,)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """Walkable cells.

    Attributes:
        view: What kernels read.
        shape: What it is made for; its cell size is that of the cells.
    """

    view: SurfaceView
    shape: Shape

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.view.z)

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self.view if isinstance(array, np.ndarray))

    def within(self, low: F32, high: F32) -> I64:
        """The cells over a rectangle, its edges [m] included.

        Args:
            low: Its low corner, shape (2,).
            high: Its high corner.
        """
        view = self.view
        corners = (np.stack([low, high]).astype(np.float64)[:, :2] - view.low) / view.size
        first = np.clip(np.floor(corners[0]), 0, [view.nx, view.ny]).astype(np.int64)
        last = np.clip(np.floor(corners[1]) + 1, 0, [view.nx, view.ny]).astype(np.int64)
        rows = np.arange(first[1], last[1])
        begin, end = view.first[rows * view.nx + first[0]], view.first[rows * view.nx + last[0]]
        parts = [np.arange(a, b) for a, b in zip(begin, end, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def slopes(self, cells: I64, ground: BvhView) -> F32:
        """How much the ground rises along x and y in some of the cells, shape (n, 2)."""
        found = np.zeros((len(cells), 2), np.float32)
        parallel_for(slopes_kernel, len(cells), cells, self.view, ground, found)
        return found

    def updated(
        self, cells: I64, ground: BvhView, colliders: BvhView, told: Told = lambda share: None
    ) -> Surface:
        """The surface after colliders moved near some of its cells, and nowhere else.

        Args:
            cells: These cells.
            ground: The terrain.
            colliders: What blocks.
            told: Called with the share that is done, 0 to 1.
        """
        if not len(cells):
            return self
        view = self.view
        view = view._replace(clear=view.clear.copy(), link=view.link.copy())
        body, reach = self.shape.body, self.shape.reach
        blocks = (ground, colliders, body)
        bands = np.array_split(cells, -(-len(cells) // BAND))
        for number, band in enumerate(bands):
            told(_CLEARED * number / len(bands))
            parallel_for(clearance_kernel, len(band), band, view, *blocks, float(reach), view.clear)
        for number, band in enumerate(bands):
            told(_CLEARED + (1.0 - _CLEARED) * number / len(bands))
            parallel_for(links_kernel, len(band), band, view, *blocks, view.link)
        sides = view._replace(link=view.link.copy())
        parallel_for(corner_links_kernel, len(cells), cells, sides, view.link)
        return replace(self, view=view)


def bounds_of(ground: BvhView, colliders: BvhView, goals: F32, areas: Sequence[Any] = ()) -> Bounds:
    """What a lattice has to cover: the terrain, or else colliders and areas, and room around them.

    Args:
        ground: The terrain; empty for none.
        colliders: What blocks.
        goals: Places that count where there is neither [m], shape (n, 3).
        areas: Low and high corners of areas [m], shape (6,) each.
    """
    if len(ground.box):
        box = ground.box[0].astype(np.float64)
        return Bounds(box[:3], box[3:])
    boxes = [*colliders.box[:1], *areas]
    points = np.concatenate(boxes).reshape(-1, 3) if boxes else goals.reshape(-1, 3)
    if not len(points):
        points = np.zeros((1, 3), np.float32)
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    return Bounds(low - PAD, high + PAD)


def lattice_of(shape: Shape, bounds: Bounds) -> tuple[float, NDArray[np.float64], tuple[int, int]]:
    """Size of cells [m], low corner [m] and number of columns along x and y."""
    extent = np.maximum(bounds.high[:2] - bounds.low[:2], shape.cell_size)
    size = math.sqrt(float(extent[0] * extent[1]) / MOST_COLUMNS)
    size = max(shape.cell_size, size, float(extent.max()) / (MOST_ALONG - 2))
    low = np.floor(bounds.low[:2] / size) * size
    count = np.maximum(np.ceil((bounds.high[:2] - low) / size), 1.0).astype(np.int64)
    return size, low, (int(count[0]), int(count[1]))


def make_surface(
    shape: Shape,
    ground: BvhView,
    colliders: BvhView,
    bounds: Bounds,
    level: float = 0.0,
    told: Told = lambda share: None,
) -> Surface:
    """Find all that can be walked on.

    Args:
        shape: What it is made for; where that would take more than `MOST_COLUMNS` or `MOST_CELLS`,
            cells are larger.
        ground: The terrain; empty for a plane.
        colliders: What blocks.
        bounds: What to cover.
        level: Height of the plane [m].
        told: Called with the share that is done, 0 to 1.
    """
    shape = _affordable(shape, ground, bounds)
    size, low, (nx, ny) = lattice_of(shape, bounds)
    shape = with_cells(shape, size)
    if len(ground.box):
        floors = shape, ground, bounds, low, (nx, ny), lambda share: told(_FLOORS * share)
        first, at, z = _floors(*floors)
    else:
        first, at, z = _plane(nx, ny, level)
    cells = len(z)
    view = SurfaceView(
        low=low,
        size=float(size),
        nx=nx,
        ny=ny,
        first=first,
        at=at,
        z=z,
        endless=len(ground.box) == 0,
        link=np.zeros(cells, np.uint32),
        clear=np.full(cells, shape.reach, np.float32),
    )
    made = Surface(view, shape)
    return made.updated(
        np.arange(cells), ground, colliders, lambda share: told(_FLOORS + (1.0 - _FLOORS) * share)
    )


def with_cells(shape: Shape, size: float) -> Shape:
    """What a surface is made for whose cells have a size [m]."""
    return replace(shape, cell_size=size, reach=max(shape.reach, CELLS_REACH * size))


def _affordable(shape: Shape, ground: BvhView, bounds: Bounds) -> Shape:
    """A shape with cells so large that there are `MOST_CELLS` at most, about."""
    size, _low, (nx, ny) = lattice_of(shape, bounds)
    if not len(ground.box) or nx * ny * MOST_LAYERS <= MOST_CELLS:
        return shape
    share = nx * ny * mean_floors(ground, *bounds, shape.body) / MOST_CELLS
    return shape if share <= 1.0 else replace(shape, cell_size=size * math.sqrt(share))


def _plane(nx: int, ny: int, level: float) -> tuple[I32, I16, F32]:
    """One level cell in each column."""
    count = nx * ny
    numbers = np.arange(count + 1, dtype=np.int32)
    z = np.full(count, level, np.float32)
    at = np.stack([numbers[:-1] % nx, numbers[:-1] // nx], axis=1).astype(np.int16)
    return numbers, at, z


def _floors(
    shape: Shape,
    ground: BvhView,
    bounds: Bounds,
    low: NDArray[np.float64],
    count: tuple[int, int],
    told: Told,
) -> tuple[I32, I16, F32]:
    """All floors of the terrain as cells."""
    nx, columns = count[0], count[0] * count[1]
    first = np.zeros(columns + 1, np.int32)
    lattice = (float(low[0]), float(low[1]), float(shape.cell_size), nx)
    span = (float(bounds.high[2]) + 1.0, float(bounds.low[2]) - 1.0)
    _step, height, up, _slant = shape.body
    parts = []
    for begin in range(0, columns, BAND):
        told(begin / columns)
        rows = min(BAND, columns - begin)
        found = np.zeros(rows, np.int32)
        level = np.zeros((rows, MOST_LAYERS), np.float32)
        options = lattice, ground, span, height, up
        parallel_for(floors_kernel, rows, begin, *options, found, level)
        # kept band by band: the room for the most floors is for few of the columns
        np.cumsum(found, out=first[begin + 1 : begin + rows + 1])
        cells, own = int(found.sum()), first[begin : begin + rows + 1].copy()
        own[0] = 0
        at, z = np.zeros((cells, 2), np.int16), np.zeros(cells, np.float32)
        parallel_for(gather_kernel, rows, begin, nx, found, level, own, at, z)
        first[begin + 1 : begin + rows + 1] += first[begin]
        parts.append((at, z))
    at, z = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return first, at, z
