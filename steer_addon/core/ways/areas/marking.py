"""Marking: which cells of a surface areas and the paint of the ground mark, and as what."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import kernel, parallel_for
from ...geometry.bvh import ray_cast
from ...geometry.bvh_points import load_corners
from ...views import NO_HEADING, NO_LANE, BvhView, RoomView, SurfaceView
from ..floors import face_under
from ..lattice import cell_at, middle_of
from ..leaps import find_leaps
from ..portals.declared import Portal
from ..portals.links import linked
from ..room import BLOCKED
from ..room import FORBIDDEN as SHUT
from ..surface import Surface
from .declared import Area, Areas, chosen
from .kinds import COST, FORBIDDEN, ONE_WAY

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

FLAT = 0.01
"""An area less high than this is flat [m]."""


class Marks(NamedTuple):
    """What areas mean for cells.

    Attributes:
        shut: 1 for forbidden cells, shape (cells,).
        lane: 1 + the one-way area of each cell, shape (cells,); (0,) for none at all.
        heading: Where one-way areas lead, shape (areas, 2).
        cost: How many times longer ways seem, shape (cells,); None where nothing costs.
        portals: What joins two places.
        speed: How fast agents walk [m/s].
    """

    shut: U8
    lane: U8
    heading: F32
    cost: F32 | None
    portals: tuple[Portal, ...] = ()
    speed: float = 0.0

    @property
    def strict(self) -> bool:
        """Whether there are moves between cells that cannot be made the other way round."""
        return bool(self.shut.any() or len(self.lane) or self.portals)


@kernel
def covered_kernel(start, stop, cells, surface, tree, span, body, found):
    """Which of some of the cells lie in an area, see `areas`.

    Args:
        start: First row.
        stop: Row after the last one.
        cells: Numbers of the cells.
        surface: SurfaceView.
        tree: The area's mesh.
        span: Heights above and below the mesh [m].
        body: (step height [m], height [m], ...), see `clearance.clearance_at`.
        found: Whether each is in it, written.
    """
    step, height = body[0], body[1]
    for row in range(start, stop):
        cell = cells[row]
        x, y = middle_of(surface, cell)
        far = span[0] - span[1]
        face, down = ray_cast(tree, (x, y, span[0]), (0.0, 0.0, -1.0), far)
        if face < 0:
            continue
        high = span[0] - down
        low = span[1] + ray_cast(tree, (x, y, span[1]), (0.0, 0.0, 1.0), far)[1]
        below = step if high - low < FLAT else -FLAT
        found[row] = low <= surface.z[cell] + height and high >= surface.z[cell] - below


@kernel
def painted_kernel(start, stop, surface, ground, paint, shut, cost):
    """What the paint of the ground says in the middle of each cell."""
    for cell in range(start, stop):
        face = face_under(surface, ground, cell)
        if face < 0:
            continue
        x, y = middle_of(surface, cell)
        a, b, c = load_corners(ground.triangles, face)
        whole = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if whole == 0.0:
            continue
        u = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / whole
        v = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / whole
        no, open_share, total = 0.0, 0.0, 0.0
        for k in range(3):
            share = u if k == 0 else (v if k == 1 else 1.0 - u - v)
            if paint[face, k] < 0.0:
                no += share
            else:
                open_share += share
                total += share * paint[face, k]
        if no >= 0.5:
            shut[cell] = 1
        else:
            cost[cell] = total / open_share


@kernel
def near_shut_kernel(surface, shut, radius, rise, state):
    """Forbid the cells whose middle is within a radius of a forbidden cell's edge."""
    reach = radius + 0.5 * surface.size
    half = int(reach / surface.size)
    for cell in range(len(shut)):
        if shut[cell] == 0:
            continue
        x, y = middle_of(surface, cell)
        z = surface.z[cell] * 1.0
        for dy in range(-half, half + 1):
            for dx in range(-half, half + 1):
                if (dx * dx + dy * dy) * surface.size * surface.size >= reach * reach:
                    continue
                near = cell_at(surface, x + dx * surface.size, y + dy * surface.size, z)
                if near >= 0 and state[near] != BLOCKED and abs(surface.z[near] - z) <= rise:
                    state[near] = SHUT


