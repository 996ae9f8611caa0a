"""`steer bake --to FORMAT` for files of other programs."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.export import formats  # noqa: E402
from steer_addon.cli import make_parser  # noqa: E402


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_command_knows_every_format(run, name):
    assert make_parser().parse_args(["bake", "x.blend", "--to", name]).to == name
    assert f" {name}:" in " ".join(run("bake", "--help").out.split())


def test_files_in_one_folder_do_not_overwrite_each_other(run, small_scene, tmp_path):
    before = small_scene.read_bytes()
    other = tmp_path / "other.blend"
    other.write_bytes(before)
    out = tmp_path / "out"
    for blend in (small_scene, other):
        for name in ("csv", "pc2"):
            done = run("bake", blend, "--to", name, "--out", out, "--frames=1-3", "--json")
            assert done.code == 0, done.err
            assert (done.data["agents"], done.data["frames"]) == (24, 3)
    assert sorted(path.name for path in out.iterdir()) == [
        "other_Crowd.csv",
        "other_Crowd.pc2",
        "small_Crowd.csv",
        "small_Crowd.pc2",
    ]
    assert small_scene.read_bytes() == before
    one = tmp_path / "named.mdd"
    done = run("bake", small_scene, "--to=mdd", "--out", one, "--frames=2", "--seed=3")
    assert done.code == 0, done.err
    assert one.stat().st_size == 8 + 4 + 24 * 12


def test_settings_of_a_run_are_not_those_of_the_bake(run, small_scene, tmp_path):
    baked = tmp_path / "baked.blend"
    words = ["--cache", tmp_path, "--save", baked, "--frames=1-4"]
    done = run("bake", small_scene, "--to=cache", *words)
    assert done.code == 0, done.err
    files = {
        "live": (small_scene, []),
        "bake": (baked, []),
        "other": (baked, ["--set=agents.max_speed=0.3"]),
    }
    for name, (blend, more) in files.items():
        out = tmp_path / f"{name}.csv"
        done = run("bake", blend, "--to=csv", "--out", out, "--frames=2-4", *more)
        assert done.code == 0, done.err
    assert (tmp_path / "bake.csv").read_text() == (tmp_path / "live.csv").read_text()
    assert (tmp_path / "other.csv").read_text() != (tmp_path / "live.csv").read_text()


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["--to=usd"], ["--out"], 2),
        (["--to=keyframes"], ["--save"], 2),
        (["--to=csv", "--out=x", "--save=x.blend"], ["--save"], 2),
        (["--to=keyframes", "--out=x", "--save=x.blend"], ["--out"], 2),
        (["--to=csv", "--out=taken/x.csv"], ["taken", "cannot be written"], 1),
        (["--to=csv", "--out=x", "--crowd=Ducks"], ["'Ducks'"], 1),
        (["--to=csv", "--out=x", "--frames=-5-3"], ["begin before"], 1),
    ],
)
def test_bad_input_for_exports(run, small_flock, tmp_path, monkeypatch, words, told, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    run("bake", small_flock, *words).failed_with(*told, code=code)
    assert not (tmp_path / "x.blend").exists()


def test_a_name_that_is_not_there_leaves_no_folder(run, small_flock, tmp_path):
    out = tmp_path / "out"
    done = run("bake", small_flock, "--to=glb", "--out", out, "--object=Duck")
    assert done.code == 1
    assert "'Duck'" in done.err
    assert not out.exists()


def test_a_file_in_a_folder_named_traceback_fails_with_its_reason(run, tmp_path):
    said = []
    for name in ("Traceback", "Plain"):
        broken = tmp_path / name / "broken.blend"
        broken.parent.mkdir()
        broken.write_bytes(b"BLENDER no file at all")
        done = run("simulate", broken, "--out", tmp_path / "out")
        assert done.code == 1
        said.append(done.err.replace(name, "Plain"))
    assert said[0] == said[1]
