"""What a command reads is never replaced by what it writes, whatever the path is called."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless.batch import open_file  # noqa: E402
from tests.cli.trees import tree  # noqa: E402

PLANE = "o plane\nv 0 0 0\nv 20 0 0\nv 20 0 -20\nv 0 0 -20\nf 1 2 3 4\n"
LOST = "is read for this, and would be lost: give another name"


@pytest.fixture
def knight(small_flock: Path, tmp_path: Path) -> Path:
    """A file that took somebody a day: no command looks into it before it knows where to save."""
    path = tmp_path / "knight.blend"
    path.write_bytes(small_flock.read_bytes())
    return path


def other_name(path: Path, spelling: str) -> Path:
    """The same file by another path."""
    if spelling == "dots":
        folder = path.parent / "sub"
        folder.mkdir()
        return folder / ".." / path.name
    if spelling == "relative":
        return Path(os.path.relpath(path))
    if spelling == "link":
        link = path.with_name("link.blend")
        link.symlink_to(path)
        return link
    if spelling == "linked folder":
        above = path.parent / "folder"
        above.symlink_to(path.parent)
        return above / path.name
    return path


@pytest.mark.parametrize("spelling", ["same", "dots", "relative", "link", "linked folder"])
def test_a_scene_does_not_replace_its_characters(run, knight, spelling):
    save, before = other_name(knight, spelling), knight.read_bytes()
    words = ("scene", "--agents", 5, "--character", knight, "--save", save)
    run(*words).failed_with(save.name, LOST)
    assert knight.read_bytes() == before


def test_a_scene_does_not_replace_its_ground_and_colliders(run, tmp_path):
    link = tmp_path / "link.blend"
    link.symlink_to(tmp_path / "plane.obj")
    (tmp_path / "plane.obj").write_text(PLANE)
    for option in ("--ground", "--colliders"):
        words = ("scene", "--agents", 5, option, tmp_path / "plane.obj", "--save", link)
        run(*words).failed_with("link.blend", LOST)
    assert (tmp_path / "plane.obj").read_text() == PLANE


def linking(library: Path, path: Path) -> Path:
    """A file with a crowd that links an object of another file."""
    path.write_bytes(library.read_bytes())
    scene = open_file(path)
    with bpy.data.libraries.load(str(library), link=True) as (_there, wanted):
        wanted.objects = ["Ground"]
    scene.collection.objects.link(wanted.objects[0])
    bpy.ops.wm.save_mainfile()
    return path


COMMANDS = {
    "keyframes": ("bake", "--frames=1-2"),
    "cache": ("bake", "--to=cache", "--frames=1-2"),
    "character": ("character", "make"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_replaces_what_its_file_links_from(run, knight, tmp_path, name):
    command, *words = COMMANDS[name]
    shot = linking(knight, tmp_path / "shot.blend")
    before = tree(tmp_path)
    file = [*words, shot] if command == "character" else [shot, *words]
    run(command, *file, "--save", tmp_path / "knight.blend").failed_with("knight.blend", LOST)
    assert tree(tmp_path) == before


@pytest.mark.slow
def test_an_export_does_not_replace_the_bake_that_it_reads(run, small_flock, tmp_path):
    baked = tmp_path / "baked.blend"
    words = ("--to", "cache", "--frames=1-2", "--cache", tmp_path)
    assert run("bake", small_flock, *words, "--save", baked).code == 0
    before = tree(tmp_path)
    (played,) = (tmp_path / "Crowd").glob("crowd.*")
    to = {".usdc": "usd", ".pc2": "pc2"}[played.suffix]
    words = ("--to", to, "--frames=1-2", "--out", played)
    run("bake", baked, *words).failed_with(played.name, LOST)
    assert tree(tmp_path) == before


def test_a_variation_does_not_replace_the_scene_of_its_batch(run, knight, tmp_path):
    row = {"number": 1, "name": "one", "differs": {}}
    book = {"format": "steer-batch", "variations": [row]}
    (tmp_path / "batch.json").write_text(json.dumps(book))
    (tmp_path / "one").mkdir()
    told = {"crowds": ["Crowd"], "set": [], "frame_start": 1, "frame_end": 2, "seed": 7}
    told |= {"format": "steer-variation", **row, "scene": str(knight), "preset": None}
    (tmp_path / "one" / "variation.json").write_text(json.dumps(told))
    before = tree(tmp_path)
    run("pick", tmp_path, "1", "--save", knight).failed_with("knight.blend", LOST)
    words = ("--scene", other_name(knight, "dots"), "--save", knight)
    run("pick", tmp_path, "1", *words).failed_with("knight.blend", LOST)
    assert tree(tmp_path) == before
    assert run("pick", tmp_path, "1", "--save", tmp_path / "shot.blend").code == 0


def test_a_bake_may_be_saved_in_the_file_that_it_is_of(run, knight):
    done = run("bake", knight, "--frames=1-2", "--save", knight)
    assert done.code == 0, done.err
    assert any(obj.animation_data for obj in open_file(knight).objects)
