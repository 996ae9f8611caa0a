"""Shapes of the inputs that a behavior perceives: the part that no spy in the kernel records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..parameters import belongs
from ..sensing import path_places
from ..sensing.declare import COMPANIONS, CONTAINER, NEIGHBORS, PATHS, SPHERES, Behavior, Circle
from ..sensing.seen_neighbors import seen_neighbors
from ..views import AgentView, WorldView
from .shapes import (
    F64,
    NEIGHBOR,
    PATH,
    PERCEPTION,
    REGION,
    WANDER,
    Arc,
    Ball,
    Box,
    Cross,
    Line,
    Shape,
)

F32 = NDArray[np.float32]

NEAR = 20.0
"""Spheres farther away than this [m] are not shown."""
MOST = 100
"""Number of members of a group that are shown."""


def value(column: Any, row: int) -> float:
    """An agent's value of a parameter: the array holds one for all, or one each."""
    return float(column[row if len(column) > 1 else 0])


def neighbor_rows(row: int, sees: WorldView, p: Any) -> NDArray[np.int64]:
    """Rows of the neighbors that a behavior counts for an agent, nearest first."""
    reach, most = value(p.neighbor_distance, row), value(p.max_neighbors, row)
    seen = seen_neighbors(row, sees.neighbors, most, reach)
    found: NDArray[np.int64] = sees.neighbors.index[row, :seen].astype(np.int64)
    return found


class _Look:
    """A behavior that perceives something for one agent."""

    def __init__(
        self, entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
    ) -> None:
        self.entry, self.sees, self.p, self.memory = entry, sees, p, memory[row]
        self.row, self.positions = row, agents.position
        self.place, self.heading, up = (
            column[row].astype(np.float64)
            for column in (agents.position, agents.heading, agents.normal)
        )
        self.up: F64 = up if sees.flat else np.array([0.0, 0.0, 1.0])

    def value(self, name: str) -> float:
        """The agent's value of a parameter."""
        return value(getattr(self.p, name), self.row)

    def neighbors(self) -> Iterator[Shape]:
        reach, view = self.value("neighbor_distance"), self.value("field_of_view")
        yield Arc(PERCEPTION, self.place, reach, self.up, self.heading, view)
        for other in neighbor_rows(self.row, self.sees, self.p):
            ends = np.stack([self.place, self.positions[other].astype(np.float64)])
            yield Line(NEIGHBOR, ends)

    def companions(self) -> Iterator[Shape]:
        held = self.p.companions
        first, last = held.first[held.group[self.row] :][:2]
        for other in held.member[first:last][:MOST]:
            if other != self.row:
                ends = np.stack([self.place, self.positions[other].astype(np.float64)])
                yield Line(NEIGHBOR, ends)

    def paths(self) -> Iterator[Shape]:
        paths, kept = self.p.paths, self.entry.waypoints
        remembered = int(self.memory[kept.path]) if kept is not None else 0
        number = abs(remembered) - 1
        for k in range(len(paths.cyclic)):
            if number in (-1, k):
                points = paths.point[paths.first[k] : paths.first[k + 1]].astype(np.float64)
                yield Line(PATH, points, bool(paths.cyclic[k]))
        if kept is None or not 0 <= number < len(paths.cyclic):
            return
        if not belongs(kept.shown_for, self.entry):
            return
        direction, place = 1 if remembered > 0 else -1, int(self.memory[kept.place])
        lane = self.value(kept.lane) if kept.lane else 0.0
        line = path_places.line_of(paths.first, paths.cyclic, number, direction, False, lane)
        if place < line.size:
            corner = np.array(path_places.waypoint(paths.point, line, place))
            yield Cross(PATH, corner, 0.15)
            yield Arc(PATH, corner, self.value(kept.radius), self.up)

    def container(self) -> Iterator[Shape]:
        held, shape = self.p.container, self.entry.container_shape(self.entry)
        radius, center = float(held.radius[0]), held.center[0].astype(np.float64)
        if radius > 0.0 and shape == "SPHERE":
            yield Ball(REGION, center, radius)
        elif radius > 0.0 and shape == "BOX":
            yield Box(REGION, center, held.axes.astype(np.float64), held.half.astype(np.float64))

    def spheres(self) -> Iterator[Shape]:
        centers, radii = self.p.spheres.center.astype(np.float64), self.p.spheres.radius
        gaps = np.linalg.norm(centers - self.place, axis=1) - radii
        for k in np.flatnonzero(gaps < NEAR)[:32]:
            yield Ball(REGION, centers[k], float(radii[k]))

    def circle(self, circle: Circle) -> Iterator[Shape]:
        radius = self.value(circle.radius)
        if not circle.distance:
            if radius > 0.0:
                yield Arc(PERCEPTION, self.place, radius, self.up)
            return
        center = self.place + self.heading * self.value(circle.distance)
        yield Line(WANDER, np.stack([self.place, center]))
        yield Arc(WANDER, center, radius, self.up)
        if circle.point >= 0:
            way = self.memory[circle.point : circle.point + 3].astype(np.float64)
            toward = center + way * radius
            yield Line(WANDER, np.stack([center, toward]))
            yield Cross(WANDER, toward)


_BY_USE: dict[str, Callable[[_Look], Iterator[Shape]]] = {
    NEIGHBORS: _Look.neighbors,
    COMPANIONS: _Look.companions,
    PATHS: _Look.paths,
    CONTAINER: _Look.container,
    SPHERES: _Look.spheres,
}


def looked_at(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> list[Shape]:
    """Shapes of all inputs that a behavior perceives for one agent.

    Args:
        entry: The behavior.
        row: The agent.
        agents: All agents.
        sees: The world as the behavior sees it.
        p: Its parameters and inputs.
        memory: Its memory after the step, shape (agent_count, width).
    """
    look = _Look(entry, row, agents, sees, p, memory)
    uses = [use for use in entry.definition.uses if use in _BY_USE and entry.reads(use)]
    shapes = [shape for use in uses for shape in _BY_USE[use](look)]
    for circle in entry.circles:
        if circle.counts(entry):
            shapes += look.circle(circle)
    return shapes
