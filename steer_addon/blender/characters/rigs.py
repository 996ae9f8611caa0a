"""What a rig has to offer: its parts, its actions, and guesses which of them are what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.characters import action_names
from ...core.characters.recipe import Recipe
from ...core.errors import CharacterError, short
from .feet import roles_by_motion
from .keys import bones_of, curves, curves_of, frames_of, slot_of

_FEET = re.compile(r"foot|feet|toe|paw|hoof|ankle", re.IGNORECASE)
"""Names of bones that stand on the ground."""
_LEG = re.compile(r"legs?(?![a-z])|shin|calf", re.IGNORECASE)
"""Names of bones that stand on it where no bone is a foot by its name."""
_HEAD = re.compile(r"^(?!.*(control|ctrl|target)).*head(?!_?light)", re.IGNORECASE)
"""Names of bones that are the uppermost of a body."""
_HANGING = {"CHILD_OF", "COPY_TRANSFORMS"}
"""Types of constraints by which objects hang from a bone without being its children."""
_POSING = {*_HANGING, "COPY_ROTATION", "COPY_LOCATION"}
"""Those by which most bones of an armature follow another one, as of a rig for a game."""
_DEFORMED_BY = {
    "ARMATURE": "object", "LATTICE": "object", "MESH_DEFORM": "object", "SURFACE_DEFORM": "target",
}  # fmt: skip
"""What modifiers call the object that moves the vertices."""
_UPRIGHT = 0.12
"""Least height of a head over feet, as a share of how far it is away: that of a lizard is 0.2."""
_MOST_ASKED = 100_000
"""Vertices up to which each is asked for its bones."""
_MOST_MOTIONS = 12
"""Actions whose motion is looked at where no name says what they show."""
_LEAST_SCALE = 1.0e-6
"""Scale below which a body is flat."""


def parts_of(
    rig: bpy.types.Object, without: tuple[str, ...] = (), before: tuple[str, ...] = ()
) -> list[bpy.types.Object]:
    """Meshes that a rig deforms or carries, and that are shown.

    Args:
        rig: An armature, or the object above all others that move.
        without: Names of objects that are left out.
        before: Names of those that are taken where all are hidden.

    Raises:
        CharacterError: There are none, or a name is unknown.
    """
    found = meshes(rig)
    unknown = [name for name in without if name not in {obj.name for obj in found}]
    if unknown:
        raise CharacterError(
            f"Rig {rig.name!r} carries no object {short(unknown[0])}: give one of "
            f"{', '.join(repr(obj.name) for obj in found)}"
        )
    shown = candidates(rig) or [obj for obj in found if obj.name in before]
    shown = [obj for obj in shown if obj.name not in without]
    if not shown:
        raise CharacterError(_why_no_parts(rig))
    return shown


def _why_no_parts(rig: bpy.types.Object) -> str:
    """Why an object has no parts, and what to do: an instance of a rig cannot be posed itself."""
    collection = rig.instance_collection if rig.instance_type == "COLLECTION" else None
    if collection is None:
        return (
            f"Object {rig.name!r} deforms and carries no mesh that is shown: choose the armature "
            "whose meshes are children of it or have an Armature modifier with it, and show them"
        )
    told = f"{rig.name!r} shows collection {collection.name!r}"
    posed = next((obj.name for obj in collection.all_objects if obj.type == "ARMATURE"), "")
    armature = f"the armature {posed!r}" if posed else "the object above all others"
    if collection.library is None:
        return f"{told} of this file: select {armature}"
    file = bpy.path.basename(collection.library.filepath)
    way = f"use Object > Library Override > Make, then select {armature} that it makes"
    return f"{told} of {file}: {way}"


def candidates(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes that a rig deforms or carries, that are shown and have faces."""
    shown = [obj for obj in meshes(rig) if not obj.hide_render and not obj.hide_viewport]
    among = _shown_with(rig)
    shown = [obj for obj in shown if not among or obj in among]
    return [obj for obj in shown if len(obj.data.polygons) or obj.modifiers]


