"""How bodies turn and shift at each phase of a gait, on curves and slopes, so that feet stay.

A body that goes along a curve turns with it, and would turn its planted feet too. People do not:
they turn about the foot that stands, and hardly at all while both do. So a pose is turned by some
more or less than its agent, and shifted, as a function of the phase and in proportion to the
curvature. It is fitted to the planted vertices of a row, so that they slip as little as possible.

To first order in the curvature, a vertex that is `a` ahead and `l` to the left of the root stands
still where a + (t·a)' + s' = 0 (to the left) and f' - l - (t·l)' = 0 (ahead), with the turn t, the
shifts s and f per curvature, and ' for the change per way of the root. So while one foot stands t
falls as the way grows, and in the flight of a runner it comes back within a few centimeters. These
are changes over a frame at the speed of the gait, in which a runner goes further than from one knot
to the next. All three are 0 where feet pass each other, since gaits change there.

Bodies that lean, or are on a slope, need the same. An upright one lifts its feet straight up, which
on a slope is a part along the ground; one that leans into a curve takes what it lifts to the
inside. The feet of real clips are never quite still while they are planted: heels land and lift by
centimeters within the ground that counts as theirs. A heel that rises behind the toes goes further
than they, which looks as if the foot turned. So bodies of rigs are turned and shifted against it,
in proportion to how far they lean to the side and ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pose_space import KNOTS, PoseSpace, Row
from .steadying import BAND, bends, hats

F64 = NDArray[np.float64]
Table = tuple[tuple[float, ...], ...]
"""Turn and shifts at even phases, see `Row.turning` and `Row.rolling`."""

_FPS = 24.0
"""Frames in a second: what counts is how far planted feet move from one to the next."""
_WITH_GROUND = 0.14
"""Share of the way of the ground by which that of a planted vertex differs from it at most: those
that slip further do so on any curve. With more, the median slip of walks grows, whose body cannot
turn while both feet stand; with less, their largest slips do."""
_SAMPLES = 6000
"""Steps of planted vertices to which a row is fitted at most; more change nothing."""
_ROUNDS = 2
"""Rounds in which larger slips count less: with them the median slip falls, not only the mean."""
_USUAL = 0.1
"""Slip per way and curvature below which it counts in full [m]."""
_SMOOTH = 0.002
"""Weight of the bends per way against that of slips [m]: it decides where nothing is planted. With
more, bodies turn too little in runs, whose feet are planted for a short time; with less, far hands
jump as gaits change."""
_SMOOTH_LEANING = 0.0005
"""The same for bodies that lean."""


def with_turning(space: PoseSpace, rig: bool = False) -> PoseSpace:
    """A pose space whose gaits know how bodies turn on curves.

    Args:
        space: The poses.
        rig: Whether it is that of a rig. Then they know, too, what feet need that roll while they
            are planted, see `Row.rolling`, and how far hands are to the side, see `Row.reach`:
            bodies that change between gaits anywhere do not turn suddenly.
    """
    height = float(np.ptp(space.positions[0, :, 2]))
    gaits = []
    for row in space.gaits:
        points = space.positions[row.first : row.first + row.count]
        steps = planted(points, row, height) if row.stride > 0.0 else None
        row = replace(row, turning=() if steps is None else steps.turning())
        if rig:
            reach = round(float(np.abs(points[..., 0]).max()), 3)
            row = replace(row, rolling=() if steps is None else steps.rolling(), reach=reach)
        gaits.append(row)
    return PoseSpace(space.positions, tuple(gaits), space.clips)


@dataclass(frozen=True)
class Planted:
    """Vertices of a row that stand on the ground for a frame.

    Attributes:
        row: The gait.
        ahead: How far they are ahead [m], shape (n,).
        left: How far they are to the left [m], likewise.
        rise: How far they rise in the frame, per way of it.
        to_left: How far turns, shifts ahead and shifts to the left at the knots move them to the
            left, per way of the frame, shape (n, 3 KNOTS).
        to_front: How far these move them ahead, likewise.
    """

    row: Row
    ahead: F64
    left: F64
    rise: F64
    to_left: F64
    to_front: F64

    def turning(self) -> Table:
        """The turn and the shifts of the gait at `KNOTS` even phases, see `Row.turning`.

        Returns:
            Turn to the left [rad m], shift ahead and shift to the right [m²] at each, all per
            curvature.
        """
        return self._fitted(-self.ahead, self.left, _SMOOTH)

    def rolling(self) -> Table:
        """What these need of a body that leans, at `KNOTS` even phases, see `Row.rolling`.

        Returns:
            Turn to the left [rad], shift ahead and shift to the right [m] at each, for a lean to
            the right by a tangent of 1, and the same three for one ahead.
        """
        none = np.zeros_like(self.rise)
        to_side = self._fitted(self.rise, none, _SMOOTH_LEANING)
        to_front = self._fitted(none, -self.rise, _SMOOTH_LEANING)
        return tuple(a + b for a, b in zip(to_side, to_front, strict=True))

    def _fitted(self, left: F64, front: F64, smooth: float) -> Table:
        """Turns and shifts at the knots, 0 where feet pass each other: those of the least slips.

        Args:
            left: How far they are to move vertices to the left, per way, shape (n,).
            front: How far they are to move them ahead, likewise.
            smooth: Weight of the bends per way against that of slips [m].

        Returns:
            Turn to the left, shift ahead and shift to the right at each knot.
        """
        free = np.ones((3, KNOTS), np.bool_)
        free[:, :: KNOTS // (4 if self.row.both_sides else 2)] = False
        kept = free.ravel()
        rate = KNOTS / self.row.stride
        held: Any = np.kron(np.eye(3), bends(KNOTS) * smooth * rate**2)[:, kept]
        one, other = self.to_left[:, kept], self.to_front[:, kept]
        weights, solution = np.ones(len(left)), np.zeros(int(kept.sum()))
        for _ in range(_ROUNDS + 1):
            square = one.T @ (one * weights[:, None]) + other.T @ (other * weights[:, None])
            square += len(left) / KNOTS * float(weights.mean()) * held.T @ held
            found = one.T @ (left * weights) + other.T @ (front * weights)
            solution = np.linalg.solve(square, found)
            slip = np.hypot(one @ solution - left, other @ solution - front)
            weights = 1.0 / np.maximum(slip, _USUAL)
        result = np.zeros(3 * KNOTS)
        result[kept] = solution
        knots = np.round(result.reshape(3, KNOTS).T * [1.0, 1.0, -1.0], 6)
        return tuple((float(a), float(b), float(c)) for a, b, c in knots)


def planted(points: NDArray[np.float32], row: Row, height: float) -> Planted | None:
    """The vertices of a row that stand on the ground for a frame; none where none does.

    Args:
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        row: The gait.
        height: Height of the body [m].
    """
    count = len(points)
    frame = max(1, round(row.speed / _FPS / row.stride * count))
    way = frame * row.stride / count
    step, vertex = _standing(points, frame, way, height)
    if not len(step):
        return None
    later = (step + frame) % count
    first, last = points[step, vertex].astype(float), points[later, vertex].astype(float)
    before, after = (hats(number / count, KNOTS) / way for number in (step, later))
    moved, none = after - before, np.zeros_like(after)
    return Planted(
        row=row,
        ahead=-0.5 * (first[:, 1] + last[:, 1]),
        left=0.5 * (first[:, 0] + last[:, 0]),
        rise=(last[:, 2] - first[:, 2]) / way,
        to_left=np.hstack([before * first[:, 1:2] - after * last[:, 1:2], none, moved]),
        to_front=np.hstack([before * first[:, :1] - after * last[:, :1], moved, none]),
    )


def _standing(
    points: NDArray[np.float32], frame: int, way: float, height: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Poses and vertices that stand on the ground for a frame."""
    lowest = np.flatnonzero(points[..., 2].min(axis=0) < BAND * height)
    points = points[:, lowest]
    later = np.roll(points, -frame, axis=0)
    down = np.maximum(points[..., 2], later[..., 2]) < BAND * height
    slip = (later - points)[..., :2] - np.array([0.0, way], np.float32)
    down &= np.hypot(slip[..., 0], slip[..., 1]) < _WITH_GROUND * way
    step, vertex = np.nonzero(down)
    every = 1 + len(step) // _SAMPLES
    return step[::every], lowest[vertex[::every]]
