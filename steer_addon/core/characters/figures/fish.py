"""A fish that swims by waves along its body; its origin is the middle of its body."""

from __future__ import annotations

import numpy as np

from ..figure import Figure, Skeleton
from .assembly import (
    Joints,
    Table,
    assembled,
    by_time,
    ring_follows,
    skeleton_of,
    table_of,
)
from .bird import flat_ring
from .skin import Skin
from .turning import Floats, joint_places, turn

_SCALES, _FINS, _EYES = range(3)
_LENGTH = 0.52
"""From nose to tail [m]."""
_NOSE = -0.24


def make_fish() -> Figure:
    """A fish: ways to swim go on by time, by rising speeds."""
    table = table_of("fish.toml")
    skeleton = skeleton_of(table["joints"], table["parents"])
    rows, poses = by_time(table["gait"], skeleton, _posed)
    return assembled("fish", table, skeleton, _skin(table, skeleton), rows, poses)


def _skin(table: Table, skeleton: Skeleton) -> Skin:
    """Body, fins and eyes."""
    skin, rings = Skin(skeleton.names), table["rings"]
    rows = rings["body"]
    skin.path([row[:5] for row in rows], ring_follows(table, rows), _SCALES, 10)
    for name in ("tail", "dorsal", "anal"):
        sections = []
        for row, what in zip(rings[name], ring_follows(table, rings[name]), strict=True):
            y, z, back_y, back_z, thick = row[:5]
            middle_y, middle_z = 0.6 * y + 0.4 * back_y, 0.6 * z + 0.4 * back_z
            points = np.array(
                [(0, y, z), (-thick, middle_y, middle_z), (0, back_y, back_z),
                 (thick, middle_y, middle_z)]
            )  # fmt: skip
            sections.append(skin.ring(points, what))
        skin.tube(sections, _FINS)
    for side, end in ((1.0, "_l"), (-1.0, "_r")):
        sections = []
        for x, front, back, z, thick in rings["pectoral"]:
            points = flat_ring(x, (front, back), z, thick) * [side, 1.0, 1.0]
            sections.append(skin.ring(points, ("front", "fin" + end, 1.0)))
        skin.tube(sections, _FINS, side < 0.0)
        eye = np.array([side * 0.030, -0.185, 0.012])
        skin.ball(eye, np.array([0.006, 0.010, 0.010]), ("front", "head", 1.0), _EYES)
    return skin


def _posed(skeleton: Skeleton, phase: Floats, values: dict[str, float]) -> Joints:
    """Joints of a wave that runs back along the body."""
    angle = 2.0 * np.pi * phase[:, None]
    order = ["head", "front", "middle", "back", "stem", "tail"]
    number = [skeleton.names.index(name) for name in order]
    y = skeleton.rest[number, 1].astype(float)
    # each bone reaches to the next one, those of head and tail to the body's ends
    ends = np.array([_NOSE, y[0], y[3], y[4], y[5], _NOSE + _LENGTH])

    def aside(at: Floats) -> Floats:
        part = (at - _NOSE) / _LENGTH
        width = values["sway"] * _LENGTH * (0.18 - 0.45 * part + 1.27 * part**2)
        result: Floats = width * np.sin(angle - 2.0 * np.pi * 0.95 * part)
        return result

    slope = np.arctan((aside(ends) - aside(y)) / (ends - y))
    turns = {name: turn(2, -slope[:, i]) for i, name in enumerate(order)}
    flap = np.radians(values["fin"]) * np.sin(angle[:, 0])
    spread = np.radians(values["spread"])
    for end, side in (("_l", 1.0), ("_r", -1.0)):
        sweep = turn(2, -side * spread + 0.0 * flap) @ turn(1, -side * flap)
        turns["fin" + end] = turns["front"] @ sweep
    root = np.stack([aside(y[2:3])[:, 0], 0.0 * phase, 0.0 * phase], axis=-1)
    turned = np.stack([turns[name] for name in skeleton.names], axis=1)
    return joint_places(skeleton, root, turned), turned
