"""Frames: the part of a crowd that shows it, not enough to resume from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..behaviors import Behavior
from ..bounds import lengths
from ..characters.cast import posture
from ..crowd.settings import MotionSettings
from ..inputs.targets import Targets


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
    alive: NDArray[np.uint8]
    """0 for dead agents, which are not shown; shape (agent_count,)."""
    attributes: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """What behaviors show of their memory, and the posture of characters, by attribute name.

    Each has the shape (agent_count,).
    """

    @property
    def speed(self) -> NDArray[np.float32]:
        """Speeds [m/s], shape (agent_count,)."""
        result: NDArray[np.float32] = lengths(self.velocity).astype(np.float32)
        return result


_AHEAD = {"POS_X": (1, 0, 0), "POS_Y": (0, 1, 0), "NEG_X": (-1, 0, 0), "NEG_Y": (0, -1, 0)}
_FORWARD = {name: math.atan2(y, x) for name, (x, y, _) in _AHEAD.items()}


def rotations(
    heading: NDArray[np.float32], forward_axis: str, roll: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Quaternions that turn an object's forward axis to the headings, upright.

    Args:
        heading: Unit headings, shape (agent_count, 3).
        forward_axis: One of POS_X, POS_Y, NEG_X, NEG_Y.
        roll: How far each leans to its right [rad], shape (agent_count,), or None for not at all.

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
    if roll is not None and roll.any():
        result = _rolled(result, _FORWARD[forward_axis], roll.astype(np.float64) / 2)
    return np.ascontiguousarray(result, dtype=np.float32)


def _rolled(q: NDArray[np.float64], forward: float, half: NDArray[np.float64]) -> Any:
    """Quaternions after a turn about the object's own forward axis; angles are halves [rad]."""
    w, x, y, z = q.T
    c, s = np.cos(half), np.sin(half)
    fx, fy = s * np.cos(forward), s * np.sin(forward)
    return np.stack(
        [
            w * c - x * fx - y * fy,
            w * fx + x * c - z * fy,
            w * fy + y * c + z * fx,
            z * c + x * fy - y * fx,
        ],
        axis=1,
    )


def shown(agents: Agents, stack: Sequence[Behavior]) -> dict[str, NDArray[np.float32]]:
    """What behaviors show of their memory, by attribute name.

    The first entry of a type gives its plain name ("zone"), others put theirs before it.
    """
    found: dict[str, NDArray[np.float32]] = {}
    for entry in stack:
        memory = agents.memory.get(entry.key)
        for name, column in entry.definition.shows.items():
            if memory is None or memory.shape[1] <= column:
                values = np.zeros(agents.count, np.float32)
            else:
                values = memory[:, column].copy()
            found[f"{entry.key}.{name}" if name in found else name] = values
    return found


def make_frame(
    number: int,
    agents: Agents,
    motion: MotionSettings,
    stack: Sequence[Behavior] = (),
    *,
    arriving: bool = False,
    carried: Iterable[str] = (),
) -> Frame:
    """Make the frame of these agents; walking agents stay upright on slopes.

    Args:
        number: Frame number.
        agents: The crowd.
        motion: How it moves.
        stack: Its behaviors, some of which show what they remember.
        arriving: Whether to show which agents have `arrived`.
        carried: Names of point attributes that it carries, where the agents have them.
    """
    heading = agents.heading
    attributes = shown(agents, stack)
    if arriving:
        attributes["arrived"] = agents.arrived.astype(np.float32)
    walks = motion.motion == "GROUND"
    attributes |= posture(agents, walks)
    for name in carried:
        if name in agents.attributes:
            attributes.setdefault(name, agents.attributes[name].astype(np.float32))
    if walks:
        heading = heading * np.array([1.0, 1.0, 0.0], np.float32)
    return Frame(
        number=number,
        id=agents.id.copy(),
        position=agents.position.copy(),
        velocity=agents.velocity.copy(),
        rotation=rotations(heading, motion.forward_axis, agents.roll),
        radius=agents.radius.copy(),
        alive=agents.alive.copy(),
        attributes=attributes,
    )


def turned(quaternions: Any, vector: Any) -> NDArray[np.float64]:
    """`vector` turned by each quaternion (w, x, y, z), whatever their length."""
    axis = quaternions[:, 1:]
    length = np.einsum("ij,ij->i", quaternions, quaternions)
    scale = 2.0 / np.where(length > 0.0, length, 1.0)
    cross = np.cross(axis, vector)
    result: NDArray[np.float64] = vector + scale[:, None] * (
        quaternions[:, :1] * cross + np.cross(axis, cross)
    )
    return result


def forward_vector(forward_axis: str) -> NDArray[np.float64]:
    """Unit vector along an object's forward axis, in its own space."""
    return np.array(_AHEAD[forward_axis], np.float64)


def targets_of(frame: Frame, forward_axis: str, *, own: bool = False) -> Targets:
    """The living agents of a frame as targets.

    Args:
        frame: The frame.
        forward_axis: The forward axis that its rotations were made for.
        own: Whether the agents that steer by them are these very agents.
    """
    turns = frame.rotation.astype(np.float64)
    heading = turned(turns, forward_vector(forward_axis)).astype(np.float32)
    up = turned(turns, np.array([0.0, 0.0, 1.0])).astype(np.float32)
    found = Targets(frame.position, frame.velocity, heading, up, own)
    # agents that steer by their own crowd have one target a row; the solver knows which ones live
    return found if own else found.living(frame.alive)


def later(frame: Frame, part: float, step: float, after: Frame | None = None) -> Frame:
    """The crowd between a frame and the next one, as motion blur looks at it.

    The shutter of a frame opens before it: bodies have its poses then, or they would seem to go
    further than they do. Agents go straight on from the frame, or, where the next one is known and
    nearer, straight to that.

    Args:
        frame: The frame.
        part: Part of the time to the next one that has passed, 0 to 1.
        step: All of that time [s].
        after: The next frame; None if it is not known, or not always as time remapping shows it.
    """
    if part == 0.0:
        return frame
    if after is None or part < 0.5 or not np.array_equal(frame.id, after.id):
        return replace(frame, position=frame.position + frame.velocity * np.float32(part * step))
    share = np.float32(part)
    # of the two quaternions for a rotation, the one that is nearer
    same = np.einsum("ij,ij->i", frame.rotation, after.rotation)[:, None]
    rotation = (1 - share) * frame.rotation + np.where(same < 0.0, -share, share) * after.rotation
    return replace(
        after,
        position=frame.position + share * (after.position - frame.position),
        velocity=frame.velocity + share * (after.velocity - frame.velocity),
        rotation=rotation / np.linalg.norm(rotation, axis=1, keepdims=True),
        alive=frame.alive,
    )


def sharing(frame: Frame, before: Frame | None) -> Frame:
    """The frame, sharing arrays with the frame before where these are equal."""
    if before is None:
        return frame
    same: Mapping[str, Any] = {
        name: getattr(before, name)
        for name in ("id", "radius", "alive")
        if np.array_equal(getattr(before, name), getattr(frame, name))
    }
    return replace(frame, **same)
