"""Playing simulates, and scrubbing shows exactly what was simulated."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    frame_set,
    make_crowd,
    make_runner,
    make_target,
    play,
    shown,
    stored,
    told,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_playing_simulates_and_scrubbing_shows_exactly_that():
    obj = make_runner()
    seen = {}
    for number in range(1, 51):
        frame_set(number)
        seen[number] = shown(obj)
        np.testing.assert_allclose(seen[number], live.get_frame(obj, number).position, atol=1e-6)
    assert stored(obj) == (1, 50) and code_of(obj) == ""
    assert seen[50][0, 1] - seen[1][0, 1] > 1.0
    kept = {n: live.get_frame(obj, n) for n in seen}
    for number in (50, 3, 27, 1, 49, 2, 1, 2):
        frame_set(number)
        np.testing.assert_array_equal(shown(obj), seen[number])
    assert all(live.get_frame(obj, n) is kept[n] for n in seen)


def test_the_users_mesh_is_never_changed():
    obj = make_runner()
    before = obj.data.attributes.keys()
    play(1, 10)
    assert [tuple(v.co) for v in obj.data.vertices] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert obj.data.attributes.keys() == before


def test_playing_again_gives_the_same_bits():
    obj = make_runner()
    play(1, 20)
    first = live.get_frame(obj, 20)
    live.clear(obj)
    assert live.get_frame(obj, 20) is None
    assert told(obj) == diagnose("NOT_CAUGHT_UP", frame=20, start=1)
    play(1, 20)
    np.testing.assert_array_equal(live.get_frame(obj, 20).position, first.position)


def test_jumping_ahead_holds_the_last_frame_and_says_so():
    obj = make_runner()
    play(1, 10)
    last = shown(obj)
    frame_set(14)
    np.testing.assert_array_equal(shown(obj), last)
    assert told(obj) == diagnose("FRAME_AHEAD", frame=14, shown=10, start=1)
    frame_set(15)
    assert stored(obj) == (1, 10)
    frame_set(10)
    assert code_of(obj) == ""
    frame_set(11)
    assert stored(obj) == (1, 11)


def test_before_the_start_and_after_the_end():
    obj = make_runner()
    obj.steer.frame_start, obj.steer.frame_end = 5, 10
    play(1, 4)
    assert stored(obj) is None
    np.testing.assert_array_equal(shown(obj)[:, 0], [0, 1, 2])
    play(5, 20)
    assert stored(obj) == (5, 10) and code_of(obj) == ""
    np.testing.assert_allclose(shown(obj), live.get_frame(obj, 10).position, atol=1e-6)
    frame_set(2)
    np.testing.assert_allclose(shown(obj), live.get_frame(obj, 5).position, atol=1e-6)
    obj.steer.frame_end = 12
    frame_set(20)
    assert stored(obj) == (5, 10)


def test_starting_in_the_middle_simulates_nothing():
    obj = make_runner()
    play(20, 25)
    assert stored(obj) is None
    assert told(obj) == diagnose("NOT_CAUGHT_UP", frame=25, start=1)
    np.testing.assert_array_equal(shown(obj)[:, 0], [0, 1, 2])


def test_subframes_go_on_straight_and_are_not_stored():
    obj = make_runner()
    play(1, 10)
    frame = live.get_frame(obj, 10)
    frame_set(10, 0.5)
    np.testing.assert_allclose(shown(obj), frame.position + frame.velocity * 0.5 / 24, atol=1e-6)
    assert stored(obj) == (1, 10)
    frame_set(10)
    np.testing.assert_allclose(shown(obj), frame.position, atol=1e-6)
    frame_set(11)
    assert stored(obj) == (1, 11)


def test_before_a_frame_that_is_known_its_bodies_come_straight_from_the_one_before():
    obj = make_runner()
    play(1, 11)
    before, after = live.get_frame(obj, 10), live.get_frame(obj, 11)
    frame_set(10, 0.75)
    way = 0.25 * before.position + 0.75 * after.position
    np.testing.assert_allclose(shown(obj), way, atol=1e-6)
    assert stored(obj) == (1, 11)


def test_two_crowds_that_do_not_meet_keep_to_themselves():
    first, second = make_runner(), make_crowd([(0, 0, 5), (1, 0, 5)], "Second")
    first.steer.meets.sees = first.steer.meets.seen_by = "NOBODY"
    make_target(second, (0, -20, 5), "Other")
    second.steer.frame_start = 5
    play(1, 20)
    assert stored(first) == (1, 20) and stored(second) == (5, 20)
    assert shown(first)[0, 1] > 0 > shown(second)[0, 1]
    second.steer.agents.max_speed = 9
    play(21, 22)
    assert code_of(first) == "" and stored(first) == (1, 22)
    assert told(second) == diagnose("OUT_OF_DATE", reason=diagnose("SETTINGS_CHANGED"), start=5)


def test_a_duplicated_crowd_gets_its_own_state():
    obj = make_runner()
    play(1, 5)
    twin = obj.copy()
    twin.location.x = 10
    bpy.context.scene.collection.objects.link(twin)
    play(1, 10)
    assert state.get_state(obj) != state.get_state(twin)
    np.testing.assert_allclose(shown(twin)[:, 0].min(), 10, atol=2)
    assert shown(obj)[:, 0].max() < 5
