"""Runs of the scenes with people."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from tests.blender.demo_runs import gaps, in_boxes, nearest_neighbor, places_of, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer", "few_poses")


@pytest.mark.slow
def test_panic():
    crowd = play("panic")["People"]
    people, speeds = crowd.positions, np.linalg.norm(crowd.velocities, axis=-1)
    bull = places_of(bpy.data.objects["Bull"])
    # they stroll, except the first ones to see the bull; then all run
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
    # no agent is run over, and the remaining ones keep away from the bull
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


@pytest.mark.slow
def test_crossing_crowds():
    played = play("crossing_crowds", 470)
    east, north = (played[name].positions[..., :2] for name in ("Eastbound", "Northbound"))
    assert east.shape[1] == north.shape[1] == 60
    # they meet in the middle, and nobody is ever inside anybody: bodies have a radius of 0.25 m
    both = np.concatenate([east, north], axis=1)
    assert min(nearest_neighbor(frame).min() for frame in both) > 0.4999
    assert gaps(east, north).min() < 0.7
    # all were on their own side, and all get across the way of the others, 9 m wide
    assert east[0, :, 0].max() < -3.5 and north[0, :, 1].max() < -3.5
    assert east[-1, :, 0].min() > 4.5 and north[-1, :, 1].min() > 4.5
    # each crowd wears a color of its own
    casts = [display.shown_body(display.find_modifier(crowd.obj)) for crowd in played.values()]
    shirts = {tuple(cast.objects[0].data.materials[0].diffuse_color) for cast in casts}
    assert len(shirts) == 2


@pytest.mark.slow
def test_hide_and_seek():
    played = play("hide_and_seek")
    hiders, seeker = played["Hiders"].positions[..., :2], played["Seeker"].positions[..., :2]
    pillars = np.array([obj.location[:2] for obj in played["Hiders"].obj.steer.colliders.objects])
    hidden = _behind(seeker, hiders, pillars, 0.75)
    # most are seen at the start, all are hidden within two seconds, and nearly all the time then
    assert hidden[0].mean() < 0.5
    assert hidden[48:].mean() > 0.98
    assert hidden[48:].sum(axis=0).min() > 60
    # what the behavior shows is the same, but for those at the edge of a pillar's shadow
    shown = played["Hiders"].attribute("hidden") > 0.5
    assert (shown[1:] == hidden[1:]).mean() > 0.97
    # it is a game: the seeker gets around and comes near, and they have to move with it
    assert np.linalg.norm(seeker[-1, 0] - seeker[0, 0]) > 5.0
    assert 1.0 < gaps(seeker[48:], hiders[48:]).min() < 4.0
    assert np.linalg.norm(np.diff(hiders[48:], axis=0), axis=-1).sum(axis=0).mean() > 1.0
    # nobody hides in a pillar
    assert gaps(hiders, pillars).min() > 0.75
    assert gaps(seeker, pillars).min() > 0.75


def _behind(eyes, points, centers, radius):
    """Which points a disk hides from the eye, shape (frames, points); eyes (frames, 1, 2)."""
    way = points - eyes
    to = centers - eyes[:, :, None]
    share = (to * way[:, :, None]).sum(axis=-1) / (way**2).sum(axis=-1)[..., None]
    nearest = eyes[:, :, None] + np.clip(share, 0.0, 1.0)[..., None] * way[:, :, None]
    return (np.linalg.norm(nearest - centers, axis=-1) < radius).any(axis=-1)
