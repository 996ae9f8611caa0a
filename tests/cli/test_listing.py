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


def test_behaviors(run):
    result = run("behaviors")
    assert result.code == 0
    data = run("behaviors", "--json").data
    assert {row["type"] for row in data["behaviors"]} == set(REGISTRY)
    for row in data["behaviors"]:
        assert row["description"] and row["parameters"]
        assert f"{row['type']}.weight = " in result.out
    assert set(data["settings"]) == {"agents", "motion", "solver", "bodies"}
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
