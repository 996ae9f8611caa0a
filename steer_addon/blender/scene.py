"""A scene becomes a World: targets, colliders and ground as the depsgraph evaluates them.

What counts as an input is decided by the crowd's settings alone, not by what is shown: a proxy that
is hidden in renders blocks agents there too, so that every way to run a crowd gives the same
result. Objects that the depsgraph leaves out because they are hidden are evaluated once, in a
scratch scene; a warning says so where that is not enough because they move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ..core import bvh
from ..core.meshes import Mesh
from ..core.views import BvhView
from ..core.world import CollidersBuilder, Targets, World, make_targets
from .links import linked_crowds, target_crowd, target_slots
from .properties import uses_targets
from .scene_agents import read_agents
from .scene_meshes import (
    MESH_TYPES,
    FloatArray,
    Matrix,
    MeshReader,
    is_simulated,
    matrix_of,
    may_move,
    mesh_of,
    positions,
    transform,
)
from .scratch import Scratch
from .state import get_state

__all__ = ["WorldReader", "input_objects", "needs_frames", "read_agents", "signature"]


def _members(collection: Any, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects of a collection and those in it, by name, without what the crowd itself made."""
    if collection is None:
        return []
    bake = obj.steer.bake_collection
    baked = {o.session_uid for o in bake.all_objects} if bake is not None else set()
    own = {obj, get_state(obj)}
    found = [o for o in collection.all_objects if o not in own and o.session_uid not in baked]
    return sorted(found, key=lambda o: o.name_full)


def target_objects(obj: bpy.types.Object, slot: Any) -> list[bpy.types.Object]:
    """Objects that a slot steers by; the crowd itself and the agents of others are none."""
    if target_crowd(slot) is not None or slot.target_kind == "CROWD":
        return []
    if slot.target_kind == "COLLECTION":
        return _members(slot.target_collection, obj)
    target = slot.target_object
    return [] if target is None or target == obj else [target]


def collider_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects of the colliders collection that have faces or instance a collection."""
    found = _members(obj.steer.colliders, obj)
    return [o for o in found if o.type in MESH_TYPES or o.instance_collection is not None]


def ground_object(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The terrain, or None."""
    ground = obj.steer.ground
    return None if ground is None or ground == obj else ground


def input_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """All objects that a crowd, and the crowds that it steers by, perceive; each one once."""
    found = [part for crowd in linked_crowds(obj) for part in _own_inputs(crowd)]
    return list({o.session_uid: o for o in found}.values())


def _own_inputs(obj: bpy.types.Object) -> list[bpy.types.Object]:
    found = [o for slot in target_slots(obj).values() for o in target_objects(obj, slot)]
    found += collider_objects(obj)
    ground = ground_object(obj)
    return found + ([] if ground is None else [ground])


def geometry_owners(obj: bpy.types.Object) -> dict[int, int]:
    """Session uids of the inputs and of their data, each with that of the object."""
    # of other crowds only the mesh: what they show changes in every frame
    owners = {c.data.session_uid: c.session_uid for c in linked_crowds(obj)[1:]}
    for part in input_objects(obj):
        owners[part.session_uid] = part.session_uid
        if part.data is not None:
            owners[part.data.session_uid] = part.session_uid
    return owners


def needs_frames(obj: bpy.types.Object) -> bool:
    """Whether anything that a crowd reads after its first frame may differ between frames."""
    animated = any(crowd.animation_data is not None for crowd in linked_crowds(obj))
    return animated or any(may_move(o) for o in input_objects(obj))


def needs_own_scene(obj: bpy.types.Object) -> bool:
    """Whether physics of the user's own scene move an input."""
    return any(is_simulated(o) for o in input_objects(obj))


def _enabled(layer: bpy.types.LayerCollection, rendering: bool) -> Iterator[int]:
    """Session uids of all objects that the collections let be evaluated."""
    collection = layer.collection
    if layer.exclude or (collection.hide_render if rendering else collection.hide_viewport):
        return
    yield from (obj.session_uid for obj in collection.objects)
    for child in layer.children:
        yield from _enabled(child, rendering)


@dataclass
class _Hidden:
    """A hidden object as it was when it was first asked for."""

    matrix: Matrix
    mesh: Mesh | None
    points: FloatArray


