"""The objects that a crowd reads, and whether they changed.

The crowd's settings alone decide which objects are inputs, whether they are shown or not. The state
and the bake of the crowd are never inputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ...core.crowd.area_settings import AreaSettings
from ..crowd.links import ROLES, Linked, linked_crowds, linked_with, target_crowd
from ..crowd.property_factory import read_settings
from ..crowd.slots import source_use
from ..crowd.state import get_state
from ..unchanging import once
from .scene_meshes import MESH_TYPES, is_simulated, may_move, mesh_of, own_mesh, positions

if TYPE_CHECKING:
    from ..crowd.property_types import SteerBehavior


WEIGHT = "target_weight"
"""Point attribute, or custom property of an object, that says how often a target is drawn."""


BIRTH_WEIGHT = "birth_weight"
"""The same for how many of the births a source, or a point of it, has."""


def weight_of(evaluated: bpy.types.Object, name: str = WEIGHT) -> float | None:
    """An object's weight as a target, or another one; None where it has none, or no number."""
    value = evaluated.get(name)
    return float(value) if isinstance(value, (bool, int, float)) else None


def _made_by(obj: bpy.types.Object) -> set[int]:
    """Session uids of a crowd, its state and its bake."""
    bake = obj.steer.bake_collection
    made = [obj, get_state(obj), *(bake.all_objects if bake is not None else ())]
    return {o.session_uid for o in made if o is not None}


