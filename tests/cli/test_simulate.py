"""`steer simulate` writes what the simulation gives, and loses nothing of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless import batch  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.core.cache.layout import npy_header  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import WorldError  # noqa: E402
from tests.blender.live_scenes import make_crowd, make_target, seekers  # noqa: E402

FILES = {
    "positions": (20, 24, 3),
    "velocities": (20, 24, 3),
    "rotations": (20, 24, 4),
    "alive": (20, 24),
    "ids": (24,),
    "frames": (20,),
}


def arrays(folder):
    return {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in FILES}


def test_files_and_report(run, small_scene, tmp_path):
    out = tmp_path / "a" / "b"
    result = run("simulate", small_scene, "--out", out, "--json")
    assert result.code == 0, result.err
    data = result.data
    assert (data["agents"], data["frames"], data["seed"]) == (24, 20, 0)
    assert (data["frame_start"], data["frame_end"]) == (1, 20)
    assert data["seconds_per_step"] > 0.0
    loaded = arrays(out)
    assert {name: array.shape for name, array in loaded.items()} == FILES
    assert loaded["frames"].tolist() == list(range(1, 21))
    assert np.linalg.norm(loaded["rotations"], axis=2) == pytest.approx(1.0, abs=1e-4)
    moved = np.linalg.norm(loaded["positions"][-1] - loaded["positions"][0], axis=1)
    assert moved.max() > 0.3
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*(f"{name}.npy" for name in FILES), "report.json"]
    )
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert report["complete"] is True
    assert report["settings"]["behaviors"]
    assert "Simulating Crowd: 20/20" in result.err


def test_json_has_the_figures_of_the_run(run, small_scene, tmp_path):
    figures = run("simulate", small_scene, "--out", tmp_path, "--json").data["metrics"]
    assert (figures["agents"], figures["penetrations"]) == (24, 0)
    assert figures["simulated"] == pytest.approx(19 / 24)
    assert 0.0 < figures["fastest"] <= 1.001
    assert figures["free_time"] is None
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["metrics"] == figures
    run("simulate", small_scene, "--out", tmp_path)
    assert "metrics" not in json.loads((tmp_path / "report.json").read_text("utf-8"))


def test_arrays_are_what_the_simulation_gives(run, small_scene, tmp_path):
    run("simulate", small_scene, "--out", tmp_path, "--quiet")
    scene = batch.open_file(small_scene)
    frames = list(simulate.run(scene.objects["Crowd"], scene, range(1, 21)))
    loaded = arrays(tmp_path)
    assert (loaded["positions"] == np.stack([frame.position for frame in frames])).all()
    assert (loaded["velocities"] == np.stack([frame.velocity for frame in frames])).all()
    assert (loaded["rotations"] == np.stack([frame.rotation for frame in frames])).all()
    assert (loaded["ids"] == frames[0].id).all()


def test_later_frames_alone_are_the_same(run, small_scene, tmp_path):
    run("simulate", small_scene, "--out", tmp_path / "all")
    result = run("simulate", small_scene, "--out", tmp_path / "some", "--frames", "11-15", "--json")
    assert (result.data["frames"], result.data["frame_start"]) == (5, 11)
    every, some = arrays(tmp_path / "all"), arrays(tmp_path / "some")
    assert (some["positions"] == every["positions"][10:15]).all()


def test_frames_beyond_the_end_go_on(run, small_scene, tmp_path):
    result = run("simulate", small_scene, "--out", tmp_path, "--frames", "1-30", "--json")
    assert result.data["frames"] == 30


def test_seed(run, tmp_path):
    path = tmp_path / "birds.blend"
    words = ["--preset=birds", "--agents=24", "--frames=1-20"]
    assert run("scene", *words, "--save", path).code == 0
    places = []
    for number, seed in enumerate((1, 1, 2)):
        out = tmp_path / str(number)
        result = run("simulate", path, "--out", out, f"--seed={seed}", "--json")
        assert result.data["seed"] == seed
        places.append(arrays(out)["positions"])
    assert (places[0] == places[1]).all()
    assert (places[0] != places[2]).any()


def test_settings(run, small_scene, tmp_path):
    result = run("simulate", small_scene, "--out", tmp_path, "--set", "agents.max_speed=0.5")
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["settings"]["agents"]["max_speed"] == 0.5
    speed = np.linalg.norm(arrays(tmp_path)["velocities"], axis=2)
    assert speed.max() <= 0.5 + 1e-4


def test_set_wins_over_keys(run, small_scene, tmp_path):
    scene = batch.open_file(small_scene)
    crowd = scene.objects["Crowd"]
    place = [item.name for item in crowd.steer.behaviors].index("arrive")
    crowd.keyframe_insert(f"steer.behaviors[{place}].weight", frame=1)
    settings = batch.override(crowd, ["arrive.weight=2.5"], None)
    scene.frame_set(5)
    assert settings.behaviors[place].weight == 2.5
    assert crowd.steer.behaviors[place].weight == 2.5


def test_what_was_simulated_before_a_failure_is_kept(run, small_scene, tmp_path, monkeypatch):
    whole = simulate.run_together

    def broken(*words, **options):
        for moment in whole(*words, **options):
            if moment[0][2].number == 8:
                raise WorldError("Collider 'Rock' is broken: repair it")
            yield moment

    monkeypatch.setattr(simulate, "run_together", broken)
    result = run("simulate", small_scene, "--out", tmp_path)
    result.failed_with("Collider 'Rock' is broken")
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["complete"] is False
    assert "Rock" in report["error"]
    assert arrays(tmp_path)["positions"].shape == (7, 24, 3)
    assert not list(tmp_path.glob(".*"))


def test_an_earlier_result_stays_when_nothing_comes(run, small_scene, tmp_path, monkeypatch):
    run("simulate", small_scene, "--out", tmp_path)
    before = (tmp_path / "positions.npy").read_bytes()

    def broken(*words, **options):
        yield from ()
        raise WorldError("The ground is broken: repair it")

    monkeypatch.setattr(simulate, "run_together", broken)
    run("simulate", small_scene, "--out", tmp_path).failed_with("ground is broken")
    assert (tmp_path / "positions.npy").read_bytes() == before


def test_cancelling_is_no_traceback(run, small_scene, tmp_path, monkeypatch):
    def cancelled(*words, **options):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate, "run_together", cancelled)
    run("simulate", small_scene, "--out", tmp_path).failed_with("cancelled")


def test_a_mistake_of_ours_is_a_sentence_too(run, small_scene, tmp_path, monkeypatch):
    def broken(*words, **options):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(simulate, "run_together", broken)
    result = run("simulate", small_scene, "--out", tmp_path)
    assert result.code == 1
    assert "--debug" in result.err and "oops" in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in run("simulate", small_scene, "--out", tmp_path, "--debug").err


def test_a_failure_is_told_in_json_too(run, tmp_path):
    result = run("simulate", tmp_path / "none.blend", "--out", tmp_path, "--json")
    assert result.code == 1
    assert "none.blend" in result.data["error"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--crowd", "Ducks"], ["'Ducks'", "'Crowd'"]),
        (["--set", "arrive.wings=2"], ["'wings'", "slow_radius"]),
        (["--set", "teleport.weight=2"], ["'teleport'", "arrive"]),
        (["--set", "arrive.weight=-3"], ["arrive.weight is -3", "0 to 1000"]),
        (["--set", "arrive.weight"], ["behavior.parameter=value"]),
        (["--frames", "-5-10"], ["before crowd", "from 1"]),
        (["--out", "taken"], ["taken", "cannot be written"]),
    ],
)
def test_bad_input(run, small_scene, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    out = [] if "--out" in words else ["--out", "out"]
    run("simulate", small_scene, *out, *words).failed_with(*told)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("removed", diagnose("CROWD_WITHOUT_TARGET", "Crowd", noun="target")),
        ("deleted", diagnose("INPUT_LOST", "Target", what="Target")),
    ],
)
def test_a_deleted_leader_is_a_plain_sentence(run, empty_scene, tmp_path, how, told):
    obj = make_crowd(settings=seekers({"type": "follow_leader"}))
    leader = make_target(obj)
    if how == "removed":
        bpy.data.objects.remove(leader)
    else:
        # the crowd still refers to it, so that the file keeps it
        bpy.context.scene.collection.objects.unlink(leader)
    path = tmp_path / "leaderless.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    plain = run("simulate", path, "--out", tmp_path / "a", "--frames", "1-5")
    assert plain.code == 0 and "Traceback" not in plain.err + plain.out
    assert told.sentence in plain.out.splitlines()
    result = run("simulate", path, "--out", tmp_path / "b", "--frames", "1-5", "--json")
    assert told.sentence in result.data["warnings"]
    assert told.to_dict() in result.data["diagnoses"]
    report = json.loads((tmp_path / "b" / "report.json").read_text(encoding="utf-8"))
    assert report["warnings"] == result.data["warnings"]
    assert report["diagnoses"] == result.data["diagnoses"]
    assert result.data["frames"] == 5
    positions = np.load(tmp_path / "b" / "positions.npy", allow_pickle=False)
    np.testing.assert_array_equal(positions, positions[:1].repeat(5, axis=0))


def test_files_that_are_none(run, tmp_path, empty_scene):
    (tmp_path / "text.blend").write_text("hello")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "empty.blend"))
    for name, told in (
        ("missing.blend", "no file"),
        ("text.blend", "no .blend file"),
        ("empty.blend", "has no crowd"),
    ):
        run("simulate", tmp_path / name, "--out", tmp_path / "out").failed_with(told)


def test_a_cut_off_file(run, small_scene, tmp_path):
    (tmp_path / "cut.blend").write_bytes(small_scene.read_bytes()[:2000])
    run("simulate", tmp_path / "cut.blend", "--out", tmp_path / "out").failed_with("cut.blend")


@pytest.mark.parametrize("shape", [(0, 1, 3), (250, 100_000, 3), (2**40, 2**40, 2**40)])
def test_headers_are_all_of_one_length(tmp_path, shape):
    assert len(npy_header(shape, size=256)) == 256
