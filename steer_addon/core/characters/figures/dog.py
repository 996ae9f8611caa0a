"""A dog that stands, walks and trots."""

from __future__ import annotations

import numpy as np

from ..contacts import turned
from ..figure import Figure, Skeleton
from .assembly import (
    Joints,
    Table,
    add_last_steps,
    assembled,
    both_sides,
    phases,
    ring_follows,
    skeleton_of,
    steps_of,
    table_of,
)
from .limbs import limb
from .people import rows_of
from .rounds import add_rounds, stepped_round
from .skin import Follows, Skin
from .steps import Foot, Gait, Track, away_from_stand, first_track, foot_track, in_units
from .turning import Floats, between, joint_places, moved, turn

_FAR = 0.5
"""How far paws are from the middle, in legs."""
_COAT, _EARS, _NOSE, _COLLAR = range(4)
_LEGS = {
    "hind": ("thigh", "shin", "hind_foot", "hind_toe"),
    "fore": ("upper_arm", "forearm", "fore_foot", "fore_toe"),
}


def make_dog(tolerance: float) -> Figure:
    """A dog.

    Args:
        tolerance: Way from one pose of a walk to the next one [m]; trots take a multiple.
    """
    table = table_of("dog.toml")
    skeleton = skeleton_of(table["joints"], table["parents"])
    rows, gaits = rows_of(table, table["leg"], tolerance)
    poses = [
        both_sides(skeleton, _posed(skeleton, table, steps_of(row), gait, gaits[0]))
        if row.both_sides
        else _posed(skeleton, table, phases(row), gait)
        for row, gait in zip(rows, gaits, strict=True)
    ]
    values = in_units(table["round"], table["leg"])
    added = add_rounds(
        rows, poses, values, tolerance / (_FAR * table["leg"]),
        lambda phase: _turning(skeleton, phase, gaits[0], values),
    )  # fmt: skip
    added += add_last_steps(
        rows, poses, len(gaits), skeleton,
        lambda share: _posed(skeleton, table, 0.0 * share, gaits[2], gaits[0], share),
    )  # fmt: skip
    return assembled("dog", table, skeleton, _skin(table, skeleton), rows, poses, added)


def _skin(table: Table, skeleton: Skeleton) -> Skin:
    """Body, tail, legs with paws, ears, eyes, nose and collar."""
    skin, rings = Skin(skeleton.names), table["rings"]
    for name, count in (("body", 10), ("tail", 6)):
        rows = rings[name]
        skin.path([row[:5] for row in rows], ring_follows(table, rows), _COAT, count)
    for end, side in (("_l", 1.0), ("_r", -1.0)):
        for name in _LEGS:
            rows = rings[name]
            follows = ring_follows(table, rows, end)
            skin.path([row[:5] for row in rows], follows, _COAT, 8, side)
            _paw(skin, table, name, side)
    head: Follows = ("neck", "head", 1.0)
    skin.ball(np.array([0.0, -0.683, 0.678]), np.array([0.020, 0.014, 0.016]), head, _NOSE)
    for side in (1.0, -1.0):
        eye = np.array([side * 0.047, -0.553, 0.728])
        skin.ball(eye, np.array([0.010, 0.010, 0.010]), head, _NOSE)
        ear = [
            [0.052, -0.455, 0.775, 0.010, 0.022],
            [0.074, -0.462, 0.760, 0.013, 0.036],
            [0.088, -0.476, 0.705, 0.010, 0.034],
            [0.086, -0.486, 0.655, 0.005, 0.014],
        ]
        skin.path(ear, [head] * 4, _EARS, 6, side)
    collar = [
        [0.0, -0.372, 0.612, 0.070, 0.088],
        [0.0, -0.384, 0.628, 0.070, 0.086],
        [0.0, -0.396, 0.643, 0.069, 0.083],
    ]
    skin.path(collar, [("neck", "neck", 0.0)] * 3, _COLLAR, 10)
    return skin


