"""Where an agent's target is, shared by every behavior that has targets."""

from __future__ import annotations

from typing import Any

from ..compiled.jit import kernel
from ..numeric.vec import cross, length, load, project, scale, sub, unit
from ..parameters import choice, param
from .declare import Behavior
from .units import meters

_CHOICES = {
    "NEAREST": "The nearest target",
    "BY_ID": "The target with the number: id modulo the number of targets",
}
_DRAWN = {
    "RANDOM": "A target drawn by the seed and the agent's id, all of them as often",
    "BY_WEIGHT": "A drawn target, each as often as its weight target_weight says",
}
_QUICKEST = {"QUICKEST": "The target that is reached soonest, counting the agents that wait there"}
_GOING = {
    "ASSIGNED": "A target of its own for each agent, so that all ways together are shortest",
}
_IN_ORDER = {"IN_ORDER": "One target after the other, in the order of the list"}


def target_choice(*, goes: bool = False, in_order: bool = False) -> Any:
    """The parameter `target_choice`, the same for every behavior with targets.

    Args:
        goes: Whether the behavior goes to its target: then agents may take the quickest one, and
            the behavior has a `target_flow`.
        in_order: Whether agents may visit the targets one after the other; for `ToTarget`, which
            has the parameters of that.
    """
    going = {**_QUICKEST, **_DRAWN, **_GOING} if goes else _DRAWN
    return choice(
        "NEAREST",
        {**_CHOICES, **going, **(_IN_ORDER if in_order else {})},
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


_VISITS = ("target_choice", ("IN_ORDER",))


def _waiting(doc: str) -> Any:
    return param(0.0, unit="s", minimum=0.0, soft_maximum=60.0, doc=doc, shown_for=_VISITS)


class ToTarget(Behavior):
    """Base of behaviors that go to their target: which one, and what they do at one of several."""

    goes_to_target = True

    target_choice: str = target_choice(goes=True, in_order=True)
    target_flow: float = target_flow()
    keep_order: float = param(
        0.0,
        minimum=0.0,
        maximum=10.0,
        soft_maximum=1.0,
        doc="How much more long ways count than short ones: 0 is the least sum, at 0.1 fewer are "
        "in the way",
        shown_for=("target_choice", ("ASSIGNED",)),
        per_agent=False,
    )
    after_last: str = choice(
        "STOP",
        {
            "STOP": "The last target is the goal: agents stay there, or do as On Arrival says",
            "LOOP": "The first target follows",
            "BACK_AND_FORTH": "Agents turn around, and visit the targets in reverse",
        },
        doc="What follows the last target of the list",
        shown_for=_VISITS,
    )
    min_wait: float = _waiting(
        "Shortest time that an agent stands at a target before it goes on; more keeps all longer"
    )
    max_wait: float = _waiting(
        "Longest time that an agent stands at a target before it goes on; more lets times differ"
    )
    visit_radius: float = meters(
        1.0,
        doc="A target this near counts as visited; more lets agents go on, or wait, farther off",
        shown_for=_VISITS,
    )


@kernel
def on_ground(i, agents, world, v):
    """v in the plane of agent i's ground in a flat crowd, v itself in a flying one."""
    if world.flat:
        return project(v, load(agents.normal, i))
    return v


@kernel
def longer(offset, rest):
    """An offset made longer by the rest of a way [m], at which it is no use where it is 0."""
    size = length(offset)
    if rest <= 0.0 or size <= 0.0:
        return offset
    return scale(offset, (size + rest) / size)


@kernel
def goes_round(i, world):
    """Whether corners lie between agent i and its target, which it goes round first."""
    return len(world.targets.rest) > 0 and world.targets.rest[i] > 0.0


@kernel
def via_offset(i, agents, world):
    """Where agent i heads for on its way, as an offset that is as long as the whole way."""
    offset = sub(load(world.targets.via, i), load(agents.position, i))
    return longer(on_ground(i, agents, world, offset), world.targets.rest[i] * 1.0)


@kernel
def target_offset(i, agents, world):
    """Agent i's target as (row, offset from the agent): the row is -1 without targets.

    In a flat crowd the offset lies in the plane of the agent's ground. Where the agent goes round
    corners, it leads to the next one, and is as long as the whole way.
    """
    j = world.targets.row[i]
    if j < 0:
        return j, (0.0, 0.0, 0.0)
    if len(world.targets.rest) == 0:
        offset = sub(load(world.targets.position, j), load(agents.position, i))
        return j, on_ground(i, agents, world, offset)
    return j, via_offset(i, agents, world)


@kernel
def straight_offset(i, agents, world):
    """`target_offset` straight to the target, whatever corners lie between."""
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
