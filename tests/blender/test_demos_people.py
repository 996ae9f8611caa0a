"""What happens in the scenes with people."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import gaps, in_boxes, nearest_neighbor, places_of, play  # noqa: E402

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


def test_follow_the_leader():
    group = play("follow_the_leader")["Group"]
    people, guide = group.positions, places_of(bpy.data.objects["Guide"])
    ways = np.gradient(guide, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    offsets = people - guide[:, None]
    ahead = (offsets * ways[:, None]).sum(axis=-1)
    apart = np.linalg.norm(offsets, axis=-1)
    # on the way out all are behind, when the guide comes back most are ahead, and they make way
    assert (ahead[:72] < 0.0).all()
    assert (ahead > 0.0).sum(axis=1).max() > 0.5 * people.shape[1]
    # nobody is trodden on: two bodies of radius 0.25 m pass each other
    assert apart.min() > 0.5
    # at the end they are behind again, and near
    assert (ahead[-1] < 0.0).mean() > 0.7
    assert apart.max() < 8.0
    assert np.median(apart[-1]) < 4.0
    # nobody in a flower bed
    beds = [obj.location[:2] for obj in group.obj.steer.colliders.objects]
    assert gaps(people[..., :2], np.array(beds)).min() > 0.75
