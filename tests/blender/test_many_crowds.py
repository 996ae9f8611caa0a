"""Hundreds of crowds in one scene: all meet, and what they share is found once a frame."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import links, live_settings  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.unchanging import once, unchanging  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

RADIUS = 0.25


def make_crowds(count):
    """Crowds of three that walk through one another to one target, in rows of twenty."""
    stack = scenes.seekers({"type": "seek"}, {"type": "avoid_neighbors"}).behaviors
    settings = CrowdSettings(behaviors=stack, bodies=BodiesSettings(collide_agents=True))
    goal = scenes.make_target(location=(40.0, 30.0, 0.0))
    found = []
    for k in range(count):
        x, y = 1.5 * (k % 20), 1.5 * (k // 20)
        points = [(x, y, 0), (x + 0.7, y, 0), (x, y + 0.7, 0)]
        crowd = scenes.make_crowd(points, f"Crowd {k:03d}", settings)
        crowd.steer.target_object = goal
        found.append(crowd)
    return found


def counted(monkeypatch, module, name):
    """How often a function of a module is called."""
    calls, whole = [], getattr(module, name)

    def noted(*words):
        calls.append(words)
        return whole(*words)

    monkeypatch.setattr(module, name, noted)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("count", often([30, 200], 30))
def test_many_crowds_play_and_meet(count):
    crowds = make_crowds(count)
    scene = bpy.context.scene
    for number in range(1, 13):
        scene.frame_set(number)
    assert len(links.linked_crowds(crowds[7])) == count
    frames = [live.get_frame(crowd, 12) for crowd in crowds]
    place = np.concatenate([frame.position for frame in frames]).astype(float)
    gaps = np.linalg.norm(place[:, None] - place[None], axis=-1) + 9.0 * np.eye(len(place))
    assert gaps.min() >= 2.0 * RADIUS - 1.0e-5
    start = np.concatenate([live.get_frame(crowd, 1).position for crowd in crowds])
    assert (np.linalg.norm(place - start, axis=1) > 0.05).mean() > 0.9
    *_, offline = simulate.run(crowds[23], scene, range(1, 13))
    np.testing.assert_array_equal(offline.position, frames[23].position)


def test_what_crowds_share_is_found_as_often_for_few_as_for_many(monkeypatch):
    calls = {
        name: counted(monkeypatch, module, name)
        for module, name in (
            (links, "_relations_of"),
            (links, "_crowd_slots"),
            (live_settings, "settings_of"),
        )
    }
    found = {}
    for count in (4, 12):
        bpy.ops.wm.read_homefile(use_empty=True)
        make_crowds(count)
        scenes.play(1, 3)
        for rows in calls.values():
            rows.clear()
        bpy.context.scene.frame_set(4)
        found[count] = {name: len(rows) for name, rows in calls.items()}
    few, many = found[4], found[12]
    assert few["_relations_of"] == many["_relations_of"] <= 3
    # once for each crowd
    assert (few["_crowd_slots"], many["_crowd_slots"]) == (4, 12)
    assert (few["settings_of"], many["settings_of"]) == (4, 12)


def test_a_change_between_two_frames_is_seen():
    west, east = make_crowds(2)
    with unchanging():
        assert links.linked_crowds(west) == [west, east]
        east.steer.meets.sees = east.steer.meets.seen_by = east.steer.meets.touches = "NOBODY"
        assert links.linked_crowds(west) == [west, east]
    assert links.linked_crowds(west) == [west]


def test_a_block_in_a_block_ends_with_the_outer_one():
    values = iter(range(9))
    with unchanging():
        with unchanging():
            assert once("key", values.__next__) == 0
        assert once("key", values.__next__) == 0
    assert [once("key", values.__next__), once("key", values.__next__)] == [1, 2]


def test_crowds_that_steer_by_others_are_linked_one_way():
    first, second, third, alone = make_crowds(4)
    for crowd in (first, second, third, alone):
        for relation in ("sees", "seen_by", "touches"):
            setattr(crowd.steer.meets, relation, "NOBODY")
    for crowd, target in ((first, second), (second, third)):
        crowd.steer.target_kind, crowd.steer.target_object = "CROWD", target
    with unchanging():
        assert links.linked_crowds(first) == [first, second, third]
        assert links.linked_crowds(second) == [second, third]
        assert links.linked_crowds(alone) == [alone]
        assert links.followed_crowds(first) == {c.session_uid for c in (first, second, third)}
        assert links.all_linked([second, alone]) == [second, third, alone]
