"""A deleted crowd takes its state along, whatever deletes it, and undo brings both back."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.cached_crowds import LAST, make_walkers  # noqa: E402
from tests.blender.deleting import WAYS  # noqa: E402
from tests.blender.live_scenes import play, shown, update  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def state_names():
    """Names of all states and of their meshes."""
    return [o.name for o in (*bpy.data.objects, *bpy.data.meshes) if "State" in o.name]


def crowd_in(collection):
    """A crowd that was played, in a collection of its own."""
    obj = scenes.make_runner()
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    play(1, 5)
    return obj


@pytest.fixture
def collection(empty_scene):
    """A collection in the scene."""
    made = bpy.data.collections.new("Crowds")
    bpy.context.scene.collection.children.link(made)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_the_state_goes_with_the_crowd_and_undo_brings_both_back(collection, way, capfd):
    obj, other = crowd_in(collection), scenes.make_crowd([(0, 9, 0)], "Other")
    play(1, 5)
    before = shown(obj)
    bpy.ops.ed.undo_push(message="played")
    assert state_names() == ["Crowd State", "Other State"] * 2
    WAYS[way](obj)
    bpy.ops.ed.undo_push(message="deleted")
    update()
    assert state_names() == ["Other State"] * 2
    assert bpy.data.objects["Target"].type == "EMPTY" and state.get_state(other) is not None
    bpy.ops.ed.undo()
    assert state_names() == ["Crowd State", "Other State"] * 2
    obj = bpy.data.objects["Crowd"]
    np.testing.assert_array_equal(shown(obj), before)
    assert state.get_state(obj).name == "Crowd State" and obj.users_scene
    bpy.ops.ed.redo()
    update()
    assert state_names() == ["Other State"] * 2
    assert "Traceback" not in capfd.readouterr().err


def test_the_states_of_a_deleted_scene_go_with_it_and_those_of_another_stay(capfd):
    here = bpy.context.scene
    kept = scenes.make_runner()
    play(1, 3)
    there = bpy.data.scenes.new("There")
    bpy.context.window.scene = there
    scenes.make_crowd(name="Far")
    there.frame_set(1)
    bpy.context.window.scene = here
    update()
    assert state_names() == ["Crowd State", "Far State"] * 2
    bpy.data.objects.remove(scenes.make_ground())
    update()
    assert state_names() == ["Crowd State", "Far State"] * 2
    bpy.data.scenes.remove(there)
    update()
    assert state_names() == ["Crowd State"] * 2 and state.get_state(kept) is not None
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("first", [True, False])
def test_a_duplicate_keeps_its_own_state(first):
    obj = scenes.make_runner()
    play(1, 3)
    twin = obj.copy()
    bpy.context.scene.collection.objects.link(twin)
    if first:
        # the two still share one state
        bpy.data.objects.remove(obj)
        update()
        assert len(state_names()) == 2
    else:
        update()
        play(1, 3)
        bpy.data.objects.remove(obj)
        update()
        assert len(state_names()) == 2
    play(1, 3)
    assert scenes.code_of(twin) == "" and shown(twin)[0, 1] > 0


def test_what_is_not_steers_stays(collection):
    obj = crowd_in(collection)
    looked_at = state.get_state(obj)
    bpy.context.scene.collection.objects.link(looked_at)
    lonely = bpy.data.objects.new("Lonely State", bpy.data.meshes.new("Lonely State"))
    kept = crowd_in(collection)
    kept.use_fake_user = True
    used = crowd_in(collection)
    used_mesh = state.get_state(used).data
    user = bpy.data.objects.new("User", used_mesh)
    bpy.context.scene.collection.objects.link(user)
    names = [looked_at.name, lonely.name, state.get_state(kept).name]
    for crowd in (obj, used):
        bpy.data.objects.remove(crowd)
    collection.objects.unlink(kept)
    update()
    assert [o.name for o in bpy.data.objects if "State" in o.name] == sorted(names)
    assert user.data == used_mesh and len(used_mesh.vertices) == 3


def test_a_crowd_that_is_put_elsewhere_plays_on(collection):
    obj = crowd_in(collection)
    collection.objects.unlink(obj)
    update()
    assert state_names() == []
    bpy.context.scene.collection.objects.link(obj)
    update()
    play(1, 5)
    assert scenes.code_of(obj) == "" and state_names() == ["Crowd State"] * 2


def test_a_baked_crowd_takes_its_playback_along_and_leaves_the_bake(tmp_path, monkeypatch):
    obj = make_walkers(tmp_path, monkeypatch)
    bpy.context.view_layer.objects.active = obj
    obj.steer.cache_directory = str(tmp_path / "bake")
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    files = sorted(tmp_path.rglob("*"))
    assert state.plays_back(obj) and len(files) > LAST // 25
    playback = state.get_state(obj).name
    bpy.data.objects.remove(obj)
    update()
    assert playback not in bpy.data.objects
    assert sorted(tmp_path.rglob("*")) == files
