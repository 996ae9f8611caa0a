"""Frames read as motions of single agents."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.errors import AgentError, SceneError
from steer_addon.core.results.frames import Frame
from steer_addon.core.results.tracks import (
    POSITION,
    ROTATION,
    VELOCITY,
    continuous,
    index_frames,
    read_tracks,
    turned,
)


def frame(number, ids):
    ids = np.asarray(ids, dtype=np.int64)
    count = len(ids)
    position = np.stack([ids + 0.5, np.full(count, number), np.zeros(count)], axis=1)
    return Frame(
        number=number,
        id=ids,
        position=position.astype(np.float32),
        velocity=(position * 2.0).astype(np.float32),
        rotation=np.tile(np.array([1, 0, 0, 0], np.float32), (count, 1)),
        radius=(0.1 * (ids + 1)).astype(np.float32),
        alive=np.ones(len(ids), np.uint8),
    )


def test_same_agents_in_every_frame():
    index = index_frames([frame(n, [7, 3, 5]) for n in (-2, 0, 4)])
    assert index.numbers.tolist() == [-2, 0, 4]
    assert index.id.tolist() == [7, 3, 5]
    assert index.row is None
    present, values = read_tracks(index, 1, 3)
    assert present.all() and present.shape == (2, 3)
    assert values.shape == (2, 3, 10)
    np.testing.assert_array_equal(values[:, :, 0], [[3.5] * 3, [5.5] * 3])
    np.testing.assert_array_equal(values[0, :, 1], [-2, 0, 4])
    np.testing.assert_array_equal(values[:, :, VELOCITY], 2.0 * values[:, :, POSITION])
    np.testing.assert_array_equal(values[0, 0, ROTATION], [1, 0, 0, 0])


def test_agents_are_matched_by_id():
    index = index_frames([frame(1, [4, 2]), frame(2, [2, 9, 4]), frame(3, [9])])
    assert index.id.tolist() == [4, 2, 9]
    np.testing.assert_allclose(index.radius, [0.5, 0.3, 1.0], rtol=1e-6)
    present, values = read_tracks(index, 0, 3)
    assert present.tolist() == [[True, True, False], [True, True, False], [False, True, True]]
    for agent, number in enumerate([4, 2, 9]):
        assert set(values[agent, present[agent], 0]) == {number + 0.5}
    assert not values[~present].any()


def test_agents_that_only_come_later():
    index = index_frames([frame(1, []), frame(2, [6])])
    assert index.id.tolist() == [6]
    present, _ = read_tracks(index, 0, 1)
    assert present.tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ([], "no frames"),
        ([frame(1, [])], "no agents"),
        ([frame(2, [1]), frame(1, [1])], "frame 1 comes after frame 2"),
        ([frame(1, [1]), frame(1, [1])], "frame 1 comes after frame 1"),
        ([frame(1, [1, 2, 1])], "id 1 belongs to 2 agents at frame 1"),
        ([frame(1, [1]), frame(2, [3, 3])], "id 3 belongs to 2 agents at frame 2"),
    ],
)
def test_bad_frames_are_named(frames, text):
    with pytest.raises(SceneError, match=text):
        index_frames(frames)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_infinite_numbers_are_named(bad):
    frames = [frame(1, [3, 8]), frame(2, [3, 8])]
    frames[1].position[1, 2] = bad
    with pytest.raises(AgentError, match="agent 8 .* frame 2"):
        read_tracks(index_frames(frames), 0, 2)


def test_continuous_flips_whole_quaternions_only():
    rng = np.random.default_rng(0)
    rotation = rng.normal(size=(200, 4)).astype(np.float32)
    result = continuous(rotation)
    assert np.all(np.sum(result[1:] * result[:-1], axis=1) >= 0.0)
    np.testing.assert_array_equal(np.abs(result), np.abs(rotation))
    np.testing.assert_array_equal(result[0], rotation[0])
    sign = result / rotation
    assert np.all(sign == sign[:, :1])
    assert continuous(rotation[:1]).shape == (1, 4)


def test_turned_acts_first():
    """A quarter turn about Z after one about X takes Y to Z, and Z to X."""
    half = np.sqrt(0.5)
    about_z = np.array([[half, 0, 0, half]], dtype=np.float32)
    both = turned(about_z, (half, half, 0.0, 0.0))
    np.testing.assert_allclose(both, [[0.5, 0.5, 0.5, 0.5]], atol=1e-7)
    np.testing.assert_array_equal(turned(about_z, (1.0, 0.0, 0.0, 0.0)), about_z)
