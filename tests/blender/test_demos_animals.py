"""What happens in the scenes with animals."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import gaps, in_boxes, nearest_neighbor, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")


def test_predator_prey():
    played = play("predator_prey")
    herd, wolves = played["Herd"].positions, played["Wolves"].positions
    apart = gaps(wolves, herd)
    # the hunt is on: the herd runs, and at least one wolf gets to a sheep
    assert apart[0].min() > 7.0
    assert apart.min() < 1.0
    assert np.linalg.norm(herd[-1] - herd[0], axis=1).mean() > 5.0
    # it stays a herd, and nobody leaves the meadow
    assert np.median(nearest_neighbor(herd[-1])) < 2.5
    fence = list(played["Herd"].obj.steer.colliders.objects)
    for paths in (herd, wolves):
        assert np.abs(paths[..., :2]).max() < 23.2
        assert not in_boxes(paths, fence).any()
