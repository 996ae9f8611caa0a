"""A parade around a monument: a column of marchers that keeps its rows and files in the curve.

All of them follow one closed path. The point attribute `lane` tells the files apart. Outer files
have the longer way, and march the faster by `max_speed`: so the rows stay in line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import shapes
from .stage import GRASS, Stage
from .ways import circle, length_of, places

ROWS = 14
LANES = (-1.5, -0.5, 0.5, 1.5)
SPACING = 1.5
"""Distance between rows, along the path [m]."""
PACE = 1.3
"""Speed along the path [m/s]."""
RADIUS = 11.0
HEAD = 0.8
"""Share of the path that lies behind the head of the column at the start."""


def build(stage: Stage) -> None:
    """Square, path, column."""
    line = circle(RADIUS)
    _square(stage)
    path = stage.path(line, cyclic=True, name="Route")
    points, headings, attributes = _column(np.concatenate([line, line[:1]]))
    crowd = stage.crowd("parade_on_path", points, headings=headings, attributes=attributes)
    crowd.steer.behaviors["follow_path"].source_object = path
    stage.show_people(crowd)
    stage.camera((1.0, -29.0, 13.5), (1.0, -3.0, 0.6), 34.0)


def _square(stage: Stage) -> None:
    """Paving, lawn, monument, houses."""
    stage.ground(80.0, 80.0)
    lawn = shapes.pillar_mesh("Lawn", 7.0, 0.1)
    stage.add(lawn, (0.0, 0.0, 0.0), color=GRASS)
    stage.block((0.0, 0.0, 0.0), (3.2, 3.2, 1.2))
    stage.pillar((0.0, 0.0, 1.2), 0.7, 4.0)
    stage.ball((0.0, 0.0, 5.9), 1.0, "#C9A227")
    colors = ("#D9B08C", "#E3CDA4", "#D8A79B", "#B7C4CF", "#E8DFCB", "#C9D1C8", "#E3CDA4")
    for number, color in enumerate(colors):
        x = 10.5 * (number - 3)
        stage.house((x, 20.5, 0.0), (10.0, 7.0, 4.0 + number % 2), color, 2.2)


def _column(line: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Points, headings and attributes of the column, row by row from its head."""
    total = length_of(line)
    along = HEAD * total - np.repeat(SPACING * np.arange(ROWS), len(LANES))
    lane = np.tile(LANES, ROWS)
    points, ways = places(line, along, lane)
    # a full turn is once around, and by so much the way of outer files is longer
    pace = PACE * (1.0 + 2.0 * np.pi * lane / total)
    return points, ways, {"lane": lane, "max_speed": pace}
