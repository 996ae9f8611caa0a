"""A shark in a tank full of fish: the school parts around it, and closes again behind it.

The fish swim with one another, and away from where the shark is about to be. The shark pursues the
nearest fish; it is faster, but cannot turn as they can. Containment keeps all of them in the tank,
and `banking` makes them lean into their curves.
"""

from __future__ import annotations

from typing import Any

from . import shapes
from .stage import SAND, WATER, Stage, ball_of_points, steer_by

FISH = 120
SIZE = (20.0, 12.0, 7.0)
"""The tank, from glass to glass [m]."""
ROOM = 0.4
"""How far from the glass the space ends that fish and shark swim in [m]."""


def build(stage: Stage) -> None:
    """Tank, fish, shark."""
    water = _tank(stage)
    middle = SIZE[2] / 2
    points = ball_of_points(FISH, 1.0, seed=6) * (3.2, 2.2, 1.7) + (2.0, 0.0, middle)
    school = stage.crowd(
        "school_of_fish_with_shark",
        points,
        name="Fish",
        headings=(-1.0, 0.0, 0.0),
    )
    shark = stage.crowd("shark", (-6.5, -1.0, middle), name="Shark", headings=(1.0, 0.0, 0.0))
    steer_by(school, shark)
    steer_by(shark, school)
    for crowd in (school, shark):
        crowd.steer.behaviors["containment"].source_object = water
    stage.show_mesh(school, shapes.fish_mesh("Fish Body", 0.55), "#E88B3A")
    stage.show_mesh(shark, shapes.fish_mesh("Shark Body", 2.3), "#59656F")
    stage.camera((-9.0, -25.0, 10.5), (0.0, 0.0, middle - 0.6), 38.0)


def _tank(stage: Stage) -> Any:
    """Floor, back and frame of the tank; returns the space to swim in, which is not rendered."""
    x, y, z = SIZE
    frame = 0.2
    for place, size, color in (
        ((0.0, 0.0, -frame), (x, y, frame), SAND),
        ((0.0, y / 2, 0.0), (x, frame, z), WATER),
        ((x / 2, 0.0, 0.0), (frame, y, z), WATER),
    ):
        stage.add(shapes.box_mesh("Glass", size), place, color=color)
    for i in (-1, 1):
        for j in (-1, 1):
            place = (i * x / 2, j * y / 2, 0.0)
            stage.add(shapes.box_mesh("Post", (frame, frame, z)), place, color="#3E4A52")
        rail = shapes.box_mesh("Rail", (x + frame, frame, frame))
        stage.add(rail, (0.0, i * y / 2, z), color="#3E4A52")
        rail = shapes.box_mesh("Rail", (frame, y, frame))
        stage.add(rail, (i * x / 2, 0.0, z), color="#3E4A52")
    space = shapes.box_mesh("Water", (x - 2 * ROOM, y - 2 * ROOM, z - 2 * ROOM))
    water = stage.add(space, (0.0, 0.0, ROOM))
    water.display_type, water.hide_render = "WIRE", True
    return water
