"""Where an agent's target is, shared by every behavior that has targets."""

from __future__ import annotations

from typing import Any

from ..jit import kernel
from ..parameters import choice
from ..vec import cross, length, load, project, sub, unit


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
def on_ground(i, agents, world, v):
    """v in the plane of agent i's ground in a flat crowd, v itself in a flying one."""
    if world.flat:
        return project(v, load(agents.normal, i))
    return v


@kernel
def target_offset(i, agents, world):
    """Agent i's target as (row, offset from the agent): the row is -1 without targets.

    In a flat crowd the offset lies in the plane of the agent's ground.
    """
    j = world.targets.row[i]
    if j < 0:
        return j, (0.0, 0.0, 0.0)
    offset = sub(load(world.targets.position, j), load(agents.position, i))
    return j, on_ground(i, agents, world, offset)


@kernel
def side_axis(heading, up):
    """Unit vector to the right of a unit heading; any that is across where up is along it."""
    right = cross(heading, up)
    if length(right) < 1.0e-3:
        right = cross(heading, (0.0, 1.0, 0.0))
        if length(right) < 1.0e-3:
            right = (1.0, 0.0, 0.0)
    return unit(right)
