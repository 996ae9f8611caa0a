"""Show a variation of a crowd in place of what it showed before, keep it, or go back."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from ...core import cache as caches
from ...core.errors import OutputError, SceneError
from ...core.files import lock
from ...core.files.plain import reason
from ...farm import clearing
from .. import playback
from ..bake import places, status
from ..crowd import bake_owner
from . import made
from .made import Variation


def show(obj: bpy.types.Object, number: int) -> Variation:
    """Let a crowd, and those that it meets, play a variation.

    Raises:
        SceneError: There is no such variation, or it is not made yet.
        SteerError: Its files are damaged.
    """
    one = _variation(obj, number)
    members = [crowd for crowd in made.members_of(obj) if one.has(crowd)]
    if obj not in members:
        raise SceneError(f"Variation {number} of {obj.name!r} is not made yet: wait for it")
    for crowd in members:
        steer = crowd.steer
        folder = one.cache_of(crowd)
        playback.play(crowd, folder)
        own = steer.seed, steer.cache_folder
        if steer.variation:
            own = steer.own_seed, steer.own_cache_folder
        places.set_folder(crowd, folder)
        steer.own_seed, steer.own_cache_folder = own
        steer.variation, steer.seed = number, one.seed
        status.baked(crowd)
    return one


def _variation(obj: bpy.types.Object, number: int) -> Variation:
    found = {one.number: one for one in made.variations_of(obj)}
    if number not in found:
        raise SceneError(
            f"{obj.name!r} has no variation {number}: it has {len(found) or 'none'}; use Make "
            "Variations"
        )
    return found[number]


def go_back(obj: bpy.types.Object) -> None:
    """Let a crowd, and those that it meets, show what they showed before.

    Raises:
        SteerError: The bake of before is damaged; the crowd is simulated live then.
    """
    for crowd in made.members_of(obj):
        steer = crowd.steer
        if not steer.variation:
            continue
        own: str = steer.own_cache_folder
        steer.seed = steer.own_seed
        places.forget_variation(crowd)
        playback.detach(crowd)
        places.forget_folder(crowd)
        status.baked(crowd)
        if own:
            places.set_folder(crowd, places.absolute(own))
            playback.play(crowd, places.absolute(own))


def own_bake(crowd: bpy.types.Object) -> Path | None:
    """The bake of its own that a crowd which shows a variation had before; None for none."""
    own: str = crowd.steer.own_cache_folder
    if not own:
        return None
    folder = places.absolute(own)
    return None if bake_owner.other_file(folder) is not None else folder


def keep(obj: bpy.types.Object) -> None:
    """Make the variation that is shown the bake of the crowd, and of those that it meets.

    Raises:
        SteerError: A bake of before cannot be replaced, or the files cannot be moved.
    """
    shown = [crowd for crowd in made.members_of(obj) if crowd.steer.variation]
    goals = [own_bake(crowd) or places.new_folder(crowd) for crowd in shown]
    for crowd, goal in zip(shown, goals, strict=True):
        if own_bake(crowd) is None:
            places.check_free(crowd, goal)
        caches.check_own(goal)
    for crowd, goal in zip(shown, goals, strict=True):
        source = places.absolute(crowd.steer.cache_folder)
        # a system may refuse to move a file that is open
        playback.detach(crowd)
        caches.delete_cache(goal)
        caches.move_cache(source, goal, bake_owner.owner_text(goal))
        places.deleted.add(source)
        places.deleted.discard(goal)
        places.set_folder(crowd, goal)
        status.baked(crowd)
        playback.play(crowd, goal)


def delete(obj: bpy.types.Object) -> None:
    """Remove all variations of a crowd with their files; what was kept stays.

    Raises:
        SteerError: A file cannot be removed, or another process writes there.
    """
    folder = made.folder_of(obj)
    if obj.steer.variation:
        go_back(obj)
    for one in made.variations_of(obj):
        places.deleted.update(one.cache_of(crowd) for crowd in made.members_of(obj))
    clearing.clear(folder / made.OUT)
    try:
        if caches.is_marked(folder):
            for name in (made.SCENE, lock.NAME, caches.BAKE_MARK):
                (folder / name).unlink(missing_ok=True)
            os.rmdir(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be removed: {reason(error)}") from None
    finally:
        made.refresh(obj)
