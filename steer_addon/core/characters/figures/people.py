"""People: a woman, a man and a child, who stand, walk and run."""

from __future__ import annotations

import numpy as np

from ..figure import Figure
from ..pose_space import FIRST, Row
from .assembly import (
    Table,
    add_last_steps,
    assembled,
    both_sides,
    next_row,
    phases,
    skeleton_of,
    steps_of,
    table_of,
)
from .gestures import add_gestures
from .people_skin import PARENTS, skin_of
from .rounds import add_rounds
from .steps import Foot, Gait, gait_at, in_units
from .two_legs import Body

_FAR = 0.2
"""How far soles are from the middle, in legs."""
_CLOSE = "between", "run"
"""Kinds of gaits that are like the ones before them, see `Row.close`."""


def make_person(name: str, tolerance: float) -> Figure:
    """A person.

    Args:
        name: "woman", "man" or "child".
        tolerance: Way from one pose of a walk to the next one [m]; runs take a multiple.
    """
    table = table_of("people.toml")[name]
    skeleton = skeleton_of(table["joints"], PARENTS)
    body = Body(skeleton, _foot(table))
    told = table_of("people_gaits.toml")
    rows, gaits = rows_of(told, body.leg, tolerance)
    poses = [body.standing(phases(rows[0]), gaits[0])]
    one_side = body.starting(steps_of(rows[1]), gaits[0], gaits[1])
    poses.append(both_sides(skeleton, one_side))
    poses += [body.moving(phases(row), gaits[k]) for k, row in enumerate(rows[2:], start=2)]
    clips = add_gestures(table_of("people_clips.toml"), body, gaits[0], rows, poses)
    values = in_units(told["round"], body.leg)
    clips += add_rounds(
        rows, poses, values, tolerance / (_FAR * body.leg),
        lambda phase: body.turning(phase, gaits[0], values),
    )  # fmt: skip
    clips += add_last_steps(
        rows, poses, len(gaits), skeleton, lambda share: body.stopping(share, gaits[0], gaits[2])
    )
    return assembled(name, table, skeleton, skin_of(table, skeleton), rows, poses, clips)


def _foot(table: Table) -> Foot:
    """Sizes of a foot, from the shoe's rings on the ground."""
    ankle, ball = table["joints"]["foot"], table["joints"]["toe"]
    on_ground = [y for y, _, _, sole in table["shoe"] if sole == 0.0]
    heel, tip = max(on_ground), min(on_ground)
    return Foot(ankle[2], heel - ankle[1], ankle[1] - ball[1], ball[1] - tip)


def rows_of(table: Table, leg: float, tolerance: float) -> tuple[list[Row], list[Gait]]:
    """Standing, first steps, walks and runs of a table of gaits, in order of their speeds.

    Args:
        table: The table.
        leg: From the hip to the ground [m].
        tolerance: Way from pose to pose [m].
    """
    stand = dict(table["stand"])
    rows: list[Row] = []
    next_row(rows, stand.pop("name"), stand["count"], duration=stand["duration"])
    gaits = [in_units(stand, leg)]
    for kind in ("start", "walk", "between", "run"):
        for name, place, times in table[kind]["rows"]:
            gait, first = _gait_of(table, kind, place, leg), kind == "start"
            # first steps begin with either foot
            speeds, cycles = (FIRST, 2) if first else (1.0, 1)
            count = 2 * max(int(np.ceil(0.5 * gait["stride"] / (times * tolerance))), 4)
            speed, way = round(speeds * gait["speed"], 3), cycles * round(gait["stride"], 4)
            next_row(
                rows, name, cycles * count, speed=speed, stride=way, duration=way / speed,
                from_stand=first, both_sides=first, close=kind in _CLOSE,
            )  # fmt: skip
            gaits.append(gait)
    return rows, gaits


def _gait_of(table: Table, kind: str, place: float, leg: float) -> Gait:
    """The gait of a stride, in legs, or by its place between the last walk and the first run."""
    if kind == "start":
        own = {key: value for key, value in table[kind].items() if key != "rows"}
        return {**_gait_of(table, "walk", place, leg), **own}
    if kind != "between":
        return gait_at(place, table[kind]["keys"], leg)
    walk = _gait_of(table, "walk", table["walk"]["rows"][-1][1], leg)
    run = _gait_of(table, "run", table["run"]["rows"][0][1], leg)
    return {key: value + place * (run[key] - value) for key, value in walk.items()}
