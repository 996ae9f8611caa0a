"""Agents that differ: sizes and speeds that are drawn around those of the settings, or of groups.

An agent draws by its id and the seed of the crowd, so it keeps its size whatever others there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..agents import FloatArray
from ..numeric.rng import drawn_words as drawn_words
from ..numeric.rng import random_purpose
from .membership import members
from .settings import CrowdSettings

SPREADS = {"radius": "size_spread", "max_speed": "speed_spread"}
"""Agent settings that can be spread, and the settings that say how far."""

_PURPOSE = random_purpose("spread")


def spread(
    settings: CrowdSettings, ids: Any, attributes: Mapping[str, Any] | None = None
) -> dict[str, FloatArray]:
    """Values of the agents by the name of the setting, without settings in which none differs.

    Args:
        settings: Settings of the crowd.
        ids: Ids of the agents, shape (agent_count,).
        attributes: Point attributes, by which agents are in groups, each of shape (agent_count,).
    """
    agents, found = settings.agents, dict[str, FloatArray]()
    names = [name for name, width in SPREADS.items() if getattr(agents, width)]
    words = drawn_words(settings.seed, ids, _PURPOSE) if names else ()
    for name, word in zip(SPREADS, words, strict=False):
        if name in names:
            share = getattr(agents, SPREADS[name]) * (word / 2.0**31 - 1.0)
            found[name] = (getattr(agents, name) * (1.0 + share)).astype(np.float32)
    if any(group.speed != 1.0 for group in settings.groups):
        paces = np.ones(len(ids))
        who = members(settings, ids, attributes or {})
        for group in settings.groups:
            paces *= np.where(who[group.name], group.speed, 1.0)
        found["max_speed"] = (found.get("max_speed", agents.max_speed) * paces).astype(np.float32)
    return found
