"""Promote and demote: agents of a crowd that are real rigs, and instances again.

The rigs stand in the collection "Heroes of CROWD". Their agents stay bodies in the simulation; only
their instances are hidden, by a table that the Crowd modifier reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import CharacterError
from ...core.results.frames import Frame
from ...core.results.tracks import agent_names
from ..characters.heroes.hero import MARK
from ..crowd import hero_table
from ..suspension import suspended
from . import hero_age
from .hero_motion import Tracks, frames_of
from .hero_parts import Parts
from .hero_stage import AGENT, Stage, staged, sweep

_COLLECTION_KEY = "steer_heroes"
"""Custom property of collections of heroes: the table of their crowd."""


@dataclass
class Result:
    """What was done.

    Attributes:
        done: Ids of the agents that became heroes, or are instances again.
        kept: Ids of heroes that stay: those that are heroes already, or were edited by hand.
        lacking: Ids of agents whose character has no rig any more; the warnings say so.
        warnings: Diagnoses of the scene.
    """

    done: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    lacking: list[int] = field(default_factory=list)
    warnings: list[Diagnosis] = field(default_factory=list)


def promote(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    ids: Sequence[int],
    progress: Callable[[float], None] = lambda share: None,
) -> Result:
    """Make rigs of agents, and hide their instances.

    Args:
        obj: The crowd.
        scene: Its scene.
        ids: Ids of the agents; those that are heroes already stay as they are.
        progress: Called with the share done, 0 to 1.

    Raises:
        SteerError: The crowd has no frames, or no characters with rigs; then nothing has changed,
            but that remains of heroes without rigs may be gone.
    """
    result = Result()
    there = set(carriers(obj)) - lost(obj)
    result.kept = [number for number in ids if number in there]
    wanted = [number for number in ids if number not in there]
    if not wanted:
        return result
    with staged(obj, scene) as stage:
        result.warnings += stage.left_out
        why = stage.why_no_rigs()
        frames = frames_of(obj, scene, lambda share: progress(0.8 * share), result.warnings)
        tracks = Tracks(frames, wanted, obj.name)
        able = _able(stage, tracks, why, result)
        left = carriers(obj)
        parts = Parts(left.values())
        # they have the names of those that are made now
        parts.remove(_parts_of(parts, left, able, _collection(obj)))
        result.done = _stand(stage, obj, scene, tracks, able, progress)
    return result


def _able(stage: Stage, tracks: Tracks, why: dict[int, CharacterError], result: Result) -> set[int]:
    """Ids of the agents whose character has a rig; the result gets the others.

    Raises:
        CharacterError: None of them has.
    """
    numbers = stage.numbers_of(tracks)
    lacks = np.isin(numbers, list(why))
    if lacks.all():
        raise why[int(numbers[0])]
    for number, error in why.items():
        if count := int((numbers == number).sum()):
            name = stage.characters[number].name
            result.warnings.append(diagnose("RIGS_LACKING", name, count=count, reason=str(error)))
    result.lacking = tracks.ids[lacks].tolist()
    return set(tracks.ids[~lacks].tolist())


def _stand(
    stage: Stage,
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    tracks: Tracks,
    able: set[int],
    progress: Callable[[float], None],
) -> list[int]:
    """Make rigs of those who can of agents on tracks, and hide their instances; returns the ids."""
    collection = _collection(obj)
    fresh = collection is None
    if collection is None:
        collection = bpy.data.collections.new(f"Heroes of {obj.name}")
        stage.made.append(collection)
        scene.collection.children.link(collection)
    made = dict[int, bpy.types.Object]()
    names = agent_names(obj.name, tracks.ids)
    for column, (number, label) in enumerate(zip(tracks.ids.tolist(), names, strict=True)):
        progress(0.8 + 0.2 * column / len(names))
        if number in able:
            made[number] = stage.make(label, tracks, column, collection)
    parts = Parts(made.values())
    for carrier in made.values():
        parts.remember(carrier)
    hero_age.remember(obj, scene, made.values())
    table = hero_table.set_ids(obj, {*hidden(obj), *made})
    if fresh:
        collection[_COLLECTION_KEY] = table
    return list(made)


def renew(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    progress: Callable[[float], None] = lambda share: None,
) -> Result:
    """Make those heroes again that show an earlier simulation; they go where there is no agent.

    Args:
        obj: The crowd.
        scene: Its scene.
        progress: Called with the share done, 0 to 1.

    Returns:
        Which are made again; those that were changed by hand are kept, and those whose character
        has no rig any more.

    Raises:
        SteerError: The crowd cannot be simulated, or no character has a rig; then nothing has
            changed.
    """
    heroes, result = carriers(obj), Result()
    parts, old = Parts(heroes.values()), outdated(obj, scene)
    result.kept = sorted(number for number in old if parts.is_edited(heroes[number]))
    wanted = old - set(result.kept)
    if not wanted:
        return result
    with staged(obj, scene) as stage:
        why = stage.why_no_rigs()
        told = frames_of(obj, scene, lambda share: progress(0.8 * share), result.warnings)
        frames = [_of_agents(frame, wanted) for frame in told]
        there = {number for frame in frames for number in frame.id[frame.alive != 0].tolist()}
        if not wanted & there:
            demote(obj, wanted)
            return result
        tracks = Tracks(frames, sorted(wanted & there), obj.name)
        able = _able(stage, tracks, why, result)
        demote(obj, wanted.difference(result.lacking))
        result.done = _stand(stage, obj, scene, tracks, able, progress)
    return result


def _of_agents(frame: Frame, ids: set[int]) -> Frame:
    """A frame of some agents: all frames of a large crowd would fill the memory."""
    rows = np.flatnonzero(np.isin(frame.id, list(ids)))
    arrays: dict[str, Any] = {
        name: value[rows] for name, value in vars(frame).items() if isinstance(value, np.ndarray)
    }
    attributes = {name: values[rows] for name, values in frame.attributes.items()}
    return replace(frame, **arrays, attributes=attributes)


def demote(
    obj: bpy.types.Object, ids: Iterable[int] | None = None, *, edited: bool = False
) -> Result:
    """Remove heroes, and show their instances again.

    Args:
        obj: The crowd.
        ids: Ids of agents; None for all.
        edited: Whether those go, too, that were changed by hand since.
    """
    heroes, gone, result = carriers(obj), lost(obj), Result()
    chosen = {*hidden(obj), *heroes} if ids is None else set(ids) & {*hidden(obj), *heroes}
    collection, parts = _collection(obj), Parts(heroes.values())
    whole = (chosen & heroes.keys()) - gone
    stay = {number for number in whole if not edited and parts.is_edited(heroes[number])}
    result.kept, result.done = sorted(stay), sorted(chosen - stay)
    parts.remove(_parts_of(parts, heroes, set(result.done), collection))
    with suspended():
        if collection is not None and not (set(carriers(obj)) or collection.all_objects):
            bpy.data.collections.remove(collection)
        hero_table.set_ids(obj, hidden(obj) - set(result.done))
        sweep()
    return result


def hidden(obj: bpy.types.Object) -> set[int]:
    """Ids of the agents whose instances are hidden."""
    return hero_table.ids_of(hero_table.table_of(obj))


def carriers(obj: bpy.types.Object) -> dict[int, bpy.types.Object]:
    """The empties on top of the heroes of a crowd, by the ids of their agents."""
    collection = _collection(obj)
    objects = () if collection is None else collection.all_objects
    return {int(o[AGENT]): o for o in objects if str(o.get(AGENT, "")).lstrip("-").isdigit()}


def lost(obj: bpy.types.Object) -> set[int]:
    """Ids of the agents that are hidden, and whose rigs were deleted or belong to another crowd.

    Every redraw asks: the objects of the collection are looked at once.
    """
    ids = hidden(obj)
    if not ids:
        return ids
    heroes, collection = carriers(obj), _collection(obj)
    parts = [] if collection is None else [o for o in collection.all_objects if MARK in o]
    posed = {part[MARK] for part in parts if part.type == "ARMATURE"}
    rigless = {carrier[MARK] for carrier in heroes.values()} - posed
    # a rig may have been put into another collection: what it moves still knows it
    posed |= {part[MARK] for part in parts if part[MARK] in rigless and _hangs_from_rig(part)}
    return ids - {number for number, carrier in heroes.items() if carrier[MARK] in posed}


def _hangs_from_rig(part: bpy.types.Object) -> bool:
    """Whether a part of a hero is moved by an armature that was not deleted."""
    above = (part.parent, part.find_armature())
    return any(o and o.type == "ARMATURE" and o.users_collection for o in above)


def outdated(obj: bpy.types.Object, scene: bpy.types.Scene) -> set[int]:
    """Ids of the heroes that show an earlier simulation of a live crowd; quick."""
    if not hidden(obj):
        return set()
    return hero_age.outdated(obj, scene, carriers(obj)) - lost(obj)


def follow_bake(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Tell heroes of a live crowd that it plays a bake, which was made just now."""
    if hidden(obj):
        hero_age.follow_bake(obj, scene, carriers(obj).values())


