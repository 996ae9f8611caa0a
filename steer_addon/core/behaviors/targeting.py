"""Which target an agent goes for, shared by every behavior that has targets."""

from __future__ import annotations

from typing import Any

from ..jit import kernel
from ..parameters import choice
from ..vec import load, project, sub

NEAREST = 0
BY_ID = 1


def target_choice() -> Any:
    """The parameter `target_choice`, the same for every behavior with targets."""
    return choice(
        "NEAREST",
        {
            "NEAREST": "The nearest target",
            "BY_ID": "The target with the number: id modulo the number of targets",
        },
        doc="Which of several targets an agent uses; the attribute target_index overrides it",
    )


@kernel
def pick_target(i, agents, targets, how):
    """Row of agent i's target, or -1 without targets."""
    count = len(targets.position)
    if count == 0:
        return -1
    if agents.target_index[i] >= 0:
        return int(agents.target_index[i] % count)
    if how == BY_ID:
        return int(agents.id[i] % count)
    best = 0
    best_square = 1.0e300
    p = load(agents.position, i)
    for j in range(count):
        d = sub(load(targets.position, j), p)
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        if square < best_square:
            best = j
            best_square = square
    return best


@kernel
def on_ground(i, agents, world, v):
    """v in the plane of agent i's ground in a flat crowd, v itself in a flying one."""
    if world.flat:
        return project(v, load(agents.normal, i))
    return v


@kernel
def target_offset(i, agents, world, how):
    """Agent i's target as (row, offset from the agent): the row is -1 without targets.

    In a flat crowd the offset lies in the plane of the agent's ground.
    """
    j = pick_target(i, agents, world.targets, how)
    if j < 0:
        return j, (0.0, 0.0, 0.0)
    offset = sub(load(world.targets.position, j), load(agents.position, i))
    return j, on_ground(i, agents, world, offset)
