"""Colored lines of the overlay, as arrays only, so that they can be tested without Blender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.explain.shapes import Arc, Route

if TYPE_CHECKING:
    from ...core.explain import AgentAnswer, Answer

F32 = NDArray[np.float32]
Color = tuple[float, float, float, float]

GROUPS: dict[str, Color] = {
    "Goals": (0.10, 0.78, 0.52, 1.0),
    "Neighbors": (0.34, 0.71, 0.98, 1.0),
    "Obstacles": (1.00, 0.42, 0.16, 1.0),
    "Paths": (0.95, 0.87, 0.25, 1.0),
}
"""Colors of the groups of behaviors, distinguishable with any color vision."""
OTHER: Color = (0.87, 0.53, 0.78, 1.0)
VELOCITY: Color = (1.0, 1.0, 1.0, 1.0)
AFTER: Color = (0.62, 0.62, 0.66, 1.0)

SHAPES: dict[str, tuple[str, Color]] = {
    "PERCEPTION": ("PERCEPTION", (0.34, 0.71, 0.98, 0.50)),
    "NEIGHBOR": ("NEIGHBORS", (0.34, 0.71, 0.98, 0.40)),
    "RAY": ("RAYS", (0.80, 0.80, 0.80, 0.22)),
    "HIT": ("RAYS", (1.00, 0.30, 0.25, 0.60)),
    "TARGET": ("GOALS", (0.10, 0.78, 0.52, 0.30)),
    "PLACE": ("GOALS", (0.10, 0.78, 0.52, 0.95)),
    "PATH": ("GOALS", (0.95, 0.87, 0.25, 0.80)),
    "WANDER": ("GOALS", (0.10, 0.78, 0.52, 0.80)),
    "REGION": ("REGIONS", (1.00, 0.42, 0.16, 0.70)),
    "WAY": ("WAYS", (0.10, 0.78, 0.52, 1.0)),
}
"""The switch of the overlay that each kind of shape belongs to, and its color."""

HEAD, SLENDER = 0.18, 0.4
"""Longest arrow head [m], and its longest share of the arrow."""
SHORTEST = 1.0e-3


def color_of(group: str) -> Color:
    """The color of a group of behaviors."""
    return GROUPS.get(group, OTHER)


@dataclass(frozen=True, eq=False)
class Strokes:
    """Straight lines."""

    points: F32
    """Ends [m], shape (2 · line_count, 3)."""
    colors: F32
    """Color of each end, shape (2 · line_count, 4)."""


@dataclass(frozen=True, eq=False)
class Label:
    """A name at a place."""

    place: F32
    text: str
    color: Color


NOTHING = Strokes(np.zeros((0, 3), np.float32), np.zeros((0, 4), np.float32))


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows: lines, and triangles as their heads."""

    shafts: Strokes
    heads: Strokes
    """Triangles of the heads, with three corners each."""


def arrows(start: F32, way: F32, colors: F32) -> Arrows:
    """Arrows with heads that lie level, or upright if the arrow is upright.

    Args:
        start: Starts of the arrows [m], shape (arrow_count, 3).
        way: Vectors from starts to tips [m], shape (arrow_count, 3).
        colors: Shape (arrow_count, 4).
    """
    size = np.linalg.norm(way, axis=1)
    keep = size > SHORTEST
    start, way, colors, size = start[keep], way[keep], colors[keep], size[keep, None]
    along = way / size
    side = np.stack([along[:, 1], -along[:, 0], np.zeros(len(size))], axis=1)
    wide = np.linalg.norm(side, axis=1, keepdims=True)
    side = np.where(wide > 0.1, side / np.maximum(wide, 0.1), [1.0, 0.0, 0.0])
    head = np.minimum(HEAD, SLENDER * size)
    tip = start + way
    back = tip - along * head
    shafts = np.stack([start, back], axis=1)
    heads = np.stack([tip, back + side * head * 0.5, back - side * head * 0.5], axis=1)
    return Arrows(_colored(shafts, colors), _colored(heads, colors))


def _colored(points: Any, colors: F32) -> Strokes:
    places = np.ascontiguousarray(points.reshape(-1, 3), np.float32)
    return Strokes(places, np.repeat(colors, points.shape[1], axis=0).astype(np.float32))


def joined(parts: Sequence[Strokes]) -> Strokes:
    """All strokes together."""
    every = (NOTHING, *parts)
    return Strokes(
        np.concatenate([part.points for part in every]),
        np.concatenate([part.colors for part in every]),
    )


def starts_of(answer: Answer, rows: Any) -> F32:
    """Starts of the agents' arrows, above bodies on the ground [m], shape (row_count, 3)."""
    agents = answer.agents
    found: F32 = agents.position[rows] + agents.normal[rows] * agents.radius[rows, None]
    return found


FAINT = 0.5
"""Opacity of the arrows of agents that are not chosen."""