def marked(room: RoomView, surface: Surface, marks: Marks | None, radius: float) -> RoomView:
    """The room of bodies where areas allow them to be; theirs is kept out of forbidden ones.

    Args:
        room: The room without areas; it is not changed.
        surface: The cells.
        marks: What areas mean; None for no areas.
        radius: Radius of the bodies [m].
    """
    if marks is None or not marks.strict:
        return room
    state = room.state.copy()
    if marks.shut.any():
        rise = radius + surface.shape.step_height
        near_shut_kernel(surface.view, marks.shut, float(radius), float(rise), state)
    # looks leap over cells without any rule only
    free = state if not len(marks.lane) else np.where(marks.lane != 0, BLOCKED, state)
    leap = np.zeros_like(room.leap)
    find_leaps(surface.view, free.astype(np.uint8), leap)
    found = room._replace(state=state, leap=leap, lane=marks.lane, heading=marks.heading)
    return linked(found, surface.view, marks.portals, marks.speed)


def same_marks(a: Marks | None, b: Marks | None) -> bool:
    """Whether two marks are equal."""
    if a is None or b is None:
        return a is b
    if (a.portals, a.speed) != (b.portals, b.speed):
        return False
    return all(
        np.array_equal(x, y) if x is not None and y is not None else x is y
        for x, y in zip(a[:4], b[:4], strict=True)
    )


class Marker:
    """Marks the cells of one surface, and keeps which of them each area covers."""

    def __init__(self, surface: Surface, ground: BvhView) -> None:
        self._view: SurfaceView = surface.view
        self._shape, self._ground = surface.shape, ground
        self._covered: dict[int, tuple[Area, I64]] = {}
        self._painted: tuple[F32, U8, F32] | None = None

    def covered(self, area: Area, surface: Surface) -> I64:
        """The cells in an area.

        Args:
            area: The area.
            surface: The surface, as it is now.
        """
        known = self._covered.get(id(area))
        if known is None:
            box = area.tree.box[0].astype(np.float64)
            cells = surface.within(area.tree.box[0, :2], area.tree.box[0, 3:5])
            found = np.zeros(len(cells), np.bool_)
            span = float(box[5]) + 1.0, float(box[2]) - 1.0
            options = self._view, area.tree, span, self._shape.body, found
            parallel_for(covered_kernel, len(cells), cells, *options)
            known = self._covered[id(area)] = area, cells[found]
        return known[1]

    def _paint(self, paint: F32) -> tuple[U8, F32]:
        """Forbidden cells, and costs, by the paint."""
        if self._painted is None or self._painted[0] is not paint:
            count = len(self._view.z)
            shut, cost = np.zeros(count, np.uint8), np.ones(count, np.float32)
            if len(paint) == len(self._ground.triangles):
                parallel_for(painted_kernel, count, self._view, self._ground, paint, shut, cost)
            self._painted = paint, shut, cost
        return self._painted[1:]

    def forget(self, areas: Areas | None) -> None:
        """Keep only what is known of these areas."""
        there = () if areas is None else areas.areas
        self._covered = {id(a): self._covered[id(a)] for a in there if id(a) in self._covered}

    def marks(
        self, areas: Areas | None, bits: int, costs: bool, surface: Surface, speed: float = 0.0
    ) -> Marks | None:
        """What areas mean for some of the agents; None for nothing.

        Args:
            areas: The areas; None for none.
            bits: Which of those for some groups are for them, see `areas.Rules`.
            costs: Whether costs count.
            surface: The surface, as it is now.
            speed: How fast they walk [m/s].
        """
        if areas is None:
            return None
        count = len(self._view.z)
        shut, cost, lane = np.zeros(count, np.uint8), np.ones(count, np.float32), NO_LANE
        if areas.paint is not None:
            painted, value = self._paint(areas.paint)
            shut, cost = painted.copy(), value.copy()
        headings: list[tuple[float, float]] = []
        counting, portals = chosen(areas, bits)
        for area in counting:
            cells = self.covered(area, surface)
            if area.kind == FORBIDDEN:
                shut[cells] = 1
            elif area.kind == COST:
                cost[cells] *= np.float32(area.cost)
            elif area.kind == ONE_WAY and len(cells):
                lane = lane if len(lane) else np.zeros(count, np.uint8)
                headings.append(area.heading)
                lane[cells] = len(headings)
        weighs = costs and bool((cost != 1.0).any())
        heading = np.array(headings, np.float32) if headings else NO_HEADING
        found = Marks(shut, lane, heading, cost if weighs else None, portals, speed)
        return found if found.strict or weighs else None
