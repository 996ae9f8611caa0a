"""Walkers on a path through a park hide behind rocks while a bear goes by, and then walk on.

The path leads too near to a hedge: there they feel their way along it to the gap.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...crowd import properties
from . import shapes
from .stage import GRASS, SAND, Stage, steer_by

PATH = ((1.6, 0.4), (8.0, 0.6), (20.0, 0.0))
ROCKS = (
    (-13.2, 2.8, 0.9), (-8.2, 3.0, 1.0), (-10.8, -2.8, 0.9), (-5.6, -2.7, 0.8),
    (5.2, 3.4, 1.0), (8.4, 3.1, 0.9), (4.8, -2.9, 0.8), (8.6, -2.6, 0.9),
)  # fmt: skip
"""Rocks as X, Y and radius [m]."""
HEDGES = (((-2.6, 3.6), (1.6, 1.3)), ((-2.6, -4.4), (1.6, -2.0)))
"""Two hedges that narrow to the gap that the path goes through [m]."""
THICK, HIGH, BODY = 0.6, 1.3, 0.25
"""Size of the hedges, and how far outside of them walkers feel them [m]."""
BEAR = {1: (-1.0, 7.0, 0.0), 201: (-22.0, 6.0, 0.0)}
"""Where the bear is, by frame."""
WALKERS, FIRST, STEP, LANE = 9, -1.6, 1.8, 0.35
"""How many walkers, where the first starts and how far behind it the next, and how far to the right
and left of the path they go [m]."""


def build(stage: Stage) -> None:
    """Park, path, bear, walkers."""
    stage.ground(56.0, 36.0, GRASS)
    _trail(stage)
    for x, y, radius in ROCKS:
        stage.ball((x, y, 0.0), radius, "#9A958C")
    for start, end in HEDGES:
        _hedge(stage, np.array(start), np.array(end))
    bear = stage.add(shapes.animal_mesh("Bear", 2.2, 0.5), BEAR[1], color="#5A3E2B")
    (ax, ay, _), (bx, by, _) = BEAR.values()
    bear.rotation_euler[2] = math.atan2(by - ay, bx - ax) + math.pi / 2
    stage.move(bear, BEAR)
    place = np.arange(WALKERS)
    lane = LANE * (-1.0) ** place
    crowd = stage.crowd(
        "feelers_hide_path",
        np.column_stack([FIRST - STEP * place, 0.2 - lane, 0.0 * place]),
        name="Walkers",
        headings=(1.0, 0.0, 0.0),
        attributes={"lane": lane},
    )
    crowd.steer.behaviors["follow_path"].source_object = stage.path([(*p, 0.0) for p in PATH])
    steer_by(crowd, bear)
    # the source has a single walker: several look for the same cover
    apart = properties.add_behavior(crowd, "separation")
    apart.separation.strength, apart.separation.neighbor_distance = 1.0, 1.0
    apart.separation.falloff = "DISTANCE"
    # who stands behind a rock shall not turn round for a step
    crowd.steer.motion.min_turn_speed = 0.2
    crowd.steer.motion.body_turn_rate = 360.0
    stage.show_people(crowd)
    stage.camera((-3.0, -20.0, 14.0), (-2.5, 0.5, 0.0), 32.0)


def _trail(stage: Stage) -> None:
    points = np.array([(-26.0, 0.2), *PATH, (28.0, PATH[-1][1])])
    rows = [(x, y + side, 0.01) for side in (-0.9, 0.9) for x, y in points]
    count = len(points)
    faces = [(k, k + 1, count + k + 1, count + k) for k in range(count - 1)]
    stage.add(shapes.new_mesh("Trail", rows, faces), color=SAND)


def hedge_sides(start: Any, end: Any) -> list[Any]:
    """Corners of a hedge, as wide as it is for the center of a body, seen from above [m]."""
    ahead = (end - start) / np.linalg.norm(end - start)
    ahead *= THICK / 2 + BODY
    left = np.array([-ahead[1], ahead[0]])
    back, front = start - ahead, end + ahead
    return [back - left, front - left, front + left, back + left]


def _hedge(stage: Stage, start: Any, end: Any) -> None:
    way = end - start
    size = (float(np.linalg.norm(way)) + THICK, THICK, HIGH)
    obj = stage.add(shapes.box_mesh("Hedge", size), (*(start + end) / 2, 0.0), color="#4C6B3C")
    obj.rotation_euler[2] = math.atan2(way[1], way[0])
    corners = [(*corner, 0.0) for corner in hedge_sides(start, end)]
    stage.plan(corners, [(0, 1), (1, 2), (2, 3), (3, 0)], "Hedge Plan")
