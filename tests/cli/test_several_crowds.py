"""All crowds of a file at once: those that meet are simulated in one run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless import batch  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.core.cache import open_cache, writer  # noqa: E402
from steer_addon.core.errors import WorldError  # noqa: E402
from tests.blender.test_meeting_crowds import head_on  # noqa: E402

LAST = {"East": 45, "West": 60}
"""The last frame of each crowd; they touch at about frame 50."""


@pytest.fixture(scope="module")
def pair(steer, tmp_path_factory) -> Path:
    """A file with two crowds that walk toward one another, and end at different frames."""
    bpy.ops.wm.read_homefile(use_empty=True)
    for crowd in head_on():
        crowd.steer.frame_end = LAST[crowd.name]
    path = tmp_path_factory.mktemp("pair") / "pair.blend"
    batch.save_file(path)
    return path


def positions(folder):
    return np.load(folder / "positions.npy", allow_pickle=False)


def report_in(folder):
    return json.loads((folder / "report.json").read_text("utf-8"))


def test_all_crowds_are_simulated_in_one_run(run, pair, tmp_path, runs):
    result = run("simulate", pair, "--out", tmp_path, "--json")
    assert result.code == 0, result.err
    assert len(runs) == 1
    assert {p.name for p in tmp_path.iterdir()} == {"East", "West", "report.json"}
    scene = batch.open_file(pair)
    for name, last in LAST.items():
        alone = simulate.run(scene.objects[name], scene, range(1, last + 1))
        np.testing.assert_array_equal(positions(tmp_path / name), [f.position for f in alone])
        own = report_in(tmp_path / name)
        assert (own["crowd"], own["frames"], own["complete"]) == (name, last, True)
        assert own["settings"]["behaviors"] and own["metrics"]["agents"] == 14
    report = report_in(tmp_path)
    assert (report["agents"], report["frames"], report["complete"]) == (28, 60, True)
    assert {row["crowd"]: (row["folder"], row["frames"]) for row in report["crowds"]} == {
        name: (name, last) for name, last in LAST.items()
    }
    assert all(row["metrics"]["agents"] == 14 for row in report["crowds"])
    assert result.data["outputs"][-1] == str(tmp_path / "report.json")


def test_the_temporary_folder_of_their_frames_is_named_where_it_has_no_room(
    run, pair, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_chunk", full)
    done = run("bake", pair, "--to", "csv", "--out", tmp_path)
    done.failed_with("Temporary folder", "No space left on device; make room there", "TMPDIR")
    assert "kept" not in done.err and not list(tmp_path.iterdir())


def test_reports_count_contacts_with_other_crowds(run, pair, tmp_path):
    """Without bodies that touch, a crowd walks into the other one; numbers are those of a pair."""
    scene = batch.open_file(pair)
    for name in LAST:
        scene.objects[name].steer.meets.sees = "NOBODY"
        scene.objects[name].steer.bodies.collide_agents = True
        scene.objects[name].steer.frame_end = 60
    batch.save_file(tmp_path / "blind.blend")
    result = run("simulate", tmp_path / "blind.blend", "--out", tmp_path / "out", "--json")
    assert result.code == 0, result.err
    rows = {row["crowd"]: row["metrics"] for row in result.data["crowds"]}
    (east,), (west,) = (rows[name]["touches"] for name in ("East", "West"))
    assert (east["crowd"], west["crowd"]) == ("West", "East")
    assert (east["overlap"], east["collisions"]) == (west["overlap"], west["collisions"])
    paths = [positions(tmp_path / "out" / name).astype(float) for name in ("East", "West")]
    gaps = np.linalg.norm(paths[0][:, :, None] - paths[1][:, None], axis=-1)
    share = max(0.0, float(((0.5 - gaps) / 0.5).max()))
    assert east["overlap"] == pytest.approx(share, abs=1e-5)
    assert all(rows[name]["overlap"] >= share - 1e-5 for name in rows)
    one = run(
        "simulate", tmp_path / "blind.blend", "--out", tmp_path / "one", "--json", "--crowd=West"
    )
    assert one.data["metrics"] == rows["West"]


def test_one_that_is_named_is_written_as_before_and_still_meets_the_other(run, pair, tmp_path):
    assert run("simulate", pair, "--out", tmp_path / "both").code == 0
    result = run("simulate", pair, "--out", tmp_path / "one", "--crowd", "West", "--json")
    assert (result.code, result.data["crowd"]) == (0, "West")
    ours, whole = positions(tmp_path / "one"), positions(tmp_path / "both" / "West")
    np.testing.assert_array_equal(ours, whole)


def test_settings_are_changed_for_all_before_any_is_simulated(run, pair, tmp_path):
    words = ["--set", "agents.max_speed=0.6", "--seed=7", "--frames=1-60"]
    assert run("simulate", pair, "--out", tmp_path, *words).code == 0
    scene = batch.open_file(pair)
    crowds = [scene.objects[name] for name in ("East", "West")]
    for crowd in crowds:
        crowd.steer.agents.max_speed, crowd.steer.seed = 0.6, 7
        crowd.steer.frame_end = 60
    for crowd in crowds:
        alone = [f.position for f in simulate.run(crowd, scene, range(1, 61))]
        np.testing.assert_array_equal(positions(tmp_path / crowd.name), alone)
        assert report_in(tmp_path / crowd.name)["seed"] == 7


def test_what_was_simulated_of_all_before_a_failure_is_kept(run, pair, tmp_path, monkeypatch):
    whole = simulate.run_together

    def broken(*words, **options):
        for moment in whole(*words, **options):
            if moment[0][2].number == 50:
                raise WorldError("Collider 'Rock' is broken: repair it")
            yield moment

    monkeypatch.setattr(simulate, "run_together", broken)
    run("simulate", pair, "--out", tmp_path).failed_with("'Rock' is broken")
    # one of them had ended by then
    assert positions(tmp_path / "East").shape == (45, 14, 3)
    assert positions(tmp_path / "West").shape == (49, 14, 3)
    assert report_in(tmp_path / "East")["complete"] is True
    assert report_in(tmp_path / "West")["complete"] is False
    report = report_in(tmp_path)
    assert report["complete"] is False and "Rock" in report["error"]
    rows = {row["crowd"]: row["complete"] for row in report["crowds"]}
    assert rows == {"East": True, "West": False}


def test_a_whole_earlier_result_stays_when_a_later_run_fails(run, pair, tmp_path, monkeypatch):
    assert run("simulate", pair, "--out", tmp_path, "--frames=1-9").code == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    def broken(*words, **options):
        yield from ()
        raise WorldError("The ground is broken: repair it")

    monkeypatch.setattr(simulate, "run_together", broken)
    run("simulate", pair, "--out", tmp_path).failed_with("ground is broken")
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_arrays_of_one_crowd_do_not_stay_beside_a_report_of_two(run, pair, tmp_path):
    run("simulate", pair, "--out", tmp_path, "--frames=1-3", "--crowd=East")
    assert (tmp_path / "positions.npy").exists()
    run("simulate", pair, "--out", tmp_path, "--frames=1-3")
    assert {p.name for p in tmp_path.iterdir()} == {"East", "West", "report.json"}


def test_one_run_fills_the_caches_of_all(run, pair, tmp_path, runs):
    result = run("bake", pair, "--to", "cache", "--cache", tmp_path / "both", "--json")
    assert result.code == 0, result.err
    assert len(runs) == 1
    for name, last in LAST.items():
        words = ["--cache", tmp_path / "one", "--crowd", name]
        assert run("bake", pair, "--to", "cache", *words).code == 0
        both, one = (open_cache(tmp_path / folder / name) for folder in ("both", "one"))
        assert both.complete and both.frames == one.frames == range(1, last + 1)
        assert both.header.about == one.header.about
        for number in both.frames:
            ours, alone = both.frame(number), one.frame(number)
            np.testing.assert_array_equal(ours.position, alone.position)
            np.testing.assert_array_equal(ours.rotation, alone.rotation)


@pytest.mark.parametrize("more", [(), ("--crowd", "East", "--frames", "3-20")])
def test_a_bake_writes_the_simulation_too(run, pair, tmp_path, runs, more):
    words = ["--cache", tmp_path / "cache", "--simulation", tmp_path / "baked", *more]
    baked = run("bake", pair, "--to", "cache", *words, "--json")
    assert baked.code == 0, baked.err
    assert len(runs) == 1
    assert run("simulate", pair, "--out", tmp_path / "alone", *more, "--json").code == 0
    folders = [".", *LAST] if not more else ["."]
    for name in folders:
        ours, alone = (report_in(tmp_path / folder / name) for folder in ("baked", "alone"))
        for report in (ours, alone):
            del report["seconds"], report["seconds_per_step"]
        assert ours == alone and ours["complete"]
    for name in LAST if not more else ["."]:
        for array in ("positions", "velocities", "rotations", "alive", "ids", "frames"):
            found, whole = (tmp_path / f / name / f"{array}.npy" for f in ("baked", "alone"))
            assert found.read_bytes() == whole.read_bytes()
    assert str(tmp_path / "baked" / "report.json") in baked.data["outputs"]


def test_a_simulation_needs_all_frames_of_a_cache(run, pair, tmp_path):
    words = ["--simulation", tmp_path / "baked"]
    run("bake", pair, "--to", "cache", "--continue", *words).failed_with("--continue", code=2)
    run("bake", pair, "--to", "usd", "--out", tmp_path, *words).failed_with("--simulation", code=2)


def same_frames(folder, other):
    for name, last in LAST.items():
        ours, whole = open_cache(folder / name), open_cache(other / name)
        assert ours.complete and ours.frames == whole.frames == range(1, last + 1)
        for number in ours.frames:
            np.testing.assert_array_equal(ours.frame(number).position, whole.frame(number).position)


@pytest.mark.parametrize("cut", [{"East": 20, "West": 20}, {"East": 12, "West": 50}, {"West": 30}])
def test_caches_go_on_in_one_run(run, pair, tmp_path, runs, cut):
    words = ["bake", pair, "--to=cache", "--json"]
    for name, last in cut.items():
        more = ["--cache", tmp_path / "cut", f"--frames=1-{last}", "--crowd", name]
        assert run(*words, *more).code == 0
    assert run(*words, "--cache", tmp_path / "whole").code == 0
    runs.clear()
    result = run(*words, "--cache", tmp_path / "cut", "--continue")
    assert result.code == 0, result.err
    assert len(runs) == 1
    assert {row["crowd"]: row["kept"] for row in result.data["crowds"]} == {
        name: cut.get(name, 0) for name in LAST
    }
    same_frames(tmp_path / "cut", tmp_path / "whole")


def test_a_cache_in_which_the_other_crowd_was_played_goes_on_so(run, pair, tmp_path, runs):
    """East goes where its bake has it go in West's, from the first frame to the last."""
    found = {}
    for name, east, west in (("cut", 40, 20), ("whole", 44, 44)):
        words = ["bake", "--to=cache", "--cache", tmp_path / name]
        baked = tmp_path / f"{name}.blend"
        first = [pair, "--crowd=East", f"--frames=1-{east}", "--save", baked]
        assert run(*words, *first).code == 0
        assert run(*words, baked, "--crowd=West", f"--frames=1-{west}").code == 0
        runs.clear()
        assert run(*words, baked, "--frames=1-44", "--continue").code == 0
        cache = open_cache(tmp_path / name / "West")
        assert cache.frames == range(1, 45)
        found[name] = [cache.frame(number).position for number in cache.frames]
    np.testing.assert_array_equal(found["cut"], found["whole"])


