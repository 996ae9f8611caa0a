"""A bull breaks into a market square, and people run for the exits.

They stroll until it comes. Then all make for the nearest exit, by an entry of their list whose
weight is keyed; those near the bull run from where it is about to be, before anything else.
"""

from __future__ import annotations

import bpy

from .. import properties
from . import shapes
from .stage import Stage, scatter, steer_by

PEOPLE = 110
HALF_X, HALF_Y = 20.0, 15.0
EXITS = [(36.0, 0.0, 0.0), (-6.5, 31.0, 0.0), (7.5, -31.0, 0.0)]
BRICK, OCHER, GRAY, OLIVE = "#B5846A", "#C9B79A", "#9FA8B2", "#A3AB97"
HOUSES = [
    # x, y, size x, size y, height, color
    (-24.0, 10.25, 8.0, 13.5, 4.4, OLIVE), (-24.0, -10.25, 8.0, 13.5, 3.6, OCHER),
    (-14.5, 19.0, 11.0, 8.0, 5.0, BRICK), (2.5, 19.0, 13.0, 8.0, 6.0, OCHER),
    (14.5, 19.0, 11.0, 8.0, 4.6, GRAY), (24.0, 10.25, 8.0, 13.5, 5.4, BRICK),
    (24.0, -10.25, 8.0, 13.5, 3.8, OLIVE), (-13.0, -19.0, 14.0, 8.0, 3.2, GRAY),
    (-0.5, -19.0, 11.0, 8.0, 2.8, BRICK), (15.0, -19.0, 10.0, 8.0, 3.2, OCHER),
]  # fmt: skip
STALLS = [(-9.0, 7.0, 20.0), (-8.0, -7.5, -15.0), (11.0, 7.5, -10.0), (9.5, -6.5, 25.0)]
CHARGE = [
    (-44.0, 0.0, 0.0), (-24.0, 0.0, 0.0), (-10.0, 0.5, 0.0), (-3.0, 5.0, 0.0), (4.0, 8.5, 0.0),
    (8.0, 3.0, 0.0), (4.0, -5.0, 0.0), (-4.0, -8.0, 0.0), (-12.0, -3.0, 0.0), (-14.0, 4.0, 0.0),
    (-8.0, 10.5, 0.0), (2.0, 11.0, 0.0), (14.0, 2.0, 0.0),
]  # fmt: skip


def build(stage: Stage) -> None:
    """Square, houses, people, bull."""
    stage.ground(96.0, 84.0)
    for x, y, size_x, size_y, height, color in HOUSES:
        stage.block((x, y, 0.0), (size_x, size_y, height), color)
    for x, y, turn in STALLS:
        stage.block((x, y, 0.0), (3.0, 1.6, 1.0), "#A4563F", turn)
    stage.pillar((1.0, 0.5, 0.0), 1.8, 0.7)
    places = scatter(
        PEOPLE + 30, 2.0 * HALF_X - 3.0, 2.0 * HALF_Y - 3.0, 1.2, center=(0.5, 0.0, 0.0), seed=3
    )
    crowd = stage.crowd("panic", _free(places)[:PEOPLE], name="People", headings=(1.0, 0.0, 0.0))
    steer_by(crowd, _bull(stage))
    _exits(stage, crowd)
    stage.show_people(crowd)
    stage.camera((-16.0, -46.0, 42.0), (0.5, -1.5, 0.0), 36.0)


def _free(places):
    """Those of the places where nothing stands."""
    things = [(1.0, 0.5), *((x, y) for x, y, _ in STALLS)]
    return [p for p in places if all((p[0] - x) ** 2 + (p[1] - y) ** 2 > 6.0 for x, y in things)]


def _bull(stage: Stage) -> bpy.types.Object:
    bull = stage.add(shapes.animal_mesh("Bull", 2.6, 0.42), color="#3A2B25")
    stage.run(bull, CHARGE, 1, 7.0)
    return bull


def _exits(stage: Stage, crowd: bpy.types.Object) -> None:
    """The way out, which nobody thinks of before the bull is there."""
    exits = stage.collection("Exits")
    for place in EXITS:
        stage.add(None, place, name="Exit", collection=exits)
    entry = properties.add_behavior(crowd, "arrive")
    entry.name = "exits"
    entry.arrive.slow_radius, entry.arrive.stop_radius = 9.0, 6.0
    steer_by(crowd, exits, "exits")
    stage.key(crowd, "exits", {60: 0.0, 84: 1.0})
