"""Which crowds depend on one another, and what they read of one another in a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..crowd.meets import Relation, groups_of

if TYPE_CHECKING:
    from ..inputs.targets import Targets
    from ..inputs.world import World


class Crowd(Protocol):
    """What a run knows of a crowd by itself: an object of Blender, or a crowd of a stored world."""

    @property
    def session_uid(self) -> int:
        """Its identity: no other crowd has the same."""

    @property
    def name(self) -> str:
        """Its name for people."""

    @property
    def name_full(self) -> str:
        """Its name among crowds of several files."""


CrowdT = TypeVar("CrowdT", bound=Crowd)
Slots = Mapping[tuple[str, str], CrowdT]
"""The crowds that a crowd steers by, by the mapping of the world and the name there."""
Linking = tuple[dict[int, CrowdT], list[CrowdT]]
"""Crowds that meet, by session uid, and the crowds that they steer by."""


def reached(crowd: CrowdT, group_of: Callable[[CrowdT], Linking[CrowdT]]) -> dict[int, CrowdT]:
    """A crowd, and all that one comes to from its group by going on to those that it steers by."""
    found: dict[int, CrowdT] = {}
    waiting = [crowd]
    while waiting:
        crowd = waiting.pop()
        if crowd.session_uid not in found:
            members, ahead = group_of(crowd)
            found |= members
            waiting += ahead
    return found


def linking(members: Sequence[CrowdT], slots: Callable[[CrowdT], Slots[CrowdT]]) -> Linking[CrowdT]:
    """Crowds that meet, with the crowds that they steer by."""
    ahead = [crowd for member in members for crowd in slots(member).values()]
    return {crowd.session_uid: crowd for crowd in members}, ahead


def meeting_linkings(
    members: Sequence[CrowdT],
    relations: tuple[Relation, Relation],
    slots: Callable[[CrowdT], Slots[CrowdT]],
) -> dict[int, Linking[CrowdT]]:
    """By session uid: the crowds that meet, directly or through others.

    Args:
        members: Crowds.
        relations: Which of them see, and which touch which.
        slots: Tells which crowds a crowd steers by.
    """
    sees, touches = relations
    groups = [linking([members[k] for k in rows], slots) for rows in groups_of(sees | touches)]
    return {uid: group for group in groups for uid in group[0]}


def with_crowds(world: World, slots: Slots[CrowdT], targets: Callable[[CrowdT], Targets]) -> World:
    """A world with the agents of other crowds as targets.

    Args:
        world: The rest of the world that a crowd perceives.
        slots: The crowds that it steers by.
        targets: Makes targets of a crowd's agents; called once for each crowd.
    """
    if not slots:
        return world
    known: dict[int, Targets] = {}
    merged: dict[str, Any] = {role: dict(getattr(world, role)) for role, _ in slots}
    for (role, name), crowd in slots.items():
        if crowd.session_uid not in known:
            known[crowd.session_uid] = targets(crowd)
        merged[role][name] = known[crowd.session_uid]
    return replace(world, **merged)
