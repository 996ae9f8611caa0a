"""A temporary scene for evaluations: other frames, hidden objects, part of a modifier stack.

The user's scene stays at its frame and is not evaluated, however large it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..display import display
from ..suspension import suspended

_RENDER = (
    "fps",
    "fps_base",
    "use_simplify",
    "simplify_subdivision",
)
"""Settings of a scene that affect the evaluation of its objects; its frames are those of crowds."""


class Scratch:
    """A temporary scene with some objects of another one.

    Use it as a context manager, or call `close`: no part of it may stay in the file.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        objects: Iterable[bpy.types.Object],
        crowds: Iterable[bpy.types.Object] = (),
    ) -> None:
        """Link objects into a new scene.

        Args:
            scene: The scene with the frame rate and settings.
            objects: Objects to evaluate, hidden or not, with all that they depend on.
            crowds: Crowds to evaluate without their Crowd modifier and those below it.
        """
        self._copies: list[bpy.types.Object] = []
        self._curves: list[bpy.types.Curve] = []
        self.stand_ins: dict[int, bpy.types.Object] = {}
        """Stand-ins in this scene, by the session uid of the object that each stands for."""
        self.probes: dict[int, bpy.types.Object] = {}
        """The stand-ins of the crowds, by the crowd's session uid."""
        with suspended():
            self._scene: Any = bpy.data.scenes.new("Steer Scratch")
            try:
                for name in _RENDER:
                    setattr(self._scene.render, name, getattr(scene.render, name))
                for obj in objects:
                    self._link(obj)
                for crowd in crowds:
                    probe = self._copy(crowd)
                    _cut_modifiers(probe)
                    self.probes[crowd.session_uid] = self.stand_ins[crowd.session_uid] = probe
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Scratch:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove everything again."""
        self.close()

    def _link(self, obj: bpy.types.Object) -> None:
        if obj.session_uid in self.stand_ins:
            return
        if obj.hide_viewport:
            # hidden objects are not evaluated, and the user would see them shown
            stand_in = self._copy(obj)
        else:
            stand_in = obj
            self._scene.collection.objects.link(obj)
        self.stand_ins[obj.session_uid] = stand_in

    def _copy(self, obj: bpy.types.Object) -> bpy.types.Object:
        twin = obj.copy()
        self._copies.append(twin)
        twin.hide_viewport = False
        self._scene.collection.objects.link(twin)
        return twin

    def add_bare_curve(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Add a copy of a curve object that is only a line, without bevel, extrusion and fill."""
        with suspended():
            data = obj.data.copy()
            self._curves.append(data)
            data.bevel_mode, data.bevel_depth, data.extrude = "ROUND", 0.0, 0.0
            if data.dimensions == "2D":
                data.fill_mode = "NONE"
            twin = self._copy(obj)
            twin.data = data
        return twin

    def at(self, frame: int, subframe: float = 0.0) -> bpy.types.Depsgraph:
        """Evaluate everything at a frame of crowds, see `scene_time`."""
        with suspended():
            self._scene.frame_set(frame, subframe=subframe)
        depsgraph: bpy.types.Depsgraph = self._scene.view_layers[0].depsgraph
        return depsgraph

    def crowd(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
        """A crowd without its Crowd modifier, with the values of its properties at the frame."""
        return self.probes[obj.session_uid].evaluated_get(depsgraph)

    def simplify(self, crowd: bpy.types.Object) -> None:
        """Stop evaluating a crowd's modifiers, once its points are read."""
        probe = self.probes[crowd.session_uid]
        if probe.modifiers:
            probe.modifiers.clear()

    def close(self) -> None:
        """Remove the scene and all copies; a second call does nothing."""
        try:
            self._remove()
        except ReferenceError:
            # another file was opened, which removed all of it
            self._scene = None
            for made in (self._copies, self._curves, self.stand_ins, self.probes):
                made.clear()

    def _remove(self) -> None:
        with suspended():
            if self._scene is not None:
                bpy.data.scenes.remove(self._scene)
                self._scene = None
            while self._copies:
                bpy.data.objects.remove(self._copies.pop())
            while self._curves:
                bpy.data.curves.remove(self._curves.pop())
            self.stand_ins.clear()
            self.probes.clear()


def _cut_modifiers(obj: bpy.types.Object) -> None:
    """Remove the Crowd modifier and those below it."""
    crowd = display.find_modifier(obj)
    names = [modifier.name for modifier in obj.modifiers]
    start = names.index(crowd.name) if crowd is not None else len(names)
    for name in reversed(names[start:]):
        obj.modifiers.remove(obj.modifiers[name])
