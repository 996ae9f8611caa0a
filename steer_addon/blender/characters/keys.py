"""Keys of curves in bulk: one call reads or writes a property of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

_TURNS = ("quaternion", "euler", "axis_angle")
_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')


def new_action(name: str, mark: str, owner: str, frames: tuple[float, float]) -> bpy.types.Action:
    """An action with one layer and one strip, and a length of its own, as NLA strips need it.

    Args:
        name: Its name.
        mark: Custom property that says who made it.
        owner: Value of that property.
        frames: First and last frame.
    """
    action = bpy.data.actions.new(name)
    action[mark] = owner
    action.layers.new("Layer").strips.new(type="KEYFRAME")
    action.use_frame_range = True
    action.frame_start, action.frame_end = frames
    return action


def new_slot(action: bpy.types.Action, name: str, kind: str = "OBJECT") -> tuple[Any, Any]:
    """A new slot of an action for an object of some name, or other data, and its curves."""
    slots: Any = action.slots
    slot = slots.new(kind, name)
    strip: Any = action.layers[0].strips[0]
    return slot, strip.channelbag(slot, ensure=True).fcurves


def curves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """All curves of an action."""
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:  # type: ignore[attr-defined]
                yield from bag.fcurves


def curves_of(action: bpy.types.Action, slot: Any) -> list[bpy.types.FCurve]:
    """The curves of one slot of an action; none without a slot."""
    strips: Any = [strip for layer in action.layers for strip in layer.strips]
    bags = [strip.channelbag(slot) for strip in strips] if slot is not None else []
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def bones_of(found: Iterable[bpy.types.FCurve]) -> set[str]:
    """Names of the bones that curves move."""
    names = (_BONE.match(curve.data_path) for curve in found)
    return {match[1].replace('\\"', '"').replace("\\\\", "\\") for match in names if match}


def keyed_paths() -> set[str]:
    """Data paths of all that some action moves."""
    return {curve.data_path for action in bpy.data.actions for curve in curves(action)}


def moved_paths(obj: bpy.types.Object, keyed: set[str]) -> set[str]:
    """Data paths of what some action, see `keyed_paths`, or a driver of an object moves."""
    data = obj.animation_data
    return keyed.union(() if data is None else (curve.data_path for curve in data.drivers))


def rest_of(rig: bpy.types.Object) -> list[Matrix]:
    """How each bone of a rig is posed where no action is shown, as its matrix basis.

    What some action or driver moves is at rest, as its pose of now is left from that; all else,
    such as a head that was made larger, stays as it was put by hand.
    """
    paths = moved_paths(rig, keyed_paths())
    return [_rest(bone, paths) for bone in rig.pose.bones] if rig.pose is not None else []


def _rest(bone: bpy.types.PoseBone, paths: set[str]) -> Matrix:
    above = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
    turned = any(f"{above}.rotation_{name}" in paths for name in _TURNS)
    return Matrix.LocRotScale(
        None if f"{above}.location" in paths else bone.location,
        None if turned else bone.matrix_basis.to_quaternion(),
        None if f"{above}.scale" in paths else bone.scale,
    )


def keyed_curves(data: bpy.types.AnimData) -> Iterator[bpy.types.FCurve]:
    """Curves of an object's own slot, and those that key its strips; not of actions in strips."""
    if data.action is not None:
        yield from curves_of(data.action, data.action_slot)
    for track in data.nla_tracks:
        for strip in track.strips:
            yield from strip.fcurves


def slot_of(action: bpy.types.Action, rig: bpy.types.Object) -> Any:
    """The slot of an action that a rig plays; None where there is none for objects.

    Args:
        action: The action. It may move other objects too, such as a prop.
        rig: The rig. The slot that it has, or had last, is taken first, then one of its name, then
            the one that moves most bones.
    """
    data = rig.animation_data
    wanted = [f"OB{rig.name}"]
    if data is not None:
        now = data.action_slot.identifier if data.action_slot is not None else ""
        wanted = [now, data.last_slot_identifier, *wanted]

    def fits(slot: Any) -> tuple[int, int]:
        bones = sum(curve.data_path.startswith("pose.bones[") for curve in curves_of(action, slot))
        known = bones > 0 and slot.identifier in wanted
        return -wanted.index(slot.identifier) if known else -len(wanted), bones

    fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    return max(fitting, key=fits, default=None)


def frames_of(action: bpy.types.Action, rig: bpy.types.Object) -> tuple[float, float]:
    """First and last frame of what an action does to a rig; others in it may take longer."""
    owned = curves_of(action, slot_of(action, rig))
    found = [curve.range() for curve in owned if curve.keyframe_points or curve.sampled_points]
    if action.use_frame_range or not found:
        first, last = action.frame_range
        return float(first), float(last)
    return min(first for first, _last in found), max(last for _first, last in found)


def key_slot_of(action: bpy.types.Action, keys: Any, name: str, alone: bool) -> Any:
    """The slot of an action that shape keys play; None where there is none.

    Args:
        action: The action.
        keys: The shape keys, which may have played it before.
        name: Their name, which its slot may have.
        alone: Whether there are no other ones: a single slot for shape keys is theirs.
    """
    fitting = [slot for slot in action.slots if slot.target_id_type == "KEY"]
    data = keys.animation_data
    wanted = {f"KE{name}", data.last_slot_identifier if data is not None else ""}
    named = [slot for slot in fitting if slot.identifier in wanted]
    return next(iter(named or fitting if alone and len(fitting) == 1 else named), None)


def add_slot(action: bpy.types.Action, item: bpy.types.Object | bpy.types.Key) -> Any:
    """Let an object or shape keys play a new slot of an action; returns its curves."""
    slot, curves = new_slot(action, item.name, item.id_type)
    data = item.animation_data_create()
    data.action = action
    data.action_slot = slot
    return curves


def read(items: Any, name: str, width: int, dtype: Any = np.float32) -> Any:
    """A property of all items, such as keys or vertices, in one call, shape (width * count,)."""
    values = np.empty(width * len(items), dtype)
    items.foreach_get(name, values)
    return values


def fill(curve: Any, keys: NDArray[np.float32], interpolation: str) -> None:
    """Add keys to a curve.

    Args:
        curve: The curve.
        keys: Time and value of each key, shape (key_count, 2).
        interpolation: What leads from each key to the next one, such as "LINEAR".
    """
    points = curve.keyframe_points
    points.add(len(keys))
    points.foreach_set("co", np.ascontiguousarray(keys, np.float32).ravel())
    # Blender stores it as 8-bit numbers: wider ones take 5 times as long
    codes = np.full(len(keys), _interpolation_code(interpolation), dtype=np.uint8)
    points.foreach_set("interpolation", codes)
    # sets the handles, or a later switch to smooth curves finds them at zero
    curve.update()


def add_curves(curves: Any, path: str, times: NDArray[Any], values: NDArray[Any]) -> None:
    """Add a curve for each part of a property, straight from key to key.

    Args:
        curves: The curves of a slot.
        path: The property.
        times: Times of the keys, shape (key_count,).
        values: Its values, shape (key_count, part_count).
    """
    for index, column in enumerate(values.T):
        keys = np.stack([times, column], axis=1)
        fill(curves.new(path, index=index), keys.astype(np.float32), "LINEAR")


@cache
def _interpolation_code(interpolation: str) -> int:
    """Blender's number for the interpolation, which may differ between versions."""
    kinds = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items
    return int(kinds[interpolation].value)
