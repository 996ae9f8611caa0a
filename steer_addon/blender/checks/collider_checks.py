"""Diagnoses of the shapes of colliders, and of meshes in the way, as soon as they are there.

The frames of a crowd have them too, but only after simulating. Here a timer checks each collider
after an edit, once the user pauses, and only colliders that are new or were reshaped;
drawing reads only kept results. Large meshes are not searched, as for the frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import bpy
from bpy.app.handlers import persistent

from ...core.diagnoses import Diagnosis
from .. import app_handlers
from ..crowd import crowds
from ..crowd.records import Part
from ..reading import scene_inputs, scene_meshes
from ..suspension import is_suspended
from . import obstructions

PAUSE = 0.3
"""Time from an edit to the timer's check [s]; each edit restarts it."""
_BUDGET = 0.05
"""Longest time of one timer call [s]; at least one shape is checked per call."""
_TURN = 0.02


class _Piece(NamedTuple):
    """A shape among a crowd's colliders; each part of an instanced collection is a shape."""

    part: bpy.types.Object
    name: str
    top: str
    wall_height: float

    @property
    def key(self) -> tuple[object, ...]:
        """Key that changes with the shape to check; edits are reported by Blender."""
        part, data = self.part, self.part.data
        count = len(data.vertices) if part.type == "MESH" else 0
        turned = part.matrix_world.is_negative
        return (part.session_uid, data.session_uid, count, turned)


class _Checked:
    """Results for the colliders of a crowd.

    Attributes:
        found: Current diagnoses of the colliders, and of meshes that should be some.
        ever_found: All diagnoses since the file was opened.
        shapes: Key and diagnoses of each shape, by its name.
        in_the_way: Diagnoses of meshes in the way; None until they are searched after an edit.
    """

    def __init__(self) -> None:
        self.found: list[Diagnosis] = []
        self.ever_found: set[Diagnosis] = set()
        self.shapes: dict[str, tuple[tuple[object, ...], list[Diagnosis]]] = {}
        self.in_the_way: list[Diagnosis] | None = None


_checked: Part[_Checked] = Part(_Checked)
_edited: set[int] = set()
"""Session uids of objects and meshes reshaped since the last check."""


def found(obj: bpy.types.Object) -> list[Diagnosis]:
    """Known diagnoses of the colliders of a crowd; quick enough for every redraw."""
    checked = _checked.get(obj)
    return [] if checked is None else checked.found


def is_mended(obj: bpy.types.Object, diagnosis: Diagnosis) -> bool:
    """Whether a collider was repaired since the diagnosis, which frames still have."""
    checked = _checked.get(obj)
    if checked is None:
        return False
    return diagnosis in checked.ever_found and diagnosis not in checked.found


def check_colliders(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, is_over: Callable[[], bool] | None = None
) -> bool:
    """Check the colliders of a crowd that were not checked yet, and search meshes in its way.

    Args:
        obj: The crowd.
        depsgraph: The depsgraph that evaluated the scene.
        is_over: Called after each checked shape and after the search; True interrupts the check
            until the next call. None searches again in any case.

    Returns:
        Whether all of it is done now.
    """
    checked = _checked.ensure(obj)
    known = checked.shapes
    complaints, names = list[Diagnosis](), set[str]()
    for piece in _pieces(obj):
        names.add(piece.name)
        key, (old, defects) = piece.key, known.get(piece.name, (None, []))
        if key != old:
            evaluated = piece.part.evaluated_get(depsgraph)
            if not evaluated.is_evaluated:
                # in another view layer: only the frames check it
                continue
            defects = _defects(piece, evaluated)
            known[piece.name] = key, defects
            if is_over is not None and is_over():
                return False
        complaints += defects
    for name in known.keys() - names:
        del known[name]
    if is_over is None or checked.in_the_way is None:
        checked.in_the_way = list(obstructions.diagnoses(obj, depsgraph))
        if is_over is not None and is_over():
            return False
    complaints += checked.in_the_way
    checked.found = complaints
    checked.ever_found.update(complaints)
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
    if piece.part.type == "MESH":
        with scene_meshes.mesh_of(evaluated) as mesh:
            if mesh is not None and len(mesh.polygons) > scene_meshes.CHECKED_TRIANGLES:
                return []
    reader = scene_meshes.MeshReader()
    place = scene_meshes.matrix_of(evaluated)
    reader.read(
        piece.name, piece.part, evaluated, place, top=piece.top, wall_height=piece.wall_height
    )
    return reader.end_frame()


@persistent
def on_edit(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Check again once the user pauses; in a background run nothing shows the result."""
    if bpy.app.background or is_suspended() or depsgraph.mode == "RENDER":
        return
    _edited.update(u.id.original.session_uid for u in depsgraph.updates if u.is_updated_geometry)
    later()


@persistent
def on_undo(*_: object) -> None:
    """Undo may change any shape."""
    for checked in _checked.by_uid().values():
        checked.shapes.clear()
    later()


@persistent
def on_load(*_: object) -> None:
    """Drop all results: the colliders of another file are not checked yet."""
    _edited.clear()
    later()


def later() -> None:
    """Start the timer that checks after a pause; in a background run nothing shows the result."""
    for checked in _checked.by_uid().values():
        checked.in_the_way = None
    if not bpy.app.background:
        app_handlers.remove_timers(check_windows)
        bpy.app.timers.register(check_windows, first_interval=PAUSE)


def check_windows() -> float | None:
    """Timer: check the crowds of all windows; None ends the timer."""
    if is_suspended():
        return PAUSE
    _drop_edited()
    before, end, seen = _found_by_uid(), time.monotonic() + _BUDGET, set()
    for window in bpy.context.window_manager.windows:
        layer = window.view_layer
        for obj in crowds.crowds(window.scene):
            if not check_colliders(obj, layer.depsgraph, lambda: time.monotonic() > end):
                return _TURN
            seen.add(obj.session_uid)
    _checked.keep_only(seen)
    if _found_by_uid() != before:
        app_handlers.redraw()
    return None


def _found_by_uid() -> dict[int, list[Diagnosis]]:
    """Results for the colliders of each crowd, by its session uid."""
    return {uid: checked.found for uid, checked in _checked.by_uid().items()}


def _drop_edited() -> None:
    """Drop the results of shapes whose objects or data were edited."""
    for checked in _checked.by_uid().values():
        known = checked.shapes
        for name in [name for name, (key, _) in known.items() if not _edited.isdisjoint(key[:2])]:
            del known[name]
    _edited.clear()


HANDLERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("depsgraph_update_post", on_edit),
    ("undo_post", on_undo),
    ("redo_post", on_undo),
    ("load_post", on_load),
)


def register() -> None:
    """Add the handlers; an open file is checked as soon as possible."""
    app_handlers.add(HANDLERS)
    later()


def unregister() -> None:
    """Remove the handlers and the timer."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(check_windows)
    _edited.clear()
