"""Last steps: how bodies that have stopped come to stand, if they have poses of that.

Where the feet of the slowest gait pass each other, one is planted and the other one beside it in
the air: it is set down there, and so nothing slides but by what is left of the shift of the body,
which is taken back evenly meanwhile.

A body that shows a faster gait goes through the poses of all gaits between on its way there, by
time, so that poses say how its limbs move. One that walks off goes on as the gait of the pose that
it shows, or takes the foot up again, if that is not yet near the ground. See `Row.last_steps`.
"""

from __future__ import annotations

import math

from ...characters.cast import HIGHEST, LAST, LASTS, STANDS
from ...characters.pose_space import LAST_POSES, SLOWEST
from ...compiled.jit import kernel

HURRY = 2.0
"""How much faster a foot goes of a body that walks off."""
FALLS = 1.5
"""How much faster a body falls through the poses of gaits than its foot is set down."""
HALFWAY = 5
"""Pose, after that of the slowest gait, from which on a body that walks off stands first."""


@kernel
def stops_by(spots, who, on_ground):
    """Row of the last steps of a character, and the fastest gait from which they lead.

    Both are -1 for bodies without. One that lands from a faster gait falls through gaits before.
    """
    if on_ground:
        return int(spots[who, LAST]), int(spots[who, HIGHEST])
    return -1, -1


@kernel
def _half(highest):
    """Number of poses of each half of last steps."""
    return LAST_POSES + highest - SLOWEST


@kernel
def begins(highest, gait):
    """Part of a cycle, after 0 or 1/2, at which last steps are as a gait where its feet pass."""
    return 0.5 * (1 + highest - gait) / _half(highest)


@kernel
def set_down(table, spots, who, phase, wanted, limbs, i, dt):
    """Phase and gait after a step of a body that takes its last step.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        spots: What bodies do on the spot, see `Cast.spots`.
        who: Number of the character.
        phase: Cycles until now.
        wanted: The gait for the speed of the body, 0 if it is to stand.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        dt: Length of the step [s].
    """
    row, highest = stops_by(spots, who, True)
    begin, done = math.floor(2.0 * phase) / 2.0, dt / spots[who, LASTS]
    pose = 2.0 * (phase - begin) * _half(highest)
    # the pose of the slowest gait, and the gait of the pose that is shown
    slowest, gait = highest + 1 - SLOWEST, highest + 1 - int(pose + 0.5)
    if wanted > 0:
        done *= HURRY
        if SLOWEST <= gait <= wanted:
            return begin, gait
        if gait < SLOWEST and pose < slowest + HALFWAY:
            if phase - done > begin + begins(highest, SLOWEST):
                return phase - done, row
            return begin, SLOWEST
    elif pose < slowest:
        done *= FALLS
    # the last pose is that of the other foot
    left = max(begin + 0.5 - 1.0 / _half(highest) - phase - done, 0.0)
    for k in range(2):
        limbs[i, k] *= left / (left + done)
    if left > 0.0:
        return phase + done, row
    # it stands on the foot that was planted
    return begin * table[who, 1, STANDS], 0
