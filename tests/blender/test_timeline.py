"""The bar of stored frames in timelines: which frames it shows, and where."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.overlay import handlers, timeline  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_stored_frames_are_ranges_without_gaps():
    assert timeline.spans_of([]) == []
    assert timeline.spans_of({7: 0, 5: 0, 6: 0, 1: 0, 9: 0, 10: 0}) == [(1, 1), (5, 7), (9, 10)]


def test_the_bar_of_a_live_crowd_grows_and_fades_when_it_is_out_of_date():
    obj = scenes.make_crowd()
    scenes.make_target(obj)
    assert timeline.stored(obj)[:3] == (1, 60, [])
    scenes.play(1, 12)
    found = timeline.stored(obj)
    assert found.spans == [(1, 12)]
    obj.steer.agents.max_speed = 3.0
    bpy.context.view_layer.update()
    # what a script sets is seen by redraws a quarter of a second later
    time.sleep(0.3)
    faded = timeline.stored(obj)
    assert faded.color == found.color and faded.opacity < found.opacity
    live.clear(obj)
    assert timeline.stored(obj).spans == []


def test_the_bar_of_a_bake_shows_what_it_plays(tmp_path):
    obj = scenes.make_crowd()
    scenes.make_target(obj)
    obj.steer.frame_end, obj.steer.cache_directory = 5, str(tmp_path)
    bpy.context.view_layer.objects.active = obj
    before = timeline.stored(obj)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    obj.steer.frame_end = 9
    found = timeline.stored(obj)
    assert found[:3] == (1, 9, [(1, 5)]) and found.color != before.color


def test_rectangles_lie_over_the_frames_of_the_scene():
    scene = bpy.context.scene
    # ten pixels per frame
    view = SimpleNamespace(view_to_region=lambda x, y, clip: (10.0 * x, y))
    region = SimpleNamespace(view2d=view)
    corners, triangles = timeline.rectangles(region, scene, [(1, 3), (5, 5)], 2.0)
    assert [x for x, _ in corners] == [5.0, 35.0, 35.0, 5.0, 45.0, 55.0, 55.0, 45.0]
    assert len({y for _, y in corners}) == 2
    assert [sorted(t) for t in triangles] == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    corners, _ = timeline.rectangles(region, scene, [(1, 3)], 2.0)
    assert [x for x, _ in corners] == [15.0, 65.0, 65.0, 15.0]


def test_without_a_window_nothing_is_drawn():
    assert bpy.app.background and not handlers._bars
