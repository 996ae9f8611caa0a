"""Run of the scene with fish."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import Played, gaps, nearest_neighbor, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")

TANK = np.array([20.0, 12.0, 7.0])
"""Inner size of the tank that stands on the ground around the origin [m]."""
CENTER = np.array([0.0, 0.0, 3.5])
BODY = np.array([1.15, 0.17, 0.3])
"""Half the length, width and height of the shark [m]."""
UP = np.array([0.0, 0.0, 1.0])
FPS = 24.0


def test_school_of_fish_with_shark():
    # longer than others, until the school has closed again
    played = play("school_of_fish_with_shark", 220)
    school, shark = played["Fish"], played["Shark"]
    fish, hunter = school.positions, shark.positions[:, 0]
    # all of them stay in the tank, away from the glass
    for paths in (fish, hunter):
        assert (TANK / 2 - np.abs(paths - CENTER)).min() > 0.3
    # the shark swims into the school, which parts: some to the left of it, some to the right
    way, right = _axes(shark.velocities[:, 0])
    offsets = fish - hunter[:, None]
    beside = np.abs(_along(offsets, way)) < 1.5
    sides = _along(offsets, right)
    left_count, right_count = (beside & (sides < 0)).sum(1), (beside & (sides > 0)).sum(1)
    assert np.minimum(left_count, right_count).max() > 15
    # it takes more room for that, and less again later
    width = np.linalg.norm(fish - fish.mean(axis=1, keepdims=True), axis=2).mean(axis=1)
    assert width.max() > 1.5 * width[0] and width[-1] < 0.8 * width.max()
    # the shark gets near, but nobody is caught: none is in the ellipsoid around its body
    assert gaps(hunter[:, None], fish).min() < 1.5
    up = np.cross(right, way)
    parts = [_along(offsets, axis) for axis in (way, right, up)]
    inside = np.linalg.norm(np.stack(parts, axis=-1) / BODY, axis=-1)
    assert inside[1:].min() > 1.0
    # it stays a school, and nobody stops
    assert np.median(nearest_neighbor(fish[-1])) < 1.2
    assert np.linalg.norm(school.velocities, axis=2)[1:].min() > 0.79


def test_fish_bank_in_turns():
    school = play("school_of_fish_with_shark")["Fish"]
    lean, pull = _lean(school), _pull(school)
    # leaning takes a quarter of a second to build up: what the last six frames pull, on average
    mean = np.stack([pull[i : i + 6].mean(axis=0) for i in range(len(pull) - 5)])
    lean = lean[6:]
    hard, straight = np.abs(mean) > 3.0, np.abs(mean) < 0.5
    assert hard.sum() > 200 and straight.sum() > 200
    # to the side they turn to, the more the harder; who pointed up or down keeps the lean a while
    rises = np.abs(_axes(school.velocities)[0][..., 2])
    level = np.stack([rises[i : i + 12].max(axis=0) < 0.9 for i in range(len(rises) - 11)])
    assert level.mean() > 0.8
    assert (lean * mean > 0)[-len(level) :][hard[-len(level) :] & level].all()
    assert np.median(np.abs(lean[hard])) > 15.0
    assert np.median(np.abs(lean[straight])) < 5.0


def _axes(velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit directions of motion, and level ones to the right of them; shape (frames, 3)."""
    way = velocity / np.maximum(np.linalg.norm(velocity, axis=-1, keepdims=True), 1e-9)
    right = np.cross(way, UP)
    return way, right / np.maximum(np.linalg.norm(right, axis=-1, keepdims=True), 1e-9)


def _along(offsets: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Parts of offsets along one direction per frame, shape (frames, agents)."""
    return (offsets * axis[:, None]).sum(axis=-1)


def _lean(played: Played) -> np.ndarray:
    """How far the backs lean to the right of the way that the bodies look [deg]."""
    w, x, y, z = np.moveaxis(np.array([f.rotation for f in played.frames], np.float64), -1, 0)
    back = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], -1)
    ahead = -np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], -1)
    right = _axes(ahead)[1]
    return np.degrees(np.arcsin(np.clip((back * right).sum(axis=-1), -1.0, 1.0)))


def _pull(played: Played) -> np.ndarray:
    """Acceleration to the right of the way [m/s²], shape (frames - 1, agents)."""
    velocity = played.velocities
    right = _axes(velocity[1:])[1]
    return (np.diff(velocity, axis=0) * FPS * right).sum(axis=-1)
