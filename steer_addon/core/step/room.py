"""Room: whether bodies that are to be born would be free of all others, and of walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..compiled.jit import kernel, parallel_for, scratch
from ..contacts.cells import COLUMNS
from ..contacts.free import held_by
from ..contacts.walls import next_wall, wall_margin
from ..crowd.heights import heights
from ..crowd.settings import CrowdSettings
from ..geometry.grid import axis_cells, build_grid, wrap_cell
from ..inputs.world import NO_COLLIDERS, Colliders
from ..numeric.vec import load

F32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

APART = 1.0e-4
"""Room that is left between a body that is born and others, as a share of both radii."""


class Bodies(NamedTuple):
    """Bodies that take room: upright, or spheres without a height.

    Attributes:
        position: Feet, or centers [m], shape (body_count, 3).
        radius: Their radii [m], shape (body_count,).
        height: How high those that walk are [m], shape (body_count,).
    """

    position: F32
    radius: F32
    height: F32

    def part(self, rows: Mask) -> Bodies:
        """Some of the bodies."""
        return Bodies(self.position[rows], self.radius[rows], self.height[rows])


def bodies_of(agents: Agents, settings: CrowdSettings) -> Bodies:
    """The bodies of all agents of a crowd, whether they live or not."""
    return Bodies(agents.position, agents.radius, heights(agents, settings))


def with_room(
    there: Sequence[Bodies], coming: Bodies, settings: CrowdSettings, colliders: Colliders | None
) -> Mask:
    """Which bodies have room; each that has takes it from those that come after it.

    Args:
        there: Bodies that are there.
        coming: Bodies that would be born, in the order in which they come.
        settings: Settings of their crowd.
        colliders: Meshes that they may not be in, or cut; None for none.

    Returns:
        Shape (coming_count,).
    """
    position, radius, height = (np.concatenate(parts) for parts in zip(*there, coming, strict=True))
    first = len(radius) - len(coming.radius)
    level = position * np.array([1.0, 1.0, 0.0], np.float32)
    taken = np.zeros(len(radius), np.uint8)
    taken[:first] = 1
    solid = colliders if settings.bodies.collide_colliders and colliders else NO_COLLIDERS
    flat = settings.motion.motion == "GROUND"
    parallel_for(
        room_kernel,
        1,
        first,
        build_grid(level, 2.0 * float(radius.max(initial=0.0))),
        (position, radius, height),
        (solid.bvh, solid.center, solid.radius, solid.first),
        settings.motion.step_height if flat else 0.0,
        flat,
        taken,
    )
    found: Mask = taken[first:] != 0
    return found


@kernel
def _overlap(i, j, bodies):
    """Whether two bodies overlap: how far apart their axes are counts, level and upward."""
    position, radius, height = bodies
    a, b = load(position, i), load(position, j)
    dx, dy = b[0] - a[0], b[1] - a[1]
    gap = max(0.0, b[2] - a[2] - height[i], a[2] - b[2] - height[j])
    both = (1.0 + APART) * (np.float64(radius[i]) + np.float64(radius[j]))
    return dx * dx + dy * dy + gap * gap < both * both


@kernel
def _is_taken(i, grid, bodies, taken):
    """Whether another body is where body i would be."""
    own = load(bodies[0], i)
    x, down_x, up_x, _sure = axis_cells(own[0], grid.cell, grid.inverse, grid.nx)
    y, down_y, up_y, _sure = axis_cells(own[1], grid.cell, grid.inverse, grid.ny)
    for jy in range(down_y + up_y + 1):
        row = wrap_cell(y - down_y + jy, grid.ny) * grid.nx
        for jx in range(down_x + up_x + 1):
            cell = row + wrap_cell(x - down_x + jx, grid.nx)
            for slot in range(grid.start[cell], grid.start[cell + 1]):
                j = grid.order[slot]
                if taken[j] != 0 and j != i and _overlap(i, j, bodies):
                    return True
    return False


@kernel
def _is_in_wall(i, bodies, solid, eye, flat):
    """Whether body i would be inside of a collider, or cut into one."""
    tree, center, radius, first = solid
    if len(tree.link) == 0:
        return False
    place = load(bodies[0], i)
    point = (place[0], place[1], place[2] + eye)
    tall = max(bodies[2][i] - eye, 0.0) if flat else 0.0
    if held_by(tree, center, radius, first, point, tall)[0] >= 0:
        return True
    room = max(bodies[1][i] * 1.0, wall_margin(point))
    none = scratch(1, COLUMNS)
    wall, _p, _d = next_wall(tree, point, room, flat, tall, none, 0, 0, 0, len(tree.triangles))
    return wall >= 0


@kernel
def room_kernel(start, stop, first, grid, bodies, solid, eye, flat, taken):
    """Let bodies take room one after the other; run once for all, as each depends on the last.

    Args:
        start: 0.
        stop: 1.
        first: The first body that comes; all before it are there.
        grid: GridView of all bodies, without their heights; its cells are as large as the two
            largest together.
        bodies: Position, radius and height of each, see `Bodies`.
        solid: BvhView of the colliders, the centers and radii of their bounding spheres, and the
            first triangle of each.
        eye: Height above the feet at which walkers meet colliders [m].
        flat: Whether bodies are discs.
        taken: 1 for bodies that are there; written for those that come and have room.
    """
    for _run in range(start, stop):
        for i in range(first, len(taken)):
            if not (_is_taken(i, grid, bodies, taken) or _is_in_wall(i, bodies, solid, eye, flat)):
                taken[i] = 1
