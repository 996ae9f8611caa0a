"""Bakes and the files that they belong to: copies, deleted bakes, undo, files of others."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import places, status  # noqa: E402
from steer_addon.blender.crowd import baked_file  # noqa: E402
from steer_addon.blender.crowd.state import get_state, plays_back  # noqa: E402
from steer_addon.blender.making.resizing import why_fixed  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from tests.blender.cached_crowds import bits, make_walkers, told_of_bake  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    obj = make_walkers(tmp_path, monkeypatch)
    obj.steer.cache_directory = ""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v1.blend"))
    return obj


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Crowd"]
    bpy.context.view_layer.objects.active = obj
    return obj


def offered(obj):
    status.refresh(obj)
    layout = FakeLayout()
    context = SimpleNamespace(scene=bpy.context.scene, region=SimpleNamespace(width=400))
    drawing.draw_cache(layout, context, obj)
    return {v.removeprefix("object.steer_cache_") for k, v in layout.record if k == "operator"}


def duplicate(obj):
    """Make a copy of a crowd, and make it active."""
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    return other


def test_a_copy_plays_the_bake_and_makes_one_of_its_own(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    first = tmp_path / "steer_cache" / "v1" / "Crowd"
    before = bits(first) | {"played": baked_file.file_of(crowd).read_bytes()}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v2.blend"))
    assert plays_back(crowd) and places.own_folder(crowd) is None
    assert told_of_bake(crowd)["BAKE_OF_OTHER_FILE"].subject == str(tmp_path / "v1.blend")
    assert offered(crowd) == {"bake", "relink", "live"}
    for kind in ("anew", "continue", "delete"):
        assert str(tmp_path / "v1.blend") in refusal(getattr(bpy.ops.object, f"steer_cache_{kind}"))
    crowd.steer.agents.max_speed = 0.5
    status.refresh(crowd)
    assert "BAKE_OUT_OF_DATE" in told_of_bake(crowd)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    second = tmp_path / "steer_cache" / "v2" / "Crowd"
    assert places.own_folder(crowd) == second
    assert offered(crowd) == {"anew", "check", "relink", "delete"}
    assert open_cache(second).frame(10).position.tobytes() != (
        open_cache(first).frame(10).position.tobytes()
    )
    bpy.ops.wm.save_mainfile()
    crowd = opened(tmp_path / "v1.blend")
    assert places.own_folder(crowd) == first and baked_file.problem(crowd) is None
    assert before == bits(first) | {"played": baked_file.file_of(crowd).read_bytes()}
    assert "BAKE_OUT_OF_DATE" not in told_of_bake(crowd)


def test_a_chosen_folder_is_shared_without_loss(crowd, tmp_path):
    crowd.steer.cache_directory = "//bakes"
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v2.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert places.own_folder(crowd) == tmp_path / "bakes" / "v2" / "Crowd"
    assert open_cache(tmp_path / "bakes" / "Crowd").complete


def test_a_file_that_was_renamed_keeps_its_bake(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    folder = places.own_folder(crowd)
    bpy.ops.wm.save_mainfile()
    os.rename(tmp_path / "v1.blend", tmp_path / "final.blend")
    crowd = opened(tmp_path / "final.blend")
    assert places.own_folder(crowd) == folder
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    assert places.own_folder(crowd) == folder
    assert open_cache(folder).header.owner == "../../../final.blend"


def test_a_bake_of_an_older_steer_is_not_replaced(crowd, tmp_path):
    """It names no file, so that it may be that of another one, too."""
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    from dataclasses import replace

    from steer_addon.core.cache.manifest import read_manifest, write_manifest

    old = tmp_path / "steer_cache" / "Crowd"
    os.rename(places.own_folder(crowd), old)
    manifest = read_manifest(old)
    header = replace(manifest.header, owner="")
    write_manifest(old / "manifest.json", replace(manifest, header=header, played=None))
    assert bpy.ops.object.steer_cache_relink(directory=str(old)) == {"FINISHED"}
    before = bits(old)
    assert places.own_folder(crowd) == old
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    assert places.own_folder(crowd) == tmp_path / "steer_cache" / "v1" / "Crowd"
    assert bits(old) == before


def test_a_duplicate_of_a_baked_crowd_can_be_simulated_live(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    folder = places.own_folder(crowd)
    with pytest.raises(RuntimeError, match="has its own bake: use Delete Bake"):
        bpy.ops.object.steer_cache_live()
    crowd.steer.arrangement = "{}"
    other = duplicate(crowd)
    assert plays_back(other) and "live" in offered(other)
    told = {obj: (baked_file.diagnosis(obj).code, why_fixed(obj).code) for obj in (crowd, other)}
    assert told == {
        crowd: ("PLAYS_BAKE", "COUNT_BAKED"),
        other: ("PLAYS_OTHERS_BAKE", "COUNT_OF_OTHERS_BAKE"),
    }
    assert bpy.ops.object.steer_cache_live() == {"FINISHED"}
    assert why_fixed(other) is None
    assert not plays_back(other) and not other.steer.cache_folder
    assert plays_back(crowd) and places.own_folder(crowd) == folder
    assert open_cache(folder).complete and baked_file.problem(crowd) is None


@pytest.mark.parametrize("way", ["delete_bake", "bake_keyframes"])
def test_a_duplicate_leaves_the_keyframe_bake_of_the_first_crowd(crowd, way):
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    made = crowd.steer.bake_collection
    names = {obj.name for obj in made.objects}
    other = duplicate(crowd)
    assert getattr(bpy.ops.object, f"steer_{way}")() == {"FINISHED"}
    assert {obj.name for obj in made.objects} == names == {f"Crowd.{n:04d}" for n in range(5)}
    assert crowd.steer.bake_collection == made and crowd.steer.hidden_by_bake
    assert other.steer.bake_collection != made
    assert bool(other.steer.hidden_by_bake) == (way == "bake_keyframes")
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert not crowd.steer.hidden_by_bake and not names & set(bpy.data.objects.keys())


def test_undo_of_delete_leaves_a_live_crowd(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="baked")
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="deleted")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Crowd"]
    assert not plays_back(obj) and not obj.steer.cache_folder
    bpy.context.view_layer.objects.active = obj
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert len(get_state(obj).data.vertices) == len(obj.data.vertices) > 0
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert plays_back(bpy.data.objects["Crowd"])


def test_undo_of_many_deleted_bakes(crowd):
    twins = [crowd] + [crowd.copy() for _ in range(3)]
    for twin in twins[1:]:
        bpy.context.scene.collection.objects.link(twin)
    for twin in twins:
        bpy.context.view_layer.objects.active = twin
        assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    names = [twin.name for twin in twins]
    bpy.ops.ed.undo_push(message="baked")
    for twin in twins:
        bpy.context.view_layer.objects.active = twin
        assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="deleted")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert not any(plays_back(bpy.data.objects[name]) for name in names)


def test_a_bake_again_that_was_not_saved_still_plays(crowd, tmp_path):
    """The file that the .blend file knows was replaced by a newer one of its own."""
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    crowd.steer.agents.max_speed = 0.5
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    assert baked_file.problem(crowd, thorough=True) is None
    crowd = opened(tmp_path / "v1.blend")
    assert baked_file.problem(crowd, thorough=True) is None
    # the panel of a copy says that it is not the file it knows
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v2.blend"))
    assert baked_file.problem(crowd, thorough=True).code == "BAKE_FILE_DAMAGED"


def test_a_bake_behind_a_link_plays(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    played = baked_file.file_of(crowd)
    os.rename(played, tmp_path / "published.usdc")
    played.symlink_to(tmp_path / "published.usdc")
    assert baked_file.problem(crowd, thorough=True) is None


def test_delete_is_refused_while_another_process_bakes(crowd):
    from steer_addon.core.files.lock import FolderLock

    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    lock = FolderLock(places.own_folder(crowd))
    with pytest.raises(RuntimeError, match="is writing to"):
        bpy.ops.object.steer_cache_delete()
    assert plays_back(crowd) and places.own_folder(crowd) is not None
    lock.release(remove=True)


def test_a_bake_that_fails_at_once_leaves_what_was_known(crowd, tmp_path, monkeypatch):
    from steer_addon.core.cache import writer

    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    before = crowd.steer.cache_folder
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "v2.blend"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_chunk", full)
    with pytest.raises(RuntimeError, match="No space left"):
        bpy.ops.object.steer_cache_bake()
    assert crowd.steer.cache_folder == before and places.known_folder(crowd) is not None


def test_delete_asks_and_says_what_goes(crowd, tmp_path):
    """A click calls `invoke`, which asks; nothing is deleted before the answer."""
    from steer_addon.blender.operators.bake import OBJECT_OT_steer_cache_delete as Delete

    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    asked = []

    def invoke_confirm(operator, event, **words):
        asked.append(words)
        return {"RUNNING_MODAL"}

    manager = SimpleNamespace(invoke_confirm=invoke_confirm)
    context = SimpleNamespace(object=crowd, scene=bpy.context.scene, window_manager=manager)
    assert Delete.invoke(Delete, context, None) == {"RUNNING_MODAL"}
    folder = places.own_folder(crowd)
    assert str(folder) in asked[0]["message"] and "Frames 1 to" in asked[0]["message"]
    assert open_cache(folder).complete
    known = bpy.types.WindowManager.bl_rna.functions["invoke_confirm"].parameters.keys()
    assert set(asked[0]) <= set(known)


def test_files_of_others_are_in_the_way(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    folder = places.own_folder(crowd)
    (folder / "manifest.json").write_text('{"name": "my web app"}')
    told = {"delete": "manifest.json and crowd.usdc, which Steer did not", "anew": "may be another"}
    for name, words in told.items():
        with pytest.raises(RuntimeError, match=words):
            getattr(bpy.ops.object, f"steer_cache_{name}")()
    assert plays_back(crowd)
    assert (folder / "manifest.json").read_text() == '{"name": "my web app"}'
    assert (folder / "bake_1").is_dir()


def test_a_damaged_file_is_told_in_the_panel(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    played = baked_file.file_of(crowd)
    good = played.read_bytes()
    assert baked_file.diagnosis(crowd).code == "PLAYS_BAKE"
    for bad in (b"", good[:-1], b"x" * len(good), good[:3000] + b"!" + good[3001:]):
        played.write_bytes(bad)
        assert baked_file.diagnosis(crowd).code == "BAKE_FILE_DAMAGED"
    played.write_bytes(good)
    assert baked_file.diagnosis(crowd).code == "PLAYS_BAKE"
    # a state of an older version knows no digest: the file's own lengths are looked at
    state = baked_file.playback_state(crowd)
    del state[baked_file.DIGEST_KEY]
    assert baked_file.diagnosis(crowd).code == "PLAYS_BAKE"
    for bad in (b"", good[:-1], b"x" * len(good)):
        played.write_bytes(bad)
        assert baked_file.diagnosis(crowd).code == "BAKE_FILE_DAMAGED"