@dataclass
class WorldReader:
    """Reads worlds for one simulation; keeps what does not change from frame to frame."""

    meshes: MeshReader = field(default_factory=MeshReader)
    no_target: list[str] = field(default_factory=list)
    """A sentence for each list of targets that is empty though a behavior needs it."""
    scene_warnings: list[str] = field(default_factory=list)
    """A sentence for everything else that the user may want to change."""
    _builder: CollidersBuilder = field(default_factory=CollidersBuilder)
    _ground: tuple[Mesh, BvhView] | None = None
    _last: dict[str, tuple[float, Targets]] = field(default_factory=dict)
    _hidden: dict[int, _Hidden] = field(default_factory=dict)
    _stand_ins: Mapping[int, bpy.types.Object] = field(default_factory=dict)
    _depsgraph: Any = None
    _shown: set[int] | None = None

    @property
    def warnings(self) -> list[str]:
        """All warnings about the last world read."""
        return [*self.no_target, *self.scene_warnings]

    def read(
        self,
        obj: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        fps: float,
        stand_ins: Mapping[int, bpy.types.Object] | None = None,
    ) -> World:
        """The world at the frame of a depsgraph.

        Args:
            obj: The original crowd object.
            depsgraph: What evaluated the scene, or a scratch scene.
            fps: Frames per second, for the velocities of targets.
            stand_ins: What stands for an object in a scratch scene, by session uid.
        """
        self._depsgraph, self._stand_ins = depsgraph, stand_ins or {}
        self.scene_warnings = []
        try:
            targets = self._read_targets(obj, fps)
            colliders = self._read_colliders(obj)
            ground = self._read_ground(obj)
        finally:
            # neither survives the next evaluation
            self._depsgraph, self._stand_ins, self._shown = None, {}, None
        self.scene_warnings += self.meshes.end_frame()
        return World(
            targets=targets,
            colliders=self._builder.build(colliders) if colliders else None,
            ground=self._ground_tree(ground),
        )

    def forget(self, uids: set[int]) -> None:
        """Read the geometry of objects again, by their session uids."""
        self.meshes.forget(uids)
        self._hidden.clear()

    def _evaluated(self, obj: bpy.types.Object) -> bpy.types.Object | None:
        """The evaluated object; None when this depsgraph does not evaluate it.

        Asking for it is not enough: objects that a property refers to are there, but stale.
        """
        stand_in = self._stand_ins.get(obj.session_uid)
        if stand_in is not None:
            return stand_in.evaluated_get(self._depsgraph)
        if self._stand_ins or not self._is_shown(obj):
            return None
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

    def _is_gone(self, obj: bpy.types.Object, what: str) -> bool:
        """Whether an object was deleted: the crowd's reference keeps it in the file."""
        if self._evaluated(obj) is not None:
            return False
        # slow, hence last; a scratch scene has all that is left of the user's
        if not self._stand_ins and self._depsgraph.scene.original in obj.users_scene:
            return False
        self.scene_warnings.append(
            f"{what} {obj.name!r} was deleted from the scene: "
            "choose another one, or clear the field"
        )
        return True

    def _frozen(self, obj: bpy.types.Object) -> _Hidden:
        """A hidden object, evaluated once."""
        if obj.session_uid not in self._hidden:
            scene = self._depsgraph.scene
            with Scratch(scene.original, [obj]) as scratch:
                own = scratch.at(scene.frame_current)
                evaluated = scratch.stand_ins[obj.session_uid].evaluated_get(own)
                matrix, mesh = matrix_of(evaluated), None
                points = np.zeros((0, 3), np.float32)
                if obj.type in MESH_TYPES:
                    mesh = MeshReader().read(obj.name_full, obj, evaluated, matrix)
                    with mesh_of(evaluated) as data:
                        points = transform(positions(data), matrix)
                self._hidden[obj.session_uid] = _Hidden(matrix, mesh, points)
        if may_move(obj):
            self.scene_warnings.append(
                f"{obj.name!r} is hidden, so its motion is not seen while playing: "
                "show it in the viewport and in renders, or bake the crowd"
            )
        return self._hidden[obj.session_uid]

    def _place_of(self, obj: bpy.types.Object) -> Matrix:
        evaluated = self._evaluated(obj)
        return self._frozen(obj).matrix if evaluated is None else matrix_of(evaluated)

    def _points_of(self, obj: bpy.types.Object) -> FloatArray:
        if obj.type not in MESH_TYPES:
            return np.zeros((0, 3), np.float32)
        evaluated = self._evaluated(obj)
        if evaluated is None:
            return self._frozen(obj).points
        with mesh_of(evaluated) as mesh:
            return transform(positions(mesh), matrix_of(evaluated))

    def _read_targets(self, obj: bpy.types.Object, fps: float) -> dict[str, Targets]:
        frame = self._depsgraph.scene.frame_current_final
        slots = target_slots(obj)
        result = {}
        for name, slot in slots.items():
            result[name] = self._slot(obj, slot, self._last.get(name), frame, fps)
        self._last = {name: (frame, targets) for name, targets in result.items()}
        asking = {
            "" if item.name not in slots else item.name
            for item in obj.steer.behaviors
            if item.enabled and uses_targets(item)
        }
        self.no_target = [
            f"Crowd {obj.name!r} has no target{f' for {name!r}' if name else ''}: choose one"
            for name in sorted(asking)
            if not len(result[name].position) and target_crowd(slots[name]) is None
        ]
        return result

    def _slot(
        self, obj: bpy.types.Object, slot: Any, last: Any, frame: float, fps: float
    ) -> Targets:
        lost = slot.target_kind == "CROWD" and slot.target_object is not None
        if lost and target_crowd(slot) is None:
            self.scene_warnings.append(
                f"Target {slot.target_object.name!r} of crowd {obj.name!r} is no crowd any more: "
                "choose another one, or clear the field"
            )
        objects = [o for o in target_objects(obj, slot) if not self._is_gone(o, "Target")]
        if slot.target_kind == "POINTS":
            rows = [self._points_of(o) for o in objects]
            places = rows[0] if rows else np.zeros((0, 3), np.float32)
        else:
            rows = [self._place_of(o)[:3, 3] for o in objects]
            places = np.array(rows, np.float32).reshape(-1, 3)
        good = np.isfinite(places).all(axis=1)
        if not good.all():
            self.scene_warnings.append(
                f"{int((~good).sum())} targets of crowd {obj.name!r} are not at finite places and "
                "are ignored: move them back into the scene"
            )
            places = places[good]
        if last is None or last[1].position.shape != places.shape:
            return make_targets(places)
        if last[0] == frame:
            return make_targets(places, last[1].velocity)
        return make_targets(places, (places - last[1].position) * (fps / (frame - last[0])))

    def _read_colliders(self, obj: bpy.types.Object) -> list[Mesh]:
        found = []
        for collider in collider_objects(obj):
            if not self._is_gone(collider, "Collider"):
                found += self._pieces(obj, collider, collider.name_full, None)
        return found

    def _pieces(
        self, obj: bpy.types.Object, part: bpy.types.Object, name: str, parent: Matrix | None
    ) -> Iterator[Mesh]:
        """The meshes of an object, or of the collection that it instances."""
        if part.instance_collection is not None and part.type == "EMPTY":
            base = self._piece_place(part, parent)
            base[:3, 3] -= base[:3, :3] @ np.array(part.instance_collection.instance_offset)
            for child in _members(part.instance_collection, obj):
                yield from self._pieces(obj, child, f"{name}/{child.name_full}", base)
            return
        if part.type not in MESH_TYPES:
            return
        # instanced objects are evaluated wherever they are
        evaluated = self._evaluated(part) if parent is None else part.evaluated_get(self._depsgraph)
        if evaluated is None:
            mesh = self._frozen(part).mesh
        else:
            matrix = self._piece_place(part, parent)
            mesh = self.meshes.read(name, part, evaluated, matrix)
        if mesh is not None:
            yield mesh

    def _piece_place(self, part: bpy.types.Object, parent: Matrix | None) -> Matrix:
        if parent is None:
            return self._place_of(part)
        return parent @ matrix_of(part.evaluated_get(self._depsgraph))

    def _read_ground(self, obj: bpy.types.Object) -> Mesh | None:
        ground = ground_object(obj)
        if ground is None or self._is_gone(ground, "Ground") or ground.type not in MESH_TYPES:
            return None
        evaluated = self._evaluated(ground)
        if evaluated is None:
            return self._frozen(ground).mesh
        # a name of its own: the ground may be among the colliders too, and may well be open
        name = f"{ground.name_full} (ground)"
        return self.meshes.read(name, ground, evaluated, matrix_of(evaluated), solid=False)

    def _ground_tree(self, mesh: Mesh | None) -> BvhView | None:
        if mesh is None or mesh.triangle_count == 0:
            self._ground = None
        elif self._ground is None or len(self._ground[1].triangles) != mesh.triangle_count:
            self._ground = (mesh, bvh.build(mesh.triangles))
        elif self._ground[0] is not mesh:
            self._ground = (mesh, bvh.refit(self._ground[1], mesh.triangles))
        return None if self._ground is None else self._ground[1]


def signature(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, *, geometry: bool = False
) -> bytes:
    """A digest of where a crowd and its inputs are; equal when nothing was moved.

    Args:
        obj: The original crowd object.
        depsgraph: What evaluated the scene.
        geometry: Include the shape of the inputs.
    """
    digest = hashlib.blake2b(digest_size=16)
    members = linked_crowds(obj)
    if geometry:
        for crowd in members[1:]:
            digest.update(positions(crowd.data).tobytes())
    for part in [*members, *input_objects(obj)]:
        evaluated = part.evaluated_get(depsgraph)
        digest.update(part.name_full.encode())
        digest.update(np.array(evaluated.matrix_world, np.float32).tobytes())
        digest.update(b"\1" if evaluated.is_evaluated else b"\0")
        if geometry and part not in members and part.type == "MESH":
            digest.update(positions(evaluated.data).tobytes())
    for name, slot in target_slots(obj).items():
        digest.update(f"{name} {slot.target_kind}".encode())
        for target in target_objects(obj, slot):
            digest.update(target.name_full.encode())
    return digest.digest()
