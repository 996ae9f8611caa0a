"""Actions that lie or face elsewhere than the walk: their root bones are turned and moved."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ...core.characters.aligning import AHEAD, Facing, facing_of, spin_of
from ...core.characters.pose_space import F32
from .sampling import Sampler, Track, matrix_of, row_of


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
    put(sampler.rig, track, facing)


def put(rig: bpy.types.Object, track: Track, facing: Facing) -> None:
    """Turn and move an action of a rig, in units of the scene.

    It is the root bones that are moved, so that blends lie between two poses that face one way.
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
            moved = Matrix(facing.matrix(float(time)).tolist()) @ world @ matrix_of(values[number])
            values[number] = row_of(world.inverted_safe() @ moved)
