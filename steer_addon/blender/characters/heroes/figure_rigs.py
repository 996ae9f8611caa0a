"""Rigs of built-in characters: an armature of their joints, a skin, and an action for each gait.

Their bodies are skinned by rotations between those of two bones, which *Preserve Volume* of the
Armature modifier does, too: so the rig shows the same poses.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ....core.characters import figures
from ....core.characters.figure import Figure
from ....core.characters.figures.turning import matrices, quaternions
from ....core.characters.pose_space import Row
from ....core.errors import CharacterError
from ....core.results.tracks import continuous
from ...suspension import suspended
from .. import library
from ..keys import add_curves, new_action, new_slot
from ..origins import Origins, RowOrigin, Track
from .hero import MARK

KEY = "steer_figure"
"""Custom property of built-in characters, and of what their rigs consist of: which they are."""
_MOST_KEYS = 48
"""Keys of one cycle: between two of them joints are less than a millimeter from their poses."""


def is_built_in(obj: bpy.types.Object) -> bool:
    """Whether a library object is a built-in character."""
    return str(obj.get(KEY, "")).partition(" ")[0] in figures.NAMES


def origins_of(obj: bpy.types.Object, scene: bpy.types.Scene, made: list[bpy.types.ID]) -> Origins:
    """The rig of a built-in character, made where this file has none.

    Args:
        obj: The library object.
        scene: The scene whose frame rate actions are timed by.
        made: List to which all that is new is added at once. The armature and the body are to be
            removed once they are copied; what they consist of is shared by all copies.

    Raises:
        CharacterError: The character has other poses than this Steer makes.
    """
    figure = figures.built_in(str(obj[KEY]).partition(" ")[0])
    gaits, clips = library.rows_of(obj)
    if (gaits, clips) != (figure.space.gaits, figure.space.clips):
        raise CharacterError(
            f"Character {obj.name!r} was made by another version of Steer, so it has no rig "
            "here: delete it, and let Add > Crowd make it again"
        )
    title, wanted = obj.name, str(obj[KEY])
    armature = _known(bpy.data.armatures, wanted)
    if armature is None:
        armature = _keep(bpy.data.armatures.new(f"{title} Rig"), wanted, made)
    rig = bpy.data.objects.new(f"{title} Rig", armature)
    made.append(rig)
    if not armature.bones:
        _add_bones(rig, figure)
    mesh = _known(bpy.data.meshes, wanted)
    if mesh is None:
        materials = [material for material in obj.data.materials if material is not None]
        mesh = library.base_mesh(f"{title} Body", figure.rest, figure.surface, materials)
        _keep(mesh, wanted, made)
    body = bpy.data.objects.new(f"{title} Body", mesh)
    made.append(body)
    if not body.vertex_groups:
        _skin(body, figure)
    body.parent = rig
    modifier: Any = body.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_deform_preserve_volume = rig, True
    fps = scene.render.fps / scene.render.fps_base
    actions, rows = [], (*gaits, *clips)
    for row in rows:
        label = f"{wanted} {row.name}"
        action = _known(bpy.data.actions, label)
        if action is None:
            action = _make_action(f"{title} {row.name}", figure, row, armature, fps)
            _keep(action, label, made)
        actions.append(action)
    weights = np.eye(len(rows))
    return Origins(
        rig=rig,
        parts=(body,),
        tracks=tuple(Track(action.name) for action in actions),
        actions=tuple(actions),
        rows=tuple(
            RowOrigin(weights[number], times_of(row), np.eye(4), not row.loops, row.stride)
            for number, row in enumerate(rows)
        ),
        above=Matrix(),
        basis=Matrix(),
    )


def times_of(row: Row) -> NDArray[np.float64]:
    """Times of a row's poses as shares of its cycle, or of a clip that ends."""
    if row.loops or row.count == 1:
        return np.arange(row.count) / row.count
    return np.linspace(0.0, 1.0, row.count)


def _known(collection: Any, wanted: str) -> Any:
    """What a rig made before consists of."""
    return next((i for i in collection if i.get(KEY) == wanted and i.library is None), None)