def test_one_run_gives_the_files_of_all(run, pair, tmp_path, runs):
    words = ["bake", pair, "--to=csv", "--out"]
    assert run(*words, tmp_path / "both").code == 0
    assert len(runs) == 1
    for name in LAST:
        assert run(*words, tmp_path / "one", f"--crowd={name}").code == 0
    folders = [tmp_path / "both", tmp_path / "one"]
    both, one = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in folders)
    assert len(both) == 2 and both == one


def test_one_run_gives_the_keyframes_of_all(run, pair, tmp_path, runs):
    saved = tmp_path / "keyed.blend"
    result = run("bake", pair, "--save", saved, "--empties", "--json")
    assert result.code == 0, result.err
    assert len(runs) == 1
    assert [row["agents"] for row in result.data["crowds"]] == [14, 14]
    assert all(row["seconds_per_step"] > 0.0 for row in result.data["crowds"])
    scene = batch.open_file(saved)
    for name, last in LAST.items():
        objects = sorted(scene.objects[name].steer.bake_collection.objects, key=lambda o: o["id"])
        scene.frame_set(last)
        shown = np.array([tuple(obj.location) for obj in objects], np.float32)
        live = batch.open_file(pair)
        *_, frame = simulate.run(live.objects[name], live, range(1, last + 1))
        np.testing.assert_array_equal(shown, frame.position)
        scene = batch.open_file(saved)


