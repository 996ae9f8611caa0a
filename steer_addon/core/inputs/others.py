"""Others: the agents of other crowds that a crowd sees in a step.

Kernels read them behind the agents of the crowd itself, in the same arrays, so a behavior meets
agents of any crowd as neighbors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..views import AgentView

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

ALONE: I64 = np.zeros(1, np.int64)
"""Rank of the agents of a crowd that sees no other."""


@dataclass(frozen=True, eq=False, repr=False)
class Others:
    """The living of the other crowds at the start of a step, crowd after crowd."""

    agents: Agents
    """Those agents; neither attributes nor memory."""
    crowd: I64
    """Rank of the crowd of each, shape (other_count,)."""
    own: int
    """Rank of the crowd that sees them."""
    height: F32
    """Height of the body of each [m], 0 for those that fly, shape (other_count,)."""
    desired: F32
    """Weighted sums of their desired velocities [m/s], shape (other_count, 3)."""
    names: tuple[str, ...] = ()
    """Names of the crowds by their ranks, for people."""


def agent_view(agents: Agents, desired: F32, others: Others | None = None) -> AgentView:
    """The kernels' view of a crowd, and of the others that it sees.

    Args:
        agents: The crowd.
        desired: Weighted sums of the desired velocities [m/s], of all of them, shape (n, 3).
        others: The others; None for none.
    """
    made = ("desired", "crowd", "group")
    names = [name for name in AgentView._fields if name not in made]
    columns: dict[str, Any] = {name: getattr(agents, name) for name in names}
    group = np.full(len(desired), -1, np.int32)
    if others is None:
        return AgentView(**columns, crowd=ALONE, desired=desired, group=group)
    for name, own in columns.items():
        columns[name] = np.concatenate([own, getattr(others.agents, name)])
    crowd = np.concatenate([np.full(agents.count, others.own, np.int64), others.crowd])
    return AgentView(**columns, crowd=crowd, desired=desired, group=group)


def merged(crowds: list[Agents]) -> Agents:
    """The agents of several crowds one after another, without attributes and memory.

    Args:
        crowds: The crowds, at least one.
    """
    if len(crowds) == 1:
        return crowds[0]
    names = [name for name, value in vars(crowds[0]).items() if isinstance(value, np.ndarray)]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(agents, name) for agents in crowds]) for name in names
    }
    return Agents(**joined)
