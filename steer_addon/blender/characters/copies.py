"""Copies of objects that refer to one another: what pointed to an original points to its copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import bpy

from ..display.display import object_inputs, write_input

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


def point_to(twin: bpy.types.Object, twins: dict[bpy.types.Object, bpy.types.Object]) -> None:
    """Let everything that a copy refers to be the copies of that."""
    for other, put in list(_links(twin)):
        if other in twins:
            put(twins[other])


def _links(obj: bpy.types.Object) -> Iterator[Link]:
    """All objects that an object refers to by itself, its modifiers, constraints and drivers."""
    if obj.parent is not None:
        yield obj.parent, partial(_hang, obj)
    stacks: list[Any] = [*obj.modifiers, *obj.constraints]
    if obj.pose is not None:
        stacks += [constraint for bone in obj.pose.bones for constraint in bone.constraints]
    for item in stacks:
        for info in item.bl_rna.properties:
            if info.type == "POINTER" and not info.is_readonly:
                yield from _link(item, info.identifier)
        if isinstance(item, bpy.types.NodesModifier):
            for name, value in object_inputs(item).items():
                yield value, partial(write_input, item, name)
        for target in getattr(item, "targets", ()):
            yield from _link(target, "target")
    for target in driver_targets(obj):
        yield from _link(target, "id")


def driver_targets(obj: bpy.types.Object) -> Iterator[bpy.types.DriverTarget]:
    """All that drivers of an object, and of its shape keys, read."""
    keys = getattr(obj.data, "shape_keys", None)
    for data in filter(None, (obj.animation_data, keys and keys.animation_data)):
        for curve in data.drivers:
            for variable in curve.driver.variables:
                yield from variable.targets


def _link(owner: Any, name: str) -> Iterator[Link]:
    value = getattr(owner, name, None)
    if isinstance(value, bpy.types.Object):
        yield value, partial(setattr, owner, name)


def _hang(obj: bpy.types.Object, parent: bpy.types.Object) -> None:
    inverse = obj.matrix_parent_inverse.copy()
    obj.parent = parent
    obj.matrix_parent_inverse = inverse
