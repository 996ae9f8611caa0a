"""Meets: which crowds of a scene a crowd sees, is seen by, and touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..parameters import Settings, choice

EVERYONE, CHOSEN, NOBODY = "EVERYONE", "CHOSEN", "NOBODY"

Relation = NDArray[np.bool_]
"""Whether the crowd of a row relates to that of a column, shape (crowd_count, crowd_count)."""


def _crowds(doc: str) -> Any:
    return choice(
        EVERYONE,
        {
            EVERYONE: "All crowds of the scene",
            CHOSEN: "The crowds of the collection that is chosen here",
            NOBODY: "No other crowd",
        },
        doc=doc,
    )


class MeetsSettings(Settings):
    """Other crowds that agents meet. Agents always meet those of their own crowd."""

    sees: str = _crowds("Crowds whose agents are neighbors, which behaviors avoid or keep near")
    seen_by: str = _crowds("Crowds that have these agents as neighbors")
    touches: str = _crowds(
        "Crowds whose bodies keep out of these bodies, where both have Collide Agents on"
    )


def relations(meets: Sequence[MeetsSettings], chosen: Relation) -> tuple[Relation, Relation]:
    """Which of some crowds see and touch which; it takes both sides to agree.

    Args:
        meets: The settings of each crowd.
        chosen: Whether the crowd of a row has chosen that of a column.

    Returns:
        (sees, touches).
    """

    def wants(name: str) -> Relation:
        options = [getattr(settings, name) for settings in meets]
        everyone = np.array([option == EVERYONE for option in options], np.bool_)
        some = np.array([option == CHOSEN for option in options], np.bool_)
        found: Relation = everyone[:, None] | (some[:, None] & chosen)
        return found

    sees, touches = wants("sees") & wants("seen_by").T, wants("touches")
    both = touches & touches.T
    np.fill_diagonal(both, True)
    np.fill_diagonal(sees, True)
    return sees, both


def with_bodies(touches: Relation, have: Sequence[bool]) -> Relation:
    """Which crowds touch which of those that have bodies: it takes both to have them.

    Args:
        touches: Which would touch which if all had bodies.
        have: Whether the bodies of each crowd collide.
    """
    both = np.array(have, np.bool_)
    found: Relation = touches & both[:, None] & both
    return found


def groups_of(relation: Relation) -> list[list[int]]:
    """The crowds that are related, directly or through others; each group and all in order."""
    linked, left, groups = relation | relation.T, np.ones(len(relation), np.bool_), []
    while left.any():
        group, waiting = [], [int(left.argmax())]
        left[waiting] = False
        while waiting:
            row = waiting.pop()
            group.append(row)
            fresh = linked[row] & left
            left &= ~fresh
            waiting += np.flatnonzero(fresh).tolist()
        groups.append(sorted(group))
    return groups
