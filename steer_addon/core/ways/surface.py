"""Walkable surface: cells on all storeys, stairs, ramps and bridges, with their clearance.

Cells of one size lie in columns. Rays go down through each column and find its floors (`floors`);
neighbors are linked where their heights differ by at most the step height, beside what the slope of
the ground explains, and where no wall is between them; each cell knows how far the next thing is
that stops a body (`clearance`). So one surface serves bodies of all radii up to its reach.

Source: ours; layered cells are known from Mononen 2009, "Recast Navigation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..geometry.ground import min_up
from ..views import BvhView, SurfaceView
from .clearance import SHARES, clearance_kernel, corner_links_kernel, links_kernel
from .floors import floors_kernel, mean_floors, slopes_kernel
from .lattice import (
    BLOCK,
    BLOCK_BITS,
    LAYERED,
    MOST_ALONG,
    MOST_LAYERS,
    VOID,
    side_step,
)

F32 = NDArray[np.float32]
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
        """Number of cells, and of columns where there are none."""
        return len(self.view.z)

    @property
    def floors(self) -> int:
        """Number of cells."""
        return int((self.view.z != VOID).sum())

    @property
    def layers(self) -> int:
        """Most cells above one another."""
        above = np.diff(self.view.first, axis=1).max(initial=0)
        return int(above) + int(self.floors > 0)

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
        spans = rows[:, None] * view.nx + np.array([first[0], last[0]])
        if len(view.above):
            # numbers of one type, or all columns would be converted
            above = np.searchsorted(view.above, spans.astype(np.int32))
            spans = np.concatenate([spans, view.nx * view.ny + above])
        parts = [np.arange(a, b) for a, b in spans.tolist()]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def slopes(self, cells: I64, ground: BvhView) -> F32:
        """How much the ground rises along x and y in some of the cells, shape (n, 2)."""
        found = np.zeros((len(cells), 2), np.float32)
        parallel_for(slopes_kernel, len(cells), cells, self.view, ground, found)
        return found

    def links_of(self, cells: I64) -> NDArray[np.uint32]:
        """The links of some cells, as they are kept: equal where all of them are the same."""
        view = self.view
        layered = cells[view.link[cells] == LAYERED]
        beyond = layered - view.nx * view.ny
        block = view.row[np.where(beyond < 0, layered, 0) >> BLOCK_BITS]
        lowest, above = BLOCK * block + layered % BLOCK, BLOCK * len(view.first) + beyond
        return np.concatenate([view.link[cells], view.wide[np.where(beyond < 0, lowest, above)]])

    def updated(self, cells: I64, ground: BvhView, colliders: BvhView) -> Surface:
        """The surface after colliders moved near some of its cells, and nowhere else.

        Args:
            cells: These cells.
            ground: The terrain.
            colliders: What blocks.
        """
        if not len(cells):
            return self
        view = self.view
        view = view._replace(clear=view.clear.copy(), link=view.link.copy(), wide=view.wide.copy())
        _fill(view, self.shape, cells, ground, colliders)
        return replace(self, view=view)


def _fill(
    view: SurfaceView,
    shape: Shape,
    cells: I64 | None,
    ground: BvhView,
    colliders: BvhView,
    told: Told = lambda share: None,
) -> None:
    """Find clearance and links of some cells, None for all.

    Args:
        view: The cells; changed.
        shape: What they are made for.
        cells: Which of them.
        ground: The terrain.
        colliders: What blocks.
        told: Called with the share that is done, 0 to 1.
    """
    blocks, count = (ground, colliders, shape.body), len(view.z)
    total = count if cells is None else len(cells)
    for number, band in enumerate(bands(cells, count)):
        told(_CLEARED * number * BAND / total)
        parallel_for(clearance_kernel, len(band), band, view, *blocks, view.clear)
    for number, band in enumerate(bands(cells, count)):
        told(_CLEARED + (1.0 - _CLEARED) * number * BAND / total)
        parallel_for(links_kernel, len(band), band, view, *blocks, view.link, view.wide)
    for band in bands(cells, count):
        parallel_for(corner_links_kernel, len(band), band, view, view.link, view.wide)


def bands(cells: I64 | None, count: int, backward: bool = False) -> Iterator[I64]:
    """Some of a number of cells, None for all, `BAND` at a time; maybe the last ones first."""
    total = count if cells is None else len(cells)
    begins = range(0, total, BAND)
    for begin in reversed(begins) if backward else begins:
        end = min(begin + BAND, total)
        yield np.arange(begin, end) if cells is None else cells[begin:end]


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
    z, above = np.full(nx * ny, level, np.float32), np.zeros(0, np.int32)
    if len(ground.box):
        floors = shape, ground, bounds, low, (nx, ny), lambda share: told(_FLOORS * share)
        above = _floors(*floors, z)
    layered = _layered(nx, ny, above)
    view = SurfaceView(
        low=low,
        size=float(size),
        nx=nx,
        ny=ny,
        inverse=1.0 / nx,
        reach=float(shape.reach),
        endless=len(ground.box) == 0,
        z=z,
        clear=np.full(len(z), SHARES, np.uint8),
        link=_no_links(layered, nx * ny, len(z)),
        row=np.where(layered, np.cumsum(layered) - 1, -1).astype(np.int32),
        first=_first(layered, nx * ny, above),
        above=above,
        wide=np.zeros(BLOCK * int(layered.sum()) + len(above), np.uint32),
    )
    _fill(
        view,
        shape,
        None,
        ground,
        colliders,
        lambda share: told(_FLOORS + (1.0 - _FLOORS) * share),
    )
    return Surface(view, shape)


def _layered(nx: int, ny: int, above: I32) -> NDArray[np.bool_]:
    """Which blocks of columns hold one with several floors, or one next to such a column.

    Args:
        nx: Columns along x.
        ny: Columns along y.
        above: The columns of cells above others.
    """
    found = np.zeros(-(-nx * ny // BLOCK), np.bool_)
    columns = np.unique(above).astype(np.int64)
    cy, cx = np.divmod(columns, nx)
    found[columns >> BLOCK_BITS] = True
    for dx, dy in map(side_step, range(8)):
        there = (0 <= cx + dx) & (cx + dx < nx) & (0 <= cy + dy) & (cy + dy < ny)
        found[(columns + dy * nx + dx)[there] >> BLOCK_BITS] = True
    return found


def _no_links(layered: NDArray[np.bool_], columns: int, cells: int) -> NDArray[np.uint8]:
    """No links, and which cells have theirs in `SurfaceView.wide`."""
    link = np.full(cells, LAYERED, np.uint8)
    link[:columns][np.repeat(~layered, BLOCK)[:columns]] = 0
    return link


def _first(layered: NDArray[np.bool_], columns: int, above: I32) -> I32:
    """See `SurfaceView.first`."""
    begin = np.flatnonzero(layered)[:, None] * BLOCK + np.arange(BLOCK + 1)
    return (columns + np.searchsorted(above, begin.astype(np.int32))).astype(np.int32)


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


def _floors(
    shape: Shape,
    ground: BvhView,
    bounds: Bounds,
    low: NDArray[np.float64],
    size: tuple[int, int],
    told: Told,
    z: F32,
) -> I32:
    """Find all floors of the terrain: the columns of those above others.

    Args:
        shape: What it is made for.
        ground: The terrain.
        bounds: What to cover.
        low: Low corner of the lattice [m].
        size: Columns along x and y.
        told: Called with the share that is done, 0 to 1.
        z: Heights of the lowest floors [m], written; those of the others are put behind them.
    """
    nx, columns = size[0], size[0] * size[1]
    lattice = (float(low[0]), float(low[1]), float(shape.cell_size), nx)
    span = (float(bounds.high[2]) + 1.0, float(bounds.low[2]) - 1.0)
    _step, height, up, _slant = shape.body
    above, higher = [], []
    for begin in range(0, columns, BAND):
        told(begin / columns)
        rows = min(BAND, columns - begin)
        found = np.zeros(rows, np.int32)
        level = np.zeros((rows, MOST_LAYERS), np.float32)
        options = lattice, ground, span, height, up
        parallel_for(floors_kernel, rows, begin, *options, found, level)
        # the highest one comes first
        z[begin : begin + rows] = np.where(found > 0, level[:, 0], VOID)
        several = np.flatnonzero(found > 1)
        count, level = found[several], level[several]
        z[begin + several] = level[np.arange(len(several)), count - 1]
        row, place = np.nonzero(np.arange(2, MOST_LAYERS + 1) <= count[:, None])
        above.append((begin + several[row]).astype(np.int32))
        higher.append(level[row, count[row] - 2 - place])
    # without a second array as large as the first
    z.resize(columns + sum(map(len, higher)), refcheck=False)
    z[columns:] = np.concatenate(higher)
    return np.concatenate(above)
