"""Wolves hunt a herd on a meadow: two crowds that pursue and evade one another.

The wolves are faster and turn worse; the herd keeps together, and runs from where the nearest wolf
is about to be. A fence keeps all of them on the meadow.
"""

from __future__ import annotations

from . import shapes
from .stage import GRASS, Stage, scatter, steer_by

HERD, WOLVES = 70, 4
SIZE = 46.0


def build(stage: Stage) -> None:
    """Meadow, herd, wolves."""
    stage.ground(SIZE + 8.0, SIZE + 8.0, GRASS)
    half = SIZE / 2
    corners = [(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)]
    stage.wall(corners, 0.15, 1.1)
    herd = stage.crowd(
        "predator_prey", scatter(HERD, 12.0, 9.0, 1.0, center=(4.0, 2.0, 0.0), seed=4), name="Herd"
    )
    wolves = stage.crowd(
        "predators",
        scatter(WOLVES, 3.0, 7.0, 1.5, center=(-11.0, -4.0, 0.0), seed=2),
        name="Wolves",
        headings=(1.0, 0.0, 0.0),
    )
    steer_by(herd, wolves)
    steer_by(wolves, herd)
    stage.show_mesh(herd, shapes.animal_mesh("Sheep", 1.2, 0.42), "#E9E4D8")
    stage.show_mesh(wolves, shapes.animal_mesh("Wolf", 1.4, 0.3), "#4A4743")
    stage.camera((-22.0, -34.0, 22.0), (0.0, -1.5, 0.0), 38.0)
