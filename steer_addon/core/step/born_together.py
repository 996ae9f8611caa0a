"""Who is born with whom, in crowds whose people walk together.

Ids one after the other are put into groups of 1 to 4, so that of all agents as many are in groups
of each size as the shares say. A group is born at one place of a source, beside one another. What
an id belongs to depends on the seed and the id alone: `BLOCK` of them are divided at a time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..crowd.settings import CrowdSettings
from ..inputs.companions import ALONE, SIZES
from ..numeric.rng import drawn_words, random_purpose
from ..sensing.declare import COMPANIONS, Behavior

I64 = NDArray[np.int64]

BLOCK = 60
"""Ids that are divided into groups at a time."""
SPACING = 0.75
"""How far apart those of a group are born [m]: as pairs walk on streets."""
_PURPOSE = random_purpose("born together")


class Company(NamedTuple):
    """The groups of some agents, an entry for each agent.

    Attributes:
        first: Id that stands for the group.
        place: Place in the group, from 0 on.
        size: Number of agents in the group.
        number: Number of the group for `companions`, below 0: those that form later are above it.
    """

    first: I64
    place: I64
    size: I64
    number: I64


def grouped(settings: CrowdSettings) -> Behavior | None:
    """The behavior by which people walk together; None where there is none."""
    return next((e for e in settings.stack if COMPANIONS in e.definition.uses), None)


def company_of(ids: I64, settings: CrowdSettings) -> Company | None:
    """The groups in which agents are born; None where nobody walks together.

    Args:
        ids: Their ids, shape (agent_count,).
        settings: Settings of the crowd.
    """
    entry = grouped(settings)
    if entry is None:
        return None
    shares = tuple(float(getattr(entry, name)) for name in (ALONE, *SIZES.values()))
    blocks, which = np.unique(ids // BLOCK, return_inverse=True)
    known = [_groups(settings.seed, block, shares) for block in blocks.tolist()]
    table = np.array(known, np.int64).reshape(-1, BLOCK, 3)
    place, size, group = table[which, ids % BLOCK].T
    number = -(ids // BLOCK * BLOCK + group + 1)
    return Company(ids - place, place, size, number)


@lru_cache(maxsize=256)
def _groups(seed: int, block: int, shares: tuple[float, ...]) -> list[tuple[int, int, int]]:
    """Place in the group, size and number of the group, for each id of a block."""
    sizes = np.array([1, *SIZES])
    chances = np.array(shares) / sizes
    if chances.sum() <= 0.0:
        chances[0] = 1.0
    limits = np.cumsum(chances / chances.sum())
    words = drawn_words(seed, np.full(BLOCK, block), _PURPOSE, np.arange(BLOCK))[0]
    rows: list[tuple[int, int, int]] = []
    for group, share in enumerate(np.asarray(words) / 2.0**32):
        kind = min(int(np.searchsorted(limits, share, side="right")), len(sizes) - 1)
        size = min(int(sizes[kind]), BLOCK - len(rows))
        rows += [(place, size, group) for place in range(size)]
        if len(rows) == BLOCK:
            break
    return rows


def introduce(agents: Agents, rows: I64, settings: CrowdSettings) -> None:
    """Let agents that are born know with whom they walk.

    Args:
        agents: The crowd; its memory is changed.
        rows: Which of them.
        settings: Settings of the crowd.
    """
    entry, company = grouped(settings), company_of(agents.id[rows], settings)
    if entry is None or company is None:
        return
    width = entry.definition.memory_width
    if entry.key not in agents.memory:
        agents.memory[entry.key] = np.zeros((agents.count, width), np.float32)
    agents.memory[entry.key][rows, 0] = company.number
