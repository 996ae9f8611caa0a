"""What is wrong with the shapes of colliders, told as soon as they are chosen.

The frames of a crowd tell it too, but only once there are any. Here a timer looks at each collider
after something was edited and the user pauses, and at those only that are new or were reshaped;
drawing looks at nothing but what is kept. Large meshes are not searched, as for the frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ...core.diagnoses import Diagnosis
from .. import app_handlers
from ..crowd import crowds
from ..reading import scene_inputs, scene_meshes
from ..suspension import is_suspended

PAUSE = 0.3
"""So long after an edit the timer looks [s]; editing puts it off."""
_BUDGET = 0.05
"""So long the timer looks at shapes before the window gets its turn [s]; one shape is the least."""
_TURN = 0.02


class _Piece(NamedTuple):
    """A shape among the colliders of a crowd; of an instanced collection each part is one."""

    part: bpy.types.Object
    name: str
    top: str
    wall_height: float

    @property
    def key(self) -> tuple[object, ...]:
        """Another one when another shape has to be looked at; edits are told by Blender."""
        part, data = self.part, self.part.data
        count = len(data.vertices) if part.type == "MESH" else 0
        turned = part.matrix_world.is_negative
        return (part.session_uid, data.session_uid, count, turned)


_found: dict[int, list[Diagnosis]] = {}
"""By the session uid of the crowd."""
_known: dict[int, dict[str, tuple[tuple[object, ...], list[Diagnosis]]]] = {}
"""What is wrong with each shape, with its key, by the session uid of the crowd and its name."""
_ever_found: dict[int, set[Diagnosis]] = {}
"""All that was found since the file was opened, by the session uid of the crowd."""
_edited: set[int] = set()
"""Session uids of what was reshaped since the last look."""


def found(obj: bpy.types.Object) -> list[Diagnosis]:
    """What is known to be wrong with the colliders of a crowd; quick enough for every redraw."""
    return _found.get(obj.session_uid, [])


def is_mended(obj: bpy.types.Object, diagnosis: Diagnosis) -> bool:
    """Whether a diagnosis was true of a collider and is no more: frames still have it."""
    uid = obj.session_uid
    return diagnosis in _ever_found.get(uid, ()) and diagnosis not in _found.get(uid, ())


def look(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, is_over: Callable[[], bool] | None = None
) -> bool:
    """Look at the colliders of a crowd, as far as they are not known.

    Args:
        obj: The crowd.
        depsgraph: What evaluated the scene.
        is_over: Asked after each shape that was looked at: whether to go on another time.

    Returns:
        Whether all of them are known now.
    """
    known = _known.setdefault(obj.session_uid, {})
    complaints, names = list[Diagnosis](), set[str]()
    for piece in _pieces(obj):
        names.add(piece.name)
        key, (old, defects) = piece.key, known.get(piece.name, (None, []))
        if key != old:
            evaluated = piece.part.evaluated_get(depsgraph)
            if not evaluated.is_evaluated:
                # in another view layer: only the frames look at it
                continue
            defects = _defects(piece, evaluated)
            known[piece.name] = key, defects
            if is_over is not None and is_over():
                return False
        complaints += defects
    for name in known.keys() - names:
        del known[name]
    _found[obj.session_uid] = complaints
    _ever_found.setdefault(obj.session_uid, set()).update(complaints)
    return True


def _pieces(obj: bpy.types.Object) -> Iterator[_Piece]:
    if obj.steer.colliders is None:
        return
    height = obj.steer.motion.wall_height
    for part in scene_inputs.collider_objects(obj):
        yield from _parts(obj, part, part.name_full, part.name, height)


def _parts(
    obj: bpy.types.Object, part: bpy.types.Object, name: str, top: str, height: float
) -> Iterator[_Piece]:

    if part.instance_collection is not None and part.type == "EMPTY":
        for child in scene_inputs.members(part.instance_collection, obj):
            yield from _parts(obj, child, f"{name}/{child.name_full}", top, height)
    elif part.type in scene_meshes.MESH_TYPES:
        yield _Piece(part, name, top, height)


def _defects(piece: _Piece, evaluated: bpy.types.Object) -> list[Diagnosis]:
    if piece.part.type == "MESH" and len(evaluated.data.polygons) > scene_meshes.CHECKED_TRIANGLES:
        return []
    reader = scene_meshes.MeshReader()
    place = scene_meshes.matrix_of(evaluated)
    reader.read(
        piece.name, piece.part, evaluated, place, top=piece.top, wall_height=piece.wall_height
    )
    return reader.end_frame()


@persistent
def on_edit(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Look again once the user pauses; a background run has nobody who would read it."""
    if bpy.app.background or is_suspended() or depsgraph.mode == "RENDER":
        return
    _edited.update(u.id.original.session_uid for u in depsgraph.updates if u.is_updated_geometry)
    later()


@persistent
def on_undo(*_: object) -> None:
    """Undo may change any shape."""
    _known.clear()
    if not bpy.app.background:
        later()


@persistent
def on_load(*_: object) -> None:
    """Another file: nothing of the one before counts."""
    forget()
    if not bpy.app.background:
        later()


def later() -> None:
    """Look when there was a pause."""
    app_handlers.remove_timers(_look)
    bpy.app.timers.register(_look, first_interval=PAUSE)


def _look() -> float | None:
    """The timer: look at the crowds of all windows; None ends it."""
    if is_suspended():
        return PAUSE
    _drop_edited()
    before, end, seen = dict(_found), time.monotonic() + _BUDGET, set()
    for window in bpy.context.window_manager.windows:
        layer = window.view_layer
        for obj in crowds.crowds(window.scene):
            if not look(obj, layer.depsgraph, lambda: time.monotonic() > end):
                return _TURN
            seen.add(obj.session_uid)
    for uid in _known.keys() - seen:
        _known.pop(uid)
        _found.pop(uid, None)
        _ever_found.pop(uid, None)
    if _found != before:
        app_handlers.redraw()
    return None


def _drop_edited() -> None:
    """Forget the shapes of objects that were edited, themselves or their data."""
    for known in _known.values():
        for name in [name for name, (key, _) in known.items() if not _edited.isdisjoint(key[:2])]:
            del known[name]
    _edited.clear()


def forget() -> None:
    """Drop all that is known."""
    _found.clear()
    _known.clear()
    _ever_found.clear()
    _edited.clear()


HANDLERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("depsgraph_update_post", on_edit),
    ("undo_post", on_undo),
    ("redo_post", on_undo),
    ("load_post", on_load),
)


def register() -> None:
    """Add the handlers; a file that is open already is looked at as soon as can be."""
    app_handlers.add(HANDLERS)
    if not bpy.app.background:
        later()


def unregister() -> None:
    """Remove the handlers and the timer."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(_look)
    forget()
