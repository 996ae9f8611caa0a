"""Frames with motions that can be written down, and what Blender has to show for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np
from mathutils import Quaternion

from steer_addon.core.results.frames import Frame

FPS = 24.0


def circling(numbers: Iterable[int], count: int = 3, turns_per_second: float = 0.5) -> list[Frame]:
    """Agents that circle at 1 m/s and upwards at 0.5 m/s, each about a center of its own."""
    frames = []
    for number in numbers:
        agent = np.arange(count)
        angle = 2.0 * np.pi * turns_per_second * number / FPS + agent
        radius = 1.0 / (2.0 * np.pi * turns_per_second)
        up = np.full(count, 0.5)
        position = np.stack(
            [
                10.0 * agent + radius * np.sin(angle),
                -radius * np.cos(angle),
                up * number / FPS,
            ],
            axis=1,
        )
        velocity = np.stack([np.cos(angle), np.sin(angle), up], axis=1)
        # half angles wrapped to one turn jump from q to -q, as a solver's do
        half = np.remainder(angle + np.pi, 2.0 * np.pi) / 2.0 - np.pi / 2.0
        zero = np.zeros(count)
        rotation = np.stack([np.cos(half), zero, zero, np.sin(half)], axis=1)
        frames.append(
            Frame(
                number=number,
                id=agent.astype(np.int64),
                position=position.astype(np.float32),
                velocity=velocity.astype(np.float32),
                rotation=rotation.astype(np.float32),
                radius=np.full(count, 0.3, dtype=np.float32),
                alive=np.ones(count, dtype=np.uint8),
            )
        )
    return frames


def without(frame: Frame, *ids: int) -> Frame:
    """The frame with some agents gone and the others in reverse order."""
    rows = [i for i in reversed(range(len(frame.id))) if frame.id[i] not in ids]
    return Frame(
        number=frame.number,
        id=frame.id[rows],
        position=frame.position[rows],
        velocity=frame.velocity[rows],
        rotation=frame.rotation[rows],
        radius=frame.radius[rows],
        alive=frame.alive[rows],
    )


def counts() -> dict[str, int]:
    """How many data-blocks of each kind the file holds."""
    kinds = ("objects", "actions", "collections", "meshes", "armatures", "scenes")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def users() -> dict[str, int]:
    """Users of every data-block that bakes refer to."""
    kinds = ("objects", "actions", "collections", "meshes", "armatures")
    return {f"{kind}/{item.name}": item.users for kind in kinds for item in getattr(bpy.data, kind)}


def curves_of(item: bpy.types.Object) -> dict[tuple[str, int], bpy.types.FCurve]:
    """The curves of a baked object by path and index."""
    action = item.animation_data.action
    bag = action.layers[0].strips[0].channelbag(item.animation_data.action_slot)
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}


def key_frames(item: bpy.types.Object) -> list[float]:
    """The frames that a baked object is keyed at, which have to be the same on every curve."""
    every = [[key.co[0] for key in curve.keyframe_points] for curve in curves_of(item).values()]
    assert len(every) == 10
    assert all(one == every[0] for one in every)
    return every[0]


def turn_between(a: Sequence[float], b: Sequence[float]) -> float:
    """Angle between two rotations [rad], 0 to π."""
    angle = Quaternion(a).rotation_difference(Quaternion(b)).angle
    return min(angle, 2.0 * np.pi - angle)


def assert_shows(scene: bpy.types.Scene, items: Sequence[bpy.types.Object], frame: Frame) -> None:
    """The objects are where the frame says, turned as it says, at its time."""
    scene.frame_set(frame.number)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for i, item in enumerate(items):
        shown = item.evaluated_get(depsgraph)
        location, rotation, _ = shown.matrix_world.decompose()
        np.testing.assert_allclose(location, frame.position[i], atol=1e-5)
        # arc cosines of 32-bit numbers near 1 are no finer than this
        assert abs(rotation.dot(Quaternion(frame.rotation[i].tolist()))) > 1.0 - 1e-6
        np.testing.assert_allclose(shown["velocity"], frame.velocity[i], atol=1e-6)