def _keep(item: Any, wanted: str, made: list[bpy.types.ID]) -> Any:
    item[KEY], item[MARK] = wanted, wanted
    made.append(item)
    return item


def _add_bones(rig: bpy.types.Object, figure: Figure) -> None:
    """Add a bone for each joint, in a scene of its own: bones are made in Edit Mode only."""
    rest, parents = figure.skeleton.rest.astype(float), figure.skeleton.parents.tolist()
    with suspended():
        scene = bpy.data.scenes.new("Steer Bones")
        try:
            scene.collection.objects.link(rig)
            layer = scene.view_layers[0]
            layer.objects.active = rig
            with bpy.context.temp_override(
                scene=scene, view_layer=layer, active_object=rig, object=rig
            ):
                bpy.ops.object.mode_set(mode="EDIT")
                bones: list[Any] = []
                for joint, name in enumerate(figure.skeleton.names):
                    bone = rig.data.edit_bones.new(name)
                    bones.append(bone)
                    bone.head, bone.tail = rest[joint], _tail(joint, rest, parents)
                    if parents[joint] >= 0:
                        bone.parent = bones[parents[joint]]
                bpy.ops.object.mode_set(mode="OBJECT")
        finally:
            bpy.data.scenes.remove(scene)


def _tail(joint: int, rest: NDArray[np.float64], parents: list[int]) -> NDArray[np.float64]:
    """Where a bone ends: at its first child, or beyond its parent."""
    way = np.zeros(3)
    if joint in parents:
        way = rest[parents.index(joint)] - rest[joint]
    elif parents[joint] >= 0:
        way = 0.5 * (rest[joint] - rest[parents[joint]])
    length = float(np.linalg.norm(way))
    result: NDArray[np.float64] = rest[joint] + (way if length > 1.0e-3 else [0.0, 0.0, 0.05])
    return result


def _skin(body: bpy.types.Object, figure: Figure) -> None:
    """Bind each vertex to its two bones by their shares."""
    shares = np.round(figure.shares.astype(float) * 256.0) / 256.0
    for joint, name in enumerate(figure.skeleton.names):
        parent, child = (figure.bones == joint).T
        weights = np.where(parent, 1.0 - shares, 0.0) + np.where(child, shares, 0.0)
        group = body.vertex_groups.new(name=name)
        for weight in np.unique(weights[weights > 0.0]):
            group.add(np.flatnonzero(weights == weight).tolist(), float(weight), "REPLACE")


def _make_action(
    name: str, figure: Figure, row: Row, armature: bpy.types.Armature, fps: float
) -> bpy.types.Action:
    """An action that shows the poses of a row at its natural speed."""
    cyclic = row.loops and row.count > 1
    step = max(1, row.count // _MOST_KEYS)
    chosen = np.unique(np.append(np.arange(0, row.count, step), row.count - 1))
    shares = times_of(row)[chosen]
    if cyclic:
        chosen, shares = np.append(chosen, 0), np.append(shares, 1.0)
    length = max(row.duration * fps, 1.0)
    frames = 1.0 + shares * length
    action = new_action(name, KEY, name, (1.0, 1.0 + length))
    action.use_cyclic = cyclic
    _slot, curves = new_slot(action, name)
    turned = matrices(figure.turns[row.first + chosen].astype(float))
    skeleton, parents = figure.skeleton, np.array(figure.skeleton.parents)
    axes = np.array([armature.bones[name].matrix_local.to_3x3() for name in skeleton.names])
    own, below = turned.copy(), parents >= 0
    own[:, below] = np.swapaxes(turned[:, parents[below]], -1, -2) @ turned[:, below]
    turns = quaternions(np.swapaxes(axes, -1, -2) @ own @ axes).astype(np.float32)
    for joint, bone_name in enumerate(skeleton.names):
        path = f'pose.bones["{bone_name}"]'
        add_curves(curves, f"{path}.rotation_quaternion", frames, continuous(turns[:, joint]))
        if parents[joint] < 0:
            away = (figure.places[row.first + chosen, joint] - skeleton.rest[joint]) @ axes[joint]
            add_curves(curves, f"{path}.location", frames, away)
    return action
