"""Limbs of two bones that reach a place."""

from __future__ import annotations

import numpy as np

from .turning import Floats, frames

_STRAIGHT = 0.9995
"""Part of its length to which a leg stretches at most, so that knees never lock."""

_SIDEWAYS = np.array([-1.0, 0.0, 0.0])


def limb(rest: Floats, hip: Floats, ankle: Floats, ahead: Floats) -> tuple[Floats, Floats]:
    """Rotations of two bones from a hip to an ankle.

    Args:
        rest: Places of hip, knee and ankle in the rest pose [m], shape (3, 3).
        hip: Places [m], shape (n, 3).
        ankle: Places [m], shape (n, 3).
        ahead: Directions that the knee points to, shape (n, 3).

    Returns:
        Rotations of the upper and of the lower bone, shape (n, 3, 3).
    """
    bones = np.diff(rest, axis=0)
    one, two = np.linalg.norm(bones, axis=-1)
    knee, ankle = bent(hip, ankle, ahead, (float(one), float(two)))
    axis = np.cross(ankle - hip, ahead)
    rest_axis = _SIDEWAYS * np.sign(np.median(-axis[:, 0]))
    upper = frames(knee - hip, axis) @ frames(bones[0], rest_axis).T
    lower = frames(ankle - knee, axis) @ frames(bones[1], rest_axis).T
    return upper, lower


def bent(hip: Floats, ankle: Floats, ahead: Floats, lengths: tuple[float, float]
         ) -> tuple[Floats, Floats]:  # fmt: skip
    """Two bones from a hip to an ankle, whose knee points ahead.

    Args:
        hip: Places [m], shape (n, 3).
        ankle: Places [m], shape (n, 3); one out of reach is approached.
        ahead: Directions that the knee points to, shape (n, 3).
        lengths: Of both bones [m].

    Returns:
        Places of the knee and of the ankle.
    """
    one, two = lengths
    way = ankle - hip
    distance = np.linalg.norm(way, axis=-1, keepdims=True)
    reached = np.clip(distance, abs(one - two) * 1.001, _STRAIGHT * (one + two))
    frame = frames(way, ahead)
    along = (one**2 - two**2 + reached**2) / (2.0 * reached)
    out = np.sqrt(np.maximum(one**2 - along**2, 0.0))
    knee = hip + frame[..., 0] * along + frame[..., 1] * out
    return knee, hip + frame[..., 0] * reached
