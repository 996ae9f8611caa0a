"""Last steps: how bodies that have stopped come to stand, if they have poses of that.

Where the feet of the slowest gait pass each other, one is planted and the other one beside it in
the air: it is set down there, and so nothing slides but by what is left of the shift of the body,
which is taken back evenly meanwhile. A body that walks off takes the foot up again, if that is not
yet near the ground. See `Row.last_steps`.
"""

from __future__ import annotations

import math

from ...characters.cast import LAST, LASTS, STANDS
from ...characters.pose_space import LAST_POSES
from ...compiled.jit import kernel

SLOWEST = 2
"""Number of the gait from which last steps lead: it follows standing and first steps."""
HURRY = 2.0
"""How much faster a foot goes of a body that walks off."""
BEGINS, ENDS = 0.5 / LAST_POSES, 0.5 - 1.0 / LAST_POSES
"""Parts of a cycle, after 0 or 1/2, at which the foot is as in the slowest gait, and after which
the body stands: poses of the other foot are before and behind them."""


@kernel
def set_down(table, spots, who, phase, walks, limbs, i, dt):
    """Phase and gait after a step of a body that takes its last step.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        spots: What bodies do on the spot, see `Cast.spots`.
        who: Number of the character.
        phase: Cycles until now.
        walks: Whether the body walks off.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        dt: Length of the step [s].
    """
    begin, done = math.floor(2.0 * phase) / 2.0, dt / spots[who, LASTS]
    if walks:
        done *= HURRY
        if phase - begin < 0.25:
            if phase - done > begin + BEGINS:
                return phase - done, int(spots[who, LAST])
            return begin, SLOWEST
    left = max(begin + ENDS - phase - done, 0.0)
    for k in range(2):
        limbs[i, k] *= left / (left + done)
    if left > 0.0:
        return phase + done, int(spots[who, LAST])
    # it stands on the foot that was planted
    return begin * table[who, 1, STANDS], 0
