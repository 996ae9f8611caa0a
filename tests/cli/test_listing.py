"""`presets` and `behaviors` tell what there is, and need no Blender for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.presets import find_presets, load_preset

WITHOUT_BPY = (
    "import sys; sys.modules['bpy'] = None; from steer_addon.cli import main; "
    "sys.exit(main(sys.argv[1:]))"
)


def test_presets(run):
    result = run("presets")
    assert result.code == 0
    for name in find_presets():
        assert name in result.out
    rows = run("presets", "--json").data["presets"]
    assert [row["name"] for row in rows] == list(find_presets())
    assert all(row["description"] for row in rows)


def test_one_preset_with_all_its_settings(run):
    result = run("presets", "pedestrians", "--json")
    assert result.data["settings"] == load_preset("pedestrians").settings.to_dict()
    assert "avoid_neighbors.weight" in run("presets", "pedestrians").out


def test_unknown_preset(run):
    run("presets", "martians").failed_with("'martians'", "pedestrians")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"agents": {"radius": -1.0}}, "agents.radius is -1"),
        ({"agents": {"wings": 2}}, "'wings'"),
        ({"behaviors": [{"type": "teleport"}]}, "'teleport'"),
    ],
)
def test_preset_files_that_do_not_fit(run, tmp_path, settings, told):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"format": "steer-preset", "version": 1, "settings": settings}))
    run("presets", path).failed_with("odd.json", told)


def test_a_folder_of_ones_own(run, tmp_path):
    text = (Path(find_presets()["pedestrians"])).read_text("utf-8")
    (tmp_path / "mine.json").write_text(text, "utf-8")
    assert "mine" in run("presets", "--folder", tmp_path).out


def test_good_presets_are_listed_beside_bad_ones(run, tmp_path):
    text = find_presets()["pedestrians"].read_text("utf-8")
    (tmp_path / "mine.json").write_text(text, "utf-8")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "folder.json").mkdir()
    result = run("presets", "--folder", tmp_path, "--json")
    assert result.code == 0
    names = [row["name"] for row in result.data["presets"]]
    assert "mine" in names and "fish" in names and not {"broken", "folder"} & {*names}
    found = {Path(row["subject"]).name: row["code"] for row in result.data["diagnoses"]}
    assert found == {"broken.json": "PRESET_IGNORED", "folder.json": "PRESET_IGNORED"}
    lines = run("presets", "--folder", tmp_path).out.splitlines()
    assert lines[:2] == result.data["warnings"]
    assert "broken.json is not valid JSON" in lines[0] and "mine " in "".join(lines)
    run("presets", "--folder", tmp_path / "none").failed_with("no folder", "none", code=2)


def test_what_a_terminal_would_obey_is_shown(run, tmp_path):
    data = json.loads(find_presets()["pedestrians"].read_text("utf-8"))
    data |= {"label": "\x1b]0;title\x07", "description": "\x1b[31mred\nline", "group": "\u202e"}
    data["settings"]["behaviors"][0]["name"] = "\x1b[2J"
    (tmp_path / "mine.json").write_text(json.dumps(data))
    listed = run("presets", "--folder", tmp_path).out
    assert "\\x1b[31mred\\x0aline" in listed.replace("\\n", "\\x0a")
    shown = run("presets", "mine", "--folder", tmp_path).out
    assert shown.startswith("\\x1b]0;title\\x07: ")
    for line in (listed + shown).splitlines():
        assert line.isprintable()


def test_behaviors(run):
    result = run("behaviors")
    assert result.code == 0
    data = run("behaviors", "--json").data
    assert {row["type"] for row in data["behaviors"]} == set(REGISTRY)
    for row in data["behaviors"]:
        assert row["description"] and row["parameters"]
        assert f"{row['type']}.weight = " in result.out
    blocks = {"agents", "motion", "solver", "bodies", "clips", "meets", "births", "ways", "groups"}
    assert set(data["settings"]) == blocks
    assert "groups.NAME.share = 0.3" in result.out and "seek.group = " in result.out
    (zones,) = [row for row in data["behaviors"] if row["type"] == "obstacle_zones"]
    assert zones["shows"] == ["zone"]
    assert "flow_field.attribute = flow" in result.out


def test_one_behavior_in_full(run):
    text = run("behaviors", "seek").out
    assert text.startswith("seek: ")
    assert "seek.target_choice" in text and "BY_ID" in text
    run("behaviors", "teleport").failed_with("'teleport'", "seek")


def test_no_blender_is_needed_to_list(process):
    result = process("-c", WITHOUT_BPY, "presets", "--json")
    assert result.code == 0, result.err
    assert result.data["presets"]
    assert process("-c", WITHOUT_BPY, "behaviors").code == 0


def test_a_missing_blender_is_one_sentence(process, tmp_path):
    result = process("-c", WITHOUT_BPY, "scene", "--save", tmp_path / "x.blend")
    result.failed_with("needs Blender", "pip install bpy")
