"""F-curves and drivers follow the entries of a list when it is reordered.

Blender addresses an entry by its place ("steer.behaviors[2].weight"); moving the entry leaves the
animation with whatever comes to stand there, so the paths have to be changed along with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ...core.errors import SceneError

LIST = "steer.behaviors"
"""Data path of the list of behaviors, from its object."""
_ENTRY = re.compile(re.escape(LIST) + r"\[(\d+)\](.*)")


def remap(obj: bpy.types.Object, order: Sequence[int | None]) -> None:
    """Let the animation of the list follow a new order of its entries.

    Args:
        obj: Object whose list changes; drivers elsewhere that read it follow too.
        order: For every entry of the new list the place it had before, or None for a new one.
            A place that is named twice is copied, one that is not named loses its animation.

    Raises:
        SceneError: An action that would have to change is linked from another file.
    """
    paths = [_parse(curve.data_path) for curves in _curve_lists(obj) for curve in curves]
    is_beyond = any(parsed is not None and parsed[0] >= len(order) for parsed in paths)
    if list(order) == list(range(len(order))) and not is_beyond:
        return
    where: dict[int, list[int]] = {}
    for new, old in enumerate(order):
        if old is not None:
            where.setdefault(old, []).append(new)
    check_editable(obj, LIST)
    for curves in _curve_lists(obj):
        _remap_curves(curves, where)
    for data in _users(obj):
        _remap_variables(data, obj, where)


def drop(obj: bpy.types.Object, prefix: str) -> None:
    """Remove all animation whose path begins with `prefix`.

    Raises:
        SceneError: An action that would have to change is linked from another file.
    """
    check_editable(obj, prefix)
    for curves in _curve_lists(obj):
        for curve in [c for c in curves if c.data_path.startswith(prefix)]:
            curves.remove(curve)


def check_editable(obj: bpy.types.Object, prefix: str) -> None:
    """Refuse when animation under `prefix` lies in a linked action.

    Raises:
        SceneError: It does.
    """
    for action, slot in _actions(obj):
        if action.library is None:
            continue
        bags = channelbags(action, slot)
        if any(c.data_path.startswith(prefix) for bag in bags for c in bag.fcurves):
            raise SceneError(
                f"The action {action.name!r} of {obj.name!r} is linked from "
                f"{action.library.filepath!r} and animates the list: make it local first"
            )


def _parse(path: str) -> tuple[int, str] | None:
    match = _ENTRY.match(path)
    return (int(match[1]), match[2]) if match else None


def _remap_curves(curves: Any, where: dict[int, list[int]]) -> None:
    copies = []
    for curve, parsed in [(curve, _parse(curve.data_path)) for curve in curves]:
        if parsed is None:
            continue
        old, rest = parsed
        places = where.get(old)
        if not places:
            curves.remove(curve)
            continue
        curve.data_path = f"{LIST}[{places[0]}]{rest}"
        copies += [(curve, f"{LIST}[{place}]{rest}") for place in places[1:]]
    # only now every path is free: Blender refuses a second curve of the same path
    for curve, path in copies:
        _copy_curve(curves, curve, path)


def _copy_curve(curves: Any, source: Any, path: str) -> None:
    if hasattr(curves, "from_existing"):
        curves.from_existing(src_driver=source).data_path = path
        return
    if hasattr(curves, "new_from_fcurve"):
        curves.new_from_fcurve(source, data_path=path)
        return
    # 4.5 has neither: keys, then what hangs on them
    copy = curves.new(path, index=source.array_index)
    copy.extrapolation = source.extrapolation
    copy.keyframe_points.add(len(source.keyframe_points))
    pairs = list(zip(copy.keyframe_points, source.keyframe_points, strict=True))
    pairs += [(copy.modifiers.new(modifier.type), modifier) for modifier in source.modifiers]
    for twin, original in pairs:
        for prop in original.bl_rna.properties:
            if not prop.is_readonly:
                setattr(twin, prop.identifier, getattr(original, prop.identifier))
    copy.update()


def _remap_variables(data: Any, obj: bpy.types.Object, where: dict[int, list[int]]) -> None:
    for curve in data.animation_data.drivers:
        for variable in curve.driver.variables:
            for target in variable.targets:
                parsed = _parse(target.data_path) if target.id == obj else None
                if parsed is not None and where.get(parsed[0]):
                    target.data_path = f"{LIST}[{where[parsed[0]][0]}]{parsed[1]}"


def _users(obj: bpy.types.Object) -> Iterator[Any]:
    # the object is among its own users when one of its drivers reads it
    users = {obj, *bpy.data.user_map(subset=[obj])[obj]}
    for data in users:
        animation = getattr(data, "animation_data", None)
        if animation is not None and data.library is None:
            yield data


def _curve_lists(obj: bpy.types.Object) -> Iterator[Any]:
    """The editable lists of f-curves that animate the object, its drivers among them."""
    for action, slot in _actions(obj):
        if action.library is None:
            for bag in channelbags(action, slot):
                yield bag.fcurves
    if obj.animation_data is not None:
        yield obj.animation_data.drivers


def _actions(obj: bpy.types.Object) -> list[tuple[Any, Any]]:
    """Pairs of action and slot that the object plays, each one once."""
    if obj.animation_data is None:
        return []
    unique = {(a.as_pointer(), s.handle): (a, s) for a, s in played_actions(obj.animation_data)}
    return list(unique.values())


def played_actions(animation: bpy.types.AnimData) -> list[tuple[Any, Any]]:
    """Pairs of action and slot that some data plays, those of NLA strips included."""
    pairs: list[tuple[Any, Any]] = [(animation.action, animation.action_slot)]
    for track in animation.nla_tracks:
        pairs += [(strip.action, strip.action_slot) for strip in track.strips]
    return [(a, s) for a, s in pairs if a is not None and s is not None]


def channelbags(action: Any, slot: Any) -> list[Any]:
    """The bags of f-curves that an action holds for a slot, in the strips of its layers."""
    strips = [strip for layer in action.layers for strip in layer.strips]
    bags = [strip.channelbag(slot) for strip in strips if strip.type == "KEYFRAME"]
    return [bag for bag in bags if bag is not None]
