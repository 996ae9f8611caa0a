"""The pose that an agent shows at a frame, and how it is placed, as the Crowd node group has it.

It is needed where frames are written for programs that know no nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .cast import POSTURE
from .pose_space import F32, Row

F64 = NDArray[np.float64]
Columns = Mapping[str, NDArray[np.float32]]
SHEARS = POSTURE[POSTURE.index("slope_ahead") : POSTURE.index("curve")]
"""Attributes that say how a body stands at its agent."""


def pose_numbers(rows: Sequence[Row], gait: F32, phase: F32) -> NDArray[np.int64]:
    """Number of the pose of each agent, shape (n,).

    Args:
        rows: The rows of its character, gaits before clips.
        gait: Number of its row, shape (n,); what is beyond them counts as the nearest.
        phase: Cycles since the start, shape (n,).
    """
    number = np.clip(np.rint(gait).astype(np.int64), 0, len(rows) - 1)
    first, count = (np.array([getattr(r, n) for r in rows])[number] for n in ("first", "count"))
    loops = np.array([row.loops for row in rows])[number]
    part = phase - np.floor(phase)
    nearest = np.floor(part * count.astype(np.float32) + np.float32(0.5)).astype(np.int64)
    inside = np.where(loops, nearest % count, np.minimum(nearest, count - 1))
    return np.asarray(first + inside, np.int64)


def neighbors(row: Row, pose: int) -> tuple[int, int, float]:
    """The poses before and after a pose of a row, and the time between them [s].

    Args:
        row: The row.
        pose: Number of the pose within it.
    """
    step = row.duration / row.count
    if row.loops:
        return (pose - 1) % row.count, (pose + 1) % row.count, 2.0 * step
    before, after = max(pose - 1, 0), min(pose + 1, row.count - 1)
    return before, after, (after - before) * step


def stances(shears: F64, upright: float) -> F64:
    """Matrices that keep the feet of bodies on slopes and curves, and lean them, shape (n, 4, 4).

    A body is turned and shifted in place, tilted by a part of the slope, and sheared by the rest,
    which lifts each foot as it is ahead or aside. On steps of the ground it is lifted as a whole.

    Args:
        shears: Values of `SHEARS`, shape (n, 8).
        upright: Share of the slope by which bodies are not tilted, 0 to 1.
    """
    ahead, side, lean_ahead, lean_side, twist, on, aside, lift = np.asarray(shears, np.float64).T
    rise = np.hypot(ahead, side)
    steepness = np.arctan(rise)
    flat = np.where(rise > 0.0, rise, 1.0)
    share = np.tan(steepness * upright) / flat
    shear = np.tile(np.eye(4), (len(rise), 1, 1))
    shear[:, 2, 1], shear[:, 2, 0] = -share * ahead, -share * side
    shear[:, 1, 2], shear[:, 0, 2] = -lean_ahead, -lean_side
    # Rodrigues' formula about (-ahead, side, 0), which is level
    x, y, level = -ahead / flat, side / flat, np.zeros(len(rise))
    axis = np.array([[level, level, y], [level, level, -x], [-y, x, level]])
    cross = np.moveaxis(axis, -1, 0)
    angle = (steepness * (1.0 - upright))[:, None, None]
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    shear[:, :3, :3] = turn @ shear[:, :3, :3]
    on_feet = np.tile(np.eye(4), (len(rise), 1, 1))
    on_feet[:, 0, 0] = on_feet[:, 1, 1] = np.cos(twist)
    on_feet[:, 1, 0], on_feet[:, 0, 1] = np.sin(twist), -np.sin(twist)
    on_feet[:, 0, 3], on_feet[:, 1, 3] = -aside, -on
    matrices: F64 = shear @ on_feet
    matrices[:, 2, 3] += lift
    return matrices


def orientations(rotation: F32, columns: Columns, angle: float, upright: float | F64 = 1.0) -> F64:
    """Rotations of characters, as quaternions (w, x, y, z), shape (n, 4).

    Instances of Steer are sheared, so that feet stay on slopes and bodies lean, see `stances`;
    where there are rotations only, bodies lean as far, and tilt by half of the slope more, which
    halves how far feet are above or below it.

    Args:
        rotation: Rotations of the agents, (w, x, y, z), shape (n, 4).
        columns: Attributes of the agents, each of shape (n,).
        angle: Turn about z from -y to the side of the body that faces ahead [rad].
        upright: Share of the slope by which instances of Steer are not tilted, 0 to 1, for all or
            of shape (n,).
    """
    half = 0.5 * angle
    turned = _product(rotation.astype(np.float64), np.array([np.cos(half), 0.0, 0.0, np.sin(half)]))
    if SHEARS[0] not in columns:
        return turned
    w, x, y, z = turned.T
    # where y goes to: behind the body
    back = 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z)
    yaw = 0.5 * np.arctan2(-back[0], back[1])
    yaw = yaw + 0.5 * np.asarray(columns.get("twist", 0.0), np.float64)
    yawed = np.stack([np.cos(yaw), 0.0 * yaw, 0.0 * yaw, np.sin(yaw)], axis=1)
    return _product(yawed, _tilted(columns, len(yaw), 1.0 - 0.5 * upright))


def shifts(rotation: F64, columns: Columns) -> F64:
    """How far bodies of usual size are from their agents, on curves and steps [m], shape (n, 3).

    Args:
        rotation: Rotations of characters, (w, x, y, z), shape (n, 4).
        columns: Attributes of the agents, each of shape (n,).
    """
    level = np.zeros(len(rotation))
    on, aside, twist, ahead, side, lift = (
        np.asarray(columns.get(name, level), np.float64)
        for name in ("shift_ahead", "shift_side", "twist", "slope_ahead", "slope_side", "lift")
    )
    w, x, y, z = rotation.T
    yaw = np.arctan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z)) - twist
    cosine, sine = np.cos(yaw), np.sin(yaw)
    rise = ahead * on + side * aside + lift
    return np.stack([sine * on - cosine * aside, -cosine * on - sine * aside, rise], axis=1)


def _tilted(columns: Columns, count: int, part: float | F64) -> F64:
    """Rotations that lean bodies as far as they do, and tilt them by a part of the slope."""
    level = np.zeros(count)
    ahead, side, lean_ahead, lean_side = (
        np.asarray(columns.get(name, level), np.float64) for name in SHEARS[:4]
    )
    about_x = np.arctan(lean_ahead) - part * np.arctan(ahead)
    about_y = part * np.arctan(side) - np.arctan(lean_side)
    angle = np.hypot(about_x, about_y)
    factor = 0.5 * np.sinc(0.5 * angle / np.pi)
    return np.stack([np.cos(0.5 * angle), factor * about_x, factor * about_y, level], axis=1)


def _product(first: F64, second: F64) -> F64:
    """Products of quaternions: the second rotation, then the first one."""
    w, x, y, z = first.T
    a, b, c, d = second.T
    return np.stack(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ],
        axis=1,
    )
