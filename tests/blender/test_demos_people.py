"""What happens in the scenes with people."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import in_boxes, nearest_neighbor, places_of, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")


def test_panic():
    crowd = play("panic")["People"]
    people, speeds = crowd.positions, np.linalg.norm(crowd.velocities, axis=-1)
    bull = places_of(bpy.data.objects["Bull"])
    # they stroll, but for those who see the bull first, and then all run
    assert np.median(speeds[23]) < 1.0
    assert np.median(speeds[48]) > 3.0
    # nobody goes through a house, a stall or the fountain
    blocks = [obj for obj in crowd.obj.steer.colliders.objects if obj.name.startswith("Block")]
    assert not in_boxes(people, blocks).any()
    assert np.linalg.norm(people[..., :2], axis=-1).min() > 1.5
    # most are out of the square after five seconds, by all three streets
    x, y = people[-1, :, 0], people[-1, :, 1]
    out = [x > 14.0, y > 11.0, y < -11.0]
    assert np.sum(out) > 0.75 * len(x)
    assert min(np.sum(out, axis=1)) > 10
    # nobody is run over, and those who are still there keep away from the bull
    apart = np.linalg.norm(people - bull[:, None], axis=-1)
    assert apart.min() > 0.5
    assert apart[-1].min() > 2.0
    # it is a crush, but no pile
    assert np.median(nearest_neighbor(people[-1])) > 0.5