def test_an_error_in_a_shared_run_leaves_no_cache_complete(run, pair, tmp_path, monkeypatch):
    whole = simulate.moments

    def broken(*words, **options):
        for number, moment in enumerate(whole(*words, **options), 1):
            if number == 10:
                raise WorldError("Collider 'Rock' is broken: repair it")
            yield moment

    monkeypatch.setattr("steer_addon.blender.live.shared_run.moments", broken)
    words = ["bake", pair, "--to", "cache", "--cache", tmp_path]
    run(*words).failed_with("'Rock' is broken")
    for name in LAST:
        cache = open_cache(tmp_path / name)
        assert not cache.complete and cache.frames == range(1, 10)


@pytest.mark.parametrize("command", ["simulate", "bake", "render", "info"])
def test_a_wrong_name_says_which_there_are(run, pair, tmp_path, command):
    more = {"simulate": ["--out", tmp_path], "bake": ["--to=cache", "--cache", tmp_path]}
    words = [*more.get(command, []), "--crowd=East", "--crowd=North"]
    run(command, pair, *words).failed_with("'North'", "the file has 'West', 'East'")


def test_a_setting_that_one_crowd_lacks_names_the_crowd(run, pair, tmp_path):
    scene = batch.open_file(pair)
    scene.objects["East"].steer.behaviors.remove(0)
    batch.save_file(tmp_path / "other.blend")
    words = ["--out", tmp_path / "out", "--set", "seek.weight=2"]
    done = run("simulate", tmp_path / "other.blend", *words)
    done.failed_with("Crowd 'East'", "'seek'", "--crowd")
    assert run("simulate", tmp_path / "other.blend", *words, "--crowd=West").code == 0


