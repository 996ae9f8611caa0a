"""Files that Steer did not write: no command overwrites or deletes one of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.cli import main  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from tests.cli.trees import tree  # noqa: E402
from tests.often import often  # noqa: E402

FRAMES = "--frames=1-2"
TINY = ("--size=32x18", "--samples=1", FRAMES)


def strew(folder: Path) -> Path:
    """Files of others, with the names that Steer uses."""
    names = (
        "manifest.json", "manifest.next.json", "crowd.usdc", "bake_1/keep.txt",
        "bake_1/frames_1_2/position.npy", "bake_7/frames_1_2.partial/velocity.npy",
        "frame_0001.png", "small.mp4", "positions.npy", "report.json", ".positions.npy.partial",
        ".steer-0123456789abcdef.partial/new.usdc", ".frame_0001.partial.png", "new.blend@",
    )  # fmt: skip
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"mine: {name}")
    return folder


def lasting(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files without manifests."""
    return {name: data for name, data in files.items() if not name.endswith(".json")}


COMMANDS = {
    "simulate": ("simulate", FRAMES, "--out", "{}"),
    "render": ("render", *TINY, "--out", "{}"),
    "video": ("render", "--size=32x18", "--samples=1", "--frames=5", "--video", "--out", "{}"),
    "cache": ("bake", "--to", "cache", FRAMES, "--cache", "{}/.."),
    "continue": ("bake", "--to", "cache", "--continue", FRAMES, "--cache", "{}/.."),
    "usd": ("bake", "--to", "usd", FRAMES, "--out", "{}"),
    "alembic": ("bake", "--to", "alembic", FRAMES, "--out", "{}"),
    "glb": ("bake", "--to", "glb", FRAMES, "--out", "{}"),
    "csv": ("bake", "--to", "csv", FRAMES, "--out", "{}"),
    "keyframes": ("bake", FRAMES, "--save", "{}/new.blend"),
}
REFUSED = {
    "simulate": "did not write: choose another folder",
    "render": "does not bear Steer's mark",
    "cache": "may be another crowd's or another file's",
    "continue": "Steer did not write",
}
if bpy.app.build_options.codec_ffmpeg:
    REFUSED["video"] = "does not bear Steer's mark"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_touches_a_file_of_others(run, small_flock, tmp_path, name):
    folder = strew(tmp_path / "Crowd")
    before = tree(tmp_path)
    command, *words = COMMANDS[name]
    result = run(command, small_flock, *(word.format(folder) for word in words))
    after = tree(tmp_path)
    assert before.items() <= after.items()
    if name in REFUSED:
        result.failed_with(REFUSED[name])
        assert after == before
    else:
        # also nothing but the result was left
        assert result.code in (0, 1) and len(after) <= len(before) + 1


