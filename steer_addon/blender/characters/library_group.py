"""The node group that makes an instance of every pose of a character, and its inputs.

Its nodes are data, in `library_group.toml`. Each library object, and each of its levels of detail,
has it as a modifier.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ...core.characters.pose_space import F32
from ...core.doors import tomllib
from ..display import display, kept_group, nested_group
from . import pose_points

MODIFIER_NAME = "Character"
_DATA = Path(__file__).with_suffix(".toml")
_GROUP_NAME = "Steer Character"
INNER_NAME = ".Steer Character"
"""Name of the group in it; the dot leaves it out of lists."""
_GROUP_KEY = "steer_character_version"
_GROUP_VERSION = 7
"""Raise it with every change of `library_group.toml`."""
POINTS = "Pose Points"
"""Input of its modifier: the object whose vertices are those of all poses."""
LEVELS = ("Level 1", "Level 2")
"""Inputs of its modifier: objects that show the same poses with fewer faces."""
WEIGHT = "Weight"
"""Input of its modifier: how often it is chosen, against the other characters of a crowd."""
UPRIGHT = "Upright"
"""Input of its modifier: share of the crowd's own by which it stays upright on slopes, 0 to 1."""


def ensure_group() -> bpy.types.NodeTree:
    """This file's node group that makes instances of poses, made or brought up to date."""
    for group in bpy.data.node_groups:
        if group.library is None and _GROUP_KEY in group:
            if group[_GROUP_KEY] < _GROUP_VERSION:
                _build(group)
            return group
    return kept_group.make(_GROUP_NAME, _build, (__file__, str(_DATA)))


def modifier_of(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier that makes the poses of a library object, if it has the input `WEIGHT`."""
    for modifier in obj.modifiers:
        if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group is not None:
            known = _GROUP_KEY in modifier.node_group
            if known and WEIGHT in display.input_names(modifier):
                return modifier
    return None


def ensure_modifier(obj: bpy.types.Object) -> None:
    """Give an object the modifier that makes the poses of its mesh."""
    group = ensure_group()
    found = [m for m in obj.modifiers if isinstance(m, bpy.types.NodesModifier)]
    if not any(modifier.node_group == group for modifier in found):
        modifier: Any = obj.modifiers.new(MODIFIER_NAME, "NODES")
        modifier.node_group = group
        modifier.show_group_selector = False


def weight_of(obj: bpy.types.Object) -> float:
    """How often a character is chosen, against the others of its crowd."""
    return _factor(obj, WEIGHT)


def upright_of(obj: bpy.types.Object) -> float:
    """Share of its crowd's own by which a character stays upright on slopes, 0 to 1."""
    return min(max(_factor(obj, UPRIGHT), 0.0), 1.0)


def set_weight(obj: bpy.types.Object, weight: float) -> None:
    """Choose a character more often, or less.

    Args:
        obj: The library object.
        weight: How often, against others, at least 0; without any change it is 1.
    """
    _set_factor(obj, WEIGHT, weight)


def set_upright(obj: bpy.types.Object, share: float) -> None:
    """Let a character stay upright on slopes by a share of its crowd's own, 0 to 1."""
    _set_factor(obj, UPRIGHT, share)


def _set_factor(obj: bpy.types.Object, name: str, value: float) -> None:
    modifier = modifier_of(obj)
    if modifier is not None:
        display.set_input(modifier, name, value)


def _factor(obj: bpy.types.Object, name: str) -> float:
    modifier = modifier_of(obj)
    if modifier is None or name not in display.input_names(modifier):
        return 1.0
    return float(display.get_input(modifier, name))


def give_poses(obj: bpy.types.Object, positions: F32) -> None:
    """Give an object that has the modifier other poses, in place of its own.

    Args:
        obj: A library object, or a level of one.
        positions: Its vertices in all poses [m], shape (pose_count, vertex_count, 3).
    """
    modifier = modifier_of(obj)
    if modifier is not None:
        before = display.get_input(modifier, POINTS)
        display.set_input(modifier, POINTS, None)
        pose_points.remove(before)
        display.set_input(modifier, POINTS, pose_points.ensure(obj.name, positions))


def poses_of(obj: bpy.types.Object) -> F32 | None:
    """Poses of a library object, as in `give_poses`; None where none fit its mesh."""
    modifier, mesh = modifier_of(obj), obj.data
    if modifier is None or not isinstance(mesh, bpy.types.Mesh):
        return None
    known = POINTS in display.input_names(modifier)
    return pose_points.read(mesh, display.get_input(modifier, POINTS) if known else None)


def _build(group: bpy.types.NodeTree) -> None:
    before = {socket.name for socket in nested_group.sockets_of(group)}
    nested_group.build(group, INNER_NAME, tomllib.loads(_DATA.read_text(encoding="utf-8")))
    group.description = "Makes an instance of every pose of a character, for crowds"
    group[_GROUP_KEY] = _GROUP_VERSION
    owners = [obj for obj in bpy.data.objects if obj.library is None and _uses(obj, group)]
    for name in {WEIGHT, UPRIGHT} - before:
        for obj in owners:
            # modifiers from before have 0
            _set_factor(obj, name, 1.0)
    if POINTS not in before:
        _take_former(owners)


def _uses(obj: bpy.types.Object, group: bpy.types.NodeTree) -> bool:
    modifier = modifier_of(obj)
    return modifier is not None and modifier.node_group == group


def _take_former(owners: list[bpy.types.Object]) -> None:
    """Move the poses of characters of before out of their meshes, which they may share."""
    found = [(obj, poses_of(obj)) for obj in owners]
    for obj, poses in found:
        if poses is not None:
            give_poses(obj, poses)
            pose_points.clear(obj.data)
