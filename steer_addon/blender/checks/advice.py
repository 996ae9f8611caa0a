"""Diagnoses of a crowd from its settings alone.

Everything here is quick enough for every redraw. Diagnoses that need the evaluated scene
come with the frames (`live.status`), or from a timer (open colliders).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import bpy

from ...core.compiled import jit
from ...core.crowd.clips import ClipsSettings
from ...core.crowd.groups import unknown_groups
from ...core.diagnoses import Diagnosis, add_new, diagnose
from ...core.errors import SteerError
from ...core.sensing.declare import SECOND_TARGETS
from ..characters import library
from ..crowd import casting
from ..crowd.properties import definition_of
from ..crowd.slots import SOURCES, is_chosen, needs_target, source_use, title_of, uses_of
from ..display import display, rigs
from ..reading.scene_inputs import collider_objects
from . import attribute_checks, character_checks, collider_checks

if TYPE_CHECKING:
    from ..crowd.property_types import SteerCrowd

_UNSEEN = ("BRUSH", "TEXT")
"""Kinds of linked data that nobody sees in pictures, and that crowds do not meet."""
_MOST_NAMES = 3


def diagnoses(obj: bpy.types.Object) -> list[Diagnosis]:
    """All diagnoses of a crowd from its settings."""
    steer = obj.steer
    return [
        *_missing_targets(steer),
        *_hidden_display(obj),
        *_unknown_clips(obj),
        *_unknown_groups(obj),
        *attribute_checks.found(obj),
        *_missing_inputs(steer),
        *_lost_inputs(obj),
        *_unknown(steer),
        *_empty(obj),
        *collider_checks.found(obj),
        *_compiler(),
    ]


def of_run(obj: bpy.types.Object) -> list[Diagnosis]:
    """Those that commands tell as they run a crowd: its point attributes, clips, and files."""
    return [*attribute_checks.found(obj), *_unknown_clips(obj), *lost_libraries()]


def lost_libraries() -> Iterator[Diagnosis]:
    """Files that the open one links from, and that are not there, or lack what is linked."""
    for one in bpy.data.libraries:
        if one.users_id and not one.packed_file:
            path = os.path.abspath(bpy.path.abspath(one.filepath, library=one.library))
            if not os.path.isfile(path):
                yield diagnose("LIBRARY_LOST", path)
                continue
            # Blender puts an empty in the place of what a file does not hold any more
            found = (data for data in one.users_id if data.is_missing and data.users)
            names = [data.name for data in found if data.id_type not in _UNSEEN]
            if names:
                shown = ", ".join(map(repr, sorted(names)[:_MOST_NAMES]))
                more = f" and {len(names) - _MOST_NAMES} more" if names[_MOST_NAMES:] else ""
                yield diagnose("LINKED_LOST", path, names=f"{shown}{more}")


def _asking(steer: SteerCrowd) -> list[Any]:
    """The entries of the list that need a target to work."""
    return [item for item in steer.behaviors if item.enabled and needs_target(item)]


def lacks_target(steer: SteerCrowd) -> bool:
    """Whether the crowd has no target although a behavior needs it."""
    return bool(_lacking(steer, _asking(steer)))


def _lacking(steer: SteerCrowd, asking: list[Any]) -> list[Any]:
    """Those of the entries that lack the crowd's target."""
    if is_chosen(steer, "target"):
        return []
    return [item for item in asking if not item.use_own_target]


def _missing_targets(steer: SteerCrowd) -> Iterator[Diagnosis]:
    asking = _asking(steer)
    lacking = ", ".join(repr(title_of(item)) for item in _lacking(steer, asking))
    if lacking:
        yield diagnose("TARGET_MISSING", behaviors=lacking, **_lack("TARGET"))
    for item in asking:
        if item.use_own_target and not is_chosen(item, "target"):
            yield diagnose("OWN_TARGET_MISSING", title_of(item), **_lack("TARGET", item))


def _missing_inputs(steer: SteerCrowd) -> Iterator[Diagnosis]:
    """Diagnoses of inputs that an enabled entry needs but lacks."""
    for item in steer.behaviors:
        if not item.enabled:
            continue
        if SECOND_TARGETS in uses_of(item) and not is_chosen(item, "second_target"):
            lack = _lack("SECOND_TARGET", item)
            yield diagnose("SECOND_TARGET_MISSING", title_of(item), **lack)
        kind = SOURCES.get(source_use(item))
        if kind is not None and not is_chosen(item, "source"):
            lack = {"noun": kind.noun, "choose": kind.choose, **_lack("SOURCE", item, kind.label)}
            yield diagnose("SOURCE_MISSING", title_of(item), **lack)
    if steer.births.emission != "NONE" and not is_chosen(steer, "births"):
        yield diagnose("BIRTHS_SOURCE_MISSING", **_lack("BIRTHS", label="Source"))


