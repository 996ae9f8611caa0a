"""Preset files that are dropped, loaded and saved; bad ones are one sentence and change nothing."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import crowds, properties  # noqa: E402
from steer_addon.blender.operators import presets  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, load_preset  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active, make_crowd, make_empty  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

BIRDS = find_presets()["birds"]


def test_a_dropped_file_sets_the_active_crowd():
    obj = make_crowd()
    assert bpy.ops.object.steer_preset_import(filepath=str(BIRDS)) == {"FINISHED"}
    found = [entry.definition.type for entry in properties.settings_of(obj).behaviors]
    assert found == [e.definition.type for e in load_preset("birds").settings.behaviors]
    assert active() == obj


def test_without_a_crowd_one_is_started():
    bpy.context.view_layer.objects.active = make_empty()
    bpy.ops.object.steer_preset_import(filepath=str(BIRDS))
    assert crowds.is_crowd(active()) and len(active().data.vertices) == 150


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "is not valid JSON"),
        ('{"format": "other"}', 'its "format" is not'),
        ("[" * 100_000, "is not valid JSON"),
        (" " * 1_100_000, "instead of at most 1000000 bytes"),
        (json.dumps({"format": "steer-preset", "version": 1, "settings": {}, "group": 3}), "texts"),
        ('{"format": "steer-preset", "version": 1, "code": "import os"}', "unknown entry 'code'"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(tmp_path, content, message):
    obj = make_crowd()
    before, there = properties.settings_of(obj), scenes.data_counts()
    path = tmp_path / "dropped.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(RuntimeError, match=message) as caught:
        bpy.ops.object.steer_preset_import(filepath=str(path))
    assert "Traceback" not in str(caught.value)
    assert properties.settings_of(obj) == before and scenes.data_counts() == there


def test_files_are_dropped_on_3d_views_only():
    handler = presets.STEER_FH_preset
    assert handler.bl_file_extensions == ".json"
    for kind, wanted in (("VIEW_3D", True), ("TEXT_EDITOR", False)):
        assert handler.poll_drop(SimpleNamespace(area=SimpleNamespace(type=kind))) == wanted
    assert not handler.poll_drop(SimpleNamespace(area=None))


def test_a_saved_preset_can_be_dropped_again(tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "user_preset_folder", lambda: tmp_path)
    obj = make_crowd()
    obj.steer.agents.radius = 0.75
    bpy.ops.object.steer_preset_save(name="Wide Ones", description_text="Wide people")
    obj.steer.agents.radius = 0.25
    bpy.ops.object.steer_preset_import(filepath=str(tmp_path / "wide_ones.json"))
    assert obj.steer.agents.radius == 0.75