def members(collection: Any, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects of a collection and those in it, by name, without the state and bake of the crowd."""
    if collection is None:
        return []
    own = _made_by(obj)
    found = [o for o in collection.all_objects if o.session_uid not in own]
    return sorted(found, key=lambda o: o.name_full)


def target_objects(obj: bpy.types.Object, slot: Any) -> list[bpy.types.Object]:
    """Objects that a slot steers by, without the crowd itself and the agents of other crowds."""
    if target_crowd(slot) is not None or slot.target_kind == "CROWD":
        return []
    if slot.target_kind == "COLLECTION":
        return members(slot.target_collection, obj)
    target = slot.target_object
    return [] if target is None or target == obj else [target]


def source_objects(obj: bpy.types.Object, item: SteerBehavior) -> list[bpy.types.Object]:
    """Objects that a list entry follows, flows along or stays in, in order of name."""
    if not source_use(item):
        return []
    if item.source_kind == "COLLECTION":
        return members(item.source_collection, obj)
    source = item.source_object
    return [] if source is None or source.session_uid in _made_by(obj) else [source]


def instanced_by(obj: bpy.types.Object) -> bpy.types.Collection | None:
    """The collection that an object among the colliders instances; None for others."""
    return obj.instance_collection if obj.type == "EMPTY" else None


def is_sphere(obj: bpy.types.Object) -> bool:
    """Whether an object among the colliders stands for a sphere."""
    is_shape = obj.type == "EMPTY" and obj.empty_display_type == "SPHERE"
    return is_shape and obj.instance_collection is None


def collider_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects of the colliders collection that have a shape or instance a collection."""
    found = members(obj.steer.colliders, obj)
    return [
        o
        for o in found
        if o.type in MESH_TYPES or o.instance_collection is not None or is_sphere(o)
    ]


def ground_object(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The terrain, or None."""
    ground = obj.steer.ground
    return None if ground is None or ground == obj else ground


def birth_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The sources at which agents are born, in order of name."""
    steer = obj.steer
    if steer.births_kind == "COLLECTION":
        return members(steer.births_collection, obj)
    source = steer.births_object
    return [] if source is None or source.session_uid in _made_by(obj) else [source]


EXIT = " (exit)"
"""What the names of exits end with, as they may be colliders too."""


def exit_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The volumes in which agents are gone, in order of name."""
    return [o for o in members(obj.steer.exits, obj) if o.type in MESH_TYPES]


AREA = " (area)"
"""What the names of areas end with, as they may be colliders too."""


def area_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that mark areas for walkers who find their ways, in order of name."""
    found = members(obj.steer.areas, obj)
    return [o for o in found if o.type in MESH_TYPES or is_cube(o)]


def is_cube(obj: bpy.types.Object) -> bool:
    """Whether an object is an empty that is shown as a cube."""
    shape = obj.type == "EMPTY" and obj.empty_display_type == "CUBE"
    return shape and obj.instance_collection is None


def input_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """All objects that a crowd, and the crowds that it steers by, perceive; each one once."""
    return _inputs_of(linked_crowds(obj))


def _inputs_of(crowds: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    found = [part for crowd in crowds for part in _own_inputs(crowd)]
    return list({o.session_uid: o for o in found}.values())


def _all_inputs(linked: Linked) -> list[bpy.types.Object]:
    """The same for all crowds of which one depends on the others, in another order."""
    return once((_all_inputs, linked.uids), lambda: _inputs_of(linked.crowds))


def _own_inputs(obj: bpy.types.Object) -> list[bpy.types.Object]:
    return [part for _, parts in _chosen(obj) for part in parts]


def _chosen(obj: bpy.types.Object) -> list[tuple[str, list[bpy.types.Object]]]:
    """Objects that a crowd perceives, each with its purpose; one may have several."""
    found = []
    for role, slots in ROLES.items():
        for name, slot in slots(obj).items():
            found.append((f"{role} {name} {slot.target_kind}", target_objects(obj, slot)))
    for item in obj.steer.behaviors:
        use = source_use(item)
        if use:
            found.append((f"{use} {item.name}", source_objects(obj, item)))
    if area_objects(obj):
        found.append(("areas", area_objects(obj)))
    if obj.steer.births.emission != "NONE":
        found.append(("births", birth_objects(obj)))
    ground = ground_object(obj)
    found.append(("colliders", collider_objects(obj)))
    found.append(("exits", exit_objects(obj)))
    found.append(("ground", [] if ground is None else [ground]))
    return found


class Used(NamedTuple):
    """An input: its name, and what crowds read it as, with the shape of an empty."""

    name: str
    uses: tuple[Any, ...]


def _shape_of_empty(part: bpy.types.Object) -> tuple[Any, ...]:
    """How an empty is drawn, and what it puts where; nothing for other objects."""
    if part.type != "EMPTY":
        return ()
    inside = part.instance_collection
    offset = () if inside is None else (inside.session_uid, *inside.instance_offset)
    return (part.empty_display_type, part.empty_display_size, *offset)


def used_inputs(obj: bpy.types.Object) -> dict[int, Used]:
    """All inputs of a crowd, and of those that it steers by, by their session uids."""
    found: dict[int, Used] = {}
    for crowd in linked_crowds(obj):
        for purpose, parts in (*_chosen(crowd), ("instanced", _own_instanced(crowd))):
            for part in parts:
                old = found.get(part.session_uid, Used(part.name, _shape_of_empty(part)))
                uses = (*old.uses, (crowd.session_uid, purpose))
                found[part.session_uid] = Used(part.name, uses)
    return found


def gone_inputs(obj: bpy.types.Object, there: frozenset[int]) -> frozenset[int]:
    """Session uids of the inputs that are not among those there, as those that were deleted."""
    linked = linked_with(obj)

    def uids() -> frozenset[int]:
        return frozenset(o.session_uid for o in _all_inputs(linked))

    return once((gone_inputs, linked.uids), uids) - there


def geometry_owners(obj: bpy.types.Object) -> dict[int, int]:
    """Session uids of the inputs and of their data, each with that of the object."""
    linked = linked_with(obj)
    meshes, owned = once((geometry_owners, linked.uids), lambda: _all_owners(linked))
    # of other crowds only the mesh: their shown agents change in every frame
    owners = dict(meshes)
    del owners[obj.data.session_uid]
    return owners | owned


def instanced_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """All objects, in the scene or not, of collections that the same crowds' colliders instance."""
    return _all_instanced(linked_with(obj))


def _all_instanced(linked: Linked) -> list[bpy.types.Object]:
    key = (_all_instanced, linked.uids)
    return once(key, lambda: [o for crowd in linked.crowds for o in _own_instanced(crowd)])


def _own_instanced(obj: bpy.types.Object) -> list[bpy.types.Object]:
    # collections within collections, each once
    found: dict[int, bpy.types.Object] = {}
    left, known = collider_objects(obj), set()
    while left:
        part = left.pop()
        inside = instanced_by(part)
        if inside is not None and inside.session_uid not in known:
            known.add(inside.session_uid)
            parts = members(inside, obj)
            found |= {o.session_uid: o for o in parts}
            left += parts
    return list(found.values())


def _all_owners(linked: Linked) -> tuple[dict[int, int], dict[int, int]]:
    """Owners of the meshes of crowds, and of their inputs."""
    owned = {}
    for part in (*_all_inputs(linked), *_all_instanced(linked)):
        owned[part.session_uid] = part.session_uid
        if part.data is not None:
            owned[part.data.session_uid] = part.session_uid
    return {crowd.data.session_uid: crowd.session_uid for crowd in linked.crowds}, owned


def needs_frames(obj: bpy.types.Object) -> bool:
    """Whether anything that a crowd reads after its first frame may differ between frames."""
    linked = linked_with(obj)
    animated = any(crowd.animation_data is not None for crowd in linked.crowds)
    return animated or any(may_move(o) for o in _all_inputs(linked))


def needs_own_scene(obj: bpy.types.Object) -> bool:
    """Whether physics of the user's own scene move an input."""
    return any(is_simulated(o) for o in _all_inputs(linked_with(obj)))


def signature(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, *, geometry: bool = False
) -> bytes:
    """A digest of the places of a crowd and its inputs; equal if nothing was moved.

    With `geometry` the shapes of the inputs count too.
    """
    linked = linked_with(obj)
    key = (signature, linked.uids, geometry)
    return once(key, lambda: _signature(linked, depsgraph, geometry))


def _bases(part: bpy.types.Object) -> Iterator[bytes]:
    """Where an object and its parents were put, each by its own parent."""
    above: bpy.types.Object | None = part
    while above is not None:
        yield np.array(above.matrix_basis, np.float32).tobytes()
        if above.parent is not None:
            yield np.array(above.matrix_parent_inverse, np.float32).tobytes()
        above = above.parent


def _signature(linked: Linked, depsgraph: bpy.types.Depsgraph, geometry: bool) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    crowds = linked.crowds
    if geometry and len(crowds) > 1:
        for crowd in crowds:
            with own_mesh(crowd.data) as mesh:
                digest.update(positions(mesh).tobytes())
    areas = {part.session_uid for crowd in crowds for part in area_objects(crowd)}
    for part in (*crowds, *_all_inputs(linked), *_all_instanced(linked)):
        evaluated = part.evaluated_get(depsgraph)
        # names may change, and the order of objects by their names with them
        digest.update(b"%d" % part.session_uid)
        digest.update(np.array(evaluated.matrix_world, np.float32).tobytes())
        digest.update(b"\1" if evaluated.is_evaluated else b"\0")
        # what is edited while Blender does not evaluate it shows in the original only
        told = evaluated if part.visible_get(view_layer=depsgraph.view_layer) else part
        digest.update(b"".join(_bases(part)))
        weights = (weight_of(told), weight_of(told, BIRTH_WEIGHT))
        digest.update(str(weights).encode())
        if part.session_uid in areas:
            area = read_settings(told.steer_area, AreaSettings)
            digest.update(str(area.to_dict()).encode())
        digest.update(str(_shape_of_empty(told)).encode())
        if geometry and part not in crowds and part.type in MESH_TYPES:
            with mesh_of(evaluated) as mesh:
                digest.update(positions(mesh).tobytes())
    for purpose, parts in (row for crowd in crowds for row in _chosen(crowd)):
        digest.update(purpose.encode())
        for part in parts:
            digest.update(b" %d" % part.session_uid)
    return digest.digest()
