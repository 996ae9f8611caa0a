"""Keyframe bakes show what the frames say, are complete or absent, and go away without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyframes  # noqa: E402
from steer_addon.blender.bake.keyframes import (  # noqa: E402
    KeyframeBakeSettings,
    bake,
    delete_bake,
    find_bakes,
)
from steer_addon.core.errors import AgentError, ParameterError, SceneError  # noqa: E402
from steer_addon.core.parameters import parameters  # noqa: E402
from tests.ended import ENDED  # noqa: E402

from .bake_frames import (  # noqa: E402
    assert_shows,
    circling,
    counts,
    curves_of,
    key_frames,
    turn_between,
    users,
    without,
)

PLAYER = """
import sys
import bpy, numpy as np
from mathutils import Quaternion
assert "steer_addon" not in sys.modules
blend, data = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.open_mainfile(filepath=blend, load_ui=False)
frames = np.load(data)
scene = bpy.context.scene
objects = [bpy.data.objects[name] for name in frames["names"]]
for number, position, rotation in zip(frames["number"], frames["position"], frames["rotation"]):
    scene.frame_set(int(number))
    graph = bpy.context.evaluated_depsgraph_get()
    for item, p, q in zip(objects, position, rotation):
        location, turn, _ = item.evaluated_get(graph).matrix_world.decompose()
        assert np.allclose(location, p, atol=1e-5), (number, item.name, location, p)
        assert abs(turn.dot(Quaternion(q.tolist()))) > 1 - 1e-6, (number, item.name, turn, q)
