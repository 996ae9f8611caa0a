"""A street full of people who keep to the right: each has a lane, a direction and a pace.

All of them follow one path, the middle of the street. The point attributes `lane`, `direction` and
`max_speed` of the crowd say how far to the right of it each one walks, which way, and how fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .stage import Stage
from .ways import length_of, places

LANES = (0.9, 1.9, 2.9)
PER_LANE = 15
FRONT = 4.6
"""Distance of the houses from the middle of the street [m]."""
DEPTH = 5.0
"""Of the houses [m]."""
COLORS = ("#E3CDA4", "#D9B08C", "#C9D1C8", "#D8A79B", "#B7C4CF", "#E8DFCB")


def build(stage: Stage) -> None:
    """Street, houses, people."""
    x = np.linspace(-38.0, 38.0, 77)
    line = np.column_stack([x, 6.0 * np.sin(x / 11.0), np.zeros(len(x))])
    stage.ground(100.0, 60.0)
    _houses(stage, line)
    path = stage.path(line, name="Street")
    points, headings, attributes = _people(line)
    crowd = stage.crowd("street_lanes", points, headings=headings, attributes=attributes)
    crowd.steer.behaviors["follow_path"].source_object = path
    stage.show_people(crowd)
    stage.camera((-31.0, -20.0, 20.0), (-2.0, 0.0, 0.0), 32.0)


def _houses(stage: Stage, line: Any) -> None:
    """Rows of houses along both sides."""
    random = np.random.default_rng(5)
    walked = np.linspace(0.0, length_of(line), 200)
    for side in (-1, 1):
        edges = [
            places(line, walked, np.full(len(walked), side * beside))[0]
            for beside in (FRONT, FRONT + DEPTH)
        ]
        # in curves there is less room either in front of the houses or behind them
        steps = [np.linalg.norm(np.diff(edge, axis=0), axis=1) for edge in edges]
        room = np.concatenate([[0.0], np.cumsum(np.minimum(*steps))])
        used, number = 0.0, 0
        while used < room[-1] - 7.0:
            width = random.uniform(4.5, 6.5)
            along = np.interp(used + width / 2, room, walked)
            middle, way = places(line, [along], [side * (FRONT + DEPTH / 2)])
            turn = float(np.degrees(np.arctan2(way[0, 1], way[0, 0])))
            size = (width, DEPTH, random.uniform(2.6, 4.2))
            color = COLORS[(number + side) % len(COLORS)]
            stage.house(middle[0], size, color, random.uniform(1.2, 1.8), turn)
            used, number = used + width + 0.7, number + 1


def _people(line: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Points, headings and attributes of the crowd."""
    random = np.random.default_rng(3)
    total = length_of(line)
    along, lanes, directions = [], [], []
    for direction in (1, -1):
        for lane in LANES:
            # those who come last have the whole street before them, the first ones enough of it
            walked = np.linspace(3.0, total - 22.0, PER_LANE) + random.uniform(-0.9, 0.9, PER_LANE)
            along.append(walked if direction > 0 else total - walked)
            lanes.append(lane + random.uniform(-0.2, 0.2, PER_LANE))
            directions += [direction] * PER_LANE
    lane, direction = np.concatenate(lanes), np.array(directions)
    points, ways = places(line, np.concatenate(along), lane * direction)
    pace = random.uniform(1.15, 1.6, len(points))
    attributes = {"lane": lane, "direction": direction, "max_speed": pace}
    return points, ways * direction[:, None], attributes
