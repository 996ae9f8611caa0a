"""Crowds that steer by other crowds, or meet them: which crowd reads which, and how.

In a step every crowd reads the others as they were at the frame before, so the order in which
crowds are stepped cannot matter. Agents that steer by their own crowd never choose themselves.
Crowds that see or touch one another are stepped together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ...core.crowd.meets import MeetsSettings, Relation, relations, with_bodies
from ...core.diagnoses import diagnose
from ...core.errors import SceneError
from ...core.results import frames as results
from ...core.runs import linking
from ..unchanging import once
from .crowds import crowds, is_crowd
from .property_factory import read_settings
from .slots import second_slots, target_slots

if TYPE_CHECKING:
    from ...core.inputs.targets import Targets
    from ...core.inputs.world import World
    from ...core.results.frames import Frame

ROLES = {"targets": target_slots, "second_targets": second_slots}
"""Functions that find the slots of each mapping of targets that a World has."""


def target_crowd(slot: Any) -> bpy.types.Object | None:
    """The crowd whose agents a slot names, or None."""
    target: bpy.types.Object | None = slot.target_object
    # the points of a crowd are its agents: as it is shown they would depend on the order of steps
    if slot.target_kind not in ("CROWD", "POINTS") or not is_crowd(target):
        return None
    return target if target.users_scene else None


def crowd_slots(obj: bpy.types.Object) -> dict[tuple[str, str], bpy.types.Object]:
    """The crowds that a crowd steers by, by the role and the name of the slot."""
    return once((crowd_slots, obj.session_uid), lambda: _crowd_slots(obj))


def _crowd_slots(obj: bpy.types.Object) -> dict[tuple[str, str], bpy.types.Object]:
    found = {
        (role, name): target_crowd(slot)
        for role, slots in ROLES.items()
        for name, slot in slots(obj).items()
    }
    return {key: crowd for key, crowd in found.items() if crowd is not None}


class Linked(NamedTuple):
    """Crowds of which one, at least, depends on all others, directly or through others."""

    crowds: tuple[bpy.types.Object, ...]
    """By name."""
    uids: frozenset[int]
    """Their session uids."""


def linked_with(obj: bpy.types.Object) -> Linked:
    """A crowd and all crowds that it depends on; one and the same for all that share them."""
    return once((linked_with, obj.session_uid), lambda: _linked_with(obj))


def _linked_with(obj: bpy.types.Object) -> Linked:
    scenes = frozenset(scene.session_uid for scene in obj.users_scene)
    groups = once((_groups, scenes), lambda: _groups(_beside(obj)))
    found = linking.reached(
        obj, lambda crowd: groups.get(crowd.session_uid) or linking.linking([crowd], crowd_slots)
    )
    uids = frozenset(found)

    def by_name() -> Linked:
        return Linked(tuple(sorted(found.values(), key=lambda crowd: crowd.name_full)), uids)

    return once((Linked, uids), by_name)


def linked_crowds(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """A crowd, first, and all crowds that it depends on, directly or through others, by name."""
    crowds = list(linked_with(obj).crowds)
    crowds.remove(obj)
    return [obj, *crowds]


def all_linked(several: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Some crowds, and all that any of them depends on; each once."""
    groups = {linked.uids: linked for linked in map(linked_with, several)}
    found = {crowd.session_uid: crowd for group in groups.values() for crowd in group.crowds}
    return list(found.values())


def followed_crowds(obj: bpy.types.Object) -> set[int]:
    """Session uids of a crowd and of those that it steers by, directly or through others."""
    return set(linking.reached(obj, lambda crowd: linking.linking([crowd], crowd_slots)))


def _beside(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """All crowds of the scenes that a crowd is in."""
    found = {c.session_uid: c for scene in obj.users_scene for c in crowds(scene)}
    return list(found.values())


def _groups(members: Sequence[bpy.types.Object]) -> dict[int, linking.Linking[bpy.types.Object]]:
    """By session uid: the crowds that meet, directly or through others."""
    return linking.meeting_linkings(members, relations_of(members), crowd_slots)


def relations_of(members: Sequence[bpy.types.Object]) -> tuple[Relation, Relation]:
    """Which of some crowds see and which touch which, see `meets.relations`.

    Bodies touch only where both crowds have them.
    """
    uids = tuple(crowd.session_uid for crowd in members)
    return once((relations_of, uids), lambda: _relations_of(members))


def _relations_of(members: Sequence[bpy.types.Object]) -> tuple[Relation, Relation]:
    told = [read_settings(crowd.steer.meets, MeetsSettings) for crowd in members]
    chosen = np.zeros((len(members), len(members)), np.bool_)
    for row, crowd in enumerate(members):
        collection = crowd.steer.meets_collection
        if collection is not None:
            inside = {o.session_uid for o in collection.all_objects}
            chosen[row] = [other.session_uid in inside for other in members]
    sees, touches = relations(told, chosen)
    have = [crowd.steer.bodies.collide_agents for crowd in members]
    return sees, with_bodies(touches, have)


def with_crowds(obj: bpy.types.Object, world: World, frames: Mapping[int, Frame]) -> World:
    """A world with the agents of other crowds as targets.

    Args:
        obj: The crowd that steers.
        world: The rest of the world that it perceives.
        frames: The frame before of every crowd that it steers by, by session uid.

    Raises:
        SceneError: One of these crowds is not simulated at that frame.
    """

    def targets(crowd: bpy.types.Object) -> Targets:
        frame = frames.get(crowd.session_uid)
        if frame is None:
            start = min(crowd.steer.frame_start, obj.steer.frame_start)
            far = {"other": crowd.name, "start": start}
            raise SceneError(diagnose("OTHER_CROWD_NOT_SIMULATED", obj.name, **far))
        axis = crowd.steer.motion.forward_axis
        return results.targets_of(frame, axis, own=crowd == obj)

    return linking.with_crowds(world, crowd_slots(obj), targets)
