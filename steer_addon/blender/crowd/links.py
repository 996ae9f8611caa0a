"""Crowds that steer by other crowds, or meet them: which crowd reads which, and how.

In a step every crowd reads the others as they were at the frame before, so the order in which
crowds are stepped cannot matter. Agents that steer by their own crowd never choose themselves.
Crowds that see or touch one another are stepped together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.crowd.meets import MeetsSettings, Relation, relations
from ...core.diagnoses import diagnose
from ...core.errors import SceneError
from ...core.results import frames as results
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
    found = {
        (role, name): target_crowd(slot)
        for role, slots in ROLES.items()
        for name, slot in slots(obj).items()
    }
    return {key: crowd for key, crowd in found.items() if crowd is not None}


def linked_crowds(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """A crowd, first, and all crowds that it depends on, directly or through others, by name."""
    meeting = _meeting(_beside(obj))
    found = _reached(
        obj, lambda crowd: (*crowd_slots(crowd).values(), *meeting.get(crowd.session_uid, ()))
    )
    return [obj, *sorted((c for c in found if c != obj), key=lambda c: c.name_full)]


def followed_crowds(obj: bpy.types.Object) -> set[int]:
    """Session uids of a crowd and of those that it steers by, directly or through others."""
    return {crowd.session_uid for crowd in _reached(obj, lambda crowd: crowd_slots(crowd).values())}


def _reached(
    obj: bpy.types.Object, following: Callable[[bpy.types.Object], Iterable[bpy.types.Object]]
) -> list[bpy.types.Object]:
    """A crowd, and all that one comes to from it by going on to those that follow."""
    found = {obj.session_uid: obj}
    waiting = [obj]
    while waiting:
        for crowd in following(waiting.pop()):
            if crowd.session_uid not in found:
                found[crowd.session_uid] = crowd
                waiting.append(crowd)
    return list(found.values())


def _beside(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """All crowds of the scenes that a crowd is in."""
    found = {c.session_uid: c for scene in obj.users_scene for c in crowds(scene)}
    return list(found.values())


def _meeting(members: Sequence[bpy.types.Object]) -> dict[int, list[bpy.types.Object]]:
    """By session uid: the crowds that each sees, is seen by or touches."""
    if len(members) < 2:
        return {}
    sees, touches = relations_of(members)
    met = sees | sees.T | touches
    return {
        crowd.session_uid: [other for k, other in enumerate(members) if met[row, k]]
        for row, crowd in enumerate(members)
    }


def relations_of(members: Sequence[bpy.types.Object]) -> tuple[Relation, Relation]:
    """Which of some crowds see and which touch which, see `meets.relations`.

    Bodies touch only where both crowds have them.
    """
    told = [read_settings(crowd.steer.meets, MeetsSettings) for crowd in members]
    chosen = np.zeros((len(members), len(members)), np.bool_)
    for row, crowd in enumerate(members):
        collection = crowd.steer.meets_collection
        if collection is not None:
            inside = {o.session_uid for o in collection.all_objects}
            chosen[row] = [other.session_uid in inside for other in members]
    sees, touches = relations(told, chosen)
    have = np.array([crowd.steer.bodies.collide_agents for crowd in members], np.bool_)
    return sees, touches & (have[:, None] & have)


def with_crowds(obj: bpy.types.Object, world: World, frames: Mapping[int, Frame]) -> World:
    """A world with the agents of other crowds as targets.

    Args:
        obj: The crowd that steers.
        world: The rest of the world that it perceives.
        frames: The frame before of every crowd that it steers by, by session uid.

    Raises:
        SceneError: One of these crowds is not simulated at that frame.
    """
    slots = crowd_slots(obj)
    if not slots:
        return world
    known: dict[int, Targets] = {}
    for crowd in slots.values():
        frame = frames.get(crowd.session_uid)
        if frame is None:
            start = min(crowd.steer.frame_start, obj.steer.frame_start)
            far = {"other": crowd.name, "start": start}
            raise SceneError(diagnose("OTHER_CROWD_NOT_SIMULATED", obj.name, **far))
        if crowd.session_uid not in known:
            axis = crowd.steer.motion.forward_axis
            known[crowd.session_uid] = results.targets_of(frame, axis, own=crowd == obj)
    merged: dict[str, Any] = {role: dict(getattr(world, role)) for role in ROLES}
    for (role, name), crowd in slots.items():
        merged[role][name] = known[crowd.session_uid]
    return replace(world, **merged)
