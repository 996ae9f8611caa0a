"""Actions that lie or face elsewhere than the walk: their root bones are turned and moved."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.characters.aligning import AHEAD, Facing, facing_of, spin_of
from ...core.characters.pose_space import F32
from .sampling import Sampler, Track, matrix_of, row_of

F64 = NDArray[np.float64]


def straighten(sampler: Sampler, track: Track) -> None:
    """Take the turn of a whole cycle out of an action, as its root motion has it."""
    first, last = (sampler.pose(track.at(time), track.frame(time)) for time in (0.0, 1.0))
    face(sampler, track, spin_of(first, last))


def face_as(sampler: Sampler, track: Track, time: float, wanted: F32) -> None:
    """Let an action face and stand as another one does.

    Args:
        sampler: The rig.
        track: The action.
        time: The time at which they are compared, as a share of its duration.
        wanted: Vertices of the pose of the other one [m], shape (vertex_count, 3).
    """
    face(sampler, track, facing_of(sampler.pose(track.at(time), track.frame(time)), wanted))


def face(sampler: Sampler, track: Track, facing: Facing) -> None:
    """Turn and move an action [m], and remember it."""
    if facing == AHEAD:
        return
    facing = facing.scaled(1.0 / sampler.units)
    track.facings = (*track.facings, facing)
    put(sampler.rig, track, facing.matrix)


def hold(sampler: Sampler, track: Track, drift: F64) -> None:
    """Take the way out of an action that goes on by root motion.

    Args:
        sampler: The rig.
        track: The action.
        drift: How far it goes, x and y [m].
    """
    away = np.zeros((4, 4))
    away[:2, 3] = drift / sampler.units
    put(sampler.rig, track, lambda time: np.eye(4) - time * away)


def put(rig: bpy.types.Object, track: Track, moved: Callable[[float], F64]) -> None:
    """Turn and move an action of a rig.

    It is the root bones that are moved, so that blends lie between two poses that face one way.

    Args:
        rig: The armature.
        track: The action.
        moved: What moves it at a share of its duration, in units of the scene, shape (4, 4).
    """
    assert rig.pose is not None
    for number, bone in enumerate(rig.pose.bones):
        if bone.parent is not None:
            continue
        rest = bone.bone.matrix_local
        for values, time in zip(
            track.values, np.linspace(0.0, 1.0, len(track.values)), strict=True
        ):
            world = matrix_of(values[-1]) @ rest
            place = Matrix(moved(float(time)).tolist()) @ world @ matrix_of(values[number])
            values[number] = row_of(world.inverted_safe() @ place)
