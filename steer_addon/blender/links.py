"""Crowds that steer by other crowds: who reads whom, and what of it.

In a step every crowd reads the others as they were at the frame before, so the order in which
crowds are stepped cannot matter. Agents that steer by their own crowd never choose themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import bpy

from ..core.errors import SceneError
from ..core.frames import Frame, targets_of
from ..core.targets import Targets
from ..core.world import World
from .crowds import is_crowd
from .properties import uses_targets


def target_slots(obj: bpy.types.Object) -> dict[str, Any]:
    """What holds the target properties: "" for the crowd's own, else a behavior's name."""
    steer = obj.steer
    own = {i.name: i for i in steer.behaviors if i.use_own_target and uses_targets(i)}
    return {"": steer, **own}


def target_crowd(slot: Any) -> bpy.types.Object | None:
    """The crowd whose agents a slot names, or None."""
    target = slot.target_object
    # the points of a crowd are its agents: as it is shown they would depend on the order of steps
    if slot.target_kind in ("CROWD", "POINTS") and is_crowd(target) and target.users_scene:
        return target
    return None


def crowd_slots(obj: bpy.types.Object) -> dict[str, bpy.types.Object]:
    """The crowds that a crowd steers by, by the name of the slot."""
    found = {name: target_crowd(slot) for name, slot in target_slots(obj).items()}
    return {name: crowd for name, crowd in found.items() if crowd is not None}


def linked_crowds(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """A crowd, first, and all crowds that it depends on, directly or through others, by name."""
    found = {obj.session_uid: obj}
    waiting = [obj]
    while waiting:
        for crowd in crowd_slots(waiting.pop()).values():
            if crowd.session_uid not in found:
                found[crowd.session_uid] = crowd
                waiting.append(crowd)
    return [obj, *sorted((c for c in found.values() if c != obj), key=lambda c: c.name_full)]


def with_crowds(obj: bpy.types.Object, world: World, frames: Mapping[int, Frame]) -> World:
    """A world with the agents of other crowds as targets.

    Args:
        obj: The crowd that steers.
        world: What it perceives besides.
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
            raise SceneError(
                f"Crowd {obj.name!r} steers by crowd {crowd.name!r}, which is not simulated that "
                f"far: play from frame {min(crowd.steer.frame_start, obj.steer.frame_start)}"
            )
        if crowd.session_uid not in known:
            axis = crowd.steer.motion.forward_axis
            known[crowd.session_uid] = targets_of(frame, axis, own=crowd == obj)
    found = {name: known[crowd.session_uid] for name, crowd in slots.items()}
    return replace(world, targets={**world.targets, **found})
