"""All data that a crowd shows as positions of a PC2 file, for a Blender without USD.

Four points belong to each agent, in four blocks: its position, its rotation as a vector (axis times
angle), its velocity, and whether it is alive (x is 1 or 0). A node group on the state object turns
the last three into attributes of the first. Between frames Blender interpolates them all in a
straight line, so of all vectors for the same rotation, a frame has the one that is nearest to that
of the frame before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.doors import tomllib
from ...core.results.frames import Frame
from ..display import node_builder

BLOCKS = 4
GROUP_NAME = "Steer Playback"
VERSION_KEY = "steer_playback_version"
VERSION = 1


def packed_points(frames: Iterable[Frame]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The points of each frame, shape (4 * agent_count, 3), with its number."""
    before: NDArray[np.float64] | None = None
    for frame in frames:
        before = rotation_vectors(frame.rotation, before)
        flags = np.zeros_like(frame.position)
        flags[:, 0] = frame.alive != 0
        blocks = [frame.position, before.astype(np.float32), frame.velocity, flags]
        yield frame.number, np.concatenate(blocks)


def rotation_vectors(
    rotation: NDArray[np.float32], before: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Axis times angle [rad] of rotations.

    Args:
        rotation: Unit quaternions (w, x, y, z), shape (agent_count, 4).
        before: Vectors of the frame before, shape (agent_count, 3): of all vectors for the same
            rotation the one that is nearest along its axis is taken.
    """
    q = rotation.astype(np.float64)
    size = np.linalg.norm(q[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(size, q[:, 0])
    axis = np.zeros((len(q), 3))
    axis[:, 2] = 1.0
    turned = size > 1.0e-9
    axis[turned] = q[turned, 1:] / size[turned, None]
    if before is None or len(before) != len(q):
        angle = np.where(angle > np.pi, angle - 2.0 * np.pi, angle)
    else:
        along = np.einsum("ij,ij->i", axis, before)
        angle += 2.0 * np.pi * np.round((along - angle) / (2.0 * np.pi))
    return axis * angle[:, None]


def ensure_group() -> bpy.types.NodeTree:
    """This file's node group that unpacks the points, made if needed."""
    for group in bpy.data.node_groups:
        if group.library is None and group.get(VERSION_KEY) == VERSION:
            return group
    group = node_builder.modifier_group(GROUP_NAME, "Reads a crowd baked by Steer from a PC2 file")
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    node_builder.add_nodes(group, data["nodes"])
    group[VERSION_KEY] = VERSION
    return group