@pytest.fixture(scope="module")
def seen(pair, tmp_path_factory):
    """The pair with a camera above."""
    scene = batch.open_file(pair)
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.camera.location = (0.0, 0.0, 40.0)
    scene.collection.objects.link(scene.camera)
    path = tmp_path_factory.mktemp("seen") / "seen.blend"
    batch.save_file(path)
    return path


TINY = ["--size=16x9", "--samples=1", "--json"]


def test_render_simulates_all_at_once(run, seen, tmp_path, runs):
    assert run("render", seen, "--frames=55", *TINY, "--out", tmp_path).code == 0
    assert len(runs) == 1


def test_render_shows_the_named_crowd_as_it_goes_among_all(run, seen, tmp_path):
    saved = tmp_path / "keyed.blend"
    assert run("bake", seen, "--save", saved, "--frames=1-3", "--empties").code == 0
    before = saved.read_bytes()
    assert run("render", saved, "--frames=2", *TINY, "--out", tmp_path, "--crowd=East").code == 0
    scene = bpy.context.scene
    hidden = {name: scene.objects[name].steer.bake_collection.hide_render for name in LAST}
    assert hidden == {"East": False, "West": True} and saved.read_bytes() == before
    result = run("render", seen, "--frames=55", *TINY, "--out", tmp_path, "--crowd=West")
    assert result.code == 0, result.err
    assert result.data["agents"] == 14
    shown = bpy.context.scene.objects
    assert shown["East"].hide_render and not shown["West"].hide_render
    met = live.get_frame(shown["West"], 55).position
    scene = batch.open_file(seen)
    *_, frame = simulate.run(scene.objects["West"], scene, range(1, 56))
    np.testing.assert_array_equal(met, frame.position)


def test_info(run, pair, tmp_path):
    data = run("info", pair, "--json").data
    assert data["agents"] == 28
    rows = {row["crowd"]: row for row in data["crowds"]}
    assert rows["East"]["frame_end"] == 45
    assert rows["East"]["behaviors"] == ["seek", "avoid_neighbors"]
    assert rows["West"]["sees"] == rows["West"]["seen_by"] == rows["West"]["touches"] == ["East"]
    assert rows["West"]["bake"] is None
    text = run("info", pair, "--crowd=West").out
    assert "West: 14 agents, frames 1-60" in text and "East: " not in text


def test_info_tells_of_bakes(run, pair, tmp_path):
    baked = tmp_path / "baked.blend"
    cached = ["--to=cache", "--cache", tmp_path / "cache", "--crowd=East"]
    assert run("bake", pair, "--save", baked, *cached).code == 0
    words = ["--save", baked, "--frames=1-8", "--crowd=West", "--empties"]
    assert run("bake", baked, *words).code == 0
    rows = {row["crowd"]: row["bake"] for row in run("info", baked, "--json").data["crowds"]}
    east = rows["East"]
    assert (east["to"], east["frame_start"], east["frame_end"], east["complete"]) == (
        "cache",
        1,
        45,
        True,
    )  # fmt: skip
    assert rows["West"] == {"to": "keyframes", "objects": 14}
    text = run("info", baked).out
    assert "baked to a cache: frames 1-45" in text and "baked to keyframes: 14 objects" in text
