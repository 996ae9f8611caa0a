"""Areas: places that some walkers may not enter, would rather not go through, or go one way.

An area is a mesh. A cell lies in it where what the mesh takes up straight above or below the cell's
middle, from its lowest to its highest face there, reaches between the feet and the head of a body.
So a box from wall to wall marks one storey, and a flat mesh what it lies on: one that is flat may
also lie up to a step below the feet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounds import bounded
from ...errors import WorldError, short
from ...geometry import bvh
from ...geometry.meshes import Mesh
from ...views import BvhView
from ..portals.declared import MOST_PORTALS, Portal
from .kinds import COST, KINDS, LEAST_COST, MOST_COST, ONE_WAY

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

MOST_GROUPS = 62
"""Areas for some groups only: what the bits of a number tell apart."""
MOST_LANES = 255
"""One-way areas: what the bytes of a surface tell apart."""


@dataclass(frozen=True, eq=False, repr=False)
class Area:
    """One area.

    Attributes:
        name: Its name.
        tree: Its mesh.
        kind: FORBIDDEN, COST or ONE_WAY.
        cost: How many times longer ways through it seem; counts for COST.
        heading: Where it leads, level and unit, for ONE_WAY.
        group: Groups of agents that it is for, as behaviors name them; empty for all.
    """

    name: str
    tree: BvhView
    kind: str
    cost: float
    heading: tuple[float, float]
    group: str


@dataclass(frozen=True, eq=False, repr=False)
class Areas:
    """All areas of a world; the same instance while nothing about them changes.

    Attributes:
        areas: The areas. Costs multiply where they overlap; of one-way areas the last one counts.
        paint: Costs at the corners of the ground's triangles, -1 where it is forbidden, shape
            (triangle_count, 3); None for an unpainted ground.
        portals: What joins two places, see `portals`.
    """

    areas: tuple[Area, ...] = ()
    paint: F32 | None = None
    portals: tuple[Portal, ...] = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """What tells it apart from others, piece by piece: equal where nothing has changed."""
        return (*self.areas, None, *self.portals, id(self.paint))


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """What areas mean for the agents of a crowd.

    Attributes:
        areas: The areas.
        costs: Whether costs count.
        bits: For each agent which areas for some groups are for it: bit k for the k-th of those,
            shape (agents,).
        speed: How fast the agents walk [m/s]: what the time of portals counts.
    """

    areas: Areas
    costs: bool
    bits: I64
    speed: float = 1.4


def make_area(
    mesh: Mesh, kind: str, *, cost: float = 2.0, heading: Any = (0.0, 1.0, 0.0), group: str = ""
) -> Area:
    """Make an area.

    Args:
        mesh: What it takes up; flat or closed.
        kind: FORBIDDEN, COST or ONE_WAY.
        cost: How many times longer ways through it seem, from 0.1 to 100; below 1 they are
            preferred. It counts for COST.
        heading: Where it leads (x, y, z), for ONE_WAY; its level part counts.
        group: Groups of agents that it is for, with commas between; empty for all.

    Raises:
        WorldError: There is no such kind, the cost is out of range, the mesh has no faces, or a
            one-way area leads straight up or down.
    """
    if kind not in KINDS:
        raise WorldError(f"An area of the kind {short(kind)}: choose one of {', '.join(KINDS)}")
    if not len(mesh.triangles):
        raise WorldError(f"The area {mesh.name!r} has no faces: give it a mesh that lies over it")
    if kind == COST and not LEAST_COST <= cost <= MOST_COST:
        raise WorldError(
            f"The area {mesh.name!r} has the cost {cost:g}: give {LEAST_COST:g} to {MOST_COST:g}, "
            "or let it be forbidden"
        )
    x, y = (float(each) for each in np.asarray(heading, np.float64).reshape(-1)[:2])
    size = math.hypot(x, y)
    if kind == ONE_WAY and not 1.0e-6 < size < math.inf:
        raise WorldError(
            f"The one-way area {mesh.name!r} leads straight up or down: turn it so that its arrow "
            "is level"
        )
    level = (x / size, y / size) if kind == ONE_WAY else (0.0, 1.0)
    return Area(mesh.name, bvh.build(mesh.triangles), kind, float(cost), level, group)


def make_areas(
    areas: Sequence[Area] = (), paint: Any = None, portals: Sequence[Portal] = ()
) -> Areas | None:
    """All areas of a world; None where there are none.

    Args:
        areas: The areas.
        paint: Costs at the corners of the ground's triangles, shape (triangle_count, 3): how many
            times longer ways seem there. 0, as in a new attribute, and what is no number count as
            1, and less than 0 is forbidden.
        portals: What joins two places.

    Raises:
        WorldError: More areas are one-way, or for some groups, than can be told apart, or there
            are too many portals.
    """
    groups = sum(bool(each) for each in (*(a.group for a in areas), *(p.group for p in portals)))
    for count, most, what in (
        (sum(area.kind == ONE_WAY for area in areas), MOST_LANES, "one-way areas"),
        (groups, MOST_GROUPS, "areas for some groups"),
        (len(portals), MOST_PORTALS, "portals"),
    ):
        if count > most:
            raise WorldError(f"{count} {what}: {most} can be told apart, join some of them")
    if paint is None:
        return Areas(tuple(areas), None, tuple(portals)) if areas or portals else None
    value: F32 = bounded(paint)
    usual = ~np.isfinite(value) | (value == 0.0)
    value = np.where(value < 0.0, -1.0, np.clip(value, LEAST_COST, MOST_COST))
    value = np.ascontiguousarray(np.where(usual, 1.0, value), np.float32)
    painted = bool((value != 1.0).any())
    if not (areas or portals or painted):
        return None
    return Areas(tuple(areas), value if painted else None, tuple(portals))


def grouped(areas: Areas) -> list[Area | Portal]:
    """The areas and portals for some groups, in the order of their bits."""
    every: list[Area | Portal] = [*areas.areas, *areas.portals]
    return [each for each in every if each.group]


def chosen(areas: Areas, bits: int) -> tuple[list[Area], tuple[Portal, ...]]:
    """The areas and portals for agents with these bits, see `Rules`."""
    number = {id(each): k for k, each in enumerate(grouped(areas))}

    def counts(each: Area | Portal) -> bool:
        return not each.group or bool(bits >> number[id(each)] & 1)

    return [a for a in areas.areas if counts(a)], tuple(p for p in areas.portals if counts(p))
