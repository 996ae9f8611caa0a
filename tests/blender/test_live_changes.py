"""Edits during live playing are detected, never missed or hidden."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    frame_set,
    make_box,
    make_colliders,
    make_crowd,
    make_runner,
    make_target,
    move,
    play,
    seekers,
    shown,
    stored,
    told,
    update,
)
from tests.blender.source_makers import make_copies, make_shape  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def outdated_by(obj):
    """The code of what the stored frames are out of date by."""
    found = told(obj)
    assert (found.code, found.remedy, found.values["start"]) == ("OUT_OF_DATE", "CATCH_UP", 1)
    return found.values["reason"].code


def test_a_changed_setting_clears_what_it_affects():
    obj = make_runner()
    play(1, 20)
    old = live.get_frame(obj, 20).position
    obj.steer.agents.max_speed = 5
    assert outdated_by(obj) == "SETTINGS_CHANGED"
    # the interface tags the object when a property is edited there, scripts do not
    obj.update_tag()
    update()
    assert outdated_by(obj) == "SETTINGS_CHANGED"
    assert live.get_frame(obj, 10) is None
    # going on from here, so that one can tune while it plays
    frame_set(21)
    assert np.abs(live.get_frame(obj, 21).position).max() < 10
    assert live.runs.get(obj).out_of_date is not None
    frame_set(7)
    assert told(obj).code.startswith("FRAME_") and told(obj).values["frame"] == 7
    play(1, 20)
    assert code_of(obj) == "" and stored(obj) == (1, 20)
    assert live.get_frame(obj, 20).position[0, 1] > 1.5 * old[0, 1]


def test_a_change_while_playing_is_taken_up_at_once():
    obj = make_runner()
    play(1, 10)
    obj.steer.behaviors[0].enabled = False
    play(11, 12)
    frames = live.get_frame(obj, 11), live.get_frame(obj, 12)
    # no behavior steers any more: all agents continue straight
    np.testing.assert_allclose(frames[0].velocity, frames[1].velocity, atol=1e-6)
    assert outdated_by(obj) == "SETTINGS_CHANGED"


def test_a_change_after_scrubbing_back_does_not_go_on_from_the_wrong_frame():
    obj = make_runner()
    play(1, 20)
    frame_set(5)
    obj.steer.agents.mass = 3
    frame_set(6)
    frame_set(7)
    assert live.get_frame(obj, 7) is None
    assert told(obj).code.startswith("FRAME_") and told(obj).values["frame"] == 7


def test_keyed_weights_are_no_change_but_their_curves_are():
    obj = make_crowd([(0, 0, 0)])
    make_target(obj, (0, 100, 0))
    item = obj.steer.behaviors[0]
    for weight, number in ((0.0, 1), (0.0, 10), (1.0, 11)):
        item.weight = weight
        item.keyframe_insert("weight", frame=number)
    play(1, 20)
    assert stored(obj) == (1, 20) and code_of(obj) == ""
    assert np.abs(live.get_frame(obj, 10).position).max() == 0.0
    assert live.get_frame(obj, 20).position[0, 1] > 0.05
    for number in (5, 15, 20):
        frame_set(number)
        update()
    assert stored(obj) == (1, 20) and code_of(obj) == ""
    item.weight = 3.0
    item.keyframe_insert("weight", frame=18)
    update()
    assert outdated_by(obj) == "SETTINGS_CHANGED"


def wanderer(block="", name="", before=None, after=None):
    """A weak flyer that wanders and seeks; one of its settings is keyed to change at frame 11."""
    bpy.ops.wm.read_homefile(use_empty=True)
    obj = make_crowd([(0, 0, 0)], settings=seekers({"type": "wander"}, {"type": "seek"}))
    obj.steer.motion.motion, obj.steer.agents.max_force = "FLY", 2.0
    make_target(obj, (0, 100, 20))
    if block:
        group = getattr(obj.steer, block)
        for value, number in ((before, 10), (after, 11)):
            setattr(group, name, value)
            assert group.keyframe_insert(name, frame=number)
    return obj


def rows(frames):
    """Places and rotations, shape (frames, agents, 7)."""
    return np.array([np.concatenate([f.position, f.rotation], axis=1) for f in frames])


@pytest.mark.parametrize(
    ("block", "name", "before", "after"),
    [
        ("solver", "combine", "WEIGHTED_SUM", "PRIORITY"),
        ("solver", "max_turn_rate", 0.0, 0.02),
        ("motion", "banking", 0.0, 3.0),
    ],
)
def test_keyed_settings_take_effect_at_their_frame(block, name, before, after):
    tracks = []
    for keyed in ((), (block, name, before, after)):
        obj = wanderer(*keyed)
        play(1, 30)
        assert code_of(obj) == ""
        tracks.append(rows([live.get_frame(obj, number) for number in range(1, 31)]))
    plain, keyed = tracks
    np.testing.assert_array_equal(keyed[:10], plain[:10])
    assert (keyed[10:] != plain[10:]).any(axis=(1, 2)).all()
    np.testing.assert_array_equal(rows(simulate.run(obj, bpy.context.scene, range(1, 31))), keyed)


def test_drivers_are_no_change_either():
    obj = make_runner()
    obj.steer.behaviors[0].driver_add("weight").driver.expression = "frame / 100"
    play(1, 20)
    assert stored(obj) == (1, 20) and code_of(obj) == ""


def test_the_start_is_a_setting_too():
    obj = make_runner()
    play(1, 10)
    obj.steer.frame_start = 3
    frame_set(4)
    assert stored(obj) is None


def test_what_is_edited_at_the_start_is_shown_at_once():
    obj = make_runner()
    update()
    assert stored(obj) == (1, 1)
    obj.location.x = 10
    update()
    np.testing.assert_allclose(shown(obj)[:, 0], [10, 11, 12], atol=1e-6)
    obj.data.vertices[0].co.y = 4
    obj.data.update()
    update()
    np.testing.assert_allclose(shown(obj)[0], (10, 4, 0), atol=1e-6)
    obj.steer.agents.radius = 0.5
    update()
    np.testing.assert_allclose(live.get_frame(obj, 1).radius, 0.5)


@pytest.mark.parametrize("updated", [True, False])
@pytest.mark.parametrize(
    "what", ["target", "collider", "shape", "crowd", "vertices", "above a proxy", "in a set"]
)
def test_moved_inputs_are_noticed(what, updated):
    obj = make_runner()
    box, proxy = make_box(location=(30, 0, 0)), make_box("Proxy", (60, 0, 0))
    wall, inner = make_box("Wall", (60, 0, 0)), make_box("Inner", (90, 0, 0))
    proxy.parent, proxy.hide_viewport = wall, True
    make_colliders(obj, box, proxy, make_copies(inner))
    play(1, 20)
    first = live.get_frame(obj, 1)
    if what in ("target", "collider"):
        {"target": obj.steer.target_object, "collider": box}[what].location.z += 1
    elif what in ("crowd", "above a proxy"):
        (obj if what == "crowd" else wall).location.z += 1
    else:
        mesh = {"shape": box, "vertices": obj, "in a set": inner}[what].data
        mesh.vertices[0].co.z += 1
        mesh.update()
    if updated:
        update()
        assert outdated_by(obj) == "SCENE_CHANGED"
        assert live.get_frame(obj, 10) is None
    frame_set(1)
    assert live.get_frame(obj, 1) is not first
    assert stored(obj) == (1, 1) and code_of(obj) == ""


def test_what_moves_by_itself_is_no_change():
    obj = make_runner()
    box = make_box()
    bending = make_box("Bending", (9, 9, 0))
    bending.modifiers.new("Wave", "WAVE").time_offset = -100
    move(obj.steer.target_object, {1: (0, 20, 0), 30: (20, 0, 0)})
    move(box, {1: (30, 0, 0), 30: (20, 0, 0)})
    move(obj, {1: (0, 0, 0), 30: (0, 0, 7)})
    make_colliders(obj, box, bending)
    play(1, 20)
    for number in (1, 15, 7, 1, 20):
        frame_set(number)
        update()
        update()
    assert stored(obj) == (1, 20) and code_of(obj) == ""
    reads = live.runs.get(obj)._session.reader.meshes.reads
    assert reads == {"Box": 20, "Bending": 20}


def test_updates_come_to_rest():
    obj = make_runner()
    above = obj.modifiers.new("Above", "ARRAY")
    obj.modifiers.move(obj.modifiers.find("Above"), 0)
    above.count = 2
    calls = []

    def count(scene, depsgraph):
        calls.append(len(depsgraph.updates))

    bpy.app.handlers.depsgraph_update_post.append(count)
    try:
        for number in (1, 2, 1):
            frame_set(number)
            for _ in range(5):
                update()
            calls.clear()
            update()
            update()
            assert calls == []
        obj.data.clear_geometry()
        obj.data.update()
        for _ in range(5):
            update()
        assert "no vertices" in told(obj).values["reason"]
        calls.clear()
        update()
        update()
        assert calls == []
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)


def test_how_agents_are_shown_is_no_change_of_the_scene():
    obj = make_runner()
    play(1, 10)
    modifier = display.find_modifier(obj)
    for name, value in (("Display", "Discs"), ("Scale", 3.0), ("Color By", "Speed")):
        display.set_input(modifier, name, value)
        update()
        assert code_of(obj) == "" and stored(obj) == (1, 10)
    obj.data.vertices[0].co.x = 5.0
    obj.data.update()
    update()
    assert outdated_by(obj) == "SCENE_CHANGED"


def test_what_the_eye_hides_is_no_change():
    obj = make_runner()
    box, sphere = make_box(location=(30, 0, 0)), make_shape("SPHERE", 1.0, (40, 0, 0))
    make_colliders(obj, box, sphere)
    play(1, 10)
    for part in (box, sphere, obj.steer.target_object):
        part.hide_set(True)
        update()
    assert stored(obj) == (1, 10) and code_of(obj) == ""
    sphere.empty_display_size = 2.0
    update()
    assert outdated_by(obj) == "SCENE_CHANGED"


def test_names_are_no_change():
    obj = make_runner()
    target = obj.steer.target_object
    box = make_box()
    make_colliders(obj, box)
    play(1, 20)
    for thing in (obj, target, box, obj.steer.colliders, obj.data):
        thing.name = f"Renamed {thing.name}"
        update()
    assert code_of(obj) == "" and stored(obj) == (1, 20)
    frame_set(1)
    frame_set(20)
    assert code_of(obj) == "" and stored(obj) == (1, 20)


def test_a_changed_frame_rate_is_named():
    obj = make_runner()
    play(1, 20)
    bpy.context.scene.render.fps = 30
    update()
    frame_set(20)
    assert outdated_by(obj) == "FRAME_RATE_CHANGED"
    # frames of both rates in one run would be neither
    frame_set(21)
    assert live.get_frame(obj, 21) is None and told(obj).code.startswith("FRAME_")
    play(1, 20)
    assert code_of(obj) == "" and stored(obj) == (1, 20)
