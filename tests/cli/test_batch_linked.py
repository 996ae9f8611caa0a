"""What a batch makes of a scene is out of date when a file changes that the scene links from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.commands.farm import looking  # noqa: E402
from steer_addon.core.files.plain import digest_of  # noqa: E402
from steer_addon.farm.starter import Starter  # noqa: E402
from steer_addon.farm.variations import Scene  # noqa: E402
from tests.blender.live_scenes import make_box, make_crowd  # noqa: E402


def save_box(path, half):
    bpy.ops.wm.read_homefile(use_empty=True)
    box = make_box(half=half)
    shelf = bpy.data.collections.new("Shelf")
    shelf.objects.link(box)
    bpy.context.scene.collection.children.link(shelf)
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def link_into(path, other):
    """Save a file whose collection holds one that is linked from another file."""
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with bpy.data.libraries.load(str(other), link=True, relative=True) as (_there, wanted):
        wanted.collections = ["Shelf"]
    shelf = bpy.data.collections.new("Shelf")
    shelf.children.link(wanted.collections[0])
    bpy.context.scene.collection.children.link(shelf)
    make_crowd()
    bpy.ops.wm.save_mainfile()


@pytest.fixture
def scene(steer, empty_scene, tmp_path) -> Path:
    """A scene that links from a file that links a box from another folder."""
    save_box(tmp_path / "assets" / "box.blend", 1.0)
    link_into(tmp_path / "sets" / "set.blend", tmp_path / "assets" / "box.blend")
    link_into(tmp_path / "scene.blend", tmp_path / "sets" / "set.blend")
    return tmp_path / "scene.blend"


def test_files_that_a_scene_links_from_count(run, scene, tmp_path):
    told = run("info", scene, "--json").data
    files = tmp_path / "assets" / "box.blend", tmp_path / "sets" / "set.blend"
    assert told["linked"] == {str(path): digest_of(path) for path in files}
    own = digest_of(scene)
    assert not looking.Look([scene], {looking.key_of(scene, own): told}).unknown
    before = Scene.from_info(scene, own, told).digest
    save_box(files[0], 2.0)
    assert looking.Look([scene], {looking.key_of(scene, own): told}).unknown == {scene: own}
    changed = run("info", scene, "--json").data
    assert Scene.from_info(scene, own, changed).digest not in (before, own)
    # what a scene without them depends on is its own file
    assert Scene.from_info(scene, own, {**told, "linked": {}}).digest == own


@pytest.mark.slow
@pytest.mark.usefixtures("tasks_alone", "looks_here")
def test_a_scene_that_links_is_read_once(run, scene, tmp_path, monkeypatch):
    """Its digest is that of all files, which are known only once it is open."""
    (tmp_path / "job.toml").write_text('scenes = ["scene.blend"]\nseeds = "1-2"\nframes = "1-2"\n')
    begun, start = [], Starter.open

    def noted(self, words, *more, **streams):
        begun.append(words[0])
        return start(self, words, *more, **streams)

    monkeypatch.setattr(Starter, "open", noted)
    done = run("batch", tmp_path / "job.toml", "--json")
    assert done.data["complete"] and sorted(begun) == ["extract", "simulate", "simulate"]
    assert run("batch", tmp_path / "job.toml", "--json").data["kept"] == 3
    assert len(begun) == 3
    save_box(tmp_path / "assets" / "box.blend", 2.0)
    planned = run("batch", tmp_path / "job.toml", "--dry-run", "--json").data["tasks"]
    assert len(planned) == 3 and not any(row["done"] for row in planned)


def test_links_count_as_the_files_that_they_lead_to(run, scene, tmp_path):
    """The newest version of an asset is often a link to one of several files."""
    box, newest = tmp_path / "assets" / "box.blend", tmp_path / "assets" / "box_v1.blend"
    box.rename(newest)
    box.symlink_to(newest.name)
    told = run("info", scene, "--json").data
    assert told["linked"][str(box)] == digest_of(newest)
    own = digest_of(scene)
    assert not looking.Look([scene], {looking.key_of(scene, own): told}).unknown
    save_box(tmp_path / "assets" / "box_v2.blend", 2.0)
    box.unlink()
    box.symlink_to("box_v2.blend")
    assert looking.Look([scene], {looking.key_of(scene, own): told}).unknown == {scene: own}
    # and so does a scene
    other = tmp_path / "other.blend"
    other.symlink_to(scene.name)
    look = looking.Look([other], {})
    assert look.unknown == {other: own} and not look.faults


def test_files_of_one_name_that_change_places_count(scene):
    told = {"crowds": [], "camera": True, "images": {}}

    def digest(one, other, folder="/kits"):
        linked = {f"{folder}/knight/rig.blend": one, f"{folder}/mage/rig.blend": other}
        return Scene.from_info(scene, "own", {**told, "linked": linked}).digest

    assert digest("aa", "bb") != digest("bb", "aa")
    assert digest("aa", "bb") == digest("aa", "bb", "/moved")


@pytest.mark.usefixtures("looks_here")
def test_what_is_lost_is_told_and_a_batch_makes_nothing_of_it(run, scene, tmp_path):
    """Its results would take the place of those that were made with the file."""
    (tmp_path / "job.toml").write_text('scenes = ["scene.blend"]\nframes = "1-2"\n')
    box = tmp_path / "assets" / "box.blend"
    box.unlink()
    told = run("info", scene, "--json").data
    assert told["lost"] == [str(box)]
    assert str(box) in run("info", scene).out
    simulated = run("simulate", scene, "--out", tmp_path / "out", "--frames=1-2", "--json")
    assert "LIBRARY_LOST" in [row["code"] for row in simulated.data["diagnoses"]]
    batch = run("batch", tmp_path / "job.toml", "--json")
    assert batch.code == 1 and "box.blend, which is not there" in batch.data["broken"][scene.name]
    assert not (tmp_path / "batch" / "scene" / "simulation").exists()
    run("batch", tmp_path / "job.toml", "--only=scene/simulate").failed_with("box.blend")


@pytest.mark.usefixtures("looks_here")
@pytest.mark.parametrize("kind", ["renamed", "text"])
def test_what_a_file_lacks_is_told_and_a_batch_makes_nothing_of_it(run, scene, tmp_path, kind):
    """Blender says nothing of it: an empty takes its place."""
    (tmp_path / "job.toml").write_text('scenes = ["scene.blend"]\nframes = "1-2"\n')
    box = tmp_path / "assets" / "box.blend"
    if kind == "renamed":
        bpy.ops.wm.open_mainfile(filepath=str(box))
        bpy.data.collections["Shelf"].name = "Rack"
        bpy.ops.wm.save_mainfile()
    else:
        box.write_text("version https://git-lfs.github.com/spec/v1")
    told = run("info", scene, "--json").data
    assert told["lost"] == [] and "'Shelf' from " in told["lacking"][0]
    assert str(box) in told["lacking"][0]
    simulated = run("simulate", scene, "--out", tmp_path / "out", "--frames=1-2", "--json")
    assert "LINKED_LOST" in [row["code"] for row in simulated.data["diagnoses"]]
    batch = run("batch", tmp_path / "job.toml", "--json")
    assert batch.code == 1 and "'Shelf' from " in batch.data["broken"][scene.name]
    assert not (tmp_path / "batch" / "scene" / "simulation").exists()


def test_a_scene_that_is_picked_tells_what_it_lost(run, scene, tmp_path):
    row = {"number": 1, "name": "one", "differs": {}}
    given = {"crowds": [], "set": [], "frame_start": 1, "frame_end": 2}
    (tmp_path / "one").mkdir()
    for path, told in (
        (tmp_path / "batch.json", {"format": "steer-batch", "variations": [row]}),
        (
            tmp_path / "one" / "variation.json",
            {"format": "steer-variation", **row, **given, "scene": str(scene)},
        ),
    ):
        path.write_text(json.dumps(told))
    words = ["pick", tmp_path, "1", "--save", tmp_path / "shot.blend", "--json"]
    assert run(*words).data["diagnoses"] == []
    other = tmp_path / "moved" / "deep" / "scene.blend"
    other.parent.mkdir(parents=True)
    scene.rename(other)
    told = run(*words, "--scene", other)
    assert told.code == 0 and "LIBRARY_LOST" in [row["code"] for row in told.data["diagnoses"]]
