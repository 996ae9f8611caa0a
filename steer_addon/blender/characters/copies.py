"""Copies of objects that refer to one another, and of meshes with fewer faces.

What pointed to an original points to its copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import bpy
from mathutils import Matrix

from ...core.errors import CharacterError
from ..display.display import object_inputs, write_input
from ..suspension import suspended

_WELDED = 1.0e-5
"""Share of the size of a mesh: vertices that are as near to one another are one."""
Link = tuple[bpy.types.Object, Callable[[bpy.types.Object], None]]
"""An object that another one refers to, and what lets it refer to another one instead."""


def with_helpers(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Objects, and further ones that they refer to and that follow them, such as a cage.

    What they refer to and what stands by itself is left out: a ground, a control of the scene.
    """
    result = list(objects)
    links: dict[bpy.types.Object, set[bpy.types.Object]] = {}
    left = list(result)
    while left:
        obj = left.pop()
        if obj not in links:
            links[obj] = {other for other, _put in _links(obj)}
            left += links[obj]
    follows, size = set(result), 0
    while len(follows) > size:
        size = len(follows)
        follows |= {obj for obj, others in links.items() if not follows.isdisjoint(others)}
    further = follows.difference(result)
    return result + sorted(further, key=lambda obj: obj.name_full)


def copied(
    objects: Iterable[bpy.types.Object],
    made: list[bpy.types.ID],
    own_keys: Callable[[bpy.types.Key], bool],
) -> dict[bpy.types.Object, bpy.types.Object]:
    """Copies of objects and of all that follows them, which refer to one another.

    Data is shared, but for data whose shape keys have to move by themselves.

    Args:
        objects: The objects.
        made: List to which each copy is added at once, for callers that clean up.
        own_keys: Whether these shape keys move with the copies; then their data is copied, too.

    Returns:
        The copies, by the originals; they are in no collection.
    """
    twins: dict[bpy.types.Object, bpy.types.Object] = {}
    data: dict[bpy.types.ID, bpy.types.ID] = {}
    for obj in with_helpers(objects):
        twin = twins[obj] = _own_copy(obj)
        made.append(twin)
        keys = keys_of(obj)
        if keys is not None and obj.data not in data and own_keys(keys):
            data[obj.data] = _own_copy(obj.data)
            made.append(data[obj.data])
        twin.data = data.get(obj.data, obj.data)
    for obj, twin in twins.items():
        point_to(twin, twins, keys=twin.data != obj.data)
    return twins


def _own_copy(item: Any) -> Any:
    """A copy that belongs to this file; that of an override would be removed when it is opened."""
    copy = item.copy()
    if copy.override_library is not None:
        copy.make_local(clear_liboverride=True)
    return copy


def keys_of(obj: bpy.types.Object) -> bpy.types.Key | None:
    """The shape keys of an object, or None."""
    found: bpy.types.Key | None = getattr(obj.data, "shape_keys", None)
    return found


def point_to(
    twin: bpy.types.Object, twins: dict[bpy.types.Object, bpy.types.Object], *, keys: bool = False
) -> None:
    """Let everything that a copy refers to be the copies of that.

    Args:
        twin: The copy.
        twins: All copies, by their originals.
        keys: Whether drivers of its shape keys count: shared ones belong to the original.
    """
    for other, put in list(_links(twin, keys=keys)):
        if other in twins:
            put(twins[other])


def _links(obj: bpy.types.Object, *, keys: bool = True) -> Iterator[Link]:
    """All objects that an object refers to by itself, its modifiers, constraints and drivers."""
    if obj.parent is not None:
        yield obj.parent, partial(_hang, obj)
    stacks: list[Any] = [*obj.modifiers, *obj.constraints]
    if obj.pose is not None:
        stacks += [constraint for bone in obj.pose.bones for constraint in bone.constraints]
    for item in stacks:
        yield from _links_of(item)
    for target in driver_targets(obj, keys=keys):
        yield from _link(target, "id")


def _links_of(item: Any) -> Iterator[Link]:
    """All objects that a modifier or constraint refers to."""
    for info in item.bl_rna.properties:
        if info.type == "POINTER" and not info.is_readonly:
            yield from _link(item, info.identifier)
    if isinstance(item, bpy.types.NodesModifier):
        for name, value in object_inputs(item).items():
            yield value, partial(write_input, item, name)
    for target in getattr(item, "targets", ()):
        yield from _link(target, "target")


