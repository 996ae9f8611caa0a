"""Agents that differ: sizes and speeds that are drawn around those of the settings.

An agent draws by its id and the seed of the crowd, so it keeps its size whatever others there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..agents import FloatArray
from ..numeric.rng import philox, random_purpose
from .settings import CrowdSettings

SPREADS = {"radius": "size_spread", "max_speed": "speed_spread"}
"""Agent settings that can be spread, and the settings that say how far."""

_PURPOSE = random_purpose("spread")
_WORD = 0xFFFFFFFF


def drawn_words(seed: int, ids: Any, purpose: int, step: Any = 0) -> tuple[Any, ...]:
    """Four random words of 32 bits for each id, each of shape (agent_count,).

    Args:
        seed: Random seed.
        ids: Ids of the agents, shape (agent_count,).
        purpose: See `random_purpose`.
        step: Number of the draw from 0 to 2^32 - 1, one or of shape (agent_count,).
    """
    number, none = np.asarray(ids, np.int64), np.zeros(len(ids), np.int64)
    low, high = number & _WORD, (number >> 32) & _WORD
    keys = seed & _WORD, (seed >> 32) & _WORD
    # not compiled: it is called seldom
    words: tuple[Any, ...] = philox.__wrapped__(low, high, none + step, none + purpose, *keys)
    return words


def spread(settings: CrowdSettings, ids: Any) -> dict[str, FloatArray]:
    """Values of the agents by the name of the setting, without settings that are not spread.

    Args:
        settings: Settings of the crowd.
        ids: Ids of the agents, shape (agent_count,).
    """
    agents = settings.agents
    names = [name for name, width in SPREADS.items() if getattr(agents, width)]
    if not names:
        return {}
    words = drawn_words(settings.seed, ids, _PURPOSE)
    found = {}
    for name, word in zip(SPREADS, words, strict=False):
        if name in names:
            share = getattr(agents, SPREADS[name]) * (word / 2.0**31 - 1.0)
            found[name] = (getattr(agents, name) * (1.0 + share)).astype(np.float32)
    return found
