"""Crowds in `metrics`: overlaps and collisions between bodies of different crowds that touch.

Walkers are upright for flyers, as in the contacts. As among the agents of one crowd, bodies that
overlap when the later of both crowds appears, and have done so ever since, do not count unless they
get deeper into each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..contacts.near import Kinds
from ..crowd.meets import Relation
from ..geometry import neighbors
from ..views import F32, I32, I64
from .metric_kernels import PARTNERS, touch_kernel
from .metrics import TOUCH, Touched

U8 = NDArray[np.uint8]
Number = TypeVar("Number", bound=np.generic)


class Bodies(NamedTuple):
    """The bodies of a crowd after a step."""

    position: F32  # (n, 3) [m]
    radius: F32  # (n,) [m]
    alive: U8  # (n,) 0 for those that are not there
    height: float  # [m] of those that walk, 0 of those that fly


@dataclass(frozen=True)
class Encounter:
    """What the bodies of two crowds did to each other."""

    overlap: float
    """Largest share by which two of them overlap."""
    collisions: int
    """How often two of them began to overlap by more than 2 %."""


class Encounters:
    """Collects what bodies of several crowds do to one another, step by step."""

    def __init__(self, touches: Relation) -> None:
        """Begin.

        Args:
            touches: Whether the bodies of two crowds touch, shape (crowd_count, crowd_count).
        """
        self._touches = touches & ~np.eye(len(touches), dtype=np.bool_)
        self._rows: dict[int, slice] = {}
        self._height: F32 = np.zeros(0, np.float32)
        self._radius: F32 = np.zeros(0, np.float32)
        self._crowd: I64 = np.zeros(0, np.int64)
        self._origin: F32 = np.zeros((0, 3), np.float32)
        self._parting: U8 = np.zeros(0, np.uint8)
        self._partners: I32 = np.zeros((0, PARTNERS), np.int32)
        self._overlap: F32 = np.zeros((0, len(touches)), np.float32)
        self._collisions: I32 = np.zeros((0, len(touches)), np.int32)

    def add(self, bodies: Mapping[int, Bodies]) -> None:
        """Count one step.

        Args:
            bodies: The bodies by the number of their crowd; a crowd that was there stays.
        """
        for number in sorted(bodies.keys() - self._rows.keys()):
            self._begin(number, bodies[number])
        if not self._rows:
            return
        # rows may go on as other agents, see `Metrics.renew`
        self._radius = np.concatenate([bodies[number].radius for number in self._rows])
        place = np.concatenate([bodies[number].position for number in self._rows])
        alive = np.concatenate([bodies[number].alive for number in self._rows])
        rows: I64 = np.flatnonzero(alive)
        pressed: U8 = np.zeros(len(alive), np.uint8)
        if len(rows) > 1 and len(self._rows) > 1:
            self._find(place.astype(np.float32, copy=False), rows, pressed)
        self._parting &= pressed

    def _begin(self, number: int, bodies: Bodies) -> None:
        """Put a crowd behind those that are there."""
        first, count = len(self._radius), len(bodies.radius)
        self._rows[number] = slice(first, first + count)
        self._height = _longer(self._height, np.full(count, bodies.height))
        self._radius = _longer(self._radius, bodies.radius)
        self._crowd = _longer(self._crowd, np.full(count, number))
        self._origin = _longer(self._origin, bodies.position)
        # those that it stands in now are no fault of theirs
        self._parting = np.ones(first + count, np.uint8)
        self._partners = _longer(self._partners, np.full((count, PARTNERS), -1))
        nothing = np.zeros((count, len(self._touches)))
        self._overlap = _longer(self._overlap, nothing)
        self._collisions = _longer(self._collisions, nothing)

    def _find(self, place: F32, rows: I64, pressed: U8) -> None:
        size = 2.0 * float(self._radius[rows].max())
        tallest = float(self._height.max()) if self._height.min() == 0.0 else 0.0
        points = np.ascontiguousarray(place[rows])
        grid = neighbors.build_grid(points, size)
        parallel_for(
            touch_kernel,
            len(rows),
            grid,
            points,
            rows,
            self._radius,
            Kinds(self._height, self._crowd, self._touches),
            math.ceil(tallest * grid.inverse),
            TOUCH,
            self._origin,
            self._parting,
            self._partners,
            self._overlap,
            self._collisions,
            np.empty_like(self._partners),
            pressed,
        )

    def touched(self, number: int) -> Touched | None:
        """What the agents of a crowd did to bodies of others; None before it appears."""
        rows = self._rows.get(number)
        if rows is None:
            return None
        return Touched(self._overlap[rows].max(axis=1), self._collisions[rows].sum(axis=1))

    def of(self, number: int) -> dict[int, Encounter]:
        """What a crowd and each crowd that it touches did to each other, by number."""
        rows = self._rows.get(number)
        if rows is None:
            return {}
        others = [n for n in sorted(self._rows) if self._touches[number, n]]
        return {
            other: Encounter(
                float(self._overlap[rows, other].max(initial=0.0)),
                int(self._collisions[rows, other].sum()),
            )
            for other in others
        }


def _longer(before: NDArray[Number], more: NDArray[Any]) -> NDArray[Number]:
    return np.concatenate([before, more.astype(before.dtype)])
