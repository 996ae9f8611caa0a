"""`steer demo` saves each of Steer's own scenes, ready to be simulated."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.crowds import is_crowd  # noqa: E402
from steer_addon.blender.headless.batch import open_file  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.core.diagnoses import Diagnosis  # noqa: E402
from tests.often import often  # noqa: E402

SCENES = {
    "ahead_spheres": 1,
    "cocos_steering": 6,
    "busy_street": 2,
    "crossing_crowds": 2,
    "evacuation": 1,
    "feelers_hide_path": 1,
    "follow_the_leader": 1,
    "hide_and_seek": 2,
    "lateral_spheres": 1,
    "office": 1,
    "panic": 1,
    "parade_on_path": 1,
    "predator_prey": 2,
    "school_of_fish_with_shark": 2,
    "stadium_exit": 1,
    "street_lanes": 1,
    "unity_zones": 1,
}
"""How many crowds each scene has."""


def test_without_a_name_all_scenes_are_listed(run):
    result = run("demo", "--json")
    assert result.code == 0, result.err
    assert set(result.data["demos"]) == set(SCENES)
    assert "panic" in run("demo").out


@pytest.mark.parametrize("name", often(SCENES, "lateral_spheres", "predator_prey"))
def test_every_scene_is_saved_and_can_be_simulated(run, tmp_path, name):
    path = tmp_path / "made" / "scene.blend"
    result = run("demo", name, "--save", path, "--json")
    assert result.code == 0, result.err
    assert result.data["demo"] == name and result.data["outputs"] == [str(path)]
    scene = open_file(path)
    crowds = [obj for obj in scene.objects if is_crowd(obj)]
    assert {obj.name for obj in crowds} == set(result.data["crowds"])
    assert len(crowds) == len(result.data["crowds"]) == SCENES[name]
    assert sum(len(obj.data.vertices) for obj in crowds) == result.data["agents"]
    assert scene.camera is not None and scene.frame_end >= 120
    for obj in crowds:
        warnings: list[Diagnosis] = []
        assert len(list(simulate.run(obj, scene, range(1, 4), warnings=warnings))) == 3
        assert warnings == []


def test_frames_are_those_asked_for(run, tmp_path):
    path = tmp_path / "x.blend"
    assert run("demo", "lateral_spheres", "--frames=5-60", "--save", path).code == 0
    scene = open_file(path)
    assert (scene.frame_start, scene.frame_end) == (5, 60)


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["nowhere", "--save", "x.blend"], ["'nowhere'", "predator_prey"], 2),
        (["panic", "--save", "x.obj"], ["x.obj", ".blend"], 1),
    ],
)
def test_bad_input(run, tmp_path, monkeypatch, words, told, code):
    monkeypatch.chdir(tmp_path)
    run("demo", *words).failed_with(*told, code=code)
    assert not list(tmp_path.iterdir())
