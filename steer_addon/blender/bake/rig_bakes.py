"""Keyframe bakes to rigs: every agent of a crowd as a hero, in the collection of its bake."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.results.frames import Frame
from ...core.results.tracks import agent_names
from ..characters.keys import add_curves, keyed_curves
from ..live import simulate
from .hero_motion import Tracks
from .hero_stage import AGENT, Stage, staged
from .keyframes import BakeResult, mark_rotations
from .removal import MARK, delete_bake, find_bakes


def check(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Refuse a crowd none of whose characters has a rig, before it is simulated.

    Raises:
        SteerError: It is so, or it shows no characters.
    """
    Stage(obj, scene).require_any_rig(obj.name)


def bake(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: Sequence[Frame],
    progress: Callable[[float], bool],
) -> BakeResult:
    """Bake frames to one rig per agent, in a new collection "<name> Bake".

    An earlier bake is replaced once the new one is complete.

    Args:
        obj: The crowd.
        scene: Its scene.
        frames: Frames to bake.
        progress: Called with the share done, 0 to 1.

    Raises:
        SteerError: The crowd shows no characters, or one of these has no rig.
    """
    begin = time.perf_counter()
    earlier = find_bakes(obj.name)
    with staged(obj, scene) as stage:
        tracks = Tracks(frames, None, obj.name)
        stage.require_all_rigs(obj.name, tracks)
        collection = bpy.data.collections.new(f"{obj.name} Bake")
        stage.made.append(collection)
        collection[MARK] = obj.name
        # rigs face -Y
        half = 0.5 * stage.look.angle
        first = math.cos(half), 0.0, 0.0, math.sin(half)
        mark_rotations(collection, first, stage.look.aligned)
        scene.collection.children.link(collection)
        names, carriers = agent_names(obj.name, tracks.ids), {}
        for column, label in enumerate(names):
            progress(column / len(names))
            carrier = carriers[label] = stage.make(label, tracks, column, collection)
            # a bake is taken back as a whole
            del carrier[AGENT]
            _key_velocity(carrier, tracks, column, simulate.fps_of(scene))
        keys = 0
        for item in collection.objects:
            item[MARK] = obj.name
            if item.animation_data is not None:
                keys += sum(len(c.keyframe_points) for c in keyed_curves(item.animation_data))
                if item.animation_data.action is not None:
                    item.animation_data.action[MARK] = obj.name
    for old in earlier:
        delete_bake(old)
    collection.name = f"{obj.name} Bake"
    for label, carrier in carriers.items():
        carrier.name = label
    count = len(collection.objects)
    return BakeResult(collection, len(carriers), count, keys, time.perf_counter() - begin)


def _key_velocity(carrier: bpy.types.Object, tracks: Tracks, column: int, fps: float) -> None:
    """Key the custom property `velocity`, which other keyframe bakes have, too."""
    velocity = np.zeros((len(tracks.numbers), 3))
    if len(tracks.numbers) > 1:
        velocity = fps * np.gradient(tracks.position[:, column], tracks.numbers, axis=0)
    data: Any = carrier.animation_data
    curves = data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves
    add_curves(curves, '["velocity"]', tracks.numbers, velocity)
    carrier["velocity"] = velocity[0].tolist()
