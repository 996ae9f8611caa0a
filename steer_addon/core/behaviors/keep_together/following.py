"""Out of sight: companions behind walls are followed to where they were seen last.

The middle of a group says nothing where a wall divides it: those on the far side of a door would
be drawn along the wall beside it. So where a ray to some companion hits a wall:

- who has companions ahead goes after the foremost of them, straight to it, or where it was seen
  last: so one after the other comes to a door, as each can see the one before in it;
- who is the foremost, or never saw that one, goes on as it wishes, and waits by its gaze.

Source: ours.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...numeric.vec import EPSILON, dot, length, load, scale, sub
from ...sensing.sight import eye, first_hit
from ...sensing.targeting import on_ground
from .group import companion, offset_to, others

KNOWN = 4
"""Column of the memory: 1 where those before it hold where the foremost was seen last [m]."""
THERE = 0.5
"""Distance from that place at which nobody looks for the foremost there any more [m]."""
IN_SIGHT, FOLLOWS, WAITS = 0, 1, 2


@kernel
def _hidden(i, j, agents, world):
    """Whether a wall hides agent j from agent i."""
    here = eye(i, agents, world)
    offset = sub(eye(j, agents, world), here)
    distance = length(offset)
    if distance < EPSILON:
        return False
    return first_hit(world, here, scale(offset, 1.0 / distance), distance)[0] >= 0


@kernel
def look_for_others(i, agents, world, group, companions, memory):
    """Whether agent i sees all companions, follows the foremost, or waits.

    Returns:
        (IN_SIGHT, FOLLOWS or WAITS, the way to go [m] where it follows).
    """
    here, nowhere = load(agents.position, i), (0.0, 0.0, 0.0)
    foremost, most, unseen, shown = -1, EPSILON, False, False
    for k in range(others(group)):
        j = companion(group, k, companions)
        hidden = _hidden(i, j, agents, world)
        ahead = dot(offset_to(i, j, agents, world), group.ahead)
        unseen = unseen or hidden
        if ahead > most:
            foremost, most, shown = j, ahead, not hidden
    if foremost >= 0 and shown:
        place = load(agents.position, foremost)
        memory[i, 1], memory[i, 2], memory[i, 3], memory[i, KNOWN] = place[0], place[1], place[2], 1
    if not unseen:
        return IN_SIGHT, nowhere
    if foremost < 0 or memory[i, KNOWN] == 0.0:
        return WAITS, nowhere
    place = (memory[i, 1] * 1.0, memory[i, 2] * 1.0, memory[i, 3] * 1.0)
    way = on_ground(i, agents, world, sub(place, here))
    if not shown and length(way) < THERE:
        memory[i, KNOWN] = 0.0
        return WAITS, nowhere
    return FOLLOWS, way
