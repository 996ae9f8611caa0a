"""The state object holds a frame, belongs to one crowd and survives files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from steer_addon.core.results.frames import Frame  # noqa: E402


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def make_frame(count=6, number=3, seed=1):
    random = np.random.default_rng(seed)
    rotation = random.normal(size=(count, 4))
    return Frame(
        number=number,
        id=random.permutation(count) + 100,
        position=random.normal(size=(count, 3)).astype(np.float32),
        velocity=random.normal(size=(count, 3)).astype(np.float32),
        rotation=(rotation / np.linalg.norm(rotation, axis=1, keepdims=True)).astype(np.float32),
        radius=random.uniform(0.1, 1.0, count).astype(np.float32),
        alive=np.arange(count, dtype=np.uint8) % 2,
    )


def make_crowd(name="Crowd"):
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(3)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    display.set_input(display.add_modifier(obj), "Keep Points", True)
    return obj


def vertex_count(obj):
    return len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)


def assert_same(actual, expected):
    assert actual.number == expected.number
    names = ("id", "position", "velocity", "rotation", "radius", "speed")
    pairs = [(getattr(actual, name), getattr(expected, name)) for name in names]
    assert actual.attributes.keys() == expected.attributes.keys()
    pairs += [(actual.attributes[n], expected.attributes[n]) for n in expected.attributes]
    for found, wanted in pairs:
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_what_is_written_is_read():
    shown = state.ensure_state(make_crowd())
    assert state.read_state(shown) is None
    for frame in (make_frame(6, 3), make_frame(6, 4, seed=2), make_frame(9, 5), make_frame(1, 6)):
        state.write_state(shown, frame)
        assert_same(state.read_state(shown), frame)


def test_attributes_have_the_types_that_blender_expects():
    shown = state.ensure_state(make_crowd())
    state.write_state(shown, make_frame())
    found = {a.name: (a.data_type, a.domain) for a in shown.data.attributes}
    assert found["velocity"] == ("FLOAT_VECTOR", "POINT")
    assert found["rotation"] == ("QUATERNION", "POINT")
    assert found["id"] == ("INT", "POINT")
    assert found["speed"] == found["radius"] == ("FLOAT", "POINT")


def showing(count=6, number=3, **attributes):
    values = {name: np.full(count, value, np.float32) for name, value in attributes.items()}
    return replace(make_frame(count, number), attributes=values)


def test_what_behaviors_show_is_on_the_points():
    obj = make_crowd()
    shown = state.ensure_state(obj)
    frame = showing(zone=2.0, waypoint=7.0)
    state.write_state(shown, frame)
    assert_same(state.read_state(shown), frame)
    attributes = shown.data.attributes
    assert (attributes["zone"].data_type, attributes["zone"].domain) == ("FLOAT", "POINT")
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes
    for name, value in (("zone", 2.0), ("waypoint", 7.0)):
        assert [element.value for element in result[name].data] == [value] * 6


def test_what_is_shown_no_more_is_removed():
    obj = make_crowd()
    shown = state.ensure_state(obj)
    for frame in (showing(zone=2.0), showing(4, zone=3.0, waypoint=1.0), showing(waypoint=5.0)):
        state.write_state(shown, frame)
        assert_same(state.read_state(shown), frame)
    state.write_state(shown, make_frame())
    assert "waypoint" not in shown.data.attributes
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes
    assert "zone" not in result and "waypoint" not in result


def test_what_is_shown_hides_no_agent_column():
    shown = state.ensure_state(make_crowd())
    state.write_state(shown, showing(position=9.0, speed=9.0, id=9.0))
    assert_same(state.read_state(shown), make_frame(6, 3))


def test_a_foreign_attribute_of_the_same_name_is_replaced():
    shown = state.ensure_state(make_crowd())
    state.write_state(shown, make_frame())
    shown.data.attributes.remove(shown.data.attributes["speed"])
    shown.data.attributes.new("speed", "BOOLEAN", "POINT")
    state.write_state(shown, make_frame())
    assert_same(state.read_state(shown), make_frame())


def test_the_modifier_follows_every_write():
    obj = make_crowd()
    assert vertex_count(obj) == 3
    shown = state.ensure_state(obj)
    state.write_state(shown, make_frame(6))
    assert vertex_count(obj) == 6
    state.write_state(shown, make_frame(20))
    assert vertex_count(obj) == 20
    state.clear_state(shown)
    assert state.read_state(shown) is None
    assert vertex_count(obj) == 3


def test_large_ids_keep_their_low_bits():
    frame = make_frame(3)
    wide = Frame(
        number=1,
        id=np.array([1, 2**32 + 5, 2**31], np.int64),
        position=frame.position,
        velocity=frame.velocity,
        rotation=frame.rotation,
        radius=frame.radius,
        alive=frame.alive,
    )
    shown = state.ensure_state(make_crowd())
    state.write_state(shown, wide)
    np.testing.assert_array_equal(state.read_state(shown).id, [1, 5, -(2**31)])


def test_the_state_is_hidden_and_made_once():
    obj = make_crowd("Walkers")
    shown = state.ensure_state(obj)
    assert shown.name == "Walkers State"
    assert not shown.users_collection
    assert state.ensure_state(obj) == shown == state.get_state(obj)
    obj.name = "Runners"
    assert state.ensure_state(obj) == shown


def test_without_a_modifier_there_is_no_state():
    plain = bpy.data.objects.new("Plain", bpy.data.meshes.new("Plain"))
    assert state.get_state(plain) is None
    state.remove_state(plain)
    with pytest.raises(SceneError, match="'Plain' has no Crowd modifier"):
        state.ensure_state(plain)


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("copy_first", [False, True])
def test_a_duplicate_gets_its_own_state(renamed, copy_first):
    obj = make_crowd()
    frame = make_frame()
    shown = state.ensure_state(obj)
    state.write_state(shown, frame)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    if renamed:
        obj.name = "Renamed"
    order = [copy, obj] if copy_first else [obj, copy]
    states = [state.ensure_state(crowd) for crowd in order]
    assert states[0] != states[1]
    assert states[0].data != states[1].data
    assert [state.ensure_state(crowd) for crowd in order] == states
    for own in states:
        assert_same(state.read_state(own), frame)
    if not renamed:
        assert state.get_state(obj) == shown
    state.write_state(state.get_state(copy), make_frame(2))
    assert (vertex_count(obj), vertex_count(copy)) == (6, 2)


def test_a_third_reference_to_the_state_does_no_harm():
    obj = make_crowd()
    shown = state.ensure_state(obj)
    bpy.context.scene.collection.objects.link(shown)
    assert state.ensure_state(obj) == shown


def test_remove_state_frees_all_and_spares_a_duplicate():
    obj = make_crowd()
    state.write_state(state.ensure_state(obj), make_frame())
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    state.remove_state(obj)
    assert state.get_state(obj) is None
    assert vertex_count(obj) == 3
    assert vertex_count(copy) == 6
    state.remove_state(copy)
    assert {o.name for o in bpy.data.objects} == {obj.name, copy.name}
    assert {m.name for m in bpy.data.meshes} == {obj.data.name}
    state.remove_state(copy)


def test_files_keep_the_state(tmp_path):
    obj = make_crowd()
    state.write_state(state.ensure_state(obj), make_frame())
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    assert vertex_count(obj) == 6
    shown = state.ensure_state(obj)
    assert len(bpy.data.objects) == 2
    assert_same(state.read_state(shown), make_frame())
    state.write_state(shown, make_frame(8))
    assert vertex_count(obj) == 8


def test_a_deleted_crowd_leaves_no_state_in_the_file(tmp_path):
    obj = make_crowd()
    state.write_state(state.ensure_state(obj), make_frame())
    bpy.data.objects.remove(obj)
    path = str(tmp_path / "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert len(bpy.data.objects) == 0


def test_undo_brings_the_state_back():
    obj = make_crowd()
    bpy.ops.ed.undo_push(message="crowd")
    state.write_state(state.ensure_state(obj), make_frame())
    bpy.ops.ed.undo_push(message="first")
    state.write_state(state.get_state(obj), make_frame(2))
    bpy.ops.ed.undo_push(message="second")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Crowd"]
    assert_same(state.read_state(state.ensure_state(obj)), make_frame())
    assert vertex_count(obj) == 6


@pytest.mark.parametrize("override", [False, True])
def test_the_state_of_a_linked_crowd_is_written_and_an_override_gets_its_own(tmp_path, override):
    obj = make_crowd()
    state.write_state(state.ensure_state(obj), make_frame())
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    before = Path(path).read_bytes()
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Crowd"]
    linked = obj = bpy.data.objects["Crowd"]
    if override:
        obj = linked.override_create()
    bpy.context.scene.collection.objects.link(obj)
    assert vertex_count(obj) == 6
    shown = state.ensure_state(obj)
    assert (shown.library is None) == (shown.data.library is None) == override
    assert state.ensure_state(obj) == shown and state.get_state(obj) == shown
    assert (state.get_state(linked) == shown) != override
    state.write_state(shown, make_frame(2))
    assert_same(state.read_state(shown), make_frame(2))
    assert vertex_count(obj) == 2
    state.clear_state(shown)
    assert state.read_state(shown) is None
    assert Path(path).read_bytes() == before


def test_a_linked_crowd_without_a_state_is_refused_with_a_way_out(tmp_path):
    bpy.data.objects.remove(state.ensure_state(make_crowd()))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Crowd"]
    with pytest.raises(SceneError, match="'Crowd' is linked.*no state.*Make Local"):
        state.ensure_state(wanted.objects[0])


def test_a_crowd_made_local_gets_a_local_state(tmp_path):
    state.write_state(state.ensure_state(make_crowd()), make_frame())
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Crowd"]
    obj = wanted.objects[0].make_local()
    bpy.context.scene.collection.objects.link(obj)
    shown = state.ensure_state(obj)
    assert shown.library is None and shown.data.library is None
    state.write_state(shown, make_frame(2))
    assert vertex_count(obj) == 2