def _paw(skin: Skin, table: Table, name: str, side: float) -> None:
    """A paw, which bends where the toes begin."""
    end = "_l" if side > 0.0 else "_r"
    foot, toe = _LEGS[name][2:]
    ball = table["joints"][toe]
    rings = []
    for number, (y, width, height, sole) in enumerate(table["rings"]["paw"]):
        half = [(-0.9, sole), (-1.0, 0.5 * (sole + height)), (-0.5, height)]
        section = half + [(-a, b) for a, b in reversed(half)]
        points = np.array([(ball[0] + width * a, ball[1] + y, z) for a, z in section])
        share = (0.0, 0.5, 1.0, 1.0)[number]
        rings.append(skin.ring(points * [side, 1.0, 1.0], (foot + end, toe + end, share)))
    skin.tube(rings, _COAT, side < 0.0)


def _foot(table: Table, name: str) -> Foot:
    """Sizes of a paw, from its ankle on."""
    ankle, ball = (table["joints"][joint] for joint in _LEGS[name][2:])
    tip = min(row[0] for row in table["rings"]["paw"] if row[3] == 0.0)
    return Foot(ankle[2], 0.0, ankle[1] - ball[1], -tip)


def _posed(
    skeleton: Skeleton,
    table: Table,
    phase: Floats,
    gait: Gait,
    stand: Gait | None = None,
    stops: Floats | None = None,
) -> Joints:
    """Joints of a dog at phases of a gait, or of first or last steps.

    Args:
        skeleton: Its joints.
        table: Its table.
        phase: Phases, shape (n,).
        gait: The gait.
        stand: How the dog stands, for first and last steps.
        stops: For last steps, how much it is as the gait is, 0 to 1, shape (n,).
    """
    none, moves = 0.0 * phase, "stride" in gait
    share = none + 1.0 if stand is None else away_from_stand(phase) if stops is None else stops
    rest = {name: skeleton.rest[i].astype(float) for i, name in enumerate(skeleton.names)}
    turns = _trunk(phase, gait, moves)
    if stand is not None:
        still = _trunk(none, stand, moves=False)
        turns = {name: between(still[name], turns[name], share) for name in turns}
    root = rest["pelvis"] + np.stack([none, none, none], axis=-1)
    if moves:
        root[:, 0] += share * gait["sway"] * np.cos(2.0 * np.pi * phase)
        bob = gait["bob"] * np.cos(4.0 * np.pi * (phase - 0.02)) - abs(gait["bob"])
        root[:, 2] += share * bob
    for name in _LEGS:
        # paws that go are nearer to each other than those that stand
        part = -1.0 if name == "hind" else 1.0
        own = {**gait}
        if moves:
            own["ankle_back"] += part * gait["gather"]
            own["width"] -= part * gait["beside"]
        for end, side in (("_l", 1.0), ("_r", -1.0)):
            foot = _foot(table, name)
            ankle = rest[_LEGS[name][2] + end] + np.stack([none, none, none], axis=-1)
            pitch = toes = none
            if moves:
                late = 0.0 if (side > 0.0) == (name == "fore") else 0.5
                late += gait["hind"] * (name == "hind")
                if stand is None:
                    track = foot_track(phase + late, own, foot)
                else:
                    place = np.stack([ankle[:, 0] * side, none, ankle[:, 2]], axis=-1)
                    held = Track(place, none, none, none, none == 0.0)
                    if stops is None:
                        track = first_track(phase, late, own, foot, held)
                    else:
                        track = held.toward(foot_track(phase + late, own, foot), stops)
                ankle[:, 0] = side * track.ankle[:, 0]
                ankle[:, 1] += track.ankle[:, 1]
                ankle[:, 2] = track.ankle[:, 2]
                pitch, toes = track.pitch, track.toes
            if name == "fore":
                # the blade swings with the paw
                far = (ankle[:, 1] - rest["fore_foot" + end][1]) / (0.2 * gait.get("stride", 1.0))
                blade = share * gait.get("reach", 0.0) * np.clip(far, -1.2, 1.2)
                turns["shoulder" + end] = turns["chest"] @ turn(0, blade)
            _add_leg(skeleton, root, turns, (name, end), Track(ankle, pitch, toes, none, none == 0))
    turned = np.stack([turns[name] for name in skeleton.names], axis=1)
    return joint_places(skeleton, root, turned), turned


