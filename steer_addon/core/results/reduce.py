"""Which keys of a recorded motion are enough to replay it within a tolerance.

Between two kept keys a player interpolates linearly in time, and quaternions component by
component and then to unit length, as Blender does. From each kept key the next is looked for by
doubling the stride while every recorded sample in between stays within the tolerance, and then
by bisection. Each segment that is kept was measured at all of its samples, so the bound is exact;
the number of keys is small, not the smallest possible.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiled.jit import kernel
from ..errors import ParameterError


@kernel
def _rotation_error(rotation, a, b, i, w):
    """Distance on the unit sphere between interpolated and recorded quaternion, as a chord."""
    size_lerp = 0.0
    size_recorded = 0.0
    for k in range(4):
        lerp = rotation[a, k] + w * (rotation[b, k] - rotation[a, k])
        size_lerp += lerp * lerp
        size_recorded += rotation[i, k] * rotation[i, k]
    size_lerp = math.sqrt(size_lerp)
    size_recorded = math.sqrt(size_recorded)
    if size_lerp < 1.0e-9 or size_recorded < 1.0e-9:
        return 2.0
    same = 0.0
    opposite = 0.0
    for k in range(4):
        lerp = (rotation[a, k] + w * (rotation[b, k] - rotation[a, k])) / size_lerp
        recorded = rotation[i, k] / size_recorded
        same += (lerp - recorded) * (lerp - recorded)
        opposite += (lerp + recorded) * (lerp + recorded)
    # q and -q are one rotation
    return math.sqrt(min(same, opposite))


@kernel
def _fits(times, values, rotation, tolerance, chord, a, b):
    """Whether samples a to b may be replaced by the straight line between a and b."""
    if b == a + 1:
        return True
    if rotation.shape[0] > 0:
        aligned = 0.0
        for k in range(4):
            aligned += rotation[a, k] * rotation[b, k]
        if aligned < 0.0:
            # the player would turn the short way, and the recorded turn was the long one
            return False
    for i in range(a + 1, b):
        w = (times[i] - times[a]) / (times[b] - times[a])
        square = 0.0
        for k in range(values.shape[1]):
            error = values[a, k] + w * (values[b, k] - values[a, k]) - values[i, k]
            square += error * error
        if not math.sqrt(square) <= tolerance:
            return False
        if rotation.shape[0] > 0 and not _rotation_error(rotation, a, b, i, w) <= chord:
            return False
    return True


@kernel
def _farthest(times, values, rotation, tolerance, chord, a, first, stride, last):
    """Farthest sample found among first, first + stride, … last that a reaches; a if none."""
    count = (last - first + stride - 1) // stride + 1
    good = 0
    bad = count + 1
    k = 1
    while True:
        if not _fits(
            times, values, rotation, tolerance, chord, a, min(first + (k - 1) * stride, last)
        ):
            bad = k
            break
        good = k
        if k == count:
            break
        k = min(2 * k, count)
    if good == 0:
        return a
    while bad - good > 1 and bad <= count:
        k = (good + bad) // 2
        if _fits(times, values, rotation, tolerance, chord, a, min(first + (k - 1) * stride, last)):
            good = k
        else:
            bad = k
    return min(first + (good - 1) * stride, last)


@kernel
def _reduce_kernel(times, values, rotation, tolerance, chord, step, kept):
    """Fill `kept` with the indices of the kept samples and return how many there are."""
    last = times.shape[0] - 1
    kept[0] = 0
    count = 1
    a = 0
    while a < last:
        grid = min((a // step + 1) * step, last)
        b = _farthest(times, values, rotation, tolerance, chord, a, grid, step, last)
        if b == a:
            # even the next sample of the grid is too far: keys in between are needed
            b = _farthest(times, values, rotation, tolerance, chord, a, a + 1, 1, grid)
        kept[count] = b
        count += 1
        a = b
    return count


def reduce_keys(
    times: ArrayLike,
    values: ArrayLike,
    tolerance: float,
    *,
    rotation: ArrayLike | None = None,
    rotation_tolerance: float = 180.0,
    step: int = 1,
) -> NDArray[np.int64]:
    """Choose the samples whose linear interpolation replays all samples within a tolerance.

    Args:
        times: Sample times, strictly increasing, shape (sample_count,).
        values: One curve, shape (sample_count, dimension); the error is the Euclidean distance.
        tolerance: Largest error at any sample, in the unit of `values`; 0 drops only
            samples that lie on a line to the last bit.
        rotation: Quaternions, neighbors on the same hemisphere (see `tracks.continuous`),
            shape (sample_count, 4), or None.
        rotation_tolerance: Largest turn between interpolated and recorded rotation [deg].
        step: Keys fall on every step-th sample wherever that is close enough.

    Returns:
        Increasing indices, the first and the last sample among them, shape (key_count,).

    Raises:
        ParameterError: The shapes do not fit, or a number is out of range.
    """
    t = np.array(times, dtype=np.float64)
    v = np.array(values, dtype=np.float64)
    q = np.zeros((0, 4)) if rotation is None else np.array(rotation, dtype=np.float64)
    if t.ndim != 1 or v.ndim != 2 or len(v) != len(t):
        raise ParameterError(
            f"times of shape {t.shape} and values of shape {v.shape} do not fit: "
            "give (sample_count,) and (sample_count, dimension)"
        )
    if rotation is not None and q.shape != (len(t), 4):
        raise ParameterError(f"rotation has shape {q.shape}: give ({len(t)}, 4)")
    if not tolerance >= 0.0 or not rotation_tolerance >= 0.0:
        raise ParameterError(
            f"tolerance is {tolerance:g} and rotation_tolerance {rotation_tolerance:g}: "
            "give 0 or more"
        )
    if step < 1:
        raise ParameterError(f"step is {step}: give 1 or more")
    if np.any(np.diff(t) <= 0.0):
        raise ParameterError("times do not increase: sort the samples and drop doubles")
    if len(t) == 0:
        return np.zeros(0, dtype=np.int64)
    # half the turn is the angle on the quaternion sphere, and half of that is the chord's
    chord = 2.0 * math.sin(math.radians(min(rotation_tolerance, 180.0)) / 4.0)
    kept = np.zeros(len(t), dtype=np.int64)
    count = int(_reduce_kernel(t, v, q, float(tolerance), chord, int(step), kept))
    result: NDArray[np.int64] = kept[:count].copy()
    return result
