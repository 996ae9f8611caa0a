"""Objects as a depsgraph evaluates them, hidden ones included.

Hidden objects, which the depsgraph leaves out, are evaluated once, in a scratch scene, so that
every way to run a crowd gives the same result; a warning says that a moving one stands still.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import bpy

from ...core.diagnoses import Diagnosis, add_new, diagnose
from ..crowd.scene_time import moment
from .scene_meshes import Matrix, matrix_of, may_move
from .scratch import Scratch

T = TypeVar("T")


def _enabled(layer: bpy.types.LayerCollection, rendering: bool) -> Iterator[int]:
    """Session uids of all objects in collections that are evaluated."""
    collection = layer.collection
    if layer.exclude or (collection.hide_render if rendering else collection.hide_viewport):
        return
    yield from (obj.session_uid for obj in collection.objects)
    for child in layer.children:
        yield from _enabled(child, rendering)


@dataclass
class SceneView:
    """Evaluates objects at one frame after the other; hidden ones only once."""

    warnings: list[Diagnosis] = field(default_factory=list)
    """Diagnoses of the objects of this frame that the user may want to act on."""
    _hidden: dict[tuple[int, str], Any] = field(default_factory=dict)
    _stand_ins: Mapping[int, bpy.types.Object] = field(default_factory=dict)
    _depsgraph: Any = None
    _shown: set[int] | None = None

    @contextmanager
    def at(
        self, depsgraph: bpy.types.Depsgraph, stand_ins: Mapping[int, bpy.types.Object]
    ) -> Iterator[SceneView]:
        """Evaluate objects at one frame; no result survives the next evaluation.

        Args:
            depsgraph: Depsgraph that evaluated the scene, or a scratch scene.
            stand_ins: Objects of a scratch scene, by the session uid of the object each stands for.
        """
        self._depsgraph, self._stand_ins = depsgraph, stand_ins
        self.warnings = []
        try:
            yield self
        finally:
            self._depsgraph, self._stand_ins, self._shown = None, {}, None

    @property
    def frame(self) -> float:
        """The frame of crowds with its part, see `scene_time`."""
        frame: float = self._depsgraph.scene.frame_current_final
        return frame

    def warn(self, *found: Diagnosis) -> None:
        """Add diagnoses, each once."""
        add_new(self.warnings, found)

    def forget_hidden(self) -> None:
        """Evaluate hidden objects again."""
        self._hidden.clear()

    def evaluated(self, obj: bpy.types.Object) -> bpy.types.Object | None:
        """The evaluated object; None if this depsgraph does not evaluate it.

        The depsgraph also holds objects that only a property refers to, but these are stale.
        """
        stand_in = self._stand_ins.get(obj.session_uid)
        if stand_in is not None:
            return stand_in.evaluated_get(self._depsgraph)
        if self._stand_ins or not self._is_shown(obj):
            return None
        return obj.evaluated_get(self._depsgraph)

    def instanced(self, obj: bpy.types.Object) -> bpy.types.Object:
        """The evaluated object of an instanced collection: it is always evaluated."""
        return obj.evaluated_get(self._depsgraph)

    def _is_shown(self, obj: bpy.types.Object) -> bool:
        layer, rendering = self._depsgraph.view_layer, self._depsgraph.mode == "RENDER"
        if not rendering and obj.visible_get(view_layer=layer):
            return True
        if obj.hide_render if rendering else obj.hide_viewport:
            return False
        if self._shown is None:
            self._shown = set(_enabled(layer.layer_collection, rendering))
        return obj.session_uid in self._shown

    def is_gone(self, obj: bpy.types.Object, what: str, *, chosen: bool = True) -> bool:
        """Whether an object was deleted: the crowd's reference keeps it in the file.

        Args:
            obj: The object.
            what: Its purpose for the crowd.
            chosen: Whether a field of the crowd names it, and not a collection.
        """
        if self.evaluated(obj) is not None:
            return False
        # slow, hence last; a scratch scene holds all inputs that are still in the user's
        if not self._stand_ins and self._depsgraph.scene.original in obj.users_scene:
            return False
        code = "INPUT_LOST" if chosen and not obj.users_scene else "INPUT_ELSEWHERE"
        self.warn(diagnose(code, obj.name, what=what))
        return True

    def hidden(self, obj: bpy.types.Object, what: str, read: Callable[[Any], T]) -> T:
        """The result of a function of a hidden object's evaluated form: the same in every frame.

        It is read once, and kept under the name `what`.
        """
        key = (obj.session_uid, what)
        if key not in self._hidden:
            scene = self._depsgraph.scene
            with Scratch(scene.original, [obj]) as scratch:
                own = scratch.at(moment(scene)[0])
                self._hidden[key] = read(scratch.stand_ins[obj.session_uid].evaluated_get(own))
        if may_move(obj):
            self.warn(diagnose("HIDDEN_MOTION", obj.name, object=obj.name))
        value: T = self._hidden[key]
        return value

    def read_object(self, obj: bpy.types.Object, what: str, read: Callable[[Any], T]) -> T:
        """The result of a function of an object's evaluated form, hidden or not; see `hidden`."""
        evaluated = self.evaluated(obj)
        return self.hidden(obj, what, read) if evaluated is None else read(evaluated)

    def place_of(self, obj: bpy.types.Object) -> Matrix:
        """World matrix of an object, shape (4, 4)."""
        return self.read_object(obj, "place", matrix_of)

    def without_surface(self, obj: bpy.types.Object, read: Callable[[Any], T]) -> T | None:
        """The result of a function of a curve object without bevel, extrusion and fill.

        None in a render's thread, which must not make scenes.
        """
        if threading.current_thread() is not threading.main_thread():
            return None
        scene = self._depsgraph.scene
        with Scratch(scene.original, ()) as scratch:
            bare = scratch.add_bare_curve(obj)
            own = scratch.at(*moment(scene))
            return read(bare.evaluated_get(own))
