"""Keyframe bakes of whole crowds: a crowd is simulated, baked and hidden, and shown again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError
from ...core.results.frames import Frame
from ..characters import library, optional_parts
from ..crowd import crowds
from ..crowd.casting import properties_of
from ..crowd.properties import bake_settings_of
from ..display import display
from ..display.look import Look, look_of
from ..live import simulate
from ..suspension import suspended
from . import copies, hero_stage, heroes, keyframes, removal, rig_bakes


def has_bake(obj: bpy.types.Object) -> bool:
    """Whether there is anything that `take_back` would take back."""
    steer = obj.steer
    return bool(steer.bake_collection or steer.hidden_by_bake or removal.find_bakes(obj.name))


def source_of(obj: bpy.types.Object) -> copies.Source:
    """What every agent of a keyframe bake gets a copy of: what it is shown as, unless chosen.

    Raises:
        SceneError: The crowd's modifier is gone, or its node group was changed.
    """
    steer = obj.steer
    chosen = steer.bake_source_object or steer.bake_source_collection
    if chosen:
        return chosen
    shown: copies.Source = display.shown_body(display.require_modifier(obj))
    if isinstance(shown, bpy.types.Collection) and not library.among(shown):
        bodies = _bodies(shown)
        if len(bodies) == 1:
            # agents are shown as the body itself, without its place in the collection
            return bodies[0]
    return shown


def standing_characters(obj: bpy.types.Object) -> list[Diagnosis]:
    """Diagnoses where agents get copies of characters: their poses and choices are not copied."""
    found = source_of(obj)
    characters = [] if found is None else library.among(found)
    if found is None or not characters:
        return []
    return [diagnose("CHARACTERS_STAND", found.name), *optional_parts.at_all(characters)]


def makes_rigs(obj: bpy.types.Object) -> bool:
    """Whether keyframe bakes of a crowd give each agent the rig of its character."""
    steer = obj.steer
    if steer.bake.bodies != "RIGS" or steer.bake_source_object or steer.bake_source_collection:
        return False
    found = source_of(obj)
    return found is not None and bool(library.among(found))


def copies_look(obj: bpy.types.Object) -> Look:
    """How large the copies of `source_of` are, and whether they turn, whatever is shown.

    Raises:
        SceneError: The crowd's modifier is gone, or its node group was changed.
    """
    return look_of(display.require_modifier(obj), "Object")


def _bodies(shown: bpy.types.Collection) -> list[bpy.types.Object | bpy.types.Collection]:
    """What agents choose from: the objects of a collection, and its collections, each as one."""
    return [*shown.objects, *shown.children]


def _copied(obj: bpy.types.Object, warnings: list[Diagnosis]) -> copies.Source:
    """What a bake copies: of several bodies that agents choose from, it cannot tell which."""
    found = source_of(obj)
    if standing := standing_characters(obj):
        warnings += standing
        return found
    if not isinstance(found, bpy.types.Collection) or found == obj.steer.bake_source_collection:
        return found
    # one body is copied with all that it consists of
    if found != display.shown_body(display.require_modifier(obj)) or not _bodies(found):
        return found
    warnings.append(diagnose("BAKED_TO_EMPTIES", found.name))
    return None


def bake_crowd(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    progress: Callable[[float], None],
    warnings: list[Diagnosis],
    numbers: range,
    *,
    empties: bool = False,
    frames: Iterable[Frame] | None = None,
) -> keyframes.BakeResult:
    """Simulate a crowd, bake it to keyed objects, and hide it.

    An earlier bake is replaced once the new one is complete.

    Args:
        obj: The crowd.
        scene: Its scene; the baked objects go there.
        progress: Called with the share done, 0 to 1.
        warnings: Filled with what the user may want to change about the scene.
        numbers: Frames to bake; the crowd is simulated from its start.
        empties: Whether agents become empties, whatever they are shown as.
        frames: These frames, where they were simulated with other crowds; None to simulate them.

    Raises:
        SteerError: The crowd cannot be simulated or baked; then nothing has changed.
    """
    _refuse_heroes(obj)
    settings = bake_settings_of(obj)
    steer = obj.steer
    look = copies_look(crowds.require_crowd(obj))
    rigs, simulated = makes_rigs(obj) and not empties, []
    if rigs:
        rig_bakes.check(obj, scene)
    if frames is None:
        frames = simulate.run(obj, scene, numbers, warnings=warnings)
    for frame in frames:
        simulated.append(frame)
        progress(0.5 * len(simulated) / len(numbers))

    def second_half(share: float) -> bool:
        progress(0.5 + 0.5 * share)
        return True

    carried, told = properties_of(obj)
    warnings += told
    with suspended():
        if rigs:
            result: keyframes.BakeResult | None = rig_bakes.bake(obj, scene, simulated, second_half)
        else:
            result = keyframes.bake(
                simulated,
                name=obj.name,
                collection_parent=scene.collection,
                settings=settings,
                source=None if empties else _copied(obj, warnings),
                look=look,
                carried=carried,
                replace=True,
                progress=second_half,
            )
    assert result is not None  # only a cancel gives None, and this progress never cancels
    # a crowd that was renamed since keeps its bake under the old name
    earlier = _own_bake(obj)
    if earlier is not None:
        removal.delete_bake(earlier)
    steer.bake_collection = result.collection
    crowds.hide(obj)
    return result


def _refuse_heroes(obj: bpy.types.Object) -> None:
    """Refuse a crowd with heroes: these stay where keyed objects would stand, too.

    Raises:
        SceneError: It has some.
    """
    count = len(heroes.carriers(obj).keys() - heroes.lost(obj))
    if count:
        who = "agent" if count == 1 else "agents"
        raise SceneError(
            f"{count} {who} of {obj.name!r} would be there twice, as heroes and as keyed objects: "
            "use Demote Heroes first, with Edited Too for those that were changed by hand"
        )


def _own_bake(obj: bpy.types.Object) -> bpy.types.Collection | None:
    """The bake that a crowd knows, unless it was made for the crowd that this one is a copy of."""
    collection = obj.steer.bake_collection
    if collection is None or collection.get(removal.MARK) == obj.name:
        return collection
    maker = bpy.data.objects.get(str(collection.get(removal.MARK)))
    lent = maker is not None and maker.steer.bake_collection == collection
    return None if lent else collection


def take_back(obj: bpy.types.Object) -> int:
    """Delete a keyframe bake and show the crowd again; returns the number of objects removed.

    Raises:
        SceneError: The bake is linked from another file.
    """
    collection = _own_bake(obj)
    found = [collection] if collection is not None else removal.find_bakes(obj.name)
    count = sum(map(removal.delete_bake, found))
    hero_stage.sweep()
    obj.steer.bake_collection = None
    crowds.unhide(obj)
    return count
