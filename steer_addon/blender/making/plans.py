"""What Add > Crowd makes of a preset, in numbers: where agents, obstacles and target stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.crowd.presets import load_preset
from ...core.crowd.scaling import scaled_crowd
from ...core.crowd.settings import CrowdSettings
from ...core.crowd.start import StartSettings, complete_start
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS
from ..crowd import crowds
from ..reading.extents import Box, box_of
from .arrangement import BALL, DISC, LANES, Arrangement
from .figures import BODY_RADIUS

AUTO, ACTIVE, NEW, NONE = "AUTO", "ACTIVE", "NEW", "NONE"


@dataclass(frozen=True)
class Wish:
    """Options of the user.

    Attributes:
        preset: Name of a preset, or path of a .json file.
        count: Number of agents.
        seed: Random seed of the start positions.
        obstacles: Whether to add obstacles.
        ground: Ground of walkers: AUTO, ACTIVE, NEW or NONE.
        bodies: Whether agents are shown as people and animals; cones are quicker to draw.
    """

    preset: str
    count: int
    seed: int = 0
    obstacles: bool = True
    ground: str = AUTO
    bodies: bool = True


@dataclass(frozen=True)
class Spot:
    """Place of an obstacle [m]."""

    x: float
    y: float
    z: float
    radius: float


@dataclass(frozen=True)
class Plan:
    """Settings of a new crowd, and places and sizes of the new objects [m]."""

    wish: Wish
    settings: CrowdSettings
    start: StartSettings
    uses: frozenset[str]
    flies: bool
    body: float
    gap: float
    """Room that agents like to have around them."""
    spread: float
    reach: float
    height: float
    way: float
    """Largest distance of the path from the middle."""
    lap: float
    """Radius of the circle that the target moves on; 0 if it stands still."""
    unit: float = 1.0
    """Units of the scene in a meter."""

    @property
    def target(self) -> tuple[float, float, float]:
        """Place of the target at the first frame."""
        return (0.0, -self.lap or -0.5 * self.reach, self.height)

    @property
    def second_target(self) -> tuple[float, float, float]:
        """Place of the second target."""
        return (self.reach / 2, 0.0, self.height)

    def new_ground(self) -> float:
        """Width of a new ground; 0 if none is wanted."""
        wanted = not self.flies and self.wish.ground != NONE
        return 2.5 * (self.reach + self.spread) if wanted else 0.0

    def container(self) -> tuple[float, float]:
        """Half width and lower end of the container."""
        half = 1.3 * self.spread + 6.0 * self.body
        if PATHS in self.uses:
            # agents that run for a path outside would be stopped at the wall
            half = max(half, self.way + 6.0 * self.body)
        low = max(self.height - half, 0.0) if self.flies else -2.0 * self.body
        return half, low

    def spots(self) -> list[Spot]:
        """Obstacles clear of the way of a circling target, and of the one ahead."""
        if self.start.scenery == "NONE" or not self.wish.obstacles:
            return []
        unit = self.body / BODY_RADIUS
        width = max(0.6 * self.spread, 3.0 * unit)
        places = [(-width, 0.0), (0.1 * width, -0.25 * width), (width, 0.15 * width)]
        if PATHS in self.uses or self.lap:
            places = [(-width, width), (width, 0.8 * width), (-0.8 * width, -width)]
            places.append((width, -width))
        if self.start.placement == "LANES":
            # inside of the common circular path
            places = [(0.0, 0.0)]
        balls = self.start.scenery == "BALLS"
        found = []
        for number, (x, y) in enumerate(places):
            size = unit * (0.8 + 0.25 * (number % 2)) * (2.0 if self.flies else 1.0)
            far, free = math.hypot(x, y), size + 4.0 * self.body
            if far and abs(far - self.lap) < free:
                x, y = (value * (self.lap + free) / far for value in (x, y))
            y -= 0.25 * self.reach if balls else 0.0
            z = self.height if balls else size if self.start.scenery == "SPHERES" else 0.0
            found.append(Spot(x, y, z, size))
        return found

    def arrangement(self, spots: Sequence[Spot]) -> Arrangement:
        """How the agents stand, clear of obstacles."""
        back = 0.5 * self.reach if self.start.placement == "FACING" else 0.0
        seed, center = self.wish.seed, (0.0, back, self.height)
        if self.start.placement == "LANES":
            return Arrangement(LANES, radius=self.way, center=center, seed=seed, body=self.body)
        room = 2.5 * self.body
        # in the middle agents leave room to walk around obstacles
        clear = 1.001 * self.body if back or self.flies else room
        # an agent that walks stands beside a ball that lies on the ground
        avoid = tuple((s.x, s.y, s.z if self.flies else 0.0, s.radius + clear) for s in spots)
        share, growth = (0.8, 1 / 3) if self.flies else (0.75, 0.5)
        return Arrangement(
            BALL if self.flies else DISC,
            spacing=0.0 if self.flies else room,
            radius=self.gap,
            share=share,
            growth=growth,
            least=4.0 * self.body,
            center=center,
            seed=seed,
            avoid=avoid,
            body=self.body,
            max_slope=self.settings.motion.max_slope,
        )

    def box(self, points: Any) -> Box:
        """The box around all that the crowd needs, with its agents at some points."""
        near = 4.0 * self.body
        corners = [points.min(axis=0) - near, points.max(axis=0) + near]
        if self.start.target != "NONE":
            wide = max(self.lap, near)
            corners += [(-wide, self.target[1], 0.0), (wide, max(self.lap, 0.0), 0.0)]
        if self.uses & {PATHS, FIELD}:
            corners += [(-self.way, -0.7 * self.way, 0.0), (self.way, 0.7 * self.way, 0.0)]
        if CONTAINER in self.uses:
            half, _ = self.container()
            corners += [(-half, -half, 0.0), (half, half, 0.0)]
        if SECOND_TARGETS in self.uses:
            corners.append(self.second_target)
        for spot in self.spots():
            corners.append((spot.x - spot.radius, spot.y - spot.radius, 0.0))
            corners.append((spot.x + spot.radius, spot.y + spot.radius, 0.0))
        return box_of(corners)


def plan_of(wish: Wish, unit: float = 1.0) -> Plan:
    """Plan a crowd from a preset.

    Args:
        wish: The user's options.
        unit: Units of the scene in a meter; all lengths of the plan are in these units.

    Raises:
        SteerError: The preset cannot be used.
    """
    preset = load_preset(wish.preset, *crowds.user_preset_folders())
    settings = replace(scaled_crowd(preset.settings, unit), seed=wish.seed)
    start = complete_start(preset.start, settings)
    acting = [b for b in settings.behaviors if b.enabled and b.weight > 0.0]
    body = max(settings.agents.radius, 0.02 * unit)
    flies = settings.motion.motion == "FLY"
    near = [getattr(b, b.keeps_apart_by) for b in acting if b.keeps_apart_by]
    gap = max([4.0 * body, *(0.7 * float(distance) for distance in near)])
    spread = gap * (0.8 * wish.count ** (1 / 3) if flies else 0.75 * math.sqrt(wish.count))
    spread = max(spread, 4.0 * body)
    reach = spread + min(max(4.0 * settings.agents.max_speed, 24.0 * body), 100.0 * body)
    lap = {"AMONG": 0.6 * spread + 6.0 * body, "LEADS": 0.9 * spread + 6.0 * body}
    return Plan(
        wish=wish,
        settings=settings,
        start=start,
        uses=frozenset(use for b in acting for use in b.definition.uses),
        flies=flies,
        body=body,
        gap=gap,
        spread=spread,
        reach=reach,
        height=spread + 6.0 * body if flies else 0.0,
        way=0.6 * reach + 4.0 * body,
        lap=lap.get(start.target, 0.0),
        unit=unit,
    )
