"""Membership: which agents are in which groups, and what members differ in.

Groups by share divide the crowd: an agent draws a number u in [0, 1) by the seed and its id, and is
in the k-th of them where s_1 + … + s_(k-1) ≤ u < s_1 + … + s_k. So nobody is in two of them, and
an agent keeps its group whatever others there are. Shares beyond a sum of 1 get nobody. The other
groups are as attributes have it, and an agent may be in any number of those.

Symbols: s_k share of the k-th group by share.
Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..agents import Agents, Mask, Membership
from ..diagnoses import Diagnosis, diagnose
from ..numeric.rng import drawn_words, random_purpose
from .groups import ATTRIBUTE, SHARE, GroupSettings, unknown_groups
from .settings import CrowdSettings

_PURPOSE = random_purpose("group")
_WORDS = 2.0**32
_LEAST = 0.5
"""Values of attributes above this make members."""


def column_of(group: GroupSettings) -> str:
    """Name of the agents' attribute that says who is in a group; empty for one by share."""
    if group.source == SHARE:
        return ""
    return group.name if group.source == ATTRIBUTE else f"vertex group {group.name}"


def members(settings: CrowdSettings, ids: Any, attributes: Mapping[str, Any]) -> dict[str, Mask]:
    """Whether each agent is a member, shape (agent_count,), by the name of the group.

    Args:
        settings: Settings of the crowd.
        ids: Ids of the agents, shape (agent_count,).
        attributes: Values of the agents by name, each of shape (agent_count,).
    """
    found: dict[str, Mask] = {}
    drawn = np.zeros(0)
    if any(group.source == SHARE for group in settings.groups):
        drawn = drawn_words(settings.seed, ids, _PURPOSE)[0] / _WORDS
    below = 0.0
    for group in settings.groups:
        if group.source == SHARE:
            found[group.name] = (drawn >= below) & (drawn < below + group.share)
            below += group.share
        else:
            values = attributes.get(column_of(group))
            none = np.zeros(len(ids), np.bool_)
            found[group.name] = none if values is None else np.asarray(values) > _LEAST
    return found


def joined(agents: Agents, settings: CrowdSettings) -> Agents:
    """The crowd with its groups; the same instance where it has them already.

    Args:
        agents: The crowd; it is not changed.
        settings: Its settings.
    """
    if not settings.groups:
        return agents if agents.membership is None else replace(agents, membership=None)
    cause, held = (settings.groups, settings.seed), agents.membership
    if held is not None and held.cause == cause and np.array_equal(held.id, agents.id):
        return agents
    found = members(settings, agents.id, agents.attributes)
    return replace(agents, membership=Membership(cause, agents.id.copy(), found))


def advice(settings: CrowdSettings, agents: Agents) -> Iterator[Diagnosis]:
    """Diagnoses of groups that are not there, or have no members.

    Args:
        settings: Settings of the crowd.
        agents: The crowd.
    """
    known = [group.name for group in settings.groups]
    for entry in settings.stack:
        yield from unknown_groups(entry.title, entry.group, known)
    agents = joined(agents, settings)
    for group in settings.groups:
        lacks = column_of(group) and column_of(group) not in agents.attributes
        if lacks:
            is_attribute = group.source == ATTRIBUTE
            noun = "point attribute" if is_attribute else "vertex group"
            yield diagnose("GROUP_WITHOUT_SOURCE", group.name, noun=noun)
        elif not agents.among(group.name).any():
            yield diagnose("GROUP_EMPTY", group.name)
