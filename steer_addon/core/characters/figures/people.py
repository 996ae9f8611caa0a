"""People: a woman, a man and a child, who stand, walk and run."""

from __future__ import annotations

import numpy as np

from ..figure import Figure
from ..pose_space import Row
from .assembly import Table, assembled, next_row, phases, skeleton_of, table_of
from .people_skin import PARENTS, skin_of
from .steps import Foot, Gait, gait_at, in_units
from .two_legs import Body


def make_person(name: str, tolerance: float) -> Figure:
    """A person.

    Args:
        name: "woman", "man" or "child".
        tolerance: Way from one pose of a walk to the next one [m]; runs take a multiple.
    """
    table = table_of("people.toml")[name]
    skeleton = skeleton_of(table["joints"], PARENTS)
    body = Body(skeleton, _foot(table))
    rows, gaits = rows_of(table_of("people_gaits.toml"), body.leg, tolerance)
    poses = [
        (body.moving if row.stride else body.standing)(phases(row), gait)
        for row, gait in zip(rows, gaits, strict=True)
    ]
    return assembled(name, table, skeleton, skin_of(table, skeleton), rows, poses)


def _foot(table: Table) -> Foot:
    """Sizes of a foot, from the shoe's rings on the ground."""
    ankle, ball = table["joints"]["foot"], table["joints"]["toe"]
    on_ground = [y for y, _, _, sole in table["shoe"] if sole == 0.0]
    heel, tip = max(on_ground), min(on_ground)
    return Foot(ankle[2], heel - ankle[1], ankle[1] - ball[1], ball[1] - tip)


def rows_of(table: Table, leg: float, tolerance: float) -> tuple[list[Row], list[Gait]]:
    """Standing, walks and runs of a table of gaits, in order of their speeds.

    Args:
        table: The table.
        leg: From the hip to the ground [m].
        tolerance: Way from pose to pose [m].
    """
    stand = dict(table["stand"])
    rows: list[Row] = []
    next_row(rows, stand.pop("name"), stand["count"], duration=stand["duration"])
    gaits = [in_units(stand, leg)]
    for kind in ("walk", "run"):
        for name, stride, times in table[kind]["rows"]:
            gait = gait_at(stride, table[kind]["keys"], leg)
            count = 2 * max(int(np.ceil(0.5 * gait["stride"] / (times * tolerance))), 4)
            speed, way = round(gait["speed"], 3), round(gait["stride"], 4)
            next_row(rows, name, count, speed=speed, stride=way, duration=way / speed)
            gaits.append(gait)
    return rows, gaits
