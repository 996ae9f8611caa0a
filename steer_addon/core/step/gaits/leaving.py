"""Gaits that change wherever a step hides it, see `Row.leaving`.

The body is shifted as they do, so that planted feet stay, see `Row.parting`, and leans, so that its
trunk and head do, see `Row.leaning`. One that stops hard changes even where no step hides it, see
`landing`: vertices move by no more than twice what they would as limbs swing.
"""

from __future__ import annotations

import math

from ...characters.cast import APART, CLOSE, LANDING_WAY, LEANS, PHASES, REACH, SHIFT, WAY
from ...characters.pose_space import LEAVES
from ...compiled.jit import kernel
from .landing import AHEAD, HARD, LANDING, LEANED, RIGHT, SWING
from .stance import knots, mixed

MOST_FALLS, TWICE = 4, 2.0
"""Most changes in a step of a body that stops hard, and how far vertices move, at most, over the
way of its limbs. Others change once in a step: each change may move vertices by some millimeters
that no pose says, and with two of them hands of rigs popped by up to 29 mm."""
_MOVES = ((AHEAD, SHIFT), (RIGHT, SHIFT + 1), (LEANED, LEANS), (LEANED + 1, LEANS + 1))
"""Columns of `LIMBS`, each with that of the table by which it changes."""
UNSEEN, HALTS = 0.002, 0.9
"""How far a curve may move hands that nobody sees, as a gait changes [m], and the most of a step
that has to hide the rest: else a body that goes round slowly would keep its gait."""
_ROUNDS = 3
"""Rounds in which the phase of a faster gait is found: each leaves a fraction of the error."""


@kernel
def _further(leaving, who, gait, phase):
    """By how much the phase of the gait before is further, where it is most like a gait."""
    return mixed(leaving[who, gait], phase, PHASES)


@kernel
def like(leaving, who, gait, following, phase):
    """Phase at which a neighboring gait is most like a gait.

    Args:
        leaving: Where gaits are left, see `leaving_of`.
        who: Number of the character.
        gait: The gait.
        following: The one before it, or after.
        phase: Cycles of the gait.
    """
    if following < gait:
        return phase + _further(leaving, who, gait, phase)
    found = phase
    for _ in range(_ROUNDS):
        found = phase - _further(leaving, who, following, found)
    return found


@kernel
def part_from(leaving, who, gait, following, phase, limbs, i):
    """Shift a body that changes to a neighboring gait, and lean it, so that all of it stays.

    Args:
        leaving: Where gaits are left, see `leaving_of`.
        who: Number of the character.
        gait: The gait.
        following: The one before it, or after.
        phase: Cycles of the faster one.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
    """
    faster, sign = (gait, 1.0) if following < gait else (following, -1.0)
    for column, moves in _MOVES:
        limbs[i, column] += sign * mixed(leaving[who, faster], phase, moves)


@kernel
def _on_curve(reach, curved, who, gait, following, phase, found, way):
    """Part of the way of a step that hides how far a curve moves hands as the gait changes [m]."""
    turns, turn, curve = curved
    further = mixed(turns[who, following], found, 0) - mixed(turns[who, gait], phase, 0)
    turned = abs(turn) + abs(curve * further)
    return min(HALTS * way, max(0.0, reach * turned - UNSEEN))


@kernel
def changed(table, leaving, curved, who, phase, gait, wanted, way, lands, limbs, i, dt):
    """Phase and gait of a body after a step, in which it changes where that is hidden.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        leaving: Where gaits are left, see `leaving_of`.
        curved: How bodies turn on curves, see `turns_of`, the turn of the body to the left in the
            step [rad], and the curvature of its way to the left [1/m].
        who: Number of the character.
        phase: Cycles until now.
        gait: The gait until now.
        wanted: The gait for its speed.
        way: Way of the step, as a share of the body's size [m].
        lands: Whether the body has stopped, and brings its feet down.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        dt: Length of the step [s].
    """
    column = LANDING_WAY if lands else WAY
    falls = wanted < gait and limbs[i, SWING] * dt > HARD * max(way, LANDING * dt)
    left = TWICE * limbs[i, SWING] * dt
    for _ in range(MOST_FALLS if falls else 1):
        if gait == wanted:
            break
        following = gait - 1 if wanted < gait else gait + 1
        faster = max(gait, following)
        if leaving[who, faster, 0, WAY] == math.inf:
            break
        found = like(leaving, who, gait, following, phase)
        before, after, _part = knots(phase if faster == gait else found, LEAVES)
        least = max(leaving[who, faster, before, column], leaving[who, faster, after, column])
        apart = max(leaving[who, faster, before, APART], leaving[who, faster, after, APART])
        reach = table[who, faster, REACH]
        if reach > 0.0:
            turned = _on_curve(reach, curved, who, gait, following, phase, found, way)
            least, apart = least + turned, apart + turned
        if least <= way:
            way -= least
        elif falls and table[who, faster, CLOSE] > 0.0 and apart <= left:
            left -= apart
        else:
            break
        part_from(leaving, who, gait, following, phase if faster == gait else found, limbs, i)
        phase, gait = found, following
    return phase, gait
