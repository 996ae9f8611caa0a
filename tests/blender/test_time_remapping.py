"""A scene with time remapping: crowds are at the time at which Blender evaluates all else."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import scene_time, state  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.overlay import seen  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.cached_crowds import make_walkers  # noqa: E402
from tests.blender.live_scenes import code_of, frame_set, play, shown  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
SLOW, FAST, ODD = (100, 200), (200, 100), (100, 150)


def rarely(ratio):
    return pytest.param(ratio, marks=pytest.mark.long)


def remap(old, new):
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new


def make_runner():
    """A crowd that is keyed, with a target that is."""
    obj = scenes.make_runner()
    scenes.move(bpy.data.objects["Target"], {1: (0, 20, 0), 60: (60, 20, 0)})
    for frame, speed in ((1, 1.0), (30, 9.0)):
        obj.steer.agents.max_speed = speed
        obj.keyframe_insert("steer.agents.max_speed", frame=frame)
    return obj


def simulated(obj, last=20):
    """Frames of a bake, by number."""
    return {f.number: f for f in simulate.run(obj, bpy.context.scene, range(1, last + 1))}


@pytest.mark.parametrize("ratio", [SLOW, FAST, ODD])
def test_a_bake_is_the_same_whatever_the_remapping_is(ratio):
    obj = make_runner()
    plain = simulated(obj)
    remap(*ratio)
    for number, frame in simulated(obj).items():
        np.testing.assert_array_equal(frame.position, plain[number].position)


@pytest.mark.parametrize("ratio", [SLOW, FAST, ODD, *map(rarely, [(300, 100), (150, 100)])])
def test_live_play_shows_what_a_bake_has_at_the_remapped_time(ratio):
    obj = make_runner()
    plain = simulated(obj, 40)
    remap(*ratio)
    old, new = ratio
    for number in range(1, 31):
        frame_set(number)
        time = number * old / new
        whole = min(max(int(time + 1e-6), 1), 40)
        if time > 40:
            break
        assert code_of(obj) == "" or time < 1
        frame, part = plain[whole], max(time, 1) - whole
        expected = frame.position + frame.velocity * np.float32(part / 24)
        np.testing.assert_allclose(shown(obj), expected, atol=1e-6)
        if time >= 1:
            np.testing.assert_array_equal(live.get_frame(obj, whole).position, frame.position)
            assert seen.seen_frame(obj, bpy.context.scene).number == whole
    # another remapping shows other frames, and none has to be simulated again
    kept = live.get_frame(obj, 10)
    remap(100, 100)
    frame_set(10)
    assert live.get_frame(obj, 10) is kept and code_of(obj) == ""
    np.testing.assert_allclose(shown(obj), kept.position, atol=1e-6)


def test_a_frame_far_ahead_is_not_simulated():
    obj = make_runner()
    remap(*FAST)
    play(1, 4)
    frame_set(25)
    assert code_of(obj) == "FRAME_AHEAD" and live.get_frame(obj, 50) is None


def test_the_velocity_of_a_target_is_that_of_the_remapped_time():
    obj = scenes.make_runner()
    scenes.move(bpy.data.objects["Target"], {1: (0, 20, 0), 61: (60, 20, 0)})
    for curve in live_curves(bpy.data.objects["Target"]):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    remap(*SLOW)
    play(1, 8)
    session = live.runs.get(obj)._session
    np.testing.assert_allclose(session.world.targets[""].velocity, [[24, 0, 0]], rtol=1e-5)


def live_curves(obj):
    from steer_addon.blender.crowd.live_settings import played_curves

    return list(played_curves(obj.animation_data))


@pytest.mark.parametrize("ratio", [SLOW, FAST])
def test_a_playing_bake_is_where_the_live_crowd_was(tmp_path, monkeypatch, ratio):
    obj = make_walkers(tmp_path, monkeypatch)
    bpy.context.view_layer.objects.active = obj
    remap(*ratio)
    numbers = [n for n in range(1, 15) if n * ratio[0] % ratio[1] == 0]
    played = {}
    for number in range(1, 15):
        frame_set(number)
        played[number] = shown(obj)
    obj.steer.cache_directory = str(tmp_path / "bake")
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"} and state.plays_back(obj)
    for number in numbers:
        frame_set(number)
        np.testing.assert_allclose(shown(obj), played[number], atol=1e-5)


@pytest.mark.parametrize("ratio", [SLOW, FAST, ODD, (100, 100), (7, 3), (3, 7)])
def test_frames_of_a_scene_and_of_its_crowds(ratio):
    scene = bpy.context.scene
    remap(*ratio)
    for number in range(-5, 200):
        frame, part = scene_time.scene_moment(scene, number)
        assert 0.0 <= part < 1.0
        frame_set(frame, part)
        found, rest = scene_time.moment(scene)
        assert abs(found + rest - number) < 1e-5 * max(1, abs(number))
        assert abs(scene.frame_current_final - number) < 1e-4
    frame_set(6, 0.5)
    if ratio[0] == ratio[1]:
        assert scene_time.moment(scene) == (6, 0.5)
