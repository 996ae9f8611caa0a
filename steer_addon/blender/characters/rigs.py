"""What a rig has to offer: its parts, its actions, and guesses which of them are what."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy

from ...core.errors import CharacterError, short

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
ROLES = {
    "stand": re.compile(r"idle|stand(?!up)|wait|rest", re.IGNORECASE),
    "walk": re.compile(r"walk", re.IGNORECASE),
    "run": re.compile(r"run|jog|sprint", re.IGNORECASE),
}
"""Names of actions by what they show."""
_BESIDE = re.compile(
    r"back|strafe|left|right|lie|lying|sit|crouch|sneak|jump|melee|ranged|aim|start|end|stop|turn|up"
    r"|down|pose",
    re.IGNORECASE,
)
"""Names of actions that show something else beside."""
MOST_BYTES = 2 * 1024**3
"""Memory of the poses that a character may take."""


def parts_of(rig: bpy.types.Object, without: tuple[str, ...] = ()) -> list[bpy.types.Object]:
    """Meshes that a rig deforms or carries, and that are shown.

    Args:
        rig: An armature, or the object above all others that move.
        without: Names of objects that are left out.

    Raises:
        CharacterError: There are none, or a name is unknown.
    """
    found = [obj for obj in (rig, *rig.children_recursive) if obj.type == "MESH"]
    found += [obj for obj in bpy.data.objects if obj not in found and _is_deformed_by(obj, rig)]
    unknown = [name for name in without if name not in {obj.name for obj in found}]
    if unknown:
        raise CharacterError(
            f"Rig {rig.name!r} carries no object {short(unknown[0])}: give one of "
            f"{', '.join(repr(obj.name) for obj in found)}"
        )
    shown = [
        obj
        for obj in found
        if not obj.hide_render and not obj.hide_viewport and obj.name not in without
    ]
    shown = [obj for obj in shown if len(obj.data.polygons) or obj.modifiers]
    if not shown:
        raise CharacterError(
            f"Object {rig.name!r} deforms and carries no mesh that is shown: choose the armature "
            "whose meshes are children of it or have an Armature modifier with it, and show them"
        )
    return shown


def _is_deformed_by(obj: bpy.types.Object, rig: bpy.types.Object) -> bool:
    return obj.type == "MESH" and any(
        modifier.type == "ARMATURE" and modifier.object == rig  # type: ignore[attr-defined]
        for modifier in obj.modifiers
    )


def bones_of(action: bpy.types.Action) -> set[str]:
    """Names of the bones that an action moves."""
    found = (_BONE.match(curve.data_path) for curve in _curves(action))
    return {match[1].replace('\\"', '"').replace("\\\\", "\\") for match in found if match}


def _curves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:  # type: ignore[attr-defined]
                yield from bag.fcurves


def actions_of(rig: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions that move at least half of the bones that they name, by name."""
    known = set(rig.pose.bones.keys()) if rig.pose is not None else set()
    result = []
    for action in bpy.data.actions:
        bones = bones_of(action)
        if bones and 2 * len(bones & known) >= len(bones):
            result.append(action)
    return result


def guess_roles(rig: bpy.types.Object) -> dict[str, str]:
    """Names of the actions that show standing, walking and running, where there are any."""
    names = [action.name for action in actions_of(rig)]
    result = {}
    for role, pattern in ROLES.items():
        fitting = [name for name in names if pattern.search(name)]
        if fitting:
            result[role] = min(fitting, key=lambda n: (bool(_BESIDE.search(n)), len(n), n))
    return result


def find_action(rig: bpy.types.Object, name: str) -> bpy.types.Action:
    """An action of a rig by name.

    Raises:
        CharacterError: There is none, it lasts one frame, or it moves bones that the rig lacks.
    """
    known = actions_of(rig)
    action = bpy.data.actions.get(name)
    if action is None:
        names = ", ".join(repr(item.name) for item in known[:12])
        more = f" and {len(known) - 12} more" if len(known) > 12 else ""
        raise CharacterError(
            f"There is no action {short(name)}: give one of rig {rig.name!r}: "
            f"{names or 'none'}{more}"
        )
    bones = bones_of(action)
    missing = sorted(bones - set(rig.pose.bones.keys()))
    if action not in known:
        which = f", which lacks bone {missing[0]!r}" if missing else ""
        raise CharacterError(
            f"Action {name!r} is not made for rig {rig.name!r}{which}: choose another action, or "
            "give the bones the names that it uses"
        )
    return action


def check_frames(action: bpy.types.Action, role: str) -> None:
    """Refuse an action of one frame where motion is wanted.

    Raises:
        CharacterError: It lasts one frame.
    """
    first, last = action.frame_range
    if last - first < 1.0:
        raise CharacterError(
            f"Action {action.name!r} lasts one frame, and {role} takes motion: choose "
            "another action"
        )


def check_memory(poses: int, vertices: int, faces: int) -> str:
    """What the poses of a character take; refuse what is too much.

    Raises:
        CharacterError: They take more than Steer allows.
    """
    size = 12 * poses * vertices
    text = f"{poses} poses of {faces} faces take {size / 1024**2:.0f} MB"
    if size > MOST_BYTES:
        share = MOST_BYTES / size
        raise CharacterError(
            f"{text}, more than {MOST_BYTES / 1024**2:.0f} MB: set Faces to {0.9 * share:.0%} or "
            "less to decimate it, or raise Way per Pose"
        )
    return text
