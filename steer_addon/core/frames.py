"""What is kept of a frame: enough to show it, not to resume from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .agents import Agents
from .settings import MotionSettings


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """A crowd at one frame, as displays and bakes need it. World space, SI units."""

    number: int
    """Frame number of the scene."""
    id: NDArray[np.int64]
    """Identities, shape (agent_count,)."""
    position: NDArray[np.float32]
    """Positions [m], shape (agent_count, 3)."""
    velocity: NDArray[np.float32]
    """Velocities [m/s], shape (agent_count, 3)."""
    rotation: NDArray[np.float32]
    """Unit quaternions (w, x, y, z) that turn the forward axis to the heading, (agent_count, 4)."""
    radius: NDArray[np.float32]
    """Body radii [m], shape (agent_count,)."""

    @property
    def speed(self) -> NDArray[np.float32]:
        """Speeds [m/s], shape (agent_count,)."""
        result: NDArray[np.float32] = np.linalg.norm(self.velocity, axis=1).astype(np.float32)
        return result


_FORWARD = {"POS_X": 0.0, "POS_Y": np.pi / 2, "NEG_X": np.pi, "NEG_Y": -np.pi / 2}


def rotations(heading: NDArray[np.float32], forward_axis: str) -> NDArray[np.float32]:
    """Quaternions that turn an object's forward axis to the headings, upright.

    Args:
        heading: Unit headings, shape (agent_count, 3).
        forward_axis: One of POS_X, POS_Y, NEG_X, NEG_Y.

    Returns:
        Unit quaternions (w, x, y, z), shape (agent_count, 4): a yaw about Z, then a pitch.
    """
    h = heading.astype(np.float64)
    flat = np.hypot(h[:, 0], h[:, 1])
    direction = np.arctan2(h[:, 1], h[:, 0])
    # straight up or down has no yaw of its own
    direction = np.where(flat < 1e-6, _FORWARD[forward_axis], direction)
    yaw = (direction - _FORWARD[forward_axis]) / 2
    pitch = -np.arctan2(h[:, 2], flat) / 2
    # pitch turns about the horizontal axis to the left of the forward axis
    side_angle = _FORWARD[forward_axis] + np.pi / 2
    sx, sy = np.cos(side_angle), np.sin(side_angle)
    cy, zy = np.cos(yaw), np.sin(yaw)
    cp, sp = np.cos(pitch), np.sin(pitch)
    qx, qy = sp * sx, sp * sy
    result = np.stack([cy * cp, cy * qx - zy * qy, cy * qy + zy * qx, zy * cp], axis=1)
    return np.ascontiguousarray(result, dtype=np.float32)


def make_frame(number: int, agents: Agents, motion: MotionSettings) -> Frame:
    """What is kept of these agents at this frame; walking agents stay upright on slopes."""
    heading = agents.heading
    if motion.motion == "GROUND":
        heading = heading * np.array([1.0, 1.0, 0.0], np.float32)
    return Frame(
        number=number,
        id=agents.id.copy(),
        position=agents.position.copy(),
        velocity=agents.velocity.copy(),
        rotation=rotations(heading, motion.forward_axis),
        radius=agents.radius.copy(),
    )
