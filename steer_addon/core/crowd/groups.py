"""Groups: parts of a crowd by name, which behaviors, speeds and characters may be limited to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..agents import group_names
from ..diagnoses import Diagnosis, diagnose
from ..errors import ParameterError, short
from ..parameters import Settings, choice, param

SHARE, ATTRIBUTE, VERTEX_GROUP = "SHARE", "ATTRIBUTE", "VERTEX_GROUP"

MOST_GROUPS = 100
"""Longest list of groups."""


class GroupSettings(Settings):
    """A group of agents: who its members are, and how they differ from others."""

    name: str = param(
        "",
        doc="Name by which behaviors know the group; also that of its attribute or vertex group",
    )
    source: str = choice(
        SHARE,
        {
            SHARE: "A share of the agents, drawn by the seed and their ids",
            ATTRIBUTE: "Agents whose point attribute of the group's name is true, or above 0.5",
            VERTEX_GROUP: "Agents whose weight in the vertex group of that name is above 0.5",
        },
        doc="Where membership comes from",
    )
    share: float = param(
        0.3,
        minimum=0.0,
        maximum=1.0,
        doc="Share of agents that are members; more makes more, nobody is in two groups by share",
        shown_for=("source", (SHARE,)),
        per_agent=False,
    )
    speed: float = param(
        1.0,
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=3.0,
        doc="Maximum speed of members as a share of the crowd's; more is faster",
        per_agent=False,
    )
    characters: str = param(
        "",
        doc="Characters, with commas between, that members are shown as, and nobody else; empty "
        "for any other",
    )


def check_groups(groups: Sequence[GroupSettings]) -> None:
    """Refuse groups that a behavior could not name.

    Raises:
        ParameterError: There are too many, two have the same name, or a name is of no use.
    """
    if len(groups) > MOST_GROUPS:
        raise ParameterError(f"there are {len(groups)} groups: give at most {MOST_GROUPS}")
    taken: set[str] = set()
    for group in groups:
        if not is_name(group.name):
            raise ParameterError(
                f"group.name is {short(group.name)}: give a name without commas, that begins with "
                "no !, nor begins or ends with a space"
            )
        if group.name in taken:
            raise ParameterError(f"there are two groups {short(group.name)}: rename one of them")
        taken.add(group.name)


def is_name(name: str) -> bool:
    """Whether a list with commas between can name a group like that."""
    return bool(name) and name == name.strip() and "," not in name and not name.startswith("!")


def unknown_groups(title: str, text: str, known: Sequence[str]) -> Iterator[Diagnosis]:
    """Diagnoses of groups that a behavior names, and that are not there.

    Args:
        title: Name of the behavior for people.
        text: Its list of groups.
        known: Names of the groups of the crowd.
    """
    for name in sorted(set.union(*group_names(text)) - set(known)):
        yield diagnose("GROUP_UNKNOWN", title, group=name, known=", ".join(known) or "none")
