"""The overlay on baked crowds: told from cache or keys, and what cannot be known is said."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import playback  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.operators import picking  # noqa: E402
from steer_addon.blender.overlay import (  # noqa: E402
    answers,
    gizmos,
    seen,
)
from steer_addon.core.cache import layout, open_cache  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.results.frames import targets_of  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    deps,
    frame_set,
    make_box,
    make_colliders,
    make_crowd,
    make_ground,
    make_target,
    move,
    seekers,
)
from tests.blender.toy_characters import make_toy  # noqa: E402
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24
REMEMBERS = ({"type": "seek"}, {"type": "separation"}, {"type": "wander", "weight": 0.3})


@pytest.fixture(autouse=True)
def nothing_known():
    answers.forget()
    yield
    answers.forget()


def make_baked(tmp_path, monkeypatch, *stack, target=None):
    """A crowd that plays its bake; chunks hold ten frames."""
    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    crowd = make_crowd(settings=seekers(*(stack or REMEMBERS)))
    crowd.steer.frame_end = LAST
    goal = make_target(crowd)
    if target is not None:
        move(goal, target)
    make_colliders(crowd, make_box(location=(0, 5, 0)))
    bpy.context.view_layer.objects.active = crowd
    crowd.steer.cache_directory = str(tmp_path)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert live.is_baked(crowd) and not live.runs.get(crowd)
    return crowd, open_cache(tmp_path / "Crowd")


def explained(crowd, number=None):
    if number is not None:
        frame_set(number)
    answers.refresh(bpy.context.scene, deps())
    return answers.get(crowd)


def test_a_bake_without_memory_is_told_to_the_last_bit(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch, {"type": "seek"}, {"type": "separation"})
    for number in (3, 17, 9):
        found = explained(crowd, number)
        assert (found.frame, found.notes) == (number, ())
        after = cache.frame(number + 1).velocity
        np.testing.assert_allclose(found.answer.after.velocity, after, atol=2e-5)
        assert found.answer.agent(1).parts[0].active


def test_where_the_bake_holds_what_is_remembered_it_is_told_to_the_last_bit(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    assert cache.state_frames == [10, 20, 24]
    found = explained(crowd, 10)
    assert found.notes == ()
    np.testing.assert_array_equal(found.answer.after.velocity, cache.frame(11).velocity)
    found = explained(crowd, 13)
    (note,) = found.notes
    assert (note.code, note.values["behaviors"]) == ("MEMORY_UNKNOWN", "'Wander'")
    assert note.values["way_out"].endswith("frame 10")
    seek = found.answer.agent(2).parts[0]
    assert seek.active and seek.label == "Seek"


def test_it_is_computed_again_only_where_something_changed(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    revision = explained(crowd, 10).revision
    assert not answers.refresh(bpy.context.scene, deps())
    crowd.steer.behaviors[0].weight = 3.0
    found = explained(crowd)
    assert found.revision > revision and found.answer.agent(0).parts[0].weight == 3.0


def test_settings_are_those_of_the_frame_and_a_bake_out_of_date_is_said(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    entry = crowd.steer.behaviors[0]
    for number, weight in ((1, 1.0), (21, 3.0)):
        entry.weight = weight
        crowd.keyframe_insert("steer.behaviors[0].weight", frame=number)
    found = explained(crowd, 20)
    assert 2.0 < found.answer.agent(0).parts[0].weight < 3.0
    from steer_addon.blender.bake import status

    status.refresh(crowd)
    answers.forget()
    assert explained(crowd).notes[0].code == "EXPLAINS_PRESENT"


def test_how_targets_move_is_known_after_playing_and_said_where_it_is_not(tmp_path, monkeypatch):
    way = {1: (0, 9, 0), 31: (30, 9, 0)}
    crowd, cache = make_baked(tmp_path, monkeypatch, {"type": "pursue"}, target=way)
    found = explained(crowd, 15)
    assert codes(found.notes) == ["TARGETS_STILL"]
    assert not found.answer.world.targets[""].velocity.any()
    crowd.steer.behaviors[0].weight = 2.0
    # an edit at the same frame tells nothing about motion
    assert "TARGETS_STILL" in codes(explained(crowd).notes)
    found = explained(crowd, 16)
    assert "TARGETS_STILL" not in codes(found.notes)
    assert found.answer.world.targets[""].velocity[0, 0] > 10.0


def test_on_slopes_walkers_stand_on_their_ground(tmp_path, monkeypatch):
    crowd = make_crowd(points=((0, 0, 0), (3, 0, 0)), settings=seekers())
    crowd.steer.frame_end = 12
    make_target(crowd, location=(0, 20, 6))
    hill = make_ground()
    hill.rotation_euler.x = 0.3
    crowd.steer.ground = hill
    bpy.context.view_layer.objects.active = crowd
    crowd.steer.cache_directory = str(tmp_path)
    bpy.ops.object.steer_cache_bake()
    found = explained(crowd, 6)
    np.testing.assert_allclose(found.answer.agents.normal[:, 2], np.cos(0.3), atol=1e-4)
    after = open_cache(tmp_path / "Crowd").frame(7)
    np.testing.assert_allclose(found.answer.after.velocity, after.velocity, atol=1e-3)


def test_beyond_the_bake_its_ends_are_told(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    assert explained(crowd, 80).frame == LAST
    assert explained(crowd, 0).frame == 1


def test_agents_of_a_bake_can_be_picked_and_have_handles(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    frame_set(12)
    ids, places = picking.agents_of(crowd, bpy.context.scene)
    np.testing.assert_array_equal(places, cache.frame(12).position)
    place, _ = gizmos.place_and_heading(crowd, bpy.context.scene)
    np.testing.assert_array_equal(place, cache.frame(12).position[0])


def test_a_bake_that_is_damaged_or_gone_is_said(tmp_path, monkeypatch):
    crowd, cache = make_baked(tmp_path, monkeypatch)
    assert explained(crowd, 4).answer is not None
    (tmp_path / "Crowd" / "manifest.json").write_text("{}", encoding="utf-8")
    found = explained(crowd, 5)
    assert found.answer is None and "manifest.json" in found.notes[0].values["reason"]
    shutil.move(tmp_path / "Crowd" / "manifest.json", tmp_path / "elsewhere")
    found = explained(crowd, 6)
    assert "its cache is missing" in found.notes[0].values["reason"]
    assert seen.seen_frame(crowd, bpy.context.scene) is None
    playback.detach(crowd)
    assert explained(crowd).notes == (diagnose("NOT_SIMULATED", start=1),)


@pytest.mark.parametrize("source", ["empties", "turned", "unaligned", "characters"])
def test_a_keyframe_bake_is_told_from_its_keys(source):
    crowd = make_crowd(settings=seekers({"type": "seek"}, {"type": "separation"}))
    crowd.steer.frame_end = LAST
    make_target(crowd, location=(6, 20, 0))
    if source == "turned":
        body = make_box("Body")
        body.rotation_euler = (0.4, 0.2, 1.1)
        crowd.steer.bake_source_object = body
    elif source == "unaligned":
        crowd.steer.bake_source_object = make_box("Body")
        display.set_input(display.find_modifier(crowd), "Align to Heading", False)
    elif source == "characters":
        crowd.steer.bake_source_object = make_toy()
        crowd.steer.motion.forward_axis = "POS_X"
    bpy.context.view_layer.objects.active = crowd
    crowd.steer.bake.tolerance = 0.0
    bpy.context.view_layer.update()
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    before = [explained(crowd, number) and answers.get(crowd).answer for number in (11, 12)]
    assert answers.get(crowd).notes == ()
    # what was about to happen is what the next keys hold
    np.testing.assert_allclose(before[0].after.velocity, before[1].agents.velocity, atol=1e-4)
    np.testing.assert_allclose(before[0].after.heading, before[1].agents.heading, atol=1e-4)
    np.testing.assert_allclose(before[0].agents.radius, crowd.steer.agents.radius)


@pytest.mark.usefixtures("few_poses")
def test_keyed_rigs_tell_where_their_agents_head_whatever_is_the_forward_axis():
    assert bpy.ops.object.steer_start(preset="pedestrians", count=3) == {"FINISHED"}
    crowd = bpy.context.view_layer.objects.active
    crowd.steer.motion.forward_axis, crowd.steer.frame_end = "POS_X", 5
    frames = list(simulate.run(crowd, bpy.context.scene, range(1, 6)))
    crowd.steer.bake.bodies = "RIGS"
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    frame_set(4)
    found = seen.seen_frame(crowd, bpy.context.scene)
    headings = [targets_of(frame, "POS_X").heading for frame in (found, frames[3])]
    np.testing.assert_allclose(*headings, atol=1e-4)


def test_crowds_that_steer_by_a_baked_one_are_told_by_what_it_plays(tmp_path, monkeypatch):
    prey, cache = make_baked(tmp_path, monkeypatch)
    hunter = make_crowd(name="Hunter", settings=seekers({"type": "seek"}))
    hunter.steer.frame_end = LAST
    hunter.steer.target_kind, hunter.steer.target_object = "CROWD", prey
    for number in range(1, 9):
        frame_set(number)
    bpy.context.view_layer.objects.active = hunter
    found = explained(hunter)
    assert found.notes == ()
    np.testing.assert_array_equal(found.answer.world.targets[""].position, cache.frame(8).position)
