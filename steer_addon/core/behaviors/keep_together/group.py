"""The others of an agent's group: where they are, and what they take in width."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...compiled.jit import kernel, record_kernel
from ...numeric.vec import EPSILON, dot, length, load, sub
from ...sensing.targeting import on_ground

SPARE = 0.1
"""Gap between companions whose bodies take more than the distance [m]."""
MOST = 12
"""Number of companions whose places count one by one: the next ones by their ids."""


class Group(NamedTuple):
    """The group of one agent."""

    first: int  # of its members in the list of all groups
    size: int
    place: int  # of the agent among them
    distance: float  # d: between two beside one another [m]
    speed: float  # s: of the agent's wish [m/s]
    ahead: tuple[float, float, float]  # e: unit direction of its wish


@record_kernel
def group_of(i, companions, distance, wish):
    """The group of agent i."""
    g = companions.group[i]
    first, speed = int(companions.first[g]), length(wish)
    ahead = (wish[0] / speed, wish[1] / speed, wish[2] / speed) if speed > EPSILON else wish
    return Group(
        first=first,
        size=int(companions.first[g + 1]) - first,
        place=int(companions.place[i]) - first,
        distance=distance,
        speed=speed,
        ahead=ahead,
    )


@kernel
def others(group):
    """How many companions count one by one."""
    return min(group.size - 1, MOST)


@kernel
def companion(group, k, companions):
    """Row of the k-th companion, from 0 on."""
    return int(companions.member[group.first + (group.place + 1 + k) % group.size])


@kernel
def offset_to(i, j, agents, world):
    """From agent i to agent j [m]."""
    offset = sub(load(agents.position, j), load(agents.position, i))
    return on_ground(i, agents, world, offset)


@kernel
def kept_apart(i, j, agents, distance):
    """Distance that two companions keep [m]."""
    return max(distance, agents.radius[i] + agents.radius[j] + SPARE)


@kernel
def angle_to(offset, ahead):
    """Angle between an offset and a unit direction [rad]; 0 for no offset."""
    distance = length(offset)
    if distance < EPSILON:
        return 0.0
    return math.acos(min(1.0, max(-1.0, dot(offset, ahead) / distance)))


@kernel
def clamped(value):
    """The value, from 0 to 1."""
    return min(1.0, max(0.0, value))
