"""Actions of heroes that lie or face elsewhere than the walk: copies whose root bones are moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion

from ..facing import put
from ..keys import add_curves, curves_of, slot_of
from ..origins import Origins
from ..sampling import Sampler, Track
from .carried import put_back
from .turns import turns_as


def aligned(
    origins: Origins, scene: bpy.types.Scene, mark: str, made: list[bpy.types.ID]
) -> Origins:
    """What a character was made of, with actions that face one way.

    Args:
        origins: What it was made of.
        scene: The scene of the hero.
        mark: Custom property of copies of actions.
        made: List to which each copy is added.
    """
    turned = [number for number, track in enumerate(origins.tracks) if track.facings]
    actions = list(origins.actions)
    if not turned:
        return origins
    with Sampler(scene, origins.rig, ()) as sampler:
        for number, track in zip(
            turned, sampler.read([actions[number] for number in turned]), strict=True
        ):
            put_back(track, origins, number)
            for facing in origins.tracks[number].facings:
                put(sampler.rig, track, facing.matrix)
            copy = actions[number].copy()
            copy[mark], copy.use_fake_user = actions[number].name, False
            made.append(copy)
            _key_roots(origins.rig, copy, track)
            actions[number] = copy
    return replace(origins, actions=tuple(actions))


def _key_roots(rig: bpy.types.Object, action: bpy.types.Action, track: Track) -> None:
    """Give an action the places and turns that root bones have in a track."""
    slot: Any = slot_of(action, rig)
    strip: Any = action.layers[0].strips[0]
    curves = strip.channelbag(slot, ensure=True).fcurves
    times = np.linspace(*track.frames, len(track.values))
    for number, bone in enumerate(rig.pose.bones if rig.pose is not None else ()):
        if bone.parent is not None:
            continue
        path = bone.path_from_id()
        for curve in curves_of(action, slot):
            name = curve.data_path.removeprefix(f"{path}.")
            if name == "location" or name.startswith("rotation_"):
                curves.remove(curve)
        values = track.values[:, number]
        add_curves(curves, f"{path}.location", times, values[:, :3])
        turns = [Quaternion(turn) for turn in values[:, 3:7]]
        name, angles = turns_as(bone.rotation_mode, turns)
        add_curves(curves, f"{path}.{name}", times, angles)
