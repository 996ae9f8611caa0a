"""Status of the bake of a crowd for its panel, and whether the bake is out of date.

Drawing reads only the status kept here. Settings are compared at most twice a second. The inputs
of the crowd are only checked after an edit, by a timer, once the user pauses, and only if
the check takes almost no time: otherwise the user has to press *Check Bake*.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.app.handlers import persistent
from mathutils import Matrix

from ...core import cache as caches
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SteerError
from .. import app_handlers, playback
from ..crowd import bake_owner, baked_file, crowds
from ..crowd.links import linked_crowds
from ..crowd.records import LastLook, Part
from ..reading import scene_agents, scene_inputs
from ..suspension import is_suspended
from . import checking, places

if TYPE_CHECKING:
    from ...core.cache import Cache

_PAUSE = 0.7
_BUDGET = 0.25
"""Longest time of a check that the user did not ask for [s]."""


@dataclass(eq=False, repr=False)
class BakeStatus:
    """Status of the bake of a crowd.

    Attributes:
        folder: Folder of the bake.
        frames: The existing frames.
        end: The last frame of the complete bake.
        complete: Whether all frames exist.
        unfinished: The frames of a newer, unfinished bake; None if there is none.
        problem: Reason why the bake cannot be read; None if it can be read.
        settings: Changes of the settings.
        changes: Changes that the last check found.
        edited: Names of objects edited since then.
        other_file: The other .blend file that the bake belongs to.
    """

    folder: Path
    frames: range = range(0)
    end: int = 0
    complete: bool = False
    unfinished: range | None = None
    problem: Diagnosis | None = None
    settings: list[Diagnosis] = field(default_factory=list)
    changes: list[Diagnosis] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    other_file: Path | None = None

    @property
    def out_of_date(self) -> Diagnosis | None:
        """Changes since the bake; None if no change is known."""
        changes = [*dict.fromkeys([*self.settings, *self.changes])]
        return caches.changes.out_of_date(changes) if changes else None

    @property
    def can_continue(self) -> bool:
        """Whether the bake lacks frames that this file may add."""
        if self.other_file is not None:
            return False
        return self.unfinished is not None or not self.complete

    def diagnoses(self) -> list[Diagnosis]:
        """Diagnoses of the bake."""
        if self.problem is not None:
            return [self.problem]
        found = []
        if self.other_file is not None:
            found.append(diagnose("BAKE_OF_OTHER_FILE", str(self.other_file)))
        if len(self.frames):
            code = "FRAMES_BEING_BAKED" if busy else "FRAMES_LACKING"
            code = "FRAMES_BAKED" if self.complete else code
            first, last, folder = self.frames[0], self.frames[-1], str(self.folder)
            found.append(diagnose(code, first=first, last=last, folder=folder, end=self.end))
        if self.unfinished is not None and not busy:
            found.append(diagnose("NEWER_BAKE", count=len(self.unfinished)))
        if self.out_of_date is not None:
            found.append(self.out_of_date)
        elif self.edited:
            names = ", ".join(repr(name) for name in self.edited[:4])
            found.append(diagnose("EDITED", objects=names))
        return found


class _Known:
    """State of a crowd that is kept between two redraws."""

    def __init__(self) -> None:
        self.last_look = LastLook()
        self.status: BakeStatus | None = None
        self.changes: list[Diagnosis] = []
        self.edited: dict[str, None] = {}
        self.unchecked = False
        """Whether a quick check is due, though no input was edited: the file was opened."""
        self.place = Matrix()
        """Where the crowd was at the last look."""
        self.points = b""
        """Digest of its mesh; empty before the first look."""
        self.used: dict[int, scene_inputs.Used] | None = None
        """Its inputs at the last look."""

    def look(self, obj: bpy.types.Object) -> None:
        """Keep where a crowd is, what its points are, and what it reads."""
        self.place = obj.matrix_world.copy()
        if not self.points:
            self.points = scene_agents.points_digest(obj)
        if self.used is None:
            self.used = scene_inputs.used_inputs(obj)


_known: Part[_Known] = Part(_Known)

busy: list[object] = []
"""Crowds that are being baked: nothing is checked meanwhile."""


def status(obj: bpy.types.Object, scene: bpy.types.Scene) -> BakeStatus | None:
    """Status of the bake of a crowd; None if the crowd knows of no bake."""
    known = _known.ensure(obj)
    if known.last_look.is_due():
        known.status = read_status(obj, scene)
        if known.status is not None:
            known.look(obj)
    if known.status is not None:
        known.status.changes, known.status.edited = known.changes, list(known.edited)
    return known.status


def refresh(obj: bpy.types.Object) -> None:
    """Read the status again at the next redraw."""
    _known.ensure(obj).last_look.forget()


def baked(obj: bpy.types.Object) -> None:
    """Reset the changes after a bake of the crowd was made, found or deleted."""
    _known.drop(obj)


def checked(obj: bpy.types.Object, changes: list[Diagnosis]) -> None:
    """Keep the result of a check."""
    known = _known.ensure(obj)
    known.changes, known.edited, known.unchecked = changes, {}, False
    known.last_look.forget()


def read_status(obj: bpy.types.Object, scene: bpy.types.Scene) -> BakeStatus | None:
    """Status from the files of a bake; None if a crowd knows of no bake."""
    folder = places.known_folder(obj)
    if folder is None:
        return None

    found = BakeStatus(folder, other_file=bake_owner.other_file(folder))
    try:
        if (folder / caches.NEXT).exists():
            found.unfinished = caches.open_cache(folder, caches.NEXT).frames
        if found.unfinished is None or (folder / caches.MANIFEST).exists():
            cache = caches.open_cache(folder)
            found.frames, found.complete = cache.frames, cache.complete
            found.end = max(cache.header.frame_end, obj.steer.frame_end)
            found.complete &= found.end == cache.header.frame_end
            found.settings = checking.settings_changes(obj, scene, cache)
    except SteerError as error:
        found.problem = diagnose("BAKE_UNREADABLE", reason=str(error))
    except OSError as error:
        reason = f"{folder} cannot be read: {error.strerror}"
        found.problem = diagnose("BAKE_UNREADABLE", reason=reason)
    return found


def cache_of(obj: bpy.types.Object) -> Cache | None:
    """The cache of a crowd's bake; None if there is no readable cache."""
    folder = places.known_folder(obj)
    if folder is None:
        return None

    try:
        return caches.open_cache(folder)
    except SteerError:
        return None