def _turning(skeleton: Skeleton, phase: Floats, stand: Gait, values: Gait) -> Joints:
    """Joints of a dog that turns to the left on the spot, at phases from 0 to 1.

    A fore leg steps together with the hind leg of the other side.
    """
    none = 0.0 * phase
    rest = {name: skeleton.rest[i].astype(float) for i, name in enumerate(skeleton.names)}
    turns = _trunk(none, stand, moves=False)
    ahead = np.sin(np.pi * phase) ** 2
    for name, share in (("neck", 0.5), ("head", 1.0)):
        turns[name] = turn(2, share * values["look"] * ahead) @ turns[name]
    root = rest["pelvis"] + np.stack([none, none, none], axis=-1)
    turns["shoulder_l"] = turns["shoulder_r"] = turns["chest"]
    for name in _LEGS:
        for end in ("_l", "_r"):
            yaw, height = stepped_round(phase, (end == "_r") == (name == "fore"), values["round"])
            ankle = turned(rest[_LEGS[name][2] + end] + 0.0 * root, yaw)
            ankle[:, 2] += values["lift"] * height
            track = Track(ankle, none, none, yaw, height == 0.0)
            _add_leg(skeleton, root, turns, (name, end), track)
    matrices = np.stack([turns[name] for name in skeleton.names], axis=1)
    return joint_places(skeleton, root, matrices), matrices


def _add_leg(
    skeleton: Skeleton, root: Floats, turns: dict[str, Floats], leg: tuple[str, str], track: Track
) -> None:
    """Add the rotations of a leg, which reaches its paw, to those of the trunk.

    Args:
        skeleton: The joints.
        root: Places of the pelvis [m], shape (n, 3).
        turns: Rotations of joints; changed.
        leg: "fore" or "hind", and its side.
        track: Where the paw is.
    """
    name, end = leg
    upper, lower, end_bone, toe = (joint + end for joint in _LEGS[name])
    yaw, ahead = turn(2, track.yaw), np.array([0.0, -1.0 if name == "hind" else 1.0, 0.0])
    rest = [skeleton.rest[skeleton.names.index(joint)] for joint in (upper, lower, end_bone)]
    hip = _places(skeleton, root, turns)[upper]
    turns[upper], turns[lower] = limb(
        np.stack(rest).astype(float), hip, track.ankle, moved(yaw, ahead + 0.0 * root)
    )
    turns[end_bone], turns[toe] = yaw @ turn(0, -track.pitch), yaw @ turn(0, -track.toes)


def _places(skeleton: Skeleton, root: Floats, turns: dict[str, Floats]) -> dict[str, Floats]:
    """Places of those joints whose parents are turned already."""
    places = {skeleton.names[0]: root}
    for i, name in enumerate(skeleton.names[1:], start=1):
        parent = skeleton.names[skeleton.parents[i]]
        if parent in turns and parent in places:
            bone = (skeleton.rest[i] - skeleton.rest[skeleton.parents[i]]).astype(float)
            places[name] = places[parent] + moved(turns[parent], bone)
    return places


def _trunk(phase: Floats, gait: Gait, moves: bool) -> dict[str, Floats]:
    """Rotations of the trunk, head and tail."""
    wave, none = np.sin(2.0 * np.pi * phase), 0.0 * phase
    low = gait["head_low"] + none
    if moves:
        yaw, nod = gait["yaw"] * wave, gait["nod"] * np.cos(4.0 * np.pi * (phase - 0.1))
        breath, look, wag = none, none, gait["wag"] * wave
    else:
        yaw, nod = none, none
        breath = gait["breath"] * np.sin(4.0 * np.pi * phase)
        look, wag = gait["look"] * wave, gait["wag"] * np.sin(4.0 * np.pi * phase)
    back = turn(2, yaw) @ turn(0, 0.25 * nod)
    front = turn(2, -yaw) @ turn(0, breath - 0.25 * nod)
    return {
        "pelvis": back,
        "spine": turn(2, 0.4 * yaw) @ turn(0, 0.1 * nod),
        "chest": front,
        "neck": turn(2, 0.5 * look - 0.5 * yaw) @ turn(0, low + nod),
        "head": turn(2, look) @ turn(0, 0.3 * low + 0.3 * nod),
        "tail": back @ turn(2, wag),
        "tail_tip": back @ turn(2, 2.0 * wag),
    }
