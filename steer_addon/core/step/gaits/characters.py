"""Which character each agent is shown as.

Characters that groups name are for their members alone, of several groups of an agent the first one
counts; all others share the rest, or all where there is no rest. Who is given a number by a point
attribute has that one, whatever its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...agents import Agents, Mask
from ...characters.cast import GIVEN, INDEX, RANDOM, Cast
from ...crowd.clips import ClipsSettings
from ...crowd.membership import joined
from ...crowd.settings import CrowdSettings
from ...numeric.node_random import random_floats

I64 = NDArray[np.int64]


def chosen(agents: Agents, settings: CrowdSettings) -> I64:
    """Number of each agent's character, shape (agent_count,).

    Args:
        agents: The crowd.
        settings: Its settings, with a cast.
    """
    cast = settings.cast
    assert cast is not None  # asked before
    if GIVEN in agents.attributes:
        return _within(np.floor(agents.attributes[GIVEN] + np.float32(0.5)), cast)
    if cast.choice not in (RANDOM, INDEX):
        none = np.zeros(agents.count, np.float32)
        return _within(agents.attributes.get(cast.choice, none), cast)
    found = np.zeros(agents.count, np.int64)
    for numbers, who in _shared_out(agents, settings, cast):
        found[who] = np.array(numbers)[_drawn(agents.id[who], numbers, cast)]
    return found


def _within(numbers: Any, cast: Cast) -> I64:
    kept: I64 = numbers.astype(np.int64) % len(cast.gaits)
    return kept


def _drawn(ids: I64, numbers: Sequence[int], cast: Cast) -> I64:
    """Places of agents' characters in a list of numbers of characters."""
    if cast.choice == INDEX:
        return ids % len(numbers)
    limits = cast.limits(numbers)
    places: I64 = np.searchsorted(limits, random_floats(ids, cast.seed) * limits[-1], side="right")
    return places % len(numbers)


def _shared_out(
    agents: Agents, settings: CrowdSettings, cast: Cast
) -> Iterator[tuple[list[int], Mask]]:
    """Numbers of characters, and which agents take one of them."""
    names = [name.casefold() for name in cast.names or ()]
    free, rest = set(range(len(cast.gaits))), np.ones(agents.count, np.bool_)
    agents = joined(agents, settings)
    for group in settings.groups:
        wanted = ClipsSettings.split(group.characters)
        numbers = [k for k, name in enumerate(names) if name in wanted]
        if numbers:
            who = rest & agents.among(group.name)
            yield numbers, who
            free, rest = free - set(numbers), rest & ~who
    yield sorted(free or range(len(cast.gaits))), rest
