"""Parameters of behaviors that use COMPANIONS: how groups come about (see inputs.companions)."""

from __future__ import annotations

from typing import Any

from ..parameters import param
from .declare import Behavior

LARGEST_NUMBER = 16_777_216
"""Largest number of a group: attributes hold whole numbers up to this one exactly."""


def _share(default: float, doc: str) -> Any:
    return param(default, minimum=0.0, maximum=1000.0, soft_maximum=1.0, per_agent=False, doc=doc)


class GroupedBehavior(Behavior):
    """Base of behaviors of agents that walk in groups."""

    alone_share: float = _share(
        0.3, "Share of people who walk alone, of the sum of all four; more leaves fewer in groups"
    )
    pair_share: float = _share(0.4, "Share of people who walk in pairs; more makes more pairs")
    three_share: float = _share(
        0.2, "Share of people who walk in threes; more makes more groups of three"
    )
    four_share: float = _share(
        0.1, "Share of people who walk in fours; more makes more groups of four"
    )
    group_id: int = param(
        -1,
        minimum=-1,
        maximum=LARGEST_NUMBER,
        soft_maximum=1000,
        label="Group ID",
        doc="Agents with the same number walk together, 0 is alone, -1 forms groups by the shares",
    )