def _lack(role: str, item: Any = None, label: str = "") -> dict[str, str]:
    """Missing input of a list entry or of the crowd: role, entry and label."""
    entry = "" if item is None else item.name
    return {"role": role, "entry": entry, "label": label or role.replace("_", " ").title()}


def _hidden_display(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    """Diagnoses of what agents are shown as: an object disabled in viewports, or a rig."""
    modifier = display.find_modifier(obj)
    body: Any
    try:
        shown, body = ("", None) if modifier is None else display.shown_as(modifier)
    except SteerError:
        # the Display panel reports errors of the modifier
        return
    hidden = isinstance(body, bpy.types.Object) and body.hide_viewport
    if hidden and not library.is_character(body):
        yield diagnose("BODY_DISABLED", body.name, object=body.name)
    rig = rigs.rig_of(body)
    if rig is not None:
        code = "BODY_IS_RIG" if rig == body else "RIG_AMONG_BODIES"
        yield diagnose(code, rig.name, collection="" if rig == body else body.name)
    if modifier is not None:
        yield from character_checks.of_display(modifier, shown, body)


def _unknown_clips(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    """Diagnoses of clips that are to be played, and that no character has."""
    asked = ClipsSettings.split(f"{obj.steer.clips.idle},{obj.steer.clips.arrival}") - {"*"}
    if not asked:
        return
    known = casting.clip_names(obj)
    for name in sorted(asked - {name.casefold() for name in known}):
        yield diagnose("CLIP_UNKNOWN", name, known=", ".join(known) or "none")


def _unknown_groups(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    """Diagnoses of groups, and of characters of groups, that are not there."""
    steer = obj.steer
    known = [group.name for group in steer.groups]
    for item in steer.behaviors:
        if item.enabled and item.weight > 0.0:
            yield from unknown_groups(title_of(item), item.group, known)
    for group in steer.groups:
        names = ClipsSettings.split(group.characters)
        shown = casting.character_names(obj) if names else []
        for name in sorted(names - {name.casefold() for name in shown}):
            values = {"name": name, "known": ", ".join(shown) or "none"}
            yield diagnose("GROUP_CHARACTER_UNKNOWN", group.name, **values)


def chosen_objects(obj: bpy.types.Object) -> Iterator[tuple[str, Any, str]]:
    """Owner, property and role of each single object that a crowd perceives."""
    steer = obj.steer
    if steer.target_kind != "COLLECTION":
        yield "Target", steer, "target_object"
    for item in steer.behaviors:
        uses = uses_of(item)
        if item.use_own_target and item.target_kind != "COLLECTION":
            yield "Target", item, "target_object"
        if SECOND_TARGETS in uses and item.second_target_kind != "COLLECTION":
            yield "Target", item, "second_target_object"
        use = source_use(item)
        if use and item.source_kind == "OBJECT":
            yield SOURCES[use].label, item, "source_object"
    yield "Ground", steer, "ground"


def is_lost(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> bool:
    """Whether an object was deleted: only a reference keeps it in the file."""
    if obj is None or obj.visible_get():
        return False
    # slow, hence last
    return scene.objects.get(obj.name) != obj and not obj.users_scene


def lost_objects(obj: bpy.types.Object) -> Iterator[tuple[str, Any, str]]:
    """The entries of `chosen_objects` that are in no scene any more."""
    if obj.library is not None or not obj.users_scene:
        return
    scene = obj.users_scene[0]
    for what, owner, name in chosen_objects(obj):
        if is_lost(getattr(owner, name), scene):
            yield what, owner, name


def _lost_inputs(obj: bpy.types.Object) -> list[Diagnosis]:
    found: list[Diagnosis] = []
    for what, owner, name in lost_objects(obj):
        add_new(found, [diagnose("INPUT_LOST", getattr(owner, name).name, what=what)])
    return found


def _unknown(steer: SteerCrowd) -> Iterator[Diagnosis]:
    for place, item in enumerate(steer.behaviors):
        if definition_of(item) is None:
            yield diagnose("BEHAVIOR_UNKNOWN", item.name, place=place)


def _empty(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    steer = obj.steer
    if not steer.behaviors:
        yield diagnose("NO_BEHAVIORS")
    colliders = steer.colliders
    if colliders is not None and not collider_objects(obj):
        yield diagnose("NO_COLLIDERS_IN_COLLECTION", colliders.name)
    if steer.frame_end < steer.frame_start:
        yield diagnose("RANGE_BACKWARD", start=steer.frame_start)


def _compiler() -> Iterator[Diagnosis]:
    status = jit.known_status()
    if status is not None and status.diagnosis is not None:
        yield status.diagnosis
