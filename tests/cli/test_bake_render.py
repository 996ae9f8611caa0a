"""`steer bake` and `steer render`, one by one."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.crowds import is_crowd  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless import batch  # noqa: E402

TINY = ["--size=64x36", "--samples=1"]


def picture(path):
    image = bpy.data.images.load(str(path))
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    size = tuple(image.size)
    bpy.data.images.remove(image)
    return size, pixels


def test_bake_makes_keyed_people_and_hides_the_crowd(run, small_scene, tmp_path):
    before = small_scene.read_bytes()
    out = tmp_path / "baked.blend"
    result = run("bake", small_scene, "--to", "keyframes", "--save", out, "--json")
    assert result.code == 0, result.err
    assert (result.data["agents"], result.data["frames"]) == (24, 20)
    assert result.data["keys"] == 24 * 20 * 10
    assert small_scene.read_bytes() == before
    scene = batch.open_file(out)
    crowd = scene.objects["Crowd"]
    assert crowd.hide_render and crowd.hide_viewport
    made = crowd.steer.bake_collection.objects
    assert len(made) == 24
    bodies = display.shown_body(display.find_modifier(crowd)).objects
    assert {obj.data for obj in made} == {body.data for body in bodies}
    assert not any(obj.hide_render for obj in made)
    assert (crowd.steer.frame_start, crowd.steer.frame_end) == (1, 20)


def test_bake_options(run, small_scene, tmp_path):
    out = tmp_path / "baked.blend"
    words = ["--save", out, "--frames=1-11", "--step=5", "--empties", "--set", "arrive.weight=0.5"]
    result = run("bake", small_scene, *words, "--actions=shared", "--json")
    assert result.data["keys"] == 24 * 3 * 10
    scene = batch.open_file(out)
    crowd = scene.objects["Crowd"]
    made = crowd.steer.bake_collection.objects
    assert {obj.type for obj in made} == {"EMPTY"}
    assert len({obj.animation_data.action for obj in made}) == 1
    assert crowd.steer.frame_end == 20
    again = run("bake", out, "--save", out, "--collection=Flags", "--tolerance=0.05", "--json")
    assert again.code == 0, again.err
    scene = batch.open_file(out)
    made = scene.objects["Crowd"].steer.bake_collection.objects
    assert len(made) == 24
    assert all(obj.instance_collection.name == "Flags" for obj in made)
    named = run("bake", out, "--save", out, "--object=Man")
    assert named.code == 0, named.err


def test_a_bake_from_the_middle_is_that_part_of_the_whole(run, small_flock, tmp_path):
    curves = []
    for frames in ("1-12", "5-12"):
        out = tmp_path / f"{frames}.blend"
        result = run("bake", small_flock, "--save", out, f"--frames={frames}", "--json")
        assert result.code == 0, result.err
        scene = batch.open_file(out)
        assert result.data["frame_start"] == int(frames[0])
        made = sorted(scene.objects["Crowd"].steer.bake_collection.objects, key=lambda o: o.name)
        scene.frame_set(9)
        curves.append([tuple(obj.location) for obj in made])
        assert made[0].animation_data.action.frame_range[:] == (int(frames[0]), 12)
    assert curves[0] == curves[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--crowd", "Ducks"], ["'Ducks'", "'Crowd'"]),
        (["--object", "Duck"], ["'Duck'", "'Crowd'"]),
        (["--collection", "Ducks"], ["'Ducks'", "'Flags'"]),
        (["--save", "x.txt"], ["x.txt", ".blend"]),
        (["--save", "taken/x.blend"], ["taken", "cannot be written"]),
        (["--frames=-5-10"], ["begin before"]),
    ],
)
def test_bad_input_for_bake(run, small_flock, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    save = [] if "--save" in words else ["--save", "x.blend"]
    run("bake", small_flock, *save, *words).failed_with(*told)
    assert not (tmp_path / "x.blend").exists()


def test_two_crowds(run, small_flock, tmp_path):
    scene = batch.open_file(small_flock)
    twin = scene.objects["Crowd"].copy()
    twin.name = "Others"
    scene.collection.objects.link(twin)
    path = tmp_path / "two.blend"
    batch.save_file(path)
    baked = run("bake", path, "--save", tmp_path / "both.blend", "--json").data
    assert baked["agents"] == 48
    assert [row["crowd"] for row in baked["crowds"]] == ["Crowd", "Others"]
    scene = batch.open_file(tmp_path / "both.blend")
    assert all(obj.hide_render for obj in scene.objects if is_crowd(obj))


@pytest.mark.slow
def test_live_crowds_are_simulated_up_to_the_frame(run, small_flock, tmp_path):
    late = run("render", small_flock, "--frames=15", "--out", tmp_path / "a", *TINY, "--json")
    assert late.code == 0, late.err
    assert late.data["frames"] == 1
    run("render", small_flock, "--frames=14-15", "--out", tmp_path / "b", *TINY)
    first = run("render", small_flock, "--frames=1", "--out", tmp_path / "c", *TINY, "--json")
    size, alone = picture(tmp_path / "a" / "frame_0015.png")
    _, after = picture(tmp_path / "b" / "frame_0015.png")
    _, start = picture(first.data["outputs"][0])
    assert size == (64, 36)
    assert (alone == after).all()
    assert (alone != start).any()
    assert np.ptp(alone) > 0.2


def test_baked_and_live_pictures_are_alike(run, small_scene, tmp_path):
    baked = tmp_path / "baked.blend"
    run("bake", small_scene, "--save", baked)
    words = ["--frames=18", "--size=160x90", "--samples=8"]
    run("render", small_scene, "--out", tmp_path / "live", *words)
    run("render", baked, "--out", tmp_path / "baked", *words)
    _, live = picture(tmp_path / "live" / "frame_0018.png")
    _, keyed = picture(tmp_path / "baked" / "frame_0018.png")
    # colors of clothes are drawn again, places of people stay
    assert np.abs(live - keyed).mean() < 0.03


@pytest.mark.slow
def test_a_share_of_the_size_and_a_video(run, small_flock, tmp_path):
    words = ["--frames=1-3", "--size=10%", "--samples=1", "--video", "--out", tmp_path]
    result = run("render", small_flock, *words, "--json")
    if not bpy.app.build_options.codec_ffmpeg:
        result.failed_with("cannot write videos")
        assert not list(tmp_path.iterdir())
        return
    assert result.code == 0, result.err
    assert result.data["size"] == [96, 54]
    assert [path.name for path in sorted(tmp_path.glob("frame*"))] == [
        "frame_0001.png",
        "frame_0002.png",
        "frame_0003.png",
    ]
    assert not list(tmp_path.glob(".*"))
    assert (tmp_path / "small.mp4").stat().st_size > 500
    assert result.data["video"] == str(tmp_path / "small.mp4")


@pytest.mark.skipif(not bpy.app.build_options.codec_ffmpeg, reason="no encoder in this build")
def test_a_video_that_cannot_be_made_leaves_the_pictures(run, small_flock, tmp_path, monkeypatch):
    from steer_addon.blender.headless import render

    def spoil(path):
        path.write_bytes(path.read_bytes()[:-20])

    monkeypatch.setattr(render, "mark_video", spoil)
    words = ["--frames=1-2", *TINY, "--video", "--out", tmp_path]
    run("render", small_flock, *words).failed_with("small.mp4 cannot be written", "cut short")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["frame_0001.png", "frame_0002.png"]


def test_bad_input_for_render(run, small_flock, tmp_path, empty_scene):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "empty.blend"))
    (tmp_path / "taken").write_text("a file")
    run("render", tmp_path / "empty.blend", "--out", tmp_path).failed_with("no camera")
    run("render", small_flock, "--out", tmp_path / "taken").failed_with("cannot be written")
    run("render", tmp_path / "none.blend").failed_with("no file")
