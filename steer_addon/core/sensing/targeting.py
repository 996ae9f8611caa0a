"""Where an agent's target is, shared by every behavior that has targets."""

from __future__ import annotations

from typing import Any

from ..compiled.jit import kernel
from ..numeric.vec import cross, length, load, project, sub, unit
from ..parameters import choice, param

_CHOICES = {
    "NEAREST": "The nearest target",
    "BY_ID": "The target with the number: id modulo the number of targets",
}
_QUICKEST = {"QUICKEST": "The target that is reached soonest, counting the agents that wait there"}


def target_choice(*, goes: bool = False) -> Any:
    """The parameter `target_choice`, the same for every behavior with targets.

    Args:
        goes: Whether the behavior goes to its target: then agents may take the quickest one, and
            the behavior has a `target_flow`.
    """
    return choice(
        "NEAREST",
        _CHOICES | _QUICKEST if goes else _CHOICES,
        doc="Which of several targets an agent uses; the attribute target_index overrides it",
    )


def target_flow() -> Any:
    """The parameter `target_flow` of behaviors that go to their target."""
    return param(
        1.3,
        unit="1/s",
        minimum=0.001,
        soft_maximum=20.0,
        doc="How many get to a target per second: 1.3 for a door 1 m wide; less avoids queues more",
        shown_for=("target_choice", ("QUICKEST",)),
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
