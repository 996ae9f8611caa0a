"""How bodies that lean, or are on a slope, keep the feet where they are that roll under them.

An upright body lifts its feet straight up, which on a slope is a part along the ground; one that
leans into a curve takes what it lifts to the inside. The feet of real clips are never quite still
while they are planted: heels land and lift by centimeters within the ground that counts as theirs.
A heel that rises behind the toes goes further than they, which looks as if the foot turned. So the
body is shifted and turned against it, as a function of the phase, and in proportion to how far it
leans to the side and ahead. It is fitted to the planted vertices of a row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .curves import planted
from .pose_space import PoseSpace, Row

_SMOOTH = 0.0005
"""Weight of the bends per way against that of slips [m]: it decides where nothing is planted."""


def with_rolling(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know how their planted feet roll."""
    height = float(np.ptp(space.positions[0, :, 2]))
    gaits = []
    for row in space.gaits:
        points = space.positions[row.first : row.first + row.count]
        fitted = rolling(points, row, height) if row.stride > 0.0 else ()
        gaits.append(replace(row, rolling=fitted, lifts=()))
    return PoseSpace(space.positions, tuple(gaits), space.clips)


def rolling(points: NDArray[np.float32], row: Row, height: float) -> tuple[tuple[float, ...], ...]:
    """What planted feet need of a body that leans, at `KNOTS` even phases, see `Row.rolling`.

    Args:
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        row: The gait.
        height: Height of the body [m].

    Returns:
        Turn to the left [rad], shift ahead and shift to the right [m] at each, for a lean to the
        right by a tangent of 1, and the same three for one ahead; nothing where no vertex is
        planted.
    """
    steps = planted(points, row, height)
    if steps is None:
        return ()
    none = np.zeros_like(steps.rise)
    to_side = steps.fitted(steps.rise, none, _SMOOTH)
    to_front = steps.fitted(none, -steps.rise, _SMOOTH)
    return tuple(a + b for a, b in zip(to_side, to_front, strict=True))
