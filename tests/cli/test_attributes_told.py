"""What the panel says of attributes of points and of clips, commands say as well."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making.scene_look import add_camera  # noqa: E402
from tests.blender.live_scenes import make_crowd, make_target, seekers  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402

CLIPS = {"CLIP_NUMBER_UNKNOWN", "CLIP_UNKNOWN"}
CODES = {"ATTRIBUTE_IGNORED", "ATTRIBUTE_CUT", "PARTS_UNKNOWN"} | CLIPS


@pytest.fixture
def told_in_panel(empty_scene, tmp_path):
    """Sentences on attributes in the panel of the crowd of `tmp_path / "scene.blend"`."""
    obj = make_crowd(settings=seekers())
    make_target(obj)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", make_toy())
    count = len(obj.data.vertices)
    for name, value in (("clip", 99), ("parts", 4), ("mass", -1.0)):
        kind = "FLOAT" if name == "mass" else "INT"
        attribute = obj.data.attributes.new(name, kind, "POINT")
        attribute.data.foreach_set("value", np.full(count, value))
    obj.data.attributes.new("radius", "FLOAT", "EDGE")
    obj.steer.clips.idle = "juggle"
    obj.steer.frame_end = 3
    add_camera(bpy.context.scene, 40.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    found = [told for told in advice.diagnoses(obj) if told.code in CODES]
    assert {told.code for told in found} == CODES
    return sorted(told.sentence for told in found)


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--out", "out"),
        ("bake", "--save", "baked.blend", "--empties"),
        ("bake", "--to", "cache", "--cache", "cache"),
        ("bake", "--to", "csv", "--out", "out.csv"),
        ("extract", "--out", "world"),
        ("render", "--out", "pictures", "--frames", "1-1", "--size", "16x16", "--samples", "1"),
    ],
)
def test_commands_say_what_the_panel_says(run, told_in_panel, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    command, *options = words
    done = run(command, "scene.blend", *options, "--json")
    assert done.code == 0, done.err
    assert_told(done.data, told_in_panel)
    if command == "extract":
        assert_told(run("simulate", "world", "--out", "out", "--json").data, told_in_panel)


def assert_told(data, sentences):
    """The report has these sentences on attributes, each once."""
    found = [told["sentence"] for told in data["diagnoses"] if told["code"] in CODES]
    assert sorted(found) == sentences
    assert [text for text in data["warnings"] if text in sentences] == found