def _names(obj: bpy.types.Object) -> dict[int, str]:
    """Names of a crowd's inputs, by the session uids of all data whose edits may matter."""
    read = (*scene_inputs.input_objects(obj), *scene_inputs.instanced_objects(obj))
    objects = {o.session_uid: o for o in (*read, *linked_crowds(obj))}
    found = {
        uid: objects[own].name
        for uid, own in scene_inputs.geometry_owners(obj).items()
        if own in objects
    }
    found |= {uid: o.name for uid, o in objects.items()}
    for part in objects.values():
        found[part.data.session_uid if part.data is not None else part.session_uid] = part.name
        for owner in (part, part.data, getattr(part.data, "shape_keys", None)):
            data = getattr(owner, "animation_data", None)
            if data is not None and data.action is not None:
                found[data.action.session_uid] = part.name
    return found


@persistent
def on_edit(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Check whether an edit concerns an input of a bake."""
    if is_suspended() or depsgraph.mode == "RENDER":
        return
    for obj in crowds.crowds(scene):
        if not obj.steer.cache_folder:
            continue
        places.claim(obj)
        if places.known_folder(obj) is None:
            continue
        known = _known.ensure(obj)
        touched = [*_touched(obj, depsgraph, known), *_used_otherwise(obj, known)]
        if touched:
            known.edited |= dict.fromkeys(touched)
            _check_later()


def _touched(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, known: _Known) -> list[str]:
    """Names of the inputs of a crowd that were edited."""
    names = _names(obj)
    found = []
    for update in depsgraph.updates:
        uid = update.id.original.session_uid
        if uid not in names:
            continue
        if uid == obj.session_uid:
            # showing a frame, or choosing heroes, updates the crowd object, too
            edited = update.is_updated_transform and _is_moved(obj, known)
        elif uid == obj.data.session_uid:
            edited = update.is_updated_geometry and _is_reshaped(obj, known)
        else:
            is_action = isinstance(update.id, bpy.types.Action)
            edited = is_action or update.is_updated_transform or update.is_updated_geometry
        if edited:
            found.append(names[uid])
    return found


def _used_otherwise(obj: bpy.types.Object, known: _Known) -> list[str]:
    """Names of the objects that are inputs now, or are no more, or are so in another way."""
    before, known.used = known.used, scene_inputs.used_inputs(obj)
    if before is None:
        return []
    now, gone = known.used, before.keys() - known.used.keys()
    others = [
        one.name for uid, one in now.items() if uid not in before or before[uid].uses != one.uses
    ]
    return others + [before[uid].name for uid in gone]


def _is_moved(obj: bpy.types.Object, known: _Known) -> bool:
    """Whether a crowd is elsewhere than at the last look."""
    before, known.place = known.place, obj.matrix_world.copy()
    return before != known.place or not known.points


def _is_reshaped(obj: bpy.types.Object, known: _Known) -> bool:
    """Whether the points of a crowd are others: Blender reports changes of any modifier."""
    before, known.points = known.points, scene_agents.points_digest(obj)
    return before != known.points or scene_agents.needs_evaluation(obj)


@persistent
def on_undo(*_: object) -> None:
    """Let a crowd play live whose bake was deleted: undo brings back its state, never the files."""
    # a list: going live removes objects
    for obj in [obj for obj in bpy.data.objects if _plays_deleted(obj)]:
        playback.detach(obj)
        places.forget_folder(obj)
        baked(obj)


def _plays_deleted(obj: bpy.types.Object) -> bool:
    """Whether a crowd plays a bake that was deleted in this session."""
    played = baked_file.file_of(obj) if places.deleted else None
    return played is not None and played.parent in places.deleted and not played.exists()


@persistent
def on_load(*_: object) -> None:
    """Check all bakes: they may have changed since the file was saved."""
    for scene in bpy.data.scenes:
        for obj in crowds.crowds(scene):
            if obj.steer.cache_folder:
                _known.ensure(obj).unchecked = True
                _check_later()


def _check_later() -> None:
    """Check bakes when the user pauses; in a background run nothing shows the result."""
    if bpy.app.background:
        return
    app_handlers.remove_timers(_check_unchecked)
    bpy.app.timers.register(_check_unchecked, first_interval=_PAUSE)


def _check_unchecked() -> None:
    for scene in bpy.data.scenes:
        for obj in crowds.crowds(scene):
            known = _known.ensure(obj)
            if known.unchecked or known.edited:
                known.unchecked = False
                check_quickly(obj, scene)


def check_quickly(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Check a bake within `_BUDGET` seconds; returns whether the check is complete."""
    cache = cache_of(obj)
    if cache is None or busy or is_suspended() or scene_inputs.needs_own_scene(obj):
        return False

    end = time.monotonic() + _BUDGET
    steps = checking.check(obj, scene, cache)
    try:
        while time.monotonic() < end:
            next(steps)
    except StopIteration as done:
        checked(obj, done.value)
        app_handlers.redraw()
        return True
    except SteerError:
        return False
    finally:
        steps.close()
    return False


HANDLERS = (
    ("depsgraph_update_post", on_edit),
    ("load_post", on_load),
    ("undo_post", on_undo),
    ("redo_post", on_undo),
    ("save_pre", places.on_save),
    ("save_post", places.on_saved),
)


def register() -> None:
    """Add the handlers."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Remove the handlers and timers."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(_check_unchecked)
