"""A simple person for pictures: smooth, low-poly, with clothes in a color per copy.

The colors come from Blender's random number per object, so that all copies share one mesh, as
instances of the Crowd modifier as well as as linked copies of a keyframe bake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import bpy
import numpy as np
from numpy.typing import NDArray

from .materials import random_material

Floats = NDArray[np.float64]

HEIGHT = 1.75
"""Height [m] of a person with the body radius `BODY_RADIUS`."""
BODY_RADIUS = 0.25
"""Body radius of a person of scale 1 [m]."""
_SEGMENTS = 10

CLOTHES = ("#2F4858", "#B5482F", "#D9A441", "#5F7A61", "#8C3B4A", "#E4DCCB", "#3F6C8F", "#3B3A40")
TROUSERS = ("#23262E", "#39424E", "#5B4A3C", "#6F6A60")
SKINS = ("#F1C7A5", "#D9A27C", "#A8704A", "#6B4430")
HAIRS = ("#1D1713", "#3A2718", "#6E4A27", "#8C8580")


@dataclass
class _Body:
    """Vertices and faces of a figure under construction."""

    points: list[Floats] = field(default_factory=list)
    faces: list[tuple[int, ...]] = field(default_factory=list)
    materials: list[int] = field(default_factory=list)
    count: int = 0

    def tube(self, rings: list[tuple[float, float, float, float, float]], material: int) -> None:
        """Add a closed tube of elliptic rings (x, y, z, half width, half depth), from the top."""
        angle = np.linspace(0.0, 2.0 * math.pi, _SEGMENTS, endpoint=False)
        circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(_SEGMENTS)], axis=1)
        start = self.count
        for x, y, z, width, depth in rings:
            self.points.append(circle * [width, depth, 0.0] + [x, y, z])
        for ring in range(len(rings) - 1):
            upper, lower = start + ring * _SEGMENTS, start + (ring + 1) * _SEGMENTS
            for i in range(_SEGMENTS):
                j = (i + 1) % _SEGMENTS
                self.faces.append((upper + i, lower + i, lower + j, upper + j))
        last = start + (len(rings) - 1) * _SEGMENTS
        self.faces.append(tuple(range(start, start + _SEGMENTS)))
        self.faces.append(tuple(reversed(range(last, last + _SEGMENTS))))
        self.count += len(rings) * _SEGMENTS
        added = (len(rings) - 1) * _SEGMENTS + 2
        self.materials += [material] * added

    def ball(self, center: tuple[float, float, float], size: tuple[float, float, float],
             material: int, lowest: float = -1.0) -> None:  # fmt: skip
        """Add an ellipsoid, cut off below `lowest` (-1 is the whole of it, 0 the upper half)."""
        rings = []
        for turn in np.linspace(0.12, math.acos(max(lowest, -0.99)), 7):
            width = math.sin(turn)
            rings.append(
                (center[0], center[1], center[2] + size[2] * math.cos(turn),
                 size[0] * width, size[1] * width)
            )  # fmt: skip
        self.tube(rings, material)


def make_person(name: str = "Person") -> bpy.types.Object:
    """A person of 1.75 m in mid-step that faces -Y; linked to no collection."""
    body = _Body()
    body.tube(
        [
            (0.0, 0.0, 1.49, 0.055, 0.055),
            (0.0, 0.0, 1.44, 0.15, 0.085),
            (0.0, 0.0, 1.38, 0.195, 0.11),
            (0.0, 0.0, 1.18, 0.175, 0.115),
            (0.0, 0.0, 0.98, 0.155, 0.11),
            (0.0, 0.0, 0.84, 0.175, 0.125),
            (0.0, 0.0, 0.80, 0.15, 0.11),
        ],
        0,
    )
    for side, step in ((1.0, 1.0), (-1.0, -1.0)):
        _leg(body, side, step)
        _arm(body, side, -step)
    body.tube([(0.0, 0.0, 1.56, 0.05, 0.05), (0.0, 0.0, 1.46, 0.055, 0.055)], 2)
    body.ball((0.0, -0.012, 1.635), (0.088, 0.1, 0.122), 2)
    body.ball((0.0, 0.012, 1.66), (0.098, 0.105, 0.112), 3, lowest=-0.1)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate(body.points).tolist(), [], body.faces)
    for number, (part, colors) in enumerate(
        (("Clothes", CLOTHES), ("Trousers", TROUSERS), ("Skin", SKINS), ("Hair", HAIRS))
    ):
        mesh.materials.append(random_material(f"{name} {part}", colors, number))
    mesh.polygons.foreach_set("material_index", body.materials)
    mesh.polygons.foreach_set("use_smooth", [len(face) == 4 for face in body.faces])
    mesh.update()
    return bpy.data.objects.new(name, mesh)


def _leg(body: _Body, side: float, step: float) -> None:
    x, reach = 0.085 * side, -0.2 * step
    body.tube(
        [
            (x, 0.0, 0.86, 0.085, 0.095),
            (x, 0.35 * reach, 0.5, 0.068, 0.07),
            (x, reach, 0.09, 0.05, 0.052),
        ],
        1,
    )
    body.tube(
        [
            (x, reach - 0.01, 0.1, 0.05, 0.065),
            (x, reach - 0.05, 0.05, 0.052, 0.125),
            (x, reach - 0.05, 0.0, 0.05, 0.125),
        ],
        3,
    )


def _arm(body: _Body, side: float, step: float) -> None:
    x, reach = 0.205 * side, -0.17 * step
    body.tube(
        [
            (x - 0.02 * side, 0.0, 1.43, 0.05, 0.055),
            (x + 0.015 * side, 0.3 * reach, 1.18, 0.047, 0.05),
            (x + 0.035 * side, reach, 0.96, 0.036, 0.038),
        ],
        0,
    )
    body.ball((x + 0.035 * side, 1.15 * reach, 0.92), (0.038, 0.045, 0.06), 2)