def aims_of(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects but the rig itself that its bones follow by constraints."""
    stacks = [] if rig.pose is None else [bone.constraints for bone in rig.pose.bones]
    items = (constraint for stack in stacks for constraint in stack if not constraint.mute)
    found = dict.fromkeys(other for item in items for other, _put in _links_of(item))
    return [obj for obj in found if obj != rig]


def moves_by_itself(obj: bpy.types.Object, rig: bpy.types.Object) -> bool:
    """Whether an object, or what it refers to but for a rig, has an action or strips."""
    known, left = {rig}, [obj]
    while left:
        one = left.pop()
        if one in known:
            continue
        known.add(one)
        data = one.animation_data
        if data is not None and (data.action is not None or data.nla_tracks):
            return True
        left += [other for other, _put in _links(one)]
    return False


def driver_targets(obj: bpy.types.Object, *, keys: bool = True) -> Iterator[bpy.types.DriverTarget]:
    """All that drivers of an object, and of its shape keys if these count, read."""
    shapes = keys_of(obj) if keys else None
    for data in (obj.animation_data, None if shapes is None else shapes.animation_data):
        for curve in () if data is None else data.drivers:
            for variable in curve.driver.variables:
                yield from variable.targets


def _link(owner: Any, name: str) -> Iterator[Link]:
    value = getattr(owner, name, None)
    if isinstance(value, bpy.types.Object):
        yield value, partial(setattr, owner, name)


def world_of(obj: bpy.types.Object) -> Matrix:
    """Matrix of an object in the world by its parents, also where no view layer shows it."""
    matrix = obj.matrix_basis.copy()
    for parent in parents_of(obj):
        matrix = parent.matrix_basis @ obj.matrix_parent_inverse @ matrix
        obj = parent
    return matrix


def parents_of(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The parent of an object, the parent of that, and so on."""
    while obj.parent is not None:
        obj = obj.parent
        yield obj


def _hang(obj: bpy.types.Object, parent: bpy.types.Object) -> None:
    inverse = obj.matrix_parent_inverse.copy()
    obj.parent = parent
    obj.matrix_parent_inverse = inverse


def thinned(mesh: bpy.types.Mesh, share: float, scene: bpy.types.Scene) -> bpy.types.Mesh:
    """A copy of a mesh with a share of its faces, see `thin`; the scene is thrown away later."""
    with suspended():
        obj = bpy.data.objects.new(mesh.name, mesh)
        scene.collection.objects.link(obj)
        try:
            thin(obj, share)
            scene.view_layers[0].update()
            depsgraph = scene.view_layers[0].depsgraph
            return bpy.data.meshes.new_from_object(
                obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
            )
        finally:
            bpy.data.objects.remove(obj)


def check_thin(objects: Iterable[bpy.types.Object], share: float) -> None:
    """Refuse to thin what is bound vertex by vertex: such a modifier would stop to act.

    Raises:
        CharacterError: A modifier of an object is bound, and not all faces are kept.
    """
    for obj in objects if share < 1.0 else ():
        for modifier in obj.modifiers:
            if any(getattr(modifier, name, False) for name in ("is_bound", "is_bind")):
                raise CharacterError(
                    f"Modifier {modifier.name!r} of {obj.name!r} is bound to all of its vertices, "
                    f"which {share:.3g} of its faces do not have: set Faces to 1, or leave that "
                    "object out"
                )


def thin(obj: bpy.types.Object, share: float) -> None:
    """Let modifiers, before all others, leave an object with a share of its faces.

    Imported meshes have several vertices at one place, where UVs or normals are split: faces that
    only seem to be connected would shrink away from one another.
    """
    size = max(max(corner) - min(corner) for corner in zip(*obj.bound_box, strict=True))
    kinds: dict[str, dict[str, Any]] = {
        "WELD": {"merge_threshold": _WELDED * size},
        "DECIMATE": {"ratio": share},
    }
    modifiers: Any = obj.modifiers
    for place, (kind, settings) in enumerate(kinds.items()):
        modifier = modifiers.new(f"Steer {kind.title()}", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        modifiers.move(len(modifiers) - 1, place)
