"""Walkers meet balls and are pushed from their centers: the nearer to head-on, the more they brake.

Three walkers come to every ball. The first comes exactly head-on: nothing pushes him aside, so he
brakes and stays in front of it. The others pass, later the straighter they come. `lateral_spheres`
is the same scene with the other push.
"""

from __future__ import annotations

import bpy
import numpy as np

from . import shapes
from .stage import Stage, steer_by

BALLS = ((0.0, -8.4), (-1.2, -4.2), (0.0, 0.0), (-1.2, 4.2), (0.0, 8.4))
"""Centers of the balls [m]."""
RADIUS, BODY = 1.2, 0.3
"""Radius of the balls, and how far outside of them walkers keep their own centers [m]."""
OFFSETS = (0.0, 0.35, -0.6)
"""How far to the left of the line through the ball's center its walkers come [m]."""
AHEAD, STEP, BEYOND = 4.5, 1.1, 9.0
"""How far before its ball the first walker starts, how far behind it the next, and how far beyond
the ball they want to go [m]."""
COLORS = ("#C96A4B", "#4F86A6", "#D2A24C", "#6E9468", "#8C5A78")


def build(stage: Stage) -> None:
    """The balls, met by walkers that are pushed from the centers."""
    build_balls(stage, "ahead_spheres")


def build_balls(stage: Stage, preset: str) -> bpy.types.Object:
    """Balls, and for each of them walkers with targets straight ahead, on the other side."""
    stage.ground(30.0, 26.0)
    starts, goals = [], stage.collection("Goals")
    for (x, y), color in zip(BALLS, COLORS, strict=True):
        stage.add(shapes.ball_mesh("Ball", RADIUS), (x, y, RADIUS), color=color)
        stage.sphere((x, y, RADIUS), RADIUS + BODY)
        for place, aside in enumerate(OFFSETS):
            goal = (x + BEYOND - STEP * place, y + aside, 0.0)
            goals.objects.link(stage.target(goal, f"Goal {len(starts):02d}"))
            starts.append((x - AHEAD - STEP * place, y + aside, 0.0))
    crowd = stage.crowd(
        preset,
        starts,
        name="Walkers",
        headings=(1.0, 0.0, 0.0),
        attributes={"target_index": np.arange(len(starts))},
    )
    steer_by(crowd, goals)
    # who is pushed back by a step shall not turn round for it
    crowd.steer.motion.min_turn_speed = 0.2
    stage.show_people(crowd)
    stage.camera((3.0, -27.0, 17.0), (0.5, -1.0, 0.0), 45.0)
    return crowd
