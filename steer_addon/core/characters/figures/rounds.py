"""Turning on the spot: the inner feet step round, the body turns on, the other feet follow.

A cycle begins and ends as the body stands. Planted feet stay where they are in the world while the
body turns evenly, so against the body they turn back as evenly; each steps once in a cycle, by the
whole turn. Turning to the right is the same in reverse: what had opened closes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..pose_space import Row
from .assembly import Joints, next_row, phases
from .steps import Gait, spline
from .turning import Floats

_DOWN = 0.06
"""Cycles for which both sides are down after each step."""
_RISE = 1.1
"""Exponent of how the foot that steps rises and comes down."""
NAMES = "turn left", "turn right"


def add_rounds(
    rows: list[Row],
    poses: list[Joints],
    values: Gait,
    reach: float,
    posed: Callable[[Floats], Joints],
) -> int:
    """Append the rows of turning on the spot, and their joints; returns how many.

    Args:
        rows: Rows of a figure.
        poses: Their joints.
        values: Turn of a cycle [rad], and its time [s].
        reach: Turn from one pose to the next one [rad].
        posed: Gives the joints of a turn to the left at phases.
    """
    count = 2 * int(np.ceil(0.5 * values["round"] / reach))
    for name, way in zip(NAMES, (1.0, -1.0), strict=True):
        next_row(rows, name, count, duration=values["duration"], turn=way * values["round"])
        poses.append(posed(np.mod(way * phases(rows[-1]), 1.0)))
    return len(NAMES)


def stepped_round(phase: Floats, late: bool, angle: float) -> tuple[Floats, Floats]:
    """How far a foot is turned to the left of how it stands [rad], and how high it is, 0 to 1.

    Args:
        phase: Phases of a turn to the left, from 0 to 1, shape (n,).
        late: Whether it steps in the second half, as those on the right do.
        angle: Turn of a cycle [rad].
    """
    begin, end = _DOWN, 0.5 - _DOWN
    if late:
        begin, end = 0.5 + _DOWN, 1.0 - _DOWN
    yaw = np.where(phase < begin, -angle * phase, angle * (1.0 - phase))
    steps = (phase > begin) & (phase < end)
    part = (phase[steps] - begin) / (end - begin)
    # as fast as the ground under it at both ends
    slope = -angle * (end - begin)
    yaw[steps] = spline([0.0, 1.0], [-angle * begin, angle * (1.0 - end)], slope, slope, part)
    height = np.zeros(len(phase))
    height[steps] = (4.0 * part * (1.0 - part)) ** _RISE
    return yaw, height
