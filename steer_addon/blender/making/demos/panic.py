"""A bull breaks into a market square, and people run for the nearest street out of it.

They stroll until it comes. Then all take the path that is nearest, by a behavior whose weight is
keyed; those near the bull run from where it is about to be, before anything else. A container that
fills square and streets keeps the crush from pushing anybody into a house.
"""

from __future__ import annotations

import bpy

from . import shapes
from .stage import Stage, scatter, steer_by

PEOPLE = 80
BRICK, OCHER, GRAY, OLIVE = "#B5846A", "#C9B79A", "#9FA8B2", "#A3AB97"
HOUSES = [
    # x, y, size x, size y, height, color
    (-18.0, 7.75, 8.0, 10.5, 4.4, OLIVE), (-18.0, -7.75, 8.0, 10.5, 3.0, OCHER),
    (-10.5, 15.0, 7.0, 8.0, 5.0, BRICK), (2.0, 15.0, 9.0, 8.0, 6.0, OCHER),
    (10.25, 15.0, 7.5, 8.0, 4.6, GRAY), (18.0, 7.75, 8.0, 10.5, 5.4, BRICK),
    (18.0, -7.75, 8.0, 10.5, 3.4, OLIVE), (-9.25, -15.0, 9.5, 8.0, 2.8, GRAY),
    (-0.5, -15.0, 8.0, 8.0, 2.4, BRICK), (11.0, -15.0, 6.0, 8.0, 2.8, OCHER),
]  # fmt: skip
STALLS = [(-7.5, 5.5, 20.0), (-7.0, -6.0, -15.0), (7.5, 5.5, -10.0), (10.5, -6.0, 25.0)]
FREE = [
    # outline of square and streets, a body's radius off the houses
    (-40.0, -2.2), (-13.7, -2.2), (-13.7, -10.7), (3.8, -10.7), (3.8, -19.3), (-6.0, -42.0),
    (18.0, -42.0), (7.7, -19.3), (7.7, -10.7), (13.7, -10.7), (13.7, -2.2), (22.3, -2.2),
    (45.0, -14.0), (45.0, 14.0), (22.3, 2.2), (13.7, 2.2), (13.7, 10.7), (-2.8, 10.7),
    (-2.8, 19.3), (7.0, 42.0), (-16.0, 42.0), (-6.7, 19.3), (-6.7, 10.7), (-13.7, 10.7),
    (-13.7, 2.2), (-40.0, 2.2),
]  # fmt: skip
WAYS_OUT = [
    [(4.0, 0.0, 0.0), (36.0, 0.0, 0.0)],
    [(-4.75, 2.0, 0.0), (-4.75, 33.0, 0.0)],
    [(5.75, -2.0, 0.0), (5.75, -33.0, 0.0)],
]
CHARGE = [
    (-30.0, 0.0, 0.0), (-18.0, 0.0, 0.0), (-8.0, 0.5, 0.0), (-2.0, 4.0, 0.0), (3.0, 5.0, 0.0),
    (5.0, 0.0, 0.0), (2.0, -5.0, 0.0), (-4.0, -5.0, 0.0), (-10.0, -2.0, 0.0), (-11.0, 3.0, 0.0),
    (-7.0, 8.0, 0.0), (0.0, 7.5, 0.0), (5.0, 2.0, 0.0), (10.0, 0.0, 0.0), (10.5, 6.0, 0.0),
    (4.0, 8.5, 0.0),
]  # fmt: skip
BULL_SPEED = 7.0
ALARM = 24


def build(stage: Stage) -> None:
    """Square, houses, people, bull."""
    stage.ground(96.0, 84.0)
    for x, y, size_x, size_y, height, color in HOUSES:
        stage.block((x, y, 0.0), (size_x, size_y, height), color)
    for x, y, turn in STALLS:
        stage.block((x, y, 0.0), (3.0, 1.6, 1.0), "#A4563F", turn)
    stage.pillar((0.0, 0.0, 0.0), 1.5, 0.7)
    places = _free(scatter(PEOPLE + 40, 25.0, 19.0, 1.2, center=(1.0, 0.0, 0.0), seed=3))
    crowd = stage.crowd("panic", places[:PEOPLE], name="People", headings=(1.0, 0.0, 0.0))
    steer_by(crowd, _bull(stage))
    _ways_out(stage, crowd)
    stage.show_people(crowd)
    stage.camera((-13.0, -36.0, 33.0), (0.5, -0.5, 0.0), 35.0)


def _free(places):
    """Those of the places where nothing stands."""
    things = [(0.0, 0.0), *((x, y) for x, y, _ in STALLS)]
    return [p for p in places if all((p[0] - x) ** 2 + (p[1] - y) ** 2 > 5.0 for x, y in things)]


def _bull(stage: Stage) -> bpy.types.Object:
    bull = stage.add(shapes.animal_mesh("Bull", 2.6, 0.42), color="#3A2B25")
    stage.run(bull, CHARGE, 1, BULL_SPEED)
    return bull


def _ways_out(stage: Stage, crowd: bpy.types.Object) -> None:
    """Paths that nobody thinks of before the bull is there, and the room that there is."""
    ways = stage.collection("Ways Out")
    for points in WAYS_OUT:
        way = stage.path(points, name="Way Out")
        stage.set.objects.unlink(way)
        ways.objects.link(way)
    follow = crowd.steer.behaviors["follow_path"]
    follow.source_kind, follow.source_collection = "COLLECTION", ways
    stage.key(crowd, "follow_path", {ALARM: 0.0, ALARM + 12: 1.0})
    room = stage.add(_room(), name="Room")
    room.hide_render, room.display_type = True, "WIRE"
    crowd.steer.behaviors["containment"].source_object = room


def _room() -> bpy.types.Mesh:
    count = len(FREE)
    low = range(count)
    sides = [(k, (k + 1) % count, (k + 1) % count + count, k + count) for k in low]
    points = [(x, y, z) for z in (-1.0, 4.0) for x, y in FREE]
    ends = [tuple(reversed(low)), tuple(k + count for k in low)]
    return shapes.new_mesh("Room", points, [*ends, *sides])
