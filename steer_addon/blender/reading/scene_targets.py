"""Reader of targets as a depsgraph evaluates them: places, velocities, and axes of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...core.diagnoses import Diagnosis, diagnose
from ...core.inputs.targets import Targets, make_targets
from ...core.sensing.declare import SECOND_TARGETS, TARGETS
from ..crowd.links import ROLES, target_crowd
from ..crowd.slots import needs_target, title_of, uses_of
from .scene_agents import column
from .scene_inputs import WEIGHT, target_objects, weight_of
from .scene_meshes import MESH_TYPES, FloatArray, Matrix, matrix_of, mesh_of, positions, transform
from .scene_view import SceneView

_WORDS = {"targets": (TARGETS, "target"), "second_targets": (SECOND_TARGETS, "second target")}


def _points(evaluated: bpy.types.Object) -> tuple[FloatArray, Any]:
    """Places of the points, and their weights, None where they have none."""
    with mesh_of(evaluated) as mesh:
        weights = None if mesh is None else column(mesh, WEIGHT)
        return transform(positions(mesh), matrix_of(evaluated)), weights


def _weights(view: SceneView, objects: Sequence[bpy.types.Object]) -> Any:
    """Weights of objects, 1 for those without; None where no one has any."""
    found = [view.read_object(o, "weight", weight_of) for o in objects]
    if all(weight is None for weight in found):
        return None
    return np.array([1.0 if weight is None else weight for weight in found], np.float32)


@dataclass
class TargetReader:
    """Reads targets frame by frame: their velocities are differences between frames."""

    missing: list[Diagnosis] = field(default_factory=list)
    """Diagnoses of lists of targets that are empty although a behavior needs them."""
    _last: dict[tuple[str, str], tuple[float, Targets]] = field(default_factory=dict)

    def read(
        self, obj: bpy.types.Object, view: SceneView, fps: float
    ) -> dict[str, dict[str, Targets]]:
        """The mappings of targets of a World at a frame, by their names there."""
        found: dict[str, dict[str, Targets]] = {}
        self.missing = []
        for role, find in ROLES.items():
            slots = find(obj)
            found[role] = {
                name: self._slot(obj, slot, view, self._last.get((role, name)), fps)
                for name, slot in slots.items()
            }
            self.missing += _missing(obj, role, slots, found[role])
        self._last = {
            (role, name): (view.frame, targets)
            for role, named in found.items()
            for name, targets in named.items()
        }
        return found

    def _slot(
        self, obj: bpy.types.Object, slot: Any, view: SceneView, last: Any, fps: float
    ) -> Targets:
        lost = slot.target_kind == "CROWD" and slot.target_object is not None
        lost = lost and target_crowd(slot) is None
        if lost and not view.is_gone(slot.target_object, "Target"):
            lost_crowd = slot.target_object.name
            view.warn(diagnose("TARGET_NO_CROWD", lost_crowd, crowd=obj.name, object=lost_crowd))
        chosen = slot.target_kind != "COLLECTION"
        objects = [
            o for o in target_objects(obj, slot) if not view.is_gone(o, "Target", chosen=chosen)
        ]
        axes: Matrix | None = None
        weights: Any = None
        if slot.target_kind != "POINTS":
            matrices = [view.place_of(o) for o in objects]
            places = np.array([m[:3, 3] for m in matrices], np.float32).reshape(-1, 3)
            # the front of an object (-Y, as of characters) and its upper side
            axes = np.array([[-m[:3, 1], m[:3, 2]] for m in matrices]).reshape(-1, 2, 3)
            weights = _weights(view, objects)
        elif objects and objects[0].type in MESH_TYPES:
            places, weights = view.read_object(objects[0], "points", _points)
        else:
            places = np.zeros((0, 3), np.float32)
        good = np.isfinite(places).all(axis=1)
        if not good.all():
            view.warn(diagnose("TARGETS_NOT_FINITE", obj.name, count=int((~good).sum())))
            places, axes = places[good], None if axes is None else axes[good]
            weights = None if weights is None else weights[good]
        heading, up = (None, None) if axes is None else (axes[:, 0], axes[:, 1])
        velocity = _velocity(places, last, view.frame, fps)
        return make_targets(places, velocity, heading, up, weight=weights)


def _velocity(places: FloatArray, last: Any, frame: float, fps: float) -> Any:
    if last is None or last[1].position.shape != places.shape:
        return None
    if last[0] == frame:
        return last[1].velocity
    return (places - last[1].position) * (fps / (frame - last[0]))


def _missing(
    obj: bpy.types.Object, role: str, slots: Mapping[str, Any], found: Mapping[str, Targets]
) -> list[Diagnosis]:
    use, noun = _WORDS[role]
    asking = {
        (item.name, title_of(item)) if item.name in slots else ("", "")
        for item in obj.steer.behaviors
        if item.enabled and (needs_target(item) if use == TARGETS else use in uses_of(item))
    }
    return [
        diagnose("BEHAVIOR_WITHOUT_TARGET", obj.name, noun=noun, behavior=title)
        if name
        else diagnose("CROWD_WITHOUT_TARGET", obj.name, noun=noun)
        for name, title in sorted(asking)
        if not found[name].count and target_crowd(slots[name]) is None
    ]