def owner_of(part: bpy.types.Object) -> bpy.types.Object | None:
    """The crowd that a part of a hero belongs to; None where it is no such part."""
    if MARK not in part:
        return None
    tables = [collection.get(_COLLECTION_KEY) for collection in part.users_collection]
    for obj in bpy.data.objects:
        table = hero_table.table_of(obj)
        if table is not None and table in tables and hero_table.is_own(obj):
            return obj
    return None


def _collection(obj: bpy.types.Object) -> bpy.types.Collection | None:
    """The collection of the heroes of a crowd."""
    table = hero_table.table_of(obj)
    if table is None or not hero_table.is_own(obj):
        return None
    return next((c for c in bpy.data.collections if c.get(_COLLECTION_KEY) == table), None)


def _parts_of(
    parts: Parts,
    heroes: dict[int, bpy.types.Object],
    ids: set[int],
    collection: bpy.types.Collection | None,
) -> list[bpy.types.Object]:
    """All parts of the heroes of some agents, and of those whose empty on top was deleted."""
    found = [part for number in ids & heroes.keys() for part in parts.of(heroes[number])]
    marked = [] if collection is None else [o for o in collection.all_objects if MARK in o]
    whole = {part[MARK] for part in marked if AGENT in part}
    return found + [o for o in marked if o[MARK] not in whole and o.get("id") in ids]
