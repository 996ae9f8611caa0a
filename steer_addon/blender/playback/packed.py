"""All that a crowd shows as positions of a PC2 file, for a Blender that has no USD.

Four points belong to each agent, in four blocks: where it is, its rotation as a vector (axis times
angle), its velocity, and whether it is alive (x is 1 or 0). A node group on the state object turns
the last three into attributes of the first. Between frames Blender interpolates them all in a
straight line, so the rotation vector of a frame is the one of its equals that is nearest to that of
the frame before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.results.frames import Frame
from ...core.results.roster import placed
from ..display.node_builder import NodeBuilder
from ..writing.files import Header
from ..writing.mesh_cache import write_points

BLOCKS = 4
GROUP_NAME = "Steer Playback"
VERSION_KEY = "steer_playback_version"
VERSION = 1


def write_packed(
    frames: Iterable[Frame], path: Path, header: Header, *, ids: NDArray[np.int64] | None = None
) -> int:
    """Write frames to a PC2 file of four points per agent.

    Args:
        frames: Ascending frames without gaps.
        path: File to write.
        header: Header of the frames.
        ids: All identities there will be, where agents appear later on.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: There are no frames.
        AgentError: An agent appears that was not announced.
    """
    return write_points(_packed(placed(frames, ids)), path, header)


def _packed(frames: Iterable[Frame]) -> Iterator[tuple[int, NDArray[np.float32]]]:
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
        before: Vectors of the frame before, shape (agent_count, 3): of all vectors that mean the
            same the one that is nearest along its axis is taken.
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
    """This file's node group that unpacks the points, made where needed."""
    for group in bpy.data.node_groups:
        if group.library is None and group.get(VERSION_KEY) == VERSION:
            return group
    group = bpy.data.node_groups.new(GROUP_NAME, "GeometryNodeTree")
    group.is_modifier = True
    group.description = "Reads a crowd baked by Steer from a PC2 file"
    for in_out in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    _build(NodeBuilder(group))
    group[VERSION_KEY] = VERSION
    return group


def _build(build: NodeBuilder) -> None:
    points = build.node("NodeGroupInput", 0, 0).outputs["Geometry"]
    count = build.output("GeometryNodeAttributeDomainSize", 1, 1, "Point Count", Geometry=points)
    agents = build.output("ShaderNodeMath", 2, 1, operation="DIVIDE", inputs=[count, BLOCKS])
    index = build.output("GeometryNodeInputIndex", 1, 2)
    position = build.output("GeometryNodeInputPosition", 1, 3)

    def block(number: int) -> Any:
        """The values of one agent in a block."""
        row = 2 + number
        ahead = build.output(
            "ShaderNodeMath", 3, row, operation="MULTIPLY_ADD", inputs=[agents, number, index]
        )
        return build.output(
            "GeometryNodeSampleIndex", 4, row, data_type="FLOAT_VECTOR",
            Geometry=points, Value=position, Index=ahead,
        )  # fmt: skip

    turn, velocity, flags = block(1), block(2), block(3)
    angle = build.output("ShaderNodeVectorMath", 5, 3, "Value", operation="LENGTH", Vector=turn)
    rotation = build.output("FunctionNodeAxisAngleToRotation", 6, 3, Axis=turn, Angle=angle)
    speed = build.output("ShaderNodeVectorMath", 5, 4, "Value", operation="LENGTH", Vector=velocity)
    first = build.output("ShaderNodeSeparateXYZ", 5, 5, "X", Vector=flags)
    # an agent that appears is not there before its frame; one that dies is gone after its last
    alive = build.output(
        "FunctionNodeCompare", 6, 5, data_type="FLOAT", operation="GREATER_THAN", A=first, B=0.999
    )
    other = build.output(
        "FunctionNodeCompare", 6, 2, data_type="FLOAT", operation="GREATER_EQUAL",
        A=index, B=agents,
    )  # fmt: skip
    # first of all, so that the rest is done for a fourth of the points
    points = build.output(
        "GeometryNodeDeleteGeometry", 7, 0, domain="POINT", Geometry=points, Selection=other
    )
    column = 8.0
    for name, kind, value in (
        ("rotation", "QUATERNION", rotation),
        ("velocity", "FLOAT_VECTOR", velocity),
        ("speed", "FLOAT", speed),
        ("alive", "BOOLEAN", alive),
    ):
        points = build.store(points, name, kind, value, column, 0)
        column += 1.0
    build.node("NodeGroupOutput", column, 0, Geometry=points)
