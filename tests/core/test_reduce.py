"""The bound of the key reduction holds at every sample, and keys are few where motion is simple."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.errors import ParameterError
from steer_addon.core.results.reduce import reduce_keys
from steer_addon.core.results.tracks import continuous


def position_errors(times, values, kept):
    times, values = np.asarray(times, float), np.asarray(values, float)
    columns = [np.interp(times, times[kept], values[kept, k]) for k in range(values.shape[1])]
    return np.linalg.norm(np.stack(columns, axis=1) - values, axis=1)


def rotation_errors(times, rotation, kept):
    """Angles [deg] between the recorded rotations and those that Blender would show."""
    times, rotation = np.asarray(times, float), np.asarray(rotation, float)
    lerp = np.stack([np.interp(times, times[kept], rotation[kept, k]) for k in range(4)], axis=1)
    lerp /= np.linalg.norm(lerp, axis=1)[:, None]
    recorded = rotation / np.linalg.norm(rotation, axis=1)[:, None]
    apart = np.minimum(
        np.linalg.norm(lerp - recorded, axis=1), np.linalg.norm(lerp + recorded, axis=1)
    )
    return np.degrees(4.0 * np.arcsin(np.clip(apart / 2.0, 0.0, 1.0)))


def yaw(angles):
    angles = np.asarray(angles, float) / 2.0
    zero = np.zeros_like(angles)
    return continuous(
        np.stack([np.cos(angles), zero, zero, np.sin(angles)], axis=1).astype(np.float32)
    )


@st.composite
def motions(draw):
    """Rough and smooth motions on uneven frames, with turns of any size from frame to frame."""
    count = draw(st.integers(1, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.sampled_from([1.0e-3, 0.1, 1.0, 100.0]))
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.integers(1, 5, count)) + draw(st.integers(-1000, 1000))
    steps = rng.normal(size=(count, 3)) * size
    if draw(st.booleans()):
        steps = np.cumsum(steps, axis=0)
    values = (np.cumsum(steps, axis=0) + rng.normal(size=3) * 100.0).astype(np.float32)
    spin = draw(st.sampled_from([0.01, 0.3, 3.0]))
    return times, values, yaw(np.cumsum(rng.normal(size=count)) * spin)


@settings(max_examples=tried(200))
@given(
    motions(),
    st.sampled_from([0.0, 1.0e-4, 0.01, 0.5, 50.0]),
    st.sampled_from([0.0, 0.1, 5.0, 90.0, 180.0]),
    st.integers(1, 7),
)
def test_bound_holds_at_every_sample(motion, tolerance, rotation_tolerance, step):
    times, values, rotation = motion
    kept = reduce_keys(
        times,
        values,
        tolerance,
        rotation=rotation,
        rotation_tolerance=rotation_tolerance,
        step=step,
    )
    assert kept[0] == 0 and kept[-1] == len(times) - 1
    assert np.all(np.diff(kept) > 0)
    assert position_errors(times, values, kept).max() <= tolerance + 1.0e-10
    # 1e-6 degrees is what two ways to compute the same angle differ by
    assert rotation_errors(times, rotation, kept).max() <= rotation_tolerance + 1.0e-6
    aligned = np.sum(rotation[kept[1:]] * rotation[kept[:-1]], axis=1)
    assert np.all(aligned >= 0.0)


def test_straight_line_needs_its_ends_only():
    times = np.arange(-50, 200)
    values = np.outer(times, [0.25, -0.5, 0.125])
    assert reduce_keys(times, values, 1.0e-9).tolist() == [0, 249]


def test_change_of_speed_on_a_straight_path_is_kept():
    """The distance is measured at equal times, not to the nearest point of the path."""
    times = np.arange(21)
    values = np.where(times < 10, 0.0, (times - 10) * 1.0)[:, None]
    kept = reduce_keys(times, values, 0.001)
    assert 10 in kept
    assert len(kept) <= 4


def test_circle_needs_as_many_keys_as_its_sagitta_says():
    """A chord over the angle a leaves a circle of radius r by r (1 - cos a/2) at most."""
    times = np.arange(361)
    angle = np.radians(times)
    values = 10.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    kept = reduce_keys(times, values, 0.05)
    # the chord of largest allowed sagitta, less what uniform motion along it costs
    longest = np.degrees(2.0 * np.arccos(1.0 - 0.05 / 10.0))
    assert np.diff(kept).max() <= longest
    assert len(kept) <= 360 / (longest - 2.0) + 2


def test_rotation_alone_keeps_keys():
    times = np.arange(101)
    still = np.zeros((101, 3))
    turn = yaw(np.radians(times * 0.9))
    free = reduce_keys(times, still, 0.01, rotation=turn)
    bound = reduce_keys(times, still, 0.01, rotation=turn, rotation_tolerance=0.05)
    assert free.tolist() == [0, 100]
    assert 2 < len(bound) < 50


@pytest.mark.parametrize("tolerance", [0.2, 2.0, 10.0])
def test_rotation_tolerance_is_used_up_and_not_exceeded(tolerance):
    """A turn that speeds up, 0 to 360 degrees: the error is an angle, not a half or a double."""
    times = np.arange(301)
    turn = yaw(2.0 * np.pi * (times / 300.0) ** 2)
    kept = reduce_keys(times, np.zeros((301, 3)), 1.0, rotation=turn, rotation_tolerance=tolerance)
    assert 0.8 * tolerance < rotation_errors(times, turn, kept).max() <= tolerance + 1.0e-6


def test_keys_stay_on_the_grid_of_steps_where_that_is_close_enough():
    times = np.arange(101)
    values = np.zeros((101, 1))
    values[47] = 1.0
    kept = reduce_keys(times, values, 0.01, step=10)
    assert set(kept) >= {0, 46, 47, 48, 100}
    assert all(index % 10 == 0 or 40 < index < 50 for index in kept)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_curves_keep_everything(count):
    kept = reduce_keys(np.arange(count), np.zeros((count, 3)), 1.0, step=5)
    assert kept.tolist() == list(range(count))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"tolerance": -1.0}, "tolerance is -1"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"rotation_tolerance": -1.0}, "rotation_tolerance -1"),
        ({"step": 0}, "step is 0"),
        ({"times": [0, 1, 1]}, "do not increase"),
        ({"times": [0, 1]}, "do not fit"),
        ({"rotation": np.zeros((2, 4))}, r"give \(3, 4\)"),
    ],
)
def test_bad_input_is_named(change, text):
    arguments = {"times": [0, 1, 2], "values": np.zeros((3, 1)), "tolerance": 0.1, **change}
    with pytest.raises(ParameterError, match=text):
        reduce_keys(**arguments)


def test_compiled_and_plain_code_agree():
    from steer_addon.core.results import reduce

    rng = np.random.default_rng(3)
    values = np.cumsum(rng.normal(size=(60, 3)), axis=0)
    turn = yaw(np.cumsum(rng.normal(size=60) * 0.2)).astype(np.float64)
    times = np.arange(60.0)
    expected = reduce_keys(times, values, 0.7, rotation=turn, rotation_tolerance=20.0)
    kept = np.zeros(60, dtype=np.int64)
    chord = 2.0 * np.sin(np.radians(20.0) / 4.0)
    count = reduce._reduce_kernel.function(times, values, turn, 0.7, chord, 1, kept)
    assert kept[:count].tolist() == expected.tolist()
