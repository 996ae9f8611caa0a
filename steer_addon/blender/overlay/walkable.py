"""The walkable surface in the overlay: its cells near the crowd, in the colors of their islands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.step.guiding import blocks_of, goes, shape_of
from ...core.ways.classes import class_radii
from ...core.ways.islands import islands_at
from ...core.ways.known import Blocks
from ...core.ways.looking import Islands, cells_near, islands_of, middles
from ...core.ways.room import FORBIDDEN
from ...core.ways.ways import Ways
from .strokes import NOTHING, Color, Strokes

if TYPE_CHECKING:
    from ...core.explain import Answer
    from ...core.ways.portals.declared import Portal
    from ...core.ways.surface import Surface

MOST_CELLS = 20_000
"""Cells that are drawn: a square of 35 m with cells of 0.25 m."""
STRIDE = 2.0
"""How far the crowd goes until others are drawn [m]."""
LIFT, SHARE = 0.03, 0.88
"""How far above the ground cells are drawn [m], and how much of each."""
ISLANDS: tuple[Color, ...] = (
    (0.34, 0.71, 0.98, 0.35),
    (0.95, 0.60, 0.20, 0.35),
    (0.60, 0.82, 0.25, 0.35),
    (0.87, 0.45, 0.75, 0.35),
    (0.95, 0.87, 0.25, 0.35),
    (0.35, 0.85, 0.75, 0.35),
)
"""Colors of the islands, the largest first; further ones have them again."""
SHUT: Color = (0.85, 0.12, 0.12, 0.45)
"""Color of forbidden cells."""
PORTAL: Color = (1.0, 1.0, 1.0, 0.75)
WIDE = 0.12
"""Color and width [m] of portals."""
_CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)], np.float64)


@dataclass
class Floor:
    """What is drawn of a surface, and what it was made of."""

    ways: Ways = field(default_factory=Ways)
    """The overlay's own: those of a run belong to its thread."""
    cells: Strokes = NOTHING
    """Triangles, two a cell."""
    surface: Surface | None = None
    made_for: Any = None
    """Radius of the bodies, and what areas mean for them."""
    islands: Islands | None = None
    key: Any = None

    def look(self, answer: Answer, chosen: list[int]) -> None:
        """Find the cells near an agent, or near the middle of the crowd.

        Args:
            answer: The crowd as it is shown.
            chosen: Ids of the chosen agents; the last one is the agent.
        """
        agents = answer.agents.taken(np.flatnonzero(answer.after.alive))
        settings, world = answer.settings, answer.world
        if settings.motion.motion != "GROUND" or not agents.count:
            self.cells, self.key = NOTHING, None
            return
        goals = [world.targets_of(b.target).position for b in settings.stack if goes(b)]
        blocks = blocks_of(world, agents, settings)
        none = np.zeros((0, 3), np.float32)
        surface = self.ways.surface(shape_of(settings, agents), blocks, goals[0] if goals else none)
        row = int((agents.id == chosen[-1]).argmax()) if chosen and chosen[-1] in agents.id else -1
        radius = float(class_radii(agents.radius)[row] if row >= 0 else agents.radius.max())
        made_for = radius, *_rules_of(blocks, max(row, 0))
        if surface is not self.surface or made_for != self.made_for or self.islands is None:
            self.surface, self.made_for, self.key = surface, made_for, None
            self.islands = islands_of(surface, blocks, radius, max(row, 0))
        place = agents.position[row] if row >= 0 else np.median(agents.position, axis=0)
        key = tuple(np.round(place / STRIDE).tolist())
        if key != self.key:
            near = cells_near(self.islands, surface, np.array(key) * STRIDE, MOST_CELLS)
            slope = surface.slopes(near, blocks.ground)
            lines = portals_drawn(() if blocks.areas is None else blocks.areas.portals)
            self.cells, self.key = both(drawn(surface, self.islands, near, slope), lines), key


def _rules_of(blocks: Blocks, row: int) -> tuple[Any, ...]:
    """What areas mean for an agent: equal where nothing about that changed."""
    rules = blocks.rules
    return () if rules is None else (rules.areas, rules.costs, int(rules.bits[row]))


def portals_drawn(portals: Sequence[Portal]) -> Strokes:
    """Portals as triangles: bands seen from all sides, which taper where they lead one way.

    Args:
        portals: The portals.
    """
    parts = [_band(each) for each in portals]
    points = np.concatenate(parts) if parts else NOTHING.points
    return Strokes(points, np.tile(np.array(PORTAL, np.float32), (len(points), 1)))


def _band(portal: Portal) -> NDArray[np.float32]:
    """Two bands along a line that cross each other, as triangles, shape (corners, 3)."""
    line = portal.points.astype(np.float64)
    ahead = np.diff(line, axis=0)
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(ahead, axis=1))])
    wide = 0.5 * WIDE * (np.ones(len(line)) if portal.both_ways else 1.0 - gone / gone[-1])
    found = []
    for axis in np.eye(3)[[2, 0, 1]]:
        out = np.cross(ahead, axis)
        size = np.linalg.norm(out, axis=1, keepdims=True)
        out = out / np.maximum(size, 1.0e-9)
        a, b = line[:-1] - out * wide[:-1, None], line[1:] - out * wide[1:, None]
        c, d = line[1:] + out * wide[1:, None], line[:-1] + out * wide[:-1, None]
        found.append(np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3))
    points: NDArray[np.float32] = np.concatenate(found).astype(np.float32)
    return points


def both(a: Strokes, b: Strokes) -> Strokes:
    """The triangles of both."""
    return Strokes(np.concatenate([a.points, b.points]), np.concatenate([a.colors, b.colors]))


def drawn(
    surface: Surface,
    islands: Islands,
    cells: NDArray[np.int64],
    slope: NDArray[np.float32],
) -> Strokes:
    """Some cells as triangles, which lie as steep as the ground there.

    Args:
        surface: The surface.
        islands: Its islands.
        cells: Numbers of the cells.
        slope: How much the ground rises in them along x and y, shape (cells, 2).
    """
    middle = middles(surface, cells)
    flat = _CORNERS * (0.5 * SHARE * surface.view.size)
    points = np.repeat(middle[:, None, :], len(flat), axis=1)
    points[:, :, :2] += flat
    points[:, :, 2] += LIFT + slope.astype(np.float64) @ flat.T
    rank = np.empty(len(islands.area), np.int64)
    rank[np.argsort(-islands.area, kind="stable")] = np.arange(len(rank))
    ranks = rank[islands_at(islands.label, islands.room, cells)]
    colors = np.array(ISLANDS, np.float32)[ranks % len(ISLANDS)]
    if islands.cost is not None:
        # dearer cells are darker, preferred ones brighter
        cost = islands.cost[cells][:, None]
        colors[:, :3] *= np.where(cost > 1.0, np.maximum(cost, 1.0) ** -0.5, 1.0)
        colors[:, :3] += (1.0 - colors[:, :3]) * np.clip(1.0 - cost, 0.0, 1.0)
    colors[islands.room.state[cells] == FORBIDDEN] = SHUT
    return Strokes(points.reshape(-1, 3).astype(np.float32), np.repeat(colors, len(flat), axis=0))
