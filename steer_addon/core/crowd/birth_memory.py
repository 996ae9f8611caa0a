"""What agents remember of their birth, and how many there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents

F32 = NDArray[np.float32]

MEMORY = "a birth"
"""Key, in the memory of agents, of the columns below: no behavior has a space in its type."""
KIND, WAITS, SINCE, LEFT_OVER, BORN, VELOCITY = range(6)
"""Columns: `OWN`, `FRESH` or `USED`; 1 while it waits to be born; steps of the crowd until it was
born, or has waited since; and, the same in all rows, the part of a birth that is left over, and how
many have been born; from VELOCITY on the velocity to be born with [m/s], three columns."""
WIDTH = VELOCITY + 3
OWN, FRESH, USED = 0.0, 1.0, 2.0
"""A row of an agent that the crowd starts with; of a source, not used yet; used."""


def remembered(agents: Agents) -> F32 | None:
    """The columns of births; None for a crowd in which nobody is born."""
    return agents.memory.get(MEMORY)


def waits(agents: Agents) -> bool:
    """Whether any agent waits to be born."""
    memory = remembered(agents)
    return memory is not None and bool(memory[:, WAITS].any())


class Tally(NamedTuple):
    """How many agents of a crowd there are.

    Attributes:
        alive: Those that are there.
        waiting: Those that wait to be born.
        born: Those that have been born since the start.
        gone: Those that were there and are no more.
    """

    alive: int
    waiting: int
    born: int
    gone: int


def tally(agents: Agents, started: int) -> Tally:
    """How many agents there are.

    Args:
        agents: The crowd.
        started: How many were alive at its start.
    """
    alive, memory = int((agents.alive != 0).sum()), remembered(agents)
    if memory is None:
        return Tally(alive, 0, 0, started - alive)
    born = int(memory[:1, BORN].sum())
    return Tally(alive, int((memory[:, WAITS] != 0.0).sum()), born, started + born - alive)
