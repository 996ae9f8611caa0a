"""Baking from the panel: what is hidden, replaced, taken back, and said."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyframes  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from tests.blender.crowd_makers import (  # noqa: E402
    active,
    curve_of,
    make_crowd,
    make_plane,
)
from tests.blender.operator_calls import refusal, undone  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


# Bake


def make_short_crowd():
    obj = make_crowd(4)
    obj.steer.frame_start, obj.steer.frame_end = 1, 6
    return obj


def test_a_bake_hides_the_crowd_and_deleting_shows_it():
    obj = make_short_crowd()
    assert refusal(bpy.ops.object.steer_delete_bake) == "'Crowd' has no keyframe bake"
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    baked = obj.steer.bake_collection
    assert len(baked.objects) == 4
    assert obj.hide_viewport and obj.hide_render
    assert active() == obj and bpy.ops.object.steer_delete_bake.poll()
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert not obj.hide_viewport and not obj.hide_render
    assert obj.steer.bake_collection is None and not bpy.data.collections
    assert not any(action.get(keyframes.MARK) for action in bpy.data.actions)


def test_what_the_user_had_hidden_stays_hidden():
    obj = make_short_crowd()
    obj.hide_render = True
    bpy.ops.object.steer_bake_keyframes()
    bpy.ops.object.steer_delete_bake()
    assert obj.hide_render and not obj.hide_viewport


def test_baking_again_replaces_the_bake_also_under_a_new_name():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    obj.steer.frame_end = 4
    bpy.ops.object.steer_bake_keyframes()
    assert [c.name for c in bpy.data.collections] == ["Crowd Bake"]
    obj.name = "Renamed"
    bpy.ops.object.steer_bake_keyframes()
    assert [c.name for c in bpy.data.collections] == ["Renamed Bake"]
    assert len([o for o in bpy.data.objects if keyframes.MARK in o]) == 4
    bpy.ops.object.steer_delete_bake()
    assert not obj.hide_viewport and not obj.hide_render and not bpy.data.collections


def test_the_bakes_source_and_settings_are_used():
    obj = make_short_crowd()
    source = make_plane("Walker")
    bpy.context.view_layer.objects.active = obj
    obj.steer.bake_source_object = source
    obj.steer.bake.step = 5
    display.set_input(display.find_modifier(obj), "Scale", 2.0)
    bpy.ops.object.steer_bake_keyframes()
    copies = list(obj.steer.bake_collection.objects)
    assert all(copy.data == source.data for copy in copies)
    assert tuple(copies[0].scale) == (2.0, 2.0, 2.0)
    assert len(curve_of(copies[0], "location").keyframe_points) == 2


def test_a_bake_that_fails_changes_nothing():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    obj.steer.frame_end = -3
    with pytest.raises(RuntimeError, match="ends at frame -3, before its start at 1: set the end"):
        bpy.ops.object.steer_bake_keyframes()
    assert len(obj.steer.bake_collection.objects) == 4
    assert obj.hide_viewport and obj.hide_render
    assert obj.steer.hidden_by_bake == {"VIEWPORT", "RENDER"}


def test_a_deleted_collection_still_gives_the_crowd_back():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    bpy.data.collections.remove(obj.steer.bake_collection)
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert not obj.hide_viewport and not obj.hide_render


def test_removing_a_baked_crowd_shows_it_and_keeps_the_bake():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    bpy.ops.object.steer_remove_modifier()
    assert not obj.hide_viewport and not obj.hide_render
    assert len(bpy.data.collections["Crowd Bake"].objects) == 4


def test_bake_is_undone():
    make_short_crowd()
    undone(bpy.ops.object.steer_bake_keyframes)
    obj = bpy.data.objects["Crowd"]
    assert not bpy.data.collections and not obj.hide_viewport and not obj.hide_render
    assert not any(keyframes.MARK in other for other in bpy.data.objects)


def test_delete_bake_is_undone():
    make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    undone(bpy.ops.object.steer_delete_bake)
    obj = bpy.data.objects["Crowd"]
    assert len(obj.steer.bake_collection.objects) == 4
    assert obj.hide_viewport and obj.hide_render


def test_clearing_needs_no_frames():
    make_crowd()
    assert bpy.ops.object.steer_clear_cache() == {"FINISHED"}