def crowd_arrows(answer: Answer, rows: Any, scale: float, chosen: Sequence[int] = ()) -> Arrows:
    """Arrows of every behavior's proposals to some agents, and of their motion.

    Args:
        answer: The proposals.
        rows: Rows of the agents.
        scale: Length of an arrow for 1 m/s [m].
        chosen: Ids of agents that stand out; if empty, all do.
    """
    start = starts_of(answer, rows)
    agents, parts = answer.agents, []
    here = len(start)
    alive = (answer.after.alive[rows] > 0)[:, None]
    parts.append((agents.velocity[rows] * alive, VELOCITY))
    for entry, proposal in zip(answer.stack, answer.proposals, strict=True):
        asked = (proposal.active[rows] > 0)[:, None] & (proposal.weight > 0.0).reshape(-1, 1)[
            rows if len(proposal.weight) > 1 else slice(None)
        ]
        parts.append((proposal.value[rows] * asked, color_of(entry.definition.group)))
    ways = np.concatenate([way for way, _ in parts]) * np.float32(scale)
    colors = np.repeat(np.array([color for _, color in parts], np.float32), here, axis=0)
    if chosen:
        beside = ~np.isin(agents.id[rows], chosen)
        colors[np.tile(beside, len(parts)), 3] *= FAINT
    return arrows(np.tile(start, (len(parts), 1)), ways, colors)


def labels_of(told: AgentAnswer, start: F32, scale: float) -> list[Label]:
    """Names at the tips of one agent's arrows, the strongest first.

    Args:
        told: The agent.
        start: Start of its arrows [m].
        scale: Length of an arrow for 1 m/s [m].
    """
    found = []
    for part in sorted(told.parts, key=lambda part: -part.share):
        if part.active and part.speed * scale > SHORTEST:
            text = f"{part.label}  {100.0 * part.share:.0f} %"
            place = start + part.value * np.float32(scale)
            found.append(Label(place, text, color_of(part.group)))
    return found


def looks(told: AgentAnswer, shown: set[str]) -> Strokes:
    """Shapes of what an agent's behaviors perceive.

    Args:
        told: The agent.
        shown: The parts of the overlay that are switched on.
    """
    parts, seen = [], set()
    for shape in (shape for part in told.parts for shape in part.looks):
        switch, color = SHAPES[shape.role]
        if switch not in shown:
            continue
        lines = shape.segments().reshape(-1, 3)
        # several behaviors see the same neighbors and targets
        mark = (shape.role, lines.tobytes())
        if mark not in seen:
            seen.add(mark)
            parts.append(Strokes(lines, np.tile(np.array(color, np.float32), (len(lines), 1))))
    return joined(parts)


def way_labels(told: AgentAnswer) -> list[Label]:
    """Lengths of the ways of an agent, at the first corners on them."""
    routes = [shape for part in told.parts for shape in part.looks if isinstance(shape, Route)]
    found = {f"Way {route.length:.1f} m": route for route in routes}
    color = SHAPES["WAY"][1]
    return [Label(route.points[1], text, color) for text, route in found.items()]


def legend(answer: Answer | None) -> list[tuple[str, Color]]:
    """Legend of the colors: the active groups, and the motion."""
    rows = [("Velocity", VELOCITY)]
    groups = [] if answer is None else [entry.definition.group for entry in answer.stack]
    return rows + [(group, color_of(group)) for group in dict.fromkeys(groups)]


def clip_space(points: Any, matrix: Any) -> NDArray[Any]:
    """Points as a view's perspective matrix projects them, shape (4, point_count)."""
    rows = np.asarray(points, np.float64).reshape(-1, 3)
    clip: NDArray[Any] = np.asarray(matrix, np.float64) @ np.vstack([rows.T, np.ones(len(rows))])
    return clip


def in_view(points: F32, matrix: Any, limit: int) -> NDArray[np.int64]:
    """Rows of the points that a view shows, the nearest to the viewer first.

    Args:
        points: Shape (point_count, 3).
        matrix: The view's perspective matrix, shape (4, 4).
        limit: Largest number of rows.
    """
    clip = clip_space(points, matrix)
    inside = (np.abs(clip[0]) <= clip[3]) & (np.abs(clip[1]) <= clip[3]) & (clip[3] > 0.0)
    rows = np.flatnonzero(inside)
    depth = clip[2, rows] / clip[3, rows]
    first: NDArray[np.int64] = rows[np.argsort(depth, kind="stable")[:limit]]
    return first


def placed(
    tips: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    most: int,
    tries: int = 6,
) -> list[tuple[float, float] | None]:
    """Places for texts without overlaps: each text slides down until it is free.

    Args:
        tips: Preferred lower left corners [px].
        sizes: Widths and heights [px].
        most: Largest number of placed texts.
        tries: Largest slide of a text, in its own heights; beyond, it is left out.
    """
    taken: list[tuple[float, float, float, float]] = []
    found: list[tuple[float, float] | None] = []
    for (x, y), (width, height) in zip(tips, sizes, strict=True):
        place = None
        for step in range(tries):
            # down, up, farther down and so on
            offset = ((step + 1) // 2) * height * (-1.0 if step % 2 else 1.0)
            box = (x, y + offset, x + width, y + offset + height)
            if len(taken) < most and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                place = (x, y + offset)
                break
        found.append(place)
    return found


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def ring(answer: Answer, row: int) -> Strokes:
    """A circle around an agent's feet, which marks it among others."""
    agents = answer.agents
    place, up = agents.position[row].astype(np.float64), agents.normal[row].astype(np.float64)
    lines = Arc("PLACE", place, 1.25 * float(agents.radius[row]), up).segments().reshape(-1, 3)
    return Strokes(lines, np.tile(np.array(VELOCITY, np.float32), (len(lines), 1)))
