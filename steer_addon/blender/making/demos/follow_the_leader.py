"""A guide leads a group across a square, turns round, and walks back through the middle of it.

The group follows a place behind the guide. Those in the guide's way step aside, so that nobody is
walked over; then all fall in behind again.
"""

from __future__ import annotations

import bpy

from ..figures import make_person
from ..materials import plain_material
from ..scene_look import make_marker
from .stage import Stage, scatter, steer_by

GROUP = 24
BEDS = [(-4.6, 4.0), (0.2, 4.4), (-4.2, -4.0), (0.4, -4.0), (5.2, -3.0), (5.2, 3.4)]
ROUND = [
    (-4.0, -0.6, 0.0), (-2.0, -0.6, 0.0), (0.0, -0.5, 0.0), (1.8, 0.0, 0.0), (1.6, 1.1, 0.0),
    (0.0, 1.2, 0.0), (-2.0, 0.6, 0.0), (-4.5, 0.2, 0.0), (-7.5, 0.0, 0.0), (-8.8, -1.5, 0.0),
    (-8.0, -4.0, 0.0), (-5.0, -5.8, 0.0), (0.0, -6.0, 0.0), (5.0, -5.8, 0.0), (7.5, -3.0, 0.0),
    (7.0, 0.0, 0.0), (4.0, 0.6, 0.0), (0.0, 0.6, 0.0), (-3.0, 0.6, 0.0),
]  # fmt: skip
GUIDE_SPEED = 1.8


def build(stage: Stage) -> None:
    """Square, flower beds, guide, group."""
    stage.ground(44.0, 36.0)
    for x, y in BEDS:
        stage.pillar((x, y, 0.0), 0.75, 0.5, "#7C9A6C")
    guide = _guide(stage)
    places = scatter(GROUP, 5.0, 5.0, 0.8, center=(-7.6, -0.6, 0.0), seed=5)
    group = stage.crowd("follow_the_leader", places, name="Group", headings=(1.0, 0.0, 0.0))
    steer_by(group, guide)
    stage.show_people(group)
    stage.camera((-3.0, -15.0, 11.0), (-1.4, -0.5, 0.0), 34.0)


def _guide(stage: Stage) -> bpy.types.Object:
    guide = make_person("Guide")
    guide.data.materials[0] = plain_material("Guide", "#E2572B")
    stage.set.objects.link(guide)
    make_marker(guide, stage.set, 0.6)
    stage.run(guide, ROUND, 1, GUIDE_SPEED)
    return guide