def test_a_link_at_a_name_of_ours_leads_nowhere(run, small_flock, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in (".positions.npy.partial", ".report.json.partial"):
        (out / name).symlink_to(victim)
    assert run("simulate", small_flock, FRAMES, "--out", out).code == 0
    assert victim.read_text() == "mine"
    (out / "positions.npy").unlink()
    (out / "positions.npy").symlink_to(victim)
    assert run("simulate", small_flock, FRAMES, "--out", out).code == 0
    assert victim.read_text() == "mine" and not (out / "positions.npy").is_symlink()


@pytest.mark.slow
def test_what_a_run_left_the_next_one_replaces(run, small_flock, tmp_path):
    for command, words in (("simulate", [FRAMES]), ("render", TINY)):
        out = tmp_path / command
        first = run(command, small_flock, *words, "--out", out)
        assert first.code == 0, first.err
        names = set(tree(out))
        assert run(command, small_flock, *words, "--out", out).code == 0
        assert set(tree(out)) == names


def test_a_cut_run_does_not_replace_a_complete_one(run, small_flock, tmp_path, monkeypatch):
    from steer_addon.commands.simulating.recording import Recorder

    assert run("simulate", small_flock, FRAMES, "--out", tmp_path).code == 0
    before = tree(tmp_path)
    add = Recorder.add

    def cut(self, frame):
        if self.numbers:
            raise KeyboardInterrupt
        add(self, frame)

    monkeypatch.setattr(Recorder, "add", cut)
    run("simulate", small_flock, FRAMES, "--out", tmp_path).failed_with("cancelled")
    assert tree(tmp_path) == before


def test_two_simulations_into_one_folder(run, small_flock, tmp_path):
    """The second one is refused as long as the first one writes."""
    from steer_addon.core.files.lock import FolderLock

    lock = FolderLock(tmp_path)
    run("simulate", small_flock, FRAMES, "--out", tmp_path).failed_with("is writing to")
    assert list(tree(tmp_path)) == [".steer.lock"]
    lock.release(remove=True)
    assert run("simulate", small_flock, FRAMES, "--out", tmp_path).code == 0


@pytest.fixture(scope="module")
def bakes(small_flock: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with a file that plays a bake, of two and of three frames."""
    found = {}
    for frames in ("1-2", "1-3"):
        found[frames] = folder = tmp_path_factory.mktemp("bake")
        words = ["--to", "cache", f"--frames={frames}", "--cache", folder, "--quiet"]
        words = ["bake", small_flock, *words, "--save", folder / "baked.blend"]
        assert main([str(word) for word in words]) == 0
    return found


def played_of(folder: Path) -> Path:
    """The file with the frames of a bake."""
    return next((folder / "Crowd").glob("crowd.*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    often(
        ["missing", "empty", "cut", "noise", "one byte", "another"],
        "missing",
        "one byte",
        "another",
    ),
)
def test_a_damaged_bake_is_not_rendered(run, bakes, tmp_path, damage):
    shutil.copytree(bakes["1-2"], tmp_path, dirs_exist_ok=True)
    blend, played = tmp_path / "baked.blend", played_of(tmp_path)
    data = bytearray(played.read_bytes())
    if damage == "missing":
        played.unlink()
    elif damage == "another":
        shutil.copy(played_of(bakes["1-3"]), played)
    else:
        spoiled = {
            "empty": b"",
            "cut": data[: len(data) // 2],
            "noise": os.urandom(len(data)),
            "one byte": data[:2000] + bytes([data[2000] ^ 1]) + data[2001:],
        }
        played.write_bytes(spoiled[damage])
    out = tmp_path / "pictures"
    told = "is missing" if damage == "missing" else "is damaged, or belongs to another bake"
    run("render", blend, *TINY, "--out", out).failed_with(played.name, told)
    assert not list(out.glob("*.png"))


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 6, 500])
def test_a_bake_whose_file_was_cut_is_baked_again(run, bakes, tmp_path, left):
    shutil.copytree(bakes["1-2"], tmp_path, dirs_exist_ok=True)
    blend, played = tmp_path / "baked.blend", played_of(tmp_path)
    whole = played.read_bytes()
    os.truncate(played, left)
    words = ("--to", "cache", FRAMES, "--cache", tmp_path, "--save", blend)
    done = run("bake", blend, *words)
    assert done.code == 0, done.err
    assert len(played.read_bytes()) == len(whole)
    # a whole file in its place is somebody's work
    shutil.copy(played_of(bakes["1-3"]), played)
    before = tree(tmp_path)
    run("bake", blend, *words).failed_with(f"{played.name}, which Steer did not write")
    assert tree(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "pipe", "text"])
def test_a_bake_without_a_manifest_that_can_be_read_is_not_exported(run, bakes, tmp_path, kind):
    shutil.copytree(bakes["1-2"], tmp_path, dirs_exist_ok=True)
    manifest = tmp_path / "Crowd" / "manifest.json"
    manifest.unlink()
    if kind == "text":
        manifest.write_text("mine")
    else:
        manifest.mkdir() if kind == "folder" else os.mkfifo(manifest)
    words = ("--to", "csv", FRAMES, "--out", tmp_path / "x.csv")
    run("bake", tmp_path / "baked.blend", *words).failed_with("manifest.json is no", "bake again")
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.slow
def test_a_cut_picture_never_takes_its_name(run, small_flock, tmp_path, monkeypatch):
    from steer_addon.blender.headless import render

    assert run("render", small_flock, *TINY, "--out", tmp_path).code == 0
    before = tree(tmp_path)
    monkeypatch.setattr(render, "mark_picture", lambda path: os.truncate(path, 60))
    told = ("frame_0001.png cannot be written", "cut short")
    run("render", small_flock, *TINY, "--out", tmp_path).failed_with(*told)
    monkeypatch.setattr(render, "mark_picture", lambda path: os.truncate(path, 0))
    run("render", small_flock, *TINY, "--out", tmp_path).failed_with("is empty")
    assert tree(tmp_path) == before


@pytest.mark.slow
def test_two_files_that_name_one_folder(run, small_flock, tmp_path):
    """A sentence tells the second one whose bake is there, and nothing of it changes."""
    blends = [tmp_path / name / "shot.blend" for name in "ab"]
    for blend in blends:
        blend.parent.mkdir()
        shutil.copy(small_flock, blend)
    words = ["--to", "cache", FRAMES, "--cache", tmp_path / "caches"]
    assert run("bake", blends[0], *words).code == 0
    before = tree(tmp_path)
    run("bake", blends[1], *words).failed_with("holds the bake of", str(blends[0]))
    # the same scene at another place may go on, as on a farm, and changes no frame
    assert run("bake", blends[1], *words, "--continue").code == 0
    assert lasting(tree(tmp_path)) == lasting(before)
    assert run("bake", blends[0], *words).code == 0
    # a file that cannot be seen from here may be there all the same
    blends[0].unlink()
    run("bake", blends[1], *words).failed_with("may be another")
    assert open_cache(tmp_path / "caches" / "Crowd").header.owner == "../../a/shot.blend"


@pytest.mark.slow
def test_no_command_waits_for_a_pipe_that_its_file_reads(run, bakes, tmp_path):
    shutil.copytree(bakes["1-2"], tmp_path, dirs_exist_ok=True)
    blend, played = tmp_path / "baked.blend", played_of(tmp_path)
    played.unlink()
    os.mkfifo(played)
    told = (f"{played}, which baked.blend reads, is no plain file: move it away",)
    for words in (["info"], ["bake", "--to", "cache"], ["render", *TINY, "--out", tmp_path / "x"]):
        command, *rest = words
        run(command, blend, *rest).failed_with(*told)
    job = tmp_path / "job.toml"
    job.write_text('scenes = ["baked.blend"]\nframes = "1-2"\n')
    listed = run("batch", job, "--dry-run", "--json")
    assert listed.code == 1 and told[0] in listed.data["broken"]["baked.blend"]
    # what is not there waits for nobody
    played.unlink()
    assert run("info", blend).code == 0
