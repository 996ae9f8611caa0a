"""A parade around a square: a column of marchers that keeps its rows and files in the corners.

All of them follow one closed path. The point attribute `lane` tells the files apart. Outer files
have the longer way, and march the faster by `max_speed`: so the rows stay in line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .stage import GRASS, Stage
from .ways import length_of, places, rounded_square

ROWS = 14
LANES = (-1.5, -0.5, 0.5, 1.5)
SPACING = 1.5
"""Distance between rows [m]."""
PACE = 1.3
"""Speed of the middle of the column [m/s]."""
SIDE, RADIUS = 24.0, 7.0


def build(stage: Stage) -> None:
    """Square, path, column."""
    line = rounded_square(SIDE, RADIUS)
    _square(stage)
    path = stage.path(line, cyclic=True, name="Route")
    points, headings, attributes = _column(np.concatenate([line, line[:1]]))
    crowd = stage.crowd("parade_on_path", points, headings=headings, attributes=attributes)
    crowd.steer.behaviors["follow_path"].source_object = path
    stage.show_people(crowd)
    stage.camera((4.0, -31.0, 18.0), (1.5, -2.0, 0.0), 32.0)


def _square(stage: Stage) -> None:
    """Paving, lawn, a column to march around, houses."""
    stage.ground(80.0, 80.0)
    lawn = stage.block((0.0, 0.0, 0.0), (13.0, 13.0, 0.12), GRASS)
    lawn.name = "Lawn"
    stage.block((0.0, 0.0, 0.0), (3.2, 3.2, 1.2))
    stage.pillar((0.0, 0.0, 1.2), 0.7, 5.5)
    stage.ball((0.0, 0.0, 7.4), 1.0, "#C9A227")
    for number, x in enumerate((-21.0, -10.5, 0.0, 10.5, 21.0)):
        color = ("#E3CDA4", "#D8A79B", "#B7C4CF", "#E8DFCB", "#D9B08C")[number]
        stage.house((x, 20.5, 0.0), (10.0, 7.0, 4.0 + number % 2), color, 2.2)


def _column(line: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Points, headings and attributes of the column, row by row from its head."""
    total = length_of(line)
    # the head of the column is about to take a corner
    head = 2.0 * (SIDE - 2.0 * RADIUS) + np.pi / 2 * RADIUS - 6.0
    along = np.repeat(head - SPACING * np.arange(ROWS), len(LANES)) % total
    lane = np.tile(LANES, ROWS)
    points, ways = places(line, along, lane)
    # once around a square is a full turn, and so much longer is the way of outer files
    pace = PACE * (1.0 + 2.0 * np.pi * lane / total)
    return points, ways, {"lane": lane, "max_speed": pace}
