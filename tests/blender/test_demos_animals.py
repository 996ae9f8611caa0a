"""Runs of the scenes with animals."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import gaps, in_boxes, nearest_neighbor, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")


@pytest.mark.slow
def test_predator_prey():
    played = play("predator_prey")
    herd, wolves = played["Herd"].positions, played["Wolves"].positions
    apart = gaps(wolves, herd)
    # the hunt is on: two wolves get to one sheep, and their bodies stay beside it; so in every run
    assert apart[0].min() > 7.0
    near = apart < 1.0
    caught = int(near.any(axis=(1, 2)).argmax())
    hunters, prey = np.nonzero(near[caught])
    sheep = int(prey[0])
    assert played["Wolves"].frames[caught].id[hunters].tolist() == [1, 2]
    assert played["Herd"].frames[caught].id[prey].tolist() == [61, 61]
    assert np.nonzero(near.any(axis=(0, 1)))[0].tolist() == [61]
    # it ran from both in the second before, faster than it grazes, and they closed in
    chase = slice(caught - 24, caught - 6)
    for wolf in hunters:
        away = herd[chase, sheep] - wolves[chase, wolf]
        away /= np.linalg.norm(away, axis=1)[:, None]
        flight = np.sum(away * played["Herd"].velocities[chase, sheep], axis=1)
        pursuit = np.sum(away * played["Wolves"].velocities[chase, wolf], axis=1)
        assert flight.min() > 1.5 and (pursuit > flight).all()
    assert np.linalg.norm(herd[-1] - herd[0], axis=1).mean() > 5.0
    # it stays a herd, and nobody leaves the meadow
    assert np.median(nearest_neighbor(herd[-1])) < 2.5
    fence = list(played["Herd"].obj.steer.colliders.objects)
    for paths in (herd, wolves):
        assert np.abs(paths[..., :2]).max() < 23.2
        assert not in_boxes(paths, fence).any()
