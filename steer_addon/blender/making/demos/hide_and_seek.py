"""One seeks, the others hide behind pillars: two crowds that read each other.

The seeker goes round among the pillars and turns a little toward the nearest of the others. Each of
them keeps going to the nearest place that has a pillar between itself and the seeker.
"""

from __future__ import annotations

import bpy

from ..figures import make_person
from .stage import GRASS, Stage, scatter, steer_by

HIDERS = 16
PILLARS = [
    (-9.0, 4.5), (-4.5, 5.6), (0.5, 4.6), (5.0, 5.8), (9.5, 4.4), (-6.8, 0.6), (-2.0, 0.4),
    (2.8, 0.2), (7.4, 0.6), (-9.2, -4.0), (-4.4, -4.6), (0.4, -4.2), (5.2, -4.8), (9.4, -3.8),
]  # fmt: skip
ROUND = [
    (-11.5, 0.0, 0.0), (-9.0, 2.2, 0.0), (-4.5, 2.6, 0.0), (0.4, 2.2, 0.0), (5.0, 2.8, 0.0),
    (9.8, 2.0, 0.0), (11.5, 0.0, 0.0), (9.5, -1.6, 0.0), (5.0, -2.2, 0.0), (0.2, -1.8, 0.0),
    (-4.6, -2.2, 0.0), (-9.5, -1.8, 0.0),
]  # fmt: skip


def build(stage: Stage) -> None:
    """Park, pillars, seeker, hiders."""
    stage.ground(60.0, 60.0, GRASS)
    for x, y in PILLARS:
        stage.pillar((x, y, 0.0), 0.75, 2.6)
    places = scatter(HIDERS + 20, 22.0, 13.0, 1.2, seed=7)
    free = [p for p in places if all((p[0] - x) ** 2 + (p[1] - y) ** 2 > 1.5 for x, y in PILLARS)]
    hiders = stage.crowd("hide_and_seek", free[:HIDERS], name="Hiders")
    seeker = stage.crowd("seeker", [ROUND[0]], name="Seeker", headings=(1.0, 0.0, 0.0))
    steer_by(hiders, seeker)
    steer_by(seeker, hiders)
    follow = seeker.steer.behaviors["follow_path"]
    follow.source_kind, follow.source_object = "OBJECT", stage.path(ROUND, cyclic=True)
    stage.show_people(hiders)
    _show_seeker(stage, seeker)
    stage.camera((-5.0, -19.5, 17.0), (-0.8, -0.4, 0.0), 34.0)


def _show_seeker(stage: Stage, seeker: bpy.types.Object) -> None:
    body = make_person("Seeker")
    body.data.materials.clear()
    stage.show_mesh(seeker, body.data, "#C8342B")
