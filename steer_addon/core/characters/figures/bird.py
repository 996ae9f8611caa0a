"""A bird that beats its wings; its origin is the middle of its body, not its feet."""

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
from .skin import Follows, Ring, Skin
from .steps import Gait
from .turning import Floats, joint_places, turn

_FEATHERS, _TIPS, _BEAK, _EYES = range(4)


def make_bird() -> Figure:
    """A bird: ways to fly go on by time, by rising speeds; gliding is a clip."""
    table = table_of("bird.toml")
    skeleton = skeleton_of(table["joints"], table["parents"])
    rows, poses = by_time((*table["gait"], *table["clip"]), skeleton, _posed)
    skin = _skin(table, skeleton)
    return assembled("bird", table, skeleton, skin, rows, poses, len(table["clip"]))


def flat_ring(x: float, edges: tuple[float, float], z: float, thick: float) -> Floats:
    """A thin section across x: leading edge, top, trailing edge, bottom."""
    lead, trail = edges
    thickest = lead + 0.3 * (trail - lead)
    return np.array(
        [(x, lead, z), (x, thickest, z + thick), (x, trail, z), (x, thickest, z - thick)]
    )


def _skin(table: Table, skeleton: Skeleton) -> Skin:
    """Body, beak, eyes, tail and wings."""
    skin, rings = Skin(skeleton.names), table["rings"]
    for name, count, material in (("body", 10, _FEATHERS), ("beak", 6, _BEAK)):
        rows = rings[name]
        follows = ring_follows(table, rows)
        skin.path([row[:5] for row in rows], follows, material, count)
    tail: Follows = ("body", "tail", 1.0)
    fan: list[Ring] = []
    for y, wide, thick in rings["fan"]:
        points = np.array([(0, y, thick), (wide, y, 0), (0, y, -thick), (-wide, y, 0)])
        fan.append(skin.ring(points, tail))
    skin.tube(fan, _FEATHERS, flip=True)
    for side, end in ((1.0, "_l"), (-1.0, "_r")):
        eye = np.array([side * 0.029, -0.196, 0.038])
        skin.ball(eye, np.array([0.006, 0.007, 0.007]), ("body", "head", 1.0), _EYES)
        _wing(skin, table, side, end)
    return skin


def _wing(skin: Skin, table: Table, side: float, end: str) -> None:
    """A wing, with tips in a color of their own."""
    rows = table["rings"]["wing"]
    follows = ring_follows(table, rows, end)
    rings = []
    for (x, lead, trail, z, thick, *_), what in zip(rows, follows, strict=True):
        points = flat_ring(x, (lead, trail), z, thick) * [side, 1.0, 1.0]
        rings.append(skin.ring(points, what))
    before = len(skin.faces)
    skin.tube(rings, _FEATHERS, side < 0.0)
    tips = {vertex for ring in rings[table["rings"]["tip_from"] :] for vertex in ring}
    for number in range(before, len(skin.faces)):
        if tips.issuperset(skin.faces[number]):
            skin.materials[number] = _TIPS


def _posed(skeleton: Skeleton, phase: Floats, values: Gait) -> Joints:
    """Joints of a beat; at phase 0 the wings come down through the middle."""
    gait = {k: v if k == "rise" else float(np.radians(v)) for k, v in values.items()}
    angle = 2.0 * np.pi * phase
    none = 0.0 * phase
    # the hand follows the arm, and folds as the wing rises
    arm = gait["middle"] - gait["beat"] * np.sin(angle)
    hand = -gait["hand"] * (np.sin(angle - 0.9) + 0.45 * (1.0 - np.cos(angle - 0.4)) * 0.5)
    # leading edge down as the wing comes down
    twist = gait["twist"] * np.cos(angle)
    turns = {"body": turn(0, -gait["pitch"] + none)}
    turns["head"] = turn(0, -0.15 * gait["pitch"] + none)
    turns["tail"] = turns["body"] @ turn(0, -gait["tail"] + 0.15 * gait["beat"] * np.cos(angle))
    for end, side in (("_l", 1.0), ("_r", -1.0)):
        turns["arm" + end] = turns["body"] @ turn(1, -side * arm) @ turn(0, 0.4 * twist)
        turns["hand" + end] = turns["body"] @ turn(1, -side * (arm + hand)) @ turn(0, twist)
        tip = arm + 1.7 * hand
        turns["tip" + end] = turns["body"] @ turn(1, -side * tip) @ turn(0, 1.3 * twist)
    root = np.stack([none, none, gait["rise"] * -np.cos(angle + 0.3)], axis=-1)
    turned = np.stack([turns[name] for name in skeleton.names], axis=1)
    return joint_places(skeleton, root, turned), turned