def _shown_with(rig: bpy.types.Object) -> set[bpy.types.Object]:
    """Objects whose collections are shown in a scene of a rig; none where the rig is not shown."""
    for scene in rig.users_scene:
        found: set[bpy.types.Object] = set()
        layers = [scene.view_layers[0].layer_collection]
        while layers:
            layer = layers.pop()
            hidden = layer.collection.hide_render or layer.collection.hide_viewport
            if not (layer.exclude or hidden):
                found.update(layer.collection.objects)
            if not hidden:
                # those in an excluded one may be shown
                layers += layer.children
        if rig in found:
            return found
    return set()


def meshes(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """All meshes that a rig deforms or carries, also hidden ones."""
    return [obj for obj in followers(rig) if obj.type == "MESH"]


def counts(rig: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> dict[str, tuple[int, int]]:
    """Numbers of vertices and faces of each mesh of a rig, by its name."""
    found = [(obj.name, obj.evaluated_get(depsgraph).data) for obj in candidates(rig)]
    return {name: (len(mesh.vertices), len(mesh.polygons)) for name, mesh in found}


def height(rig: bpy.types.Object) -> float:
    """Height of the meshes of a rig, by their bounds [scene units]."""
    tops = [
        (obj.matrix_world @ Vector(corner)).z for obj in candidates(rig) for corner in obj.bound_box
    ]
    return max(tops) - min(tops) if tops else 0.0


def followers(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """A rig and all that it carries, deforms or poses, one by way of another."""
    result = [rig, *rig.children_recursive]
    known, size = set(result), 0
    above = {obj: _above(obj) for obj in bpy.data.objects if obj not in known}
    while len(known) > size:
        size = len(known)
        further = [o for o, up in above.items() if o not in known and not known.isdisjoint(up)]
        known.update(further)
        result += further
    return result


def _above(obj: bpy.types.Object) -> set[Any]:
    """What an object hangs from, is deformed by or, as an armature, follows with most bones."""
    found = {obj.parent, *_hung_from(obj.constraints)}
    if isinstance(obj.data, bpy.types.Curves):
        found.add(obj.data.surface)
    for modifier in obj.modifiers:
        found.add(getattr(modifier, _DEFORMED_BY.get(modifier.type, ""), None))
    bones: Any = [] if obj.pose is None else obj.pose.bones
    posed = Counter(target for bone in bones for target in _hung_from(bone.constraints, _POSING))
    found.update(target for target, count in posed.items() if 2 * count > len(bones))
    return found - {None}


def _hung_from(constraints: Any, kinds: Set[str] = _HANGING) -> set[Any]:
    """What an object or bone hangs from by its constraints."""
    found: set[Any] = set()
    for constraint in constraints:
        if constraint.type in kinds and not constraint.mute:
            found.add(constraint.target)
        elif isinstance(constraint, bpy.types.ArmatureConstraint):
            found.update(target.target for target in constraint.targets)
    return found


def actions_of(rig: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions that move at least half of the bones that they name: its own ones, then by name."""
    known = set(rig.pose.bones.keys()) if rig.pose is not None else set()
    own, result = _own_actions(rig), []
    for action in bpy.data.actions:
        bones = bones_of(curves(action))
        fits = bones and 2 * len(bones & known) >= len(bones)
        if fits and action == action_named(rig, action.name):
            result.append(action)
    # sorting keeps the order of names
    return sorted(result, key=lambda action: action not in own)


def action_named(rig: bpy.types.Object, name: str) -> bpy.types.Action | None:
    """The action of a name; where linked files have others of that name, the one of a rig.

    It is one that the rig plays, or else from the file of the rig, or else one of this file.
    """
    found = [action for action in bpy.data.actions if action.name == name]
    override = rig.override_library
    home = (override.reference if override and override.reference else rig).library
    own = _own_actions(rig)
    found.sort(key=lambda a: (a not in own, a.library != home, a.library is not None))
    return next(iter(found), None)


def _own_actions(rig: bpy.types.Object) -> set[bpy.types.Action | None]:
    """Actions that a rig plays now, or by its strips: rigs of one kind share the names of bones."""
    data = rig.animation_data
    if data is None:
        return set()
    return {data.action} | {strip.action for track in data.nla_tracks for strip in track.strips}


def guess_roles(rig: bpy.types.Object) -> dict[str, str]:
    """Names of the actions that show standing, walking and running, where there are any."""
    actions, own = actions_of(rig), _own_actions(rig)
    names = [action.name for action in actions]
    result = action_names.guess_roles(names, {action.name for action in actions if action in own})
    if len(actions) == 1 and not result and not action_names.is_deed(names[0]):
        # files of one action each call all of them alike
        result["walk"] = names[0]
    elif not result and rig.mode == "OBJECT" and len(pair := guess_feet(rig)) == 2:
        able = [a for a in actions if slot_of(a, rig) and not action_names.is_deed(a.name)]
        if able and (scenes := rig.users_scene):
            result = roles_by_motion(scenes[0], rig, able[:_MOST_MOTIONS], pair)
    return result


def find_action(rig: bpy.types.Object, name: str) -> bpy.types.Action:
    """An action of a rig by name.

    Raises:
        CharacterError: There is none, it lasts one frame, or it moves bones that the rig lacks.
    """
    known = actions_of(rig)
    action = action_named(rig, name)
    if action is None:
        raise CharacterError(
            f"There is no action {short(name)}: give one of rig {rig.name!r}: {names_of(known)}"
        )
    missing = sorted(bones_of(curves(action)) - {bone.name for bone in rig.data.bones})
    if action not in known:
        which = f", which lacks bone {missing[0]!r}" if missing else ""
        raise CharacterError(
            f"Action {name!r} is not made for rig {rig.name!r}{which}: choose another action, or "
            "give the bones the names that it uses"
        )
    return action


def names_of(actions: list[bpy.types.Action]) -> str:
    """The names of actions as a text, the first ones of many."""
    names = ", ".join(repr(action.name) for action in actions[:12])
    return (names or "none") + (f" and {len(actions) - 12} more" if len(actions) > 12 else "")


def guess_feet(rig: bpy.types.Object) -> tuple[str, ...]:
    """Names of the bones that move faces and are feet by their names, the uppermost of each."""
    if rig.pose is None:
        return ()
    used: set[str] = set()
    for obj in candidates(rig):
        used |= {obj.parent_bone} if obj.parent_type == "BONE" else _weighted(obj)
    found = [bone for bone in rig.data.bones if bone.name in used and _FEET.search(bone.name)]
    return tuple(b.name for b in found if not any(above in found for above in b.parent_recursive))


def _weighted(obj: bpy.types.Object) -> set[str]:
    """Names of the groups in which an object has vertices."""
    names = [group.name for group in obj.vertex_groups]
    if len(obj.data.vertices) > _MOST_ASKED:
        return set(names)
    return {names[e.group] for v in obj.data.vertices for e in v.groups if e.weight > 0.0}


def loops(rig: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an action seems to go on: it ends as it begins, and is not named after a deed.

    It may end elsewhere on the ground, as actions with root motion do.
    """
    first, last = frames_of(action, rig)
    if last - first < 1.0 or action_names.is_deed(action.name):
        return False
    size = max((bone.tail_local.length for bone in rig.data.bones), default=1.0)
    turns: dict[str, list[tuple[float, float]]] = {}
    roots = {
        f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].location': bone
        for bone in rig.data.bones
        if bone.parent is None
    }
    moved: dict[str, Vector] = {}
    for curve in curves_of(action, slot_of(action, rig)):
        ends = curve.evaluate(first), curve.evaluate(last)
        if curve.data_path.endswith("rotation_quaternion"):
            turns.setdefault(curve.data_path, []).append(ends)
        elif "rotation" in curve.data_path:
            if abs(np.sin(0.5 * (ends[1] - ends[0]))) > 0.05:
                return False
        elif curve.data_path in roots:
            moved.setdefault(curve.data_path, Vector())[curve.array_index] = ends[1] - ends[0]
        elif abs(ends[1] - ends[0]) > (0.03 * size if "location" in curve.data_path else 0.05):
            return False
    for rows in turns.values():
        pair = np.array(rows)
        lengths = np.linalg.norm(pair, axis=0)
        if abs(pair[:, 0] @ pair[:, 1]) < 0.998 * lengths[0] * lengths[1]:
            return False
    turn = rig.matrix_world.to_quaternion()
    ways = [turn @ (roots[path].matrix_local.to_quaternion() @ way) for path, way in moved.items()]
    # up and down counts, and roots that part
    return all(max(abs(w.z), (w - ways[0]).length) < 0.03 * size for w in ways)


def check_mode(rig: bpy.types.Object) -> None:
    """Refuse a rig that is being edited, or does not move.

    Raises:
        CharacterError: It is not in Object Mode, or in Rest Position.
    """
    if rig.mode != "OBJECT":
        raise CharacterError(f"{rig.name!r} is in {rig.mode.title()} Mode: go to Object Mode first")
    if rig.type == "ARMATURE" and rig.data.pose_position == "REST":
        raise CharacterError(
            f"Rig {rig.name!r} is in Rest Position, in which no action moves it: choose Pose "
            "Position in its Object Data Properties"
        )


def check_scale(name: str, posed: bpy.types.Object) -> None:
    """Refuse what is scaled to nothing: no vertex would move.

    Args:
        name: Its name.
        posed: The evaluated rig, or object.

    Raises:
        CharacterError: Its scale, or that of one above it, is 0 along an axis.
    """
    for axis, size in zip("XYZ", posed.matrix_world.to_scale(), strict=True):
        if abs(size) < _LEAST_SCALE:
            raise CharacterError(
                f"{name!r} has scale 0 along {axis}: set its Scale, and that of its parents, to 1 "
                "in Object Properties > Transform"
            )


def check_upright(name: str, posed: bpy.types.Object, feet: tuple[str, ...]) -> None:
    """Refuse a rig that lies down: its head is about as high as its feet.

    Args:
        name: Its name.
        posed: The evaluated rig.
        feet: Names of the bones of its feet; without any its legs count. Without legs, or without
            a head, nothing is known.

    Raises:
        CharacterError: It lies down.
    """
    assert posed.pose is not None
    bones = posed.pose.bones
    heads = [bone for bone in bones if _HEAD.search(bone.name)]
    below = [bones[name].head for name in feet if name in bones] or [
        # legs of insects begin as high as the head, and end on the ground
        bone.tail for bone in bones if _LEG.search(bone.name) and not bone.children
    ]  # fmt: skip
    if not heads or not below:
        return
    middle = sum(below, Vector()) / len(below)
    way = posed.matrix_world @ heads[0].head - posed.matrix_world @ middle
    if way.z < _UPRIGHT * way.length:
        raise CharacterError(
            f"Rig {name!r} lies down: its {heads[0].name!r} is {way.z:.2f} above its feet; rotate "
            "it so that it stands upright, with Z up, or choose another walk"
        )


def check_frames(rig: bpy.types.Object, action: bpy.types.Action, role: str) -> None:
    """Refuse an action of one frame where motion is wanted.

    Raises:
        CharacterError: It lasts one frame.
    """
    first, last = frames_of(action, rig)
    if last - first < 1.0:
        raise CharacterError(
            f"Action {action.name!r} lasts one frame, and {role} takes motion: choose "
            "another action"
        )


def seconds(rig: bpy.types.Object, recipe: Recipe, fps: float) -> float:
    """Time of the actions that are sampled by it, those of standing and of clips [s].

    Args:
        rig: The rig.
        recipe: What is made.
        fps: Frame rate of its actions.
    """
    names = [recipe.stand, *(action for _, action in recipe.clips)]
    found = filter(None, (action_named(rig, name) for name in names))
    frames = (frames_of(action, rig) for action in found)
    return sum(last - first for first, last in frames) / fps
