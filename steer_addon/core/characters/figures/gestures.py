"""Clips of people: gestures of arms and head, added to how they stand.

Each begins and ends in the pose in which standing begins.
"""

from __future__ import annotations

import numpy as np

from ..pose_space import Row
from .assembly import Joints, Table, next_row
from .steps import Gait
from .turning import Floats
from .two_legs import Body


def add_gestures(
    table: Table, body: Body, stand: Gait, rows: list[Row], poses: list[Joints]
) -> int:
    """Append clips to the rows of a person, and their joints; returns how many.

    Args:
        table: Gestures by name.
        body: The person.
        stand: How the person stands.
        rows: Its rows.
        poses: Their joints.
    """
    for name, entry in table.items():
        first, last = entry.get("round", (0.0, 0.0))
        next_row(
            rows,
            name,
            entry["count"],
            duration=entry["duration"],
            loops=False,
            round_from=first,
            round_to=last,
        )
        part: Floats = np.linspace(0.0, 1.0, entry["count"])
        keys = entry["keys"]
        turns = {
            joint: np.radians(eased(entry["at"], angles, part)) for joint, angles in keys.items()
        }
        poses.append(body.standing(0.0 * part, stand, turns))
    return len(table)


def eased(at: list[float], values: list[float], x: Floats) -> Floats:
    """A curve through keys that rests at each of them.

    Args:
        at: Places of the keys, rising from 0 to 1.
        values: Values there.
        x: Where to evaluate.
    """
    t, v = np.array(at), np.array(values)
    k = np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 2)
    s = (x - t[k]) / (t[k + 1] - t[k])
    result: Floats = v[k] + (v[k + 1] - v[k]) * s * s * (3.0 - 2.0 * s)
    return result
