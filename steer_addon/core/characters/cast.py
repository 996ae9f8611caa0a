"""The cast of a crowd: the characters that its agents are shown as, as far as they steer gaits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from .pose_space import Row

SPEED, STRIDE, DURATION = range(3)
"""Columns of a table of gaits."""
RANDOM, INDEX = "at random", "by index"
"""Ways to choose a character; names of point attributes are others."""
MEMORY = "a gait"
"""Key of the posture in the memory of agents: no behavior has a space in its type."""
POSTURE = (
    "phase",
    "gait",
    "character",
    "slope_ahead",
    "slope_side",
    "lean_ahead",
    "lean_side",
)
"""Point attributes that say how the body of an agent looks at a frame: cycles of its gait since the
start, the number of the gait, the number of its character, the rise of the ground ahead and to the
right [m/m], and the tangents of how far the body leans ahead and to the right."""
_ALWAYS = 3
"""Number of those that flyers have too: how these lie in the air is in their rotation."""


@dataclass(frozen=True)
class Cast:
    """Characters of a crowd.

    Attributes:
        gaits: The gaits of each character, by rising speed; none where no character is shown.
        scale: Size of all bodies, and of their strides.
        sized: Whether bodies are also as large as the radius of their agent says.
        choice: `RANDOM`, `INDEX` or the name of a point attribute: which character an agent takes.
        seed: Changes which character each agent takes at random.
    """

    gaits: tuple[tuple[Row, ...], ...] = ()
    scale: float = 1.0
    sized: bool = False
    choice: str = RANDOM
    seed: int = 0

    def __bool__(self) -> bool:
        """Whether there are characters."""
        return bool(self.gaits)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the point attributes that it reads."""
        chosen = bool(self) and self.choice not in (RANDOM, INDEX)
        return (self.choice,) if chosen else ()

    def table(self) -> NDArray[np.float64]:
        """Speed, stride and duration of each gait, shape (character_count, most_gaits, 3).

        Characters with fewer gaits than others have ones that no speed reaches.
        """
        most = max(len(gaits) for gaits in self.gaits)
        table = np.zeros((len(self.gaits), most, 3))
        table[:, :, SPEED], table[:, :, DURATION] = np.inf, 1.0
        for rows, gaits in zip(table, self.gaits, strict=True):
            rows[: len(gaits)] = [(gait.speed, gait.stride, gait.duration) for gait in gaits]
        return table


def posture(agents: Agents, walks: bool) -> dict[str, NDArray[np.float32]]:
    """Point attributes of the posture of agents, each of shape (agent_count,).

    Args:
        agents: The crowd.
        walks: Whether agents walk on a surface.
    """
    memory = agents.memory.get(MEMORY)
    if memory is None:
        return {}
    names = POSTURE if walks else POSTURE[:_ALWAYS]
    return {name: memory[:, column].copy() for column, name in enumerate(names)}


def remembered(attributes: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """What agents remember of their posture, from the attributes of a frame that shows it.

    Args:
        attributes: Columns by name, each of shape (agent_count,).

    Returns:
        A part of the memory of agents; nothing where the frame shows no posture.
    """
    if any(name not in attributes for name in POSTURE[:_ALWAYS]):
        return {}
    level = np.zeros_like(attributes[POSTURE[0]])
    columns = [attributes.get(name, level) for name in POSTURE]
    return {MEMORY: np.ascontiguousarray(np.stack(columns, axis=1), np.float32)}
