"""Diagnoses of the characters that crowds show: what is wrong with the choice, or out of date.

Whether a rig changed takes reading all of it: a timer does so once the user pauses after an edit,
and panels read what it found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SteerError
from .. import app_handlers
from ..characters import library, library_group, sources
from ..crowd import crowds
from ..crowd.records import Part
from ..display import display
from ..scene_units import units_per_meter
from ..suspension import is_suspended

PAUSE = 0.5
"""Time from an edit to the timer's check [s]; each edit restarts it."""
_WIDER = 1.6
"""Share of the radius of bodies from which on characters get far into one another."""
_TINY = 0.1
"""Share of the radius of bodies below which characters are hardly seen."""
_MOST_ASKED = 300
"""Number of objects of a collection that are looked at, as panels ask at every redraw."""
_EDITABLE = (bpy.types.Armature, bpy.types.Action, bpy.types.Mesh, bpy.types.Object, bpy.types.Key)

_changed: Part[bool] = Part(bool)
"""Whether the rig of a character changed since it was made, by the character."""


def found(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    """Diagnoses of the characters of a crowd; quick enough for every redraw."""
    modifier = display.find_modifier(obj)
    try:
        shown, body = ("", None) if modifier is None else display.shown_as(modifier)
    except SteerError:
        # the Display panel reports errors of the modifier
        return
    if modifier is not None:
        yield from of_display(modifier, shown, body)


def of_display(modifier: bpy.types.NodesModifier, shown: str, body: Any) -> Iterator[Diagnosis]:
    """The same, by the Crowd modifier, the item of its *Display* and what that shows."""
    members = [] if body is None else _members(body)
    characters = list(filter(library.is_character, members))
    if shown in ("Collection", "Characters") and body is not None:
        yield from _of_choice(modifier, body, characters if shown == "Characters" else [])
    if shown in ("Character", "Characters"):
        yield from _of_characters(shown, body, members, characters)
        yield from _of_sizes(modifier, characters)
    elif shown in ("Object", "Collection") and characters:
        yield diagnose("CHARACTER_AS_OBJECT", characters[0].name, display=shown)


def _of_characters(
    shown: str, body: Any, members: list[bpy.types.Object], characters: list[bpy.types.Object]
) -> Iterator[Diagnosis]:
    if body is None:
        yield diagnose("CHARACTER_NOT_CHOSEN", display=shown)
        return
    if not characters:
        yield diagnose("NO_CHARACTER", body.name)
    elif not library.among(body):
        others = [*body.children, *(o for o in members if o not in characters)]
        yield diagnose("CHARACTERS_MIXED", body.name, other=others[0].name)
    for character in characters:
        if _changed.get(character):
            yield diagnose("CHARACTER_CHANGED", character.name)


def _of_choice(modifier: Any, body: Any, characters: list[bpy.types.Object]) -> Iterator[Diagnosis]:
    """Diagnoses of how each agent gets its object of a collection."""
    choice, obj = display.get_input(modifier, "Choose By"), modifier.id_data
    name = str(display.get_input(modifier, "Attribute"))
    # modifiers before it may make the attribute
    alone = obj.modifiers[0] == modifier and obj.mode == "OBJECT"
    if choice == "Attribute" and alone and name not in obj.data.attributes:
        yield diagnose("CHOICE_WITHOUT_ATTRIBUTE", obj.name, attribute=name)
    if choice == "Random" and len(characters) > 1:
        if not any(map(library_group.weight_of, characters)):
            first = library.among(body)[:1] or characters
            yield diagnose("WEIGHTS_ALL_ZERO", body.name, character=first[0].name)


def _of_sizes(modifier: Any, characters: list[bpy.types.Object]) -> Iterator[Diagnosis]:
    """Diagnoses of characters much smaller than their bodies, or so wide that they overlap."""
    obj = modifier.id_data
    scale, radius = float(display.get_input(modifier, "Scale")), float(obj.steer.agents.radius)
    # poses are in meters, the radius is in units of the scene
    unit = units_per_meter(obj.users_scene[0]) if obj.users_scene else 1.0
    for character in characters:
        # built-in characters are as wide as their crowds are made for
        found = character.get(library.REACH)
        is_told = isinstance(found, float)
        found = found if is_told else 0.5 * max(character.dimensions)
        reach = scale * found
        told = {"reach": reach / unit, "radius": radius / unit}
        if 0.0 < reach < _TINY * radius:
            usual = unit if unit * found >= _TINY * radius else radius / found
            yield diagnose("CHARACTER_TINY", character.name, scale=usual, **told)
        elif is_told and reach > _WIDER * radius and obj.steer.motion.motion == "GROUND":
            yield diagnose("CHARACTER_WIDE", character.name, **told)


def _members(body: Any) -> list[bpy.types.Object]:
    if isinstance(body, bpy.types.Object):
        return [body]
    return list(islice(body.objects, _MOST_ASKED))


def check(character: bpy.types.Object) -> bool:
    """Look whether the rig of a character has changed, and keep the answer for panels."""
    changed = sources.is_changed(character)
    _changed.keep(character, changed)
    return changed


def shown_characters(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The characters that a crowd shows."""
    modifier = display.find_modifier(obj)
    try:
        body = None if modifier is None else display.shown_body(modifier)
    except SteerError:
        return []
    return [] if body is None else [o for o in _members(body) if library.is_character(o)]


@persistent
def on_edit(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Check again once the user pauses; in a background run nothing shows the result."""
    if bpy.app.background or is_suspended() or depsgraph.mode == "RENDER":
        return
    if any(isinstance(update.id, _EDITABLE) for update in depsgraph.updates):
        later()


@persistent
def later(*_: object) -> None:
    """Start the timer that checks after a pause; in a background run nothing shows the result."""
    if not bpy.app.background:
        app_handlers.remove_timers(check_windows)
        bpy.app.timers.register(check_windows, first_interval=PAUSE)


def check_windows() -> float | None:
    """Timer: check the characters of the crowds of all windows; None ends the timer."""
    if is_suspended():
        return PAUSE
    before = dict(_changed.by_uid())
    scenes = {window.scene for window in bpy.context.window_manager.windows}
    crowds_shown = [obj for scene in scenes for obj in crowds.crowds(scene)]
    for character in {c for obj in crowds_shown for c in shown_characters(obj)}:
        if sources.KEY in character:
            check(character)
    if _changed.by_uid() != before:
        app_handlers.redraw()
    return None


HANDLERS = (
    ("depsgraph_update_post", on_edit),
    ("undo_post", later),
    ("redo_post", later),
    ("load_post", later),
)


def register() -> None:
    """Add the handlers; an open file is checked as soon as possible."""
    app_handlers.add(HANDLERS)
    later()


def unregister() -> None:
    """Remove the handlers and the timer."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(check_windows)
