"""People: a woman, a man and a child, who stand, walk and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...doors import tomllib
from ..figure import Figure, Slot
from ..pose_space import PoseSpace, Row
from .people_skin import skeleton_of, skin_of
from .steps import Foot, Gait
from .turning import Floats, quaternions, skinned
from .two_legs import Body, gait_at, in_units


def _table(name: str) -> dict[str, Any]:
    """A TOML file beside this one."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def make_person(name: str, tolerance: float) -> Figure:
    """A person.

    Args:
        name: "woman", "man" or "child".
        tolerance: Way from one pose of a walk to the next one [m]; runs take a multiple.
    """
    table = _table("people.toml")[name]
    skeleton = skeleton_of(table)
    skin = skin_of(table, skeleton)
    body = Body(skeleton, _foot(table))
    rows: list[Row] = []
    poses: list[tuple[Floats, Floats]] = []
    for row, gait in _rows(body, tolerance):
        phase = np.arange(row.count) / row.count
        poses.append((body.moving if row.stride else body.standing)(phase, gait))
        rows.append(row)
    places, turned = (np.concatenate(parts) for parts in zip(*poses, strict=True))
    rest, bones, shares = np.array(skin.points), skin.bones(), skin.shares()
    return Figure(
        name=name,
        height=table["height"],
        radius=table["radius"],
        slots=tuple(Slot(slot, tuple(colors)) for slot, *colors in table["slots"]),
        surface=skin.surface(),
        rest=rest.astype(np.float32),
        bones=bones,
        shares=shares.astype(np.float32),
        skeleton=skeleton,
        places=places.astype(np.float32),
        turns=quaternions(turned).astype(np.float32),
        space=PoseSpace(skinned(rest, bones, shares, skeleton, places, turned), tuple(rows)),
    )


def _foot(table: dict[str, Any]) -> Foot:
    """Sizes of a foot, from the shoe's rings on the ground."""
    ankle, ball = table["joints"]["foot"], table["joints"]["toe"]
    on_ground = [y for y, _, _, sole in table["shoe"] if sole == 0.0]
    heel, tip = max(on_ground), min(on_ground)
    return Foot(ankle[2], heel - ankle[1], ankle[1] - ball[1], ball[1] - tip)


def _rows(body: Body, tolerance: float) -> list[tuple[Row, Gait]]:
    """All gaits in order of their speeds, with their rows."""
    table = _table("people_gaits.toml")
    stand = table["stand"]
    gait = in_units({k: v for k, v in stand.items() if k != "name"}, body.leg)
    rows = [(Row(stand["name"], 0, stand["count"], duration=stand["duration"]), gait)]
    for kind in ("walk", "run"):
        for name, stride, times in table[kind]["rows"]:
            gait = gait_at(stride, table[kind]["keys"], body.leg)
            count = 2 * max(int(np.ceil(0.5 * gait["stride"] / (times * tolerance))), 4)
            first = rows[-1][0].first + rows[-1][0].count
            speed, length = round(gait["speed"], 3), round(gait["stride"], 4)
            rows.append((Row(name, first, count, speed, length, length / speed), gait))
    return rows
