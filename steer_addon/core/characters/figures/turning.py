"""Rotations of many poses at once, and the skin that follows them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..figure import Skeleton

Floats = NDArray[np.float64]


def turn(axis: int, angle: Floats | float) -> Floats:
    """Matrices that turn about an axis of the figure's space.

    Args:
        axis: 0, 1, 2 for x, y, z.
        angle: Angles [rad], shape (...).

    Returns:
        Matrices, shape (..., 3, 3).
    """
    angle = np.asarray(angle, float)
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = c
    matrix[..., j, i], matrix[..., i, j] = s, -s
    return matrix


def moved(matrix: Floats, vector: Floats) -> Floats:
    """Vectors turned by matrices, shape (..., 3)."""
    result: Floats = np.einsum("...ij,...j->...i", matrix, vector)
    return result


def frames(along: Floats, ahead: Floats) -> Floats:
    """Orthonormal matrices whose columns are a direction, the part of another one across, the rest.

    Args:
        along: Directions, not zero, shape (..., 3).
        ahead: Directions that are not along the first ones, shape (..., 3).
    """
    first = along / np.linalg.norm(along, axis=-1, keepdims=True)
    second = ahead - first * np.sum(first * ahead, axis=-1, keepdims=True)
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    return np.stack([first, second, np.cross(first, second)], axis=-1)


def quaternions(matrix: Floats) -> Floats:
    """Unit quaternions (w, x, y, z) of rotation matrices, shape (..., 4); w >= 0."""
    m = matrix
    diagonal = np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]], axis=-1)
    trace = diagonal.sum(axis=-1)
    # four times w, x, y, z each times the quaternion: take the largest (Shepperd 1978)
    table = np.empty((*trace.shape, 4, 4))
    table[..., 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        table[..., i + 1, i + 1] = 1.0 + 2.0 * diagonal[..., i] - trace
        table[..., 0, i + 1] = table[..., i + 1, 0] = m[..., k, j] - m[..., j, k]
        table[..., j + 1, k + 1] = table[..., k + 1, j + 1] = m[..., j, k] + m[..., k, j]
    largest = np.argmax(np.einsum("...ii->...i", table), axis=-1)
    chosen = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    chosen = chosen / np.linalg.norm(chosen, axis=-1, keepdims=True)
    return np.where(chosen[..., :1] < 0.0, -chosen, chosen)


def matrices(quaternion: Floats) -> Floats:
    """Rotation matrices of quaternions (w, x, y, z), which need not be of length 1."""
    q = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    w, x, y, z = (q[..., i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def joint_places(skeleton: Skeleton, root: Floats, turned: Floats) -> Floats:
    """Places of joints whose bones keep their lengths.

    Args:
        skeleton: The joints.
        root: Places of the root [m], shape (pose_count, 3).
        turned: Rotations, shape (pose_count, joint_count, 3, 3).

    Returns:
        Places [m], shape (pose_count, joint_count, 3).
    """
    places = np.empty((*turned.shape[:2], 3))
    for joint, parent in enumerate(skeleton.parents):
        if parent < 0:
            places[:, joint] = root
        else:
            bone = (skeleton.rest[joint] - skeleton.rest[parent]).astype(float)
            places[:, joint] = places[:, parent] + turned[:, parent] @ bone
    return places


def skinned(rest: Floats, bones: NDArray[np.int32], shares: Floats, skeleton: Skeleton,
            places: Floats, turns: Floats) -> NDArray[np.float32]:  # fmt: skip
    """Vertices of all poses, each turned about the joint where its two bones meet.

    A vertex takes a rotation between those of its bones: what bends keeps its girth, other than by
    a mean of two places (Kavan & Zara 2005, spherical blend skinning).

    Args:
        rest: Vertices in the rest pose [m], shape (vertex_count, 3).
        bones: Parent and child joint of each vertex, shape (vertex_count, 2).
        shares: Share of the child, shape (vertex_count,).
        skeleton: The joints.
        places: Their places in each pose [m], shape (pose_count, joint_count, 3).
        turns: Their rotations as quaternions (w, x, y, z), shape (pose_count, joint_count, 4).

    Returns:
        Vertices [m], shape (pose_count, vertex_count, 3).
    """
    keys = np.column_stack([bones, np.round(shares * 256.0)]).astype(np.int32)
    kinds, kind = np.unique(keys, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    positions = np.empty((len(places), len(rest), 3), np.float32)
    for number, (parent, child, share) in enumerate(kinds):
        one, other, part = turns[:, parent], turns[:, child], share / 256.0
        sign = np.where(np.sum(one * other, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        matrix = matrices(one * (1.0 - part) + sign * other * part)
        mine = np.flatnonzero(kind == number)
        about = skeleton.rest[child]
        around = (rest[mine] - about) @ np.swapaxes(matrix, -1, -2)
        positions[:, mine] = around + places[:, child, None]
    return positions


def between(one: Floats, other: Floats, share: Floats) -> Floats:
    """Rotations between others that are near each other.

    Args:
        one: Rotations, shape (n, 3, 3).
        other: As many others.
        share: Share of those, from 0 to 1, shape (n,).
    """
    mixed = one + share[:, None, None] * (other - one)
    u, _, v = np.linalg.svd(mixed)
    result: Floats = u @ v
    return result