print("played", len(frames["number"]), "frames of", len(objects), "agents")
"""


@pytest.fixture
def scene():
    """An empty scene; the functions under test need nothing registered."""
    bpy.ops.wm.read_homefile(use_empty=True)
    yield bpy.context.scene
    bpy.ops.wm.read_homefile(use_empty=True)


def bake_here(frames, **options):
    parent = bpy.context.scene.collection
    return bake(frames, name="Crowd", collection_parent=parent, **options)


def test_defaults_and_bounds():
    assert KeyframeBakeSettings().to_dict() == {
        "step": 1,
        "tolerance": 0.0,
        "rotation_tolerance": 1.0,
        "interpolation": "LINEAR",
        "bodies": "OBJECTS",
        "actions": "PER_AGENT",
    }
    bounds = {
        name: (info.minimum, info.maximum)
        for name, info in parameters(KeyframeBakeSettings).items()
        if info.kind != "choice"
    }
    assert bounds == {
        "step": (1, 10000),
        "tolerance": (0.0, 1.0e9),
        "rotation_tolerance": (0.0, 180.0),
    }
    with pytest.raises(ParameterError, match="keyframebake.step is 0"):
        KeyframeBakeSettings(step=0)


def test_objects_show_the_frames(scene):
    frames = circling(range(-12, 37))
    result = bake_here(frames)
    items = list(result.collection.objects)
    assert [item.name for item in items] == ["Crowd.0000", "Crowd.0001", "Crowd.0002"]
    assert result.collection.name == "Crowd Bake"
    assert result.collection in scene.collection.children.values()
    assert (result.agent_count, result.object_count) == (3, 3)
    assert result.key_count == 3 * 10 * len(frames)
    assert {item.empty_display_type for item in items} == {"ARROWS"}
    assert items[0].empty_display_size == pytest.approx(0.3)
    for frame in frames:
        assert_shows(scene, items, frame)


def test_objects_stand_at_their_first_keys_before_anything_is_played(scene):
    frames = circling(range(5, 8))
    scene.frame_set(5)
    items = list(bake_here(frames).collection.objects)
    np.testing.assert_array_equal([item.location for item in items], frames[0].position)
    np.testing.assert_array_equal([item["velocity"] for item in items], frames[0].velocity)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(
        [item.matrix_world.translation for item in items], frames[0].position, atol=1e-6
    )


def test_every_agent_has_an_action_of_its_own_with_plain_curves(scene):
    items = bake_here(circling(range(1, 6))).collection.objects
    assert len({item.animation_data.action for item in items}) == 3
    for item in items:
        assert item.animation_data.action.name == item.name
        curves = curves_of(item)
        assert list(curves) == [
            *(("location", i) for i in range(3)),
            *(("rotation_quaternion", i) for i in range(4)),
            *(('["velocity"]', i) for i in range(3)),
        ]
        assert key_frames(item) == [1, 2, 3, 4, 5]
        for curve in curves.values():
            for key in curve.keyframe_points:
                assert key.interpolation == "LINEAR"
                # handles at zero would wreck the curve when a user turns to smooth keys
                assert key.handle_left[0] == pytest.approx(key.co[0] - 1 / 3)


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
def test_interpolation_between_keys(scene, interpolation):
    frames = circling([0, 10], count=1)
    result = bake_here(frames, settings=KeyframeBakeSettings(interpolation=interpolation))
    keys = curves_of(result.collection.objects[0])["location", 0].keyframe_points
    assert {key.interpolation for key in keys} == {interpolation}
    scene.frame_set(2)
    a, b = frames[0].position[0], frames[1].position[0]
    share = (result.collection.objects[0].location[0] - a[0]) / (b[0] - a[0])
    expected = {"LINEAR": (0.2, 0.2), "BEZIER": (0.05, 0.19), "CONSTANT": (0.0, 0.0)}
    low, high = expected[interpolation]
    assert low - 1e-5 <= share <= high + 1e-5


def test_rotations_take_the_short_way_between_keys(scene):
    frames = circling(range(0, 97), turns_per_second=1.0)
    items = list(bake_here(frames).collection.objects)
    a_frame = 2.0 * np.pi / 24.0
    for number in range(0, 96):
        scene.frame_set(number, subframe=0.5)
        for i, item in enumerate(items):
            middle = item.matrix_world.to_quaternion()
            assert turn_between(middle, frames[number].rotation[i]) == pytest.approx(
                a_frame / 2, abs=2e-3
            )


def test_step_keeps_the_first_and_the_last_frame(scene):
    frames = circling(range(3, 15))
    result = bake_here(frames, settings=KeyframeBakeSettings(step=5))
    assert key_frames(result.collection.objects[0]) == [3, 8, 13, 14]
    assert result.key_count == 3 * 10 * 4


def test_sparse_keys_of_a_fast_spin_still_take_the_short_way(scene):
    """Signs that are continuous from frame to frame are not so between every fifth frame."""
    frames = circling(range(0, 61), count=1, turns_per_second=3.0)
    item = bake_here(frames, settings=KeyframeBakeSettings(step=5)).collection.objects[0]
    turns = np.stack(
        [
            [key.co[1] for key in curves_of(item)["rotation_quaternion", i].keyframe_points]
            for i in range(4)
        ],
        axis=1,
    )
    assert np.all(np.sum(turns[1:] * turns[:-1], axis=1) >= 0.0)


@pytest.mark.parametrize("step", [1, 4])
def test_tolerance_bounds_what_blender_shows(scene, step):
    frames = circling(range(-20, 100), turns_per_second=0.25)
    chosen = KeyframeBakeSettings(tolerance=0.02, rotation_tolerance=10.0, step=step)
    result = bake_here(frames, settings=chosen)
    items = list(result.collection.objects)
    assert result.key_count < 3 * 10 * len(frames) / 3
    for frame in frames:
        scene.frame_set(frame.number)
        for i, item in enumerate(items):
            location, rotation, _ = item.matrix_world.decompose()
            assert np.linalg.norm(np.array(location) - frame.position[i]) <= 0.02 + 1e-5
            assert turn_between(rotation, frame.rotation[i]) <= np.radians(10.0) + 1e-3


def test_absent_agents_get_no_keys(scene):
    frames = circling(range(1, 7))
    frames[0] = without(frames[0], 1)
    frames[3] = without(frames[3], 2)
    frames[4:] = [without(frame, 2) for frame in frames[4:]]
    found = {item.name: key_frames(item) for item in bake_here(frames).collection.objects}
    assert found == {
        "Crowd.0000": [1, 2, 3, 4, 5, 6],
        "Crowd.0001": [2, 3, 4, 5, 6],
        "Crowd.0002": [1, 2, 3],
    }
    for frame in frames:
        items = [bpy.data.objects[f"Crowd.{number:04d}"] for number in frame.id]
        assert_shows(scene, items, frame)


def test_one_frame_and_one_agent(scene):
    frames = circling([17], count=1)
    result = bake_here(frames, settings=KeyframeBakeSettings(step=3, tolerance=0.1))
    assert result.key_count == 10
    assert_shows(scene, list(result.collection.objects), frames[0])


def test_file_plays_without_the_extension(scene, tmp_path):
    frames = circling(range(-3, 30), count=5)
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    result = bake_here(frames, source=bpy.data.objects.new("body", mesh))
    blend, data = tmp_path / "baked.blend", tmp_path / "frames.npz"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False)
    np.savez(
        data,
        names=[item.name for item in result.collection.objects],
        number=[frame.number for frame in frames],
        position=[frame.position for frame in frames],
        rotation=[frame.rotation for frame in frames],
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["BLENDER_USER_RESOURCES"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PLAYER + ENDED, str(blend), str(data)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "played 33 frames of 5 agents" in done.stdout


def test_progress_is_told_and_rises(scene):
    told = []
    result = bake_here(circling(range(1, 3), count=200), progress=lambda s: told.append(s) or True)
    assert result.agent_count == 200
    assert told == sorted(told) and told[0] == 0.0 and told[-1] == 1.0 and len(told) > 3


@pytest.mark.parametrize("stop_at", [0.0, 0.3, 1.0])
def test_cancel_leaves_nothing(scene, stop_at):
    before, used = counts(), users()
    frames = circling(range(1, 3), count=200)
    assert bake_here(frames, progress=lambda share: share < stop_at) is None
    assert counts() == before and users() == used


def test_failure_leaves_nothing(scene, monkeypatch):
    mesh = bpy.data.meshes.new("body")
    source = bpy.data.objects.new("body", mesh)
    scene.collection.objects.link(source)
    before, used = counts(), users()
    whole, calls = keyframes._animate, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 70:
            raise MemoryError("no room")
        whole(*arguments)

    monkeypatch.setattr(keyframes, "_animate", failing)
    with pytest.raises(MemoryError):
        bake_here(circling(range(1, 3), count=100), source=source)
    assert counts() == before and users() == used


def test_infinite_positions_leave_nothing(scene):
    before = counts()
    frames = circling(range(1, 4), count=100)
    frames[2].position[80, 1] = np.nan
    with pytest.raises(AgentError, match="agent 80 .* frame 3"):
        bake_here(frames)
    assert counts() == before


def test_second_bake_is_refused_or_replaces_the_first(scene):
    first = bake_here(circling(range(1, 4)))
    before = counts()
    with pytest.raises(SceneError, match="'Crowd' is baked already"):
        bake_here(circling(range(1, 4)))
    assert bake_here(circling(range(1, 9)), replace=True, progress=lambda share: False) is None
    assert find_bakes("Crowd") == [first.collection] and counts() == before

    frames = circling(range(1, 9))
    second = bake_here(frames, replace=True)
    assert counts() == before
    assert find_bakes("Crowd") == [second.collection]
    assert second.collection.name == "Crowd Bake"
    items = list(second.collection.objects)
    assert [item.name for item in items] == ["Crowd.0000", "Crowd.0001", "Crowd.0002"]
    assert [item.animation_data.action.name for item in items] == [item.name for item in items]
    assert_shows(scene, items, frames[-1])


def test_delete_one_of_two_bakes(scene):
    before = counts()
    bake_here(circling(range(1, 4)))
    other = bake(circling([1, 2]), name="Birds", collection_parent=scene.collection)
    actions = len(bpy.data.actions)
    assert delete_bake(*find_bakes("Crowd")) == 3
    assert len(bpy.data.actions) == actions - 3
    assert len(other.collection.objects) == 3
    assert find_bakes("Crowd") == []
    delete_bake(other.collection)
    assert counts() == before


def test_delete_leaves_what_the_user_added(scene):
    result = bake_here(circling(range(1, 4)))
    lamp = bpy.data.objects.new("lamp", None)
    result.collection.objects.link(lamp)
    folder = bpy.data.collections.new("folder")
    result.collection.children.link(folder)
    moved = result.collection.objects[0]
    result.collection.objects.unlink(moved)
    folder.objects.link(moved)
    borrowed = result.collection.objects[0].animation_data.action
    lamp.animation_data_create().action = borrowed

    actions = len(bpy.data.actions)
    assert delete_bake(result.collection) == 3
    assert len(bpy.data.actions) == actions - 2
    assert list(scene.collection.objects) == [lamp]
    assert list(scene.collection.children) == [folder]
    assert lamp.animation_data.action == borrowed and borrowed.users == 1
    assert list(bpy.data.objects) == [lamp]


def test_a_collection_without_a_bake_is_not_deleted(scene):
    plain = bpy.data.collections.new("plain")
    with pytest.raises(SceneError, match="'plain' holds no keyframe bake"):
        delete_bake(plain)
    assert plain.name == "plain"


def test_linked_bakes_are_left_to_their_file(scene, tmp_path):
    bake_here(circling(range(1, 4)))
    blend = str(Path(tmp_path) / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend, check_existing=False)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(blend, link=True) as (_, here):
        here.collections = ["Crowd Bake"]
    linked = here.collections[0]
    assert find_bakes("Crowd") == []
    with pytest.raises(SceneError, match="is linked from"):
        delete_bake(linked)
    with pytest.raises(SceneError, match="is linked from"):
        bake(circling([1, 2]), name="Crowd", collection_parent=linked)
