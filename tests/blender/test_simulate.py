"""Runs without playing: the same bits as live, and nothing of the user's is touched."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import AgentError, SceneError  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    data_counts,
    make_box,
    make_colliders,
    make_crowd,
    make_ground,
    make_target,
    move,
    play,
    seekers,
)
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def run(obj, first, last, **options):
    return list(simulate.run(obj, bpy.context.scene, range(first, last + 1), **options))


def make_busy_scene():
    """A crowd with everything that is read: moving, parented, deforming, hidden, keyed."""
    stack = ({"type": "seek"}, {"type": "wander"}, {"type": "separation"})
    obj = make_crowd([(x, y, 0) for x in range(4) for y in range(3)], settings=seekers(*stack))
    obj.location = (1, 2, 0)
    above = obj.modifiers.new("Above", "ARRAY")
    above.count = 2
    obj.modifiers.move(obj.modifiers.find("Above"), 0)
    target = make_target(obj)
    parent = make_target(name="Parent", location=(0, 0, 0))
    target.parent = parent
    move(parent, {1: (0, 0, 0), 30: (40, 5, 0)})
    bending = make_box("Bending", (5, 8, 0))
    bending.modifiers.new("Wave", "WAVE").time_offset = -100
    driven = make_box("Driven", (9, 9, 0))
    curve = driven.driver_add("location", 0)
    curve.driver.expression = "frame / 4"
    proxy = make_box("Proxy", (3, 12, 0))
    proxy.hide_set(True)
    make_colliders(obj, bending, driven, proxy)
    obj.steer.ground = make_ground()
    item = obj.steer.behaviors[0]
    item.keyframe_insert("weight", frame=1)
    item.weight = 0.25
    item.keyframe_insert("weight", frame=20)
    return obj


def test_live_and_offline_give_the_same_bits():
    obj = make_busy_scene()
    play(1, 25)
    offline = run(obj, 1, 25)
    assert [frame.number for frame in offline] == list(range(1, 26))
    for frame in offline:
        stored = live.get_frame(obj, frame.number)
        for name in ("id", "position", "velocity", "rotation", "radius"):
            np.testing.assert_array_equal(getattr(frame, name), getattr(stored, name))
    assert np.abs(offline[-1].position - offline[0].position).max() > 0.5


@pytest.mark.parametrize("cancelled", [False, True])
def test_nothing_of_the_users_is_touched(cancelled):
    obj = make_busy_scene()
    scene = bpy.context.scene
    obj.steer.target_object.select_set(True)
    bpy.context.view_layer.objects.active = obj
    scene.frame_set(17)
    weight = obj.steer.behaviors[0].weight
    before, names = data_counts(), sorted(o.name for o in bpy.data.objects)
    frames = simulate.run(obj, scene, range(1, 21))
    next(frames)
    if cancelled:
        frames.close()
    else:
        list(frames)
    assert data_counts() == before
    assert sorted(o.name for o in bpy.data.objects) == names
    assert scene.frame_current == 17 and bpy.context.scene == scene
    assert bpy.context.view_layer.objects.active == obj
    assert [o.name for o in bpy.context.selected_objects] == ["Target"]
    assert obj.steer.behaviors[0].weight == weight
    assert bpy.data.objects["Proxy"].hide_get()
    assert [m.name for m in obj.modifiers] == ["Above", "Crowd"]
    assert not live.runs.ensure(obj).frames


def test_frames_in_the_middle_start_at_the_first_all_the_same():
    obj = make_crowd()
    make_target(obj)
    every = run(obj, 1, 20)
    for frame, wanted in zip(run(obj, 12, 20), every[11:], strict=True):
        np.testing.assert_array_equal(frame.position, wanted.position)
    picked = simulate.run(obj, bpy.context.scene, range(2, 20, 5))
    assert [frame.number for frame in picked] == [2, 7, 12, 17]


def test_keyed_weights_count_and_given_settings_override_them():
    obj = make_crowd([(0, 0, 0)])
    make_target(obj, (0, 100, 0))
    item = obj.steer.behaviors[0]
    item.weight = 0.0
    item.keyframe_insert("weight", frame=1)
    item.keyframe_insert("weight", frame=8)
    keyed = run(obj, 1, 10)
    assert np.abs(keyed[6].position).max() == 0.0
    item.weight = 1.0
    item.keyframe_insert("weight", frame=9)
    keyed = run(obj, 1, 10)
    assert np.abs(keyed[6].position).max() == 0.0
    assert np.abs(keyed[9].velocity).max() > 0.0


def states(frames):
    """All that moves, of each frame."""
    return [f.position.tobytes() + f.velocity.tobytes() + f.rotation.tobytes() for f in frames]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("solver.combine", "PRIORITY"),
        ("solver.max_turn_rate", np.radians(1.0)),
        ("motion.banking", 1.0),
    ],
)
def test_how_a_crowd_steers_can_be_keyed(path, value):
    obj = make_crowd(settings=seekers({"type": "seek"}, {"type": "match_velocity"}))
    obj.steer.motion.motion, obj.steer.agents.max_force = "FLY", 2.0
    move(make_target(obj), {1: (-9, 0, 0), 24: (9, 9, 0), 40: (9, -9, 3)})
    plain = states(run(obj, 1, 30))
    group, name = path.split(".")
    owner = getattr(obj.steer, group)
    before = getattr(owner, name)
    for number, chosen in ((1, before), (14, before), (15, value)):
        setattr(owner, name, chosen)
        assert obj.keyframe_insert(f"steer.{path}", frame=number)
    keyed = states(run(obj, 1, 30))
    # what is keyed at a frame counts for the step that leads to it
    assert keyed[:14] == plain[:14]
    assert keyed[14] != plain[14] and keyed[-1] != plain[-1]
    play(1, 30)
    assert states(live.get_frame(obj, number) for number in range(1, 31)) == keyed


def test_moving_colliders_are_where_they_are_at_each_frame():
    stack = ({"type": "seek"}, {"type": "obstacle_avoidance", "look_ahead": 4.0})
    obj = make_crowd([(0, 0, 0)], settings=seekers(*stack))
    make_target(obj, (0, 100, 0))
    wall = make_box("Wall", (0.3, 4, 0))
    make_colliders(obj, wall)
    blocked = run(obj, 1, 50)[-1].position
    # out of the way before the agent is near
    move(wall, {1: (0.3, 4, 0), 5: (50, 4, 0)})
    free = run(obj, 1, 50)[-1].position
    assert abs(free[0, 0]) < 0.2 < abs(blocked[0, 0])


def test_hidden_inputs_that_move_are_seen():
    obj = make_crowd([(0, 0, 0)])
    target = make_target(obj)
    move(target, {1: (0, 100, 0), 10: (100, 0, 0)})
    shown = run(obj, 1, 30)[-1]
    target.hide_viewport = target.hide_render = True
    np.testing.assert_array_equal(run(obj, 1, 30)[-1].position, shown.position)


def test_a_hidden_crowd_is_simulated():
    obj = make_crowd()
    make_target(obj)
    shown = run(obj, 1, 5)[-1]
    obj.hide_viewport = obj.hide_render = True
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(run(obj, 1, 5)[-1].position, shown.position)
    assert obj.hide_viewport


def test_rigid_bodies_need_their_own_scene():
    obj = make_crowd([(0, 0, 0)])
    falling = make_box("Falling", (0, 5, 20))
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = falling
    bpy.ops.rigidbody.object_add()
    obj.steer.target_object = falling
    obj.steer.motion.motion = "FLY"
    scene.frame_set(3)
    offline = run(obj, 1, 30)
    assert scene.frame_current == 3
    play(1, 30)
    np.testing.assert_array_equal(offline[-1].position, live.get_frame(obj, 30).position)
    assert falling.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world[2][3] < 15


def test_the_frame_rate_is_the_scenes():
    obj = make_crowd([(0, 0, 0)])
    make_target(obj, (0, 1000, 0))
    slow = run(obj, 1, 25)[-1].position[0, 1]
    bpy.context.scene.render.fps = 48
    bpy.context.scene.render.fps_base = 2.0
    assert run(obj, 1, 25)[-1].position[0, 1] == slow
    bpy.context.scene.render.fps_base = 1.0
    assert run(obj, 1, 25)[-1].position[0, 1] < 0.6 * slow


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (range(20, 10), "Frames 20 to 9 are none or run backwards"),
        (range(20, 10, -1), "run backwards"),
        (
            range(0, 10),
            "Frames 0 to 9 reach outside the range of crowd 'Crowd': give frames from 1",
        ),
        (range(50, 62), "give frames from 1 to 60"),
    ],
)
def test_bad_frames_are_refused_at_once(frames, message):
    with pytest.raises(SceneError, match=message):
        simulate.run(make_crowd(), bpy.context.scene, frames)


def test_a_range_backwards_is_refused():
    obj = make_crowd()
    obj.steer.frame_start = 100
    with pytest.raises(SceneError, match=r"ends at frame 60, before its start at 100"):
        simulate.run(obj, bpy.context.scene, range(1, 10))


def test_a_failure_leaves_nothing_behind():
    obj = make_crowd()
    obj.data.clear_geometry()
    before = data_counts()
    with pytest.raises(AgentError, match="no vertices"):
        run(obj, 1, 5)
    assert data_counts() == before


def test_warnings_are_collected():
    obj = make_crowd()
    make_colliders(obj, make_box("Bare", faces=[]))
    warnings = []
    run(obj, 1, 3, warnings=warnings)
    assert codes(warnings) == ["CROWD_WITHOUT_TARGET", "MESH_WITHOUT_FACES"]
    assert warnings[1].subject == warnings[1].values["object"] == "Bare"


def test_an_input_that_was_deleted_is_said():
    obj = make_crowd()
    target = make_target(obj)
    bpy.context.scene.collection.objects.unlink(target)
    warnings = []
    frames = run(obj, 1, 5, warnings=warnings)
    assert np.abs(frames[-1].velocity).max() == 0.0
    assert diagnose("INPUT_LOST", "Target", what="Target") in warnings


def test_one_agent_and_two_on_one_spot():
    stack = ({"type": "seek"}, {"type": "separation"})
    obj = make_crowd([(0, 0, 0), (0, 0, 0)], settings=seekers(*stack))
    make_target(obj)
    last = run(obj, 1, 20)[-1]
    assert np.isfinite(last.position).all()
    assert np.linalg.norm(last.position[0] - last.position[1]) > 0.01
