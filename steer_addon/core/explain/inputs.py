"""Shapes of the inputs that a behavior perceives: the part that no spy in the kernel records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..parameters import belongs
from ..sensing import path_places
from ..sensing.declare import CONTAINER, NEIGHBORS, PATHS, SPHERES, Behavior, Circle
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


def value(column: Any, row: int) -> float:
    """An agent's value of a parameter: the array holds one for all, or one each."""
    return float(column[row if len(column) > 1 else 0])


def neighbor_rows(row: int, sees: WorldView, p: Any) -> NDArray[np.int64]:
    """Rows of the neighbors that a behavior counts for an agent, nearest first."""
    reach, most = value(p.neighbor_distance, row), value(p.max_neighbors, row)
    seen = seen_neighbors(row, sees.neighbors, most, reach)
    found: NDArray[np.int64] = sees.neighbors.index[row, :seen].astype(np.int64)
    return found


def _up(agents: AgentView, sees: WorldView, row: int) -> F64:
    up = agents.normal[row] if sees.flat else np.array([0.0, 0.0, 1.0])
    result: F64 = np.asarray(up, np.float64)
    return result


def _neighbors(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> Iterator[Shape]:
    place = agents.position[row].astype(np.float64)
    heading, up = agents.heading[row].astype(np.float64), _up(agents, sees, row)
    reach, view = value(p.neighbor_distance, row), value(p.field_of_view, row)
    yield Arc(PERCEPTION, place, reach, up, heading, view)
    for other in neighbor_rows(row, sees, p):
        yield Line(NEIGHBOR, np.stack([place, agents.position[other].astype(np.float64)]))


def _paths(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> Iterator[Shape]:
    paths, kept = p.paths, entry.waypoints
    remembered = int(memory[row, kept.path]) if kept is not None else 0
    number = abs(remembered) - 1
    for k in range(len(paths.cyclic)):
        if number in (-1, k):
            points = paths.point[paths.first[k] : paths.first[k + 1]].astype(np.float64)
            yield Line(PATH, points, bool(paths.cyclic[k]))
    if kept is None or not 0 <= number < len(paths.cyclic) or not belongs(kept.shown_for, entry):
        return
    direction, place = 1 if remembered > 0 else -1, int(memory[row, kept.place])
    lane = value(getattr(p, kept.lane), row) if kept.lane else 0.0
    line = path_places.line_of(paths.first, paths.cyclic, number, direction, False, lane)
    if place < line.size:
        corner = np.array(path_places.waypoint(paths.point, line, place))
        yield Cross(PATH, corner, 0.15)
        yield Arc(PATH, corner, value(getattr(p, kept.radius), row), _up(agents, sees, row))


def _container(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> Iterator[Shape]:
    held, shape = p.container, entry.container_shape(entry)
    if float(held.radius[0]) <= 0.0:
        return
    if shape == "SPHERE":
        yield Ball(REGION, held.center[0].astype(np.float64), float(held.radius[0]))
    elif shape == "BOX":
        yield Box(
            REGION, *(part.astype(np.float64) for part in (held.center[0], held.axes, held.half))
        )


def _spheres(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> Iterator[Shape]:
    place = agents.position[row].astype(np.float64)
    centers, radii = p.spheres.center.astype(np.float64), p.spheres.radius
    gaps = np.linalg.norm(centers - place, axis=1) - radii
    for k in np.flatnonzero(gaps < NEAR)[:32]:
        yield Ball(REGION, centers[k], float(radii[k]))


def _circle(
    circle: Circle, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> Iterator[Shape]:
    place, heading = (a[row].astype(np.float64) for a in (agents.position, agents.heading))
    radius, up = value(getattr(p, circle.radius), row), _up(agents, sees, row)
    if not circle.distance:
        if radius > 0.0:
            yield Arc(PERCEPTION, place, radius, up)
        return
    center = place + heading * value(getattr(p, circle.distance), row)
    yield Line(WANDER, np.stack([place, center]))
    yield Arc(WANDER, center, radius, up)
    if circle.point >= 0:
        way = memory[row, circle.point : circle.point + 3].astype(np.float64)
        toward = center + way * radius
        yield Line(WANDER, np.stack([center, toward]))
        yield Cross(WANDER, toward)


_BY_USE: dict[str, Callable[..., Iterator[Shape]]] = {
    NEIGHBORS: _neighbors,
    PATHS: _paths,
    CONTAINER: _container,
    SPHERES: _spheres,
}


def looked_at(
    entry: Behavior, row: int, agents: AgentView, sees: WorldView, p: Any, memory: F32
) -> list[Shape]:
    """Shapes of all that a behavior perceives for one agent.

    Args:
        entry: The behavior.
        row: The agent.
        agents: All agents.
        sees: The world as the behavior sees it.
        p: Its parameters and inputs.
        memory: Its memory after the step, shape (agent_count, width).
    """
    uses = entry.definition.uses
    makers = [_BY_USE[use] for use in uses if use in _BY_USE and entry.reads(use)]
    shapes = [shape for make in makers for shape in make(entry, row, agents, sees, p, memory)]
    for circle in entry.circles:
        if circle.counts(entry):
            shapes += _circle(circle, row, agents, sees, p, memory)
    return shapes
