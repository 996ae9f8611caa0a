"""How keys are kept: an action per agent or one for all, and both in the NLA."""

from __future__ import annotations

import dataclasses

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake.keyframes import bake  # noqa: E402
from steer_addon.blender.bake.removal import delete_bake  # noqa: E402
from steer_addon.blender.crowd.bake_settings import KeyframeBakeSettings  # noqa: E402

from .bake_frames import assert_shows, circling  # noqa: E402


@pytest.fixture
def scene(empty_scene):
    return empty_scene


def test_one_action_for_all_has_a_slot_per_agent(scene):
    frames = circling(range(1, 11))
    settings = KeyframeBakeSettings(actions="SHARED")
    made = bake(frames, name="Crowd", collection_parent=scene.collection, settings=settings)
    items = sorted(made.collection.objects, key=lambda item: item.name)
    (action,) = bpy.data.actions
    assert action.name == "Crowd Bake"
    assert [slot.name_display for slot in action.slots] == [item.name for item in items]
    assert tuple(action.frame_range) == (1, 10)
    assert_shows(scene, items, frames[6])
    again = bake(
        frames, name="Crowd", collection_parent=scene.collection, settings=settings, replace=True
    )
    assert [action.name for action in bpy.data.actions] == ["Crowd Bake"]
    delete_bake(again.collection)
    assert not bpy.data.actions


@pytest.mark.parametrize("actions", ["PER_AGENT", "SHARED"])
def test_actions_play_from_the_nla_too(scene, actions):
    frames = circling(range(-4, 6))
    settings = KeyframeBakeSettings(actions=actions)
    made = bake(frames, name="Crowd", collection_parent=scene.collection, settings=settings)
    items = sorted(made.collection.objects, key=lambda item: item.name)
    for item in items:
        # what Push Down does, and then the strip is moved
        data = item.animation_data
        action, slot = data.action, data.action_slot
        strip = data.nla_tracks.new().strips.new(action.name, 101, action)
        strip.action_slot = slot
        data.action = None
        assert (strip.action_frame_start, strip.action_frame_end) == (-4, 5)
    shifted = dataclasses.replace(frames[6], number=101 + 6)
    assert_shows(scene, items, shifted)
