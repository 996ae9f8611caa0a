"""Crowds of one scene meet: they see one another as neighbors, and their bodies touch."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import baked_file  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.overlay import answers  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

RADIUS = 0.25


def make_walkers(side, name, rows=3):
    """People in a block, who walk to the other side and avoid those whom they meet."""
    stack = scenes.seekers({"type": "seek"}, {"type": "avoid_neighbors"}).behaviors
    bodies = BodiesSettings(collide_agents=True)
    points = [
        (side * (2.0 + 0.9 * k), 0.9 * i, 0.0) for i in range(-rows, rows + 1) for k in (0, 1)
    ]
    crowd = scenes.make_crowd(points, name, CrowdSettings(behaviors=stack, bodies=bodies))
    scenes.make_target(crowd, (-side * 20.0, 0.0, 0.0), f"Goal of {name}")
    crowd.steer.frame_end = 240
    return crowd


def head_on(first="West", second="East"):
    """Two crowds that walk toward one another; a name says nothing of which one comes first."""
    return make_walkers(-1.0, first), make_walkers(1.0, second)


def play(last):
    for number in range(1, last + 1):
        bpy.context.scene.frame_set(number)


def lived(crowd, last):
    return [live.get_frame(crowd, number).position for number in range(1, last + 1)]


def offline(crowd, last):
    scene = bpy.context.scene
    frames = range(crowd.steer.frame_start, last + 1)
    return [frame.position for frame in simulate.run(crowd, scene, frames)]


def nearest(a, b):
    """Least distance between the agents of two crowds, over all frames [m]."""
    return min(
        float(np.linalg.norm(x[:, None].astype(float) - y[None], axis=-1).min())
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.slow
def test_bodies_of_two_crowds_never_overlap_and_both_get_through():
    west, east = head_on()
    play(150)
    a, b = lived(west, 150), lived(east, 150)
    assert nearest(a, b) >= 2.0 * RADIUS - 1.0e-5
    assert a[-1][:, 0].mean() > 1.0 > -1.0 > b[-1][:, 0].mean()


@pytest.mark.slow
def test_agents_turn_for_those_of_another_crowd_before_they_touch():
    west, east = head_on()
    for crowd in (west, east):
        crowd.steer.bodies.collide_agents = False
    play(75)
    met = nearest(lived(west, 75), lived(east, 75))
    west.steer.meets.sees = "NOBODY"
    east.steer.meets.sees = "NOBODY"
    play(75)
    assert met > nearest(lived(west, 75), lived(east, 75)) + 0.1


@pytest.mark.slow
def test_playing_gives_what_offline_runs_give_for_either_crowd():
    west, east = head_on()
    play(50)
    for crowd in (west, east):
        np.testing.assert_array_equal(lived(crowd, 50), offline(crowd, 50))


@pytest.mark.slow
def test_neither_names_nor_the_order_of_objects_nor_the_active_one_matter():
    runs = []
    for names in (("A", "B"), ("B", "A")):
        bpy.ops.wm.read_homefile(use_empty=True)
        west, east = head_on(*names)
        if names[0] == "B":
            scene = bpy.context.scene.collection
            scene.objects.unlink(west)
            scene.objects.link(west)
            bpy.context.view_layer.objects.active = west
        play(50)
        runs.append((lived(west, 50), lived(east, 50)))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


@pytest.mark.slow
@pytest.mark.parametrize("who", often(["both", "west", "east"], "west", "east"))
def test_ghosts_walk_through_and_are_as_if_alone(who):
    west, east = head_on()
    for crowd in {"both": (west, east), "west": (west,), "east": (east,)}[who]:
        for relation in ("sees", "seen_by", "touches"):
            setattr(crowd.steer.meets, relation, "NOBODY")
    play(50)
    met = lived(west, 50)
    bpy.data.objects.remove(east)
    play(50)
    np.testing.assert_array_equal(met, lived(west, 50))


@pytest.mark.slow
def test_chosen_crowds_are_those_of_a_collection():
    west, east = head_on()
    far = bpy.data.collections.new("Police")
    west.steer.meets_collection = far
    west.steer.meets.touches = west.steer.meets.sees = "CHOSEN"
    play(75)
    assert nearest(lived(west, 75), lived(east, 75)) < 2.0 * RADIUS - 0.05
    far.objects.link(east)
    bpy.context.view_layer.update()
    play(75)
    assert nearest(lived(west, 75), lived(east, 75)) >= 2.0 * RADIUS - 1.0e-5


@pytest.mark.slow
def test_a_crowd_that_waits_for_its_start_or_has_ended_stands_in_the_way():
    west, east = head_on()
    east.steer.frame_start, east.steer.frame_end = 30, 65
    play(115)
    seen = [live.runs.get(east).frame_at(east, number).position for number in range(1, 116)]
    walked = lived(west, 115)
    assert nearest(walked, seen) >= 2.0 * RADIUS - 1.0e-5
    np.testing.assert_array_equal(walked, offline(west, 115))
    np.testing.assert_array_equal(seen[29:65], offline(east, 65))


def test_a_crowd_with_an_error_leaves_the_others_alone():
    west, east = head_on()
    play(30)
    alone = lived(west, 30)
    east.data.clear_geometry()
    bpy.context.view_layer.update()
    play(30)
    assert "no vertices" in str(live.status(east).diagnosis)
    assert live.status(west).diagnosis is None
    assert len(lived(west, 30)) == len(alone)


def test_settings_of_one_crowd_make_the_frames_of_the_other_old():
    west, east = head_on()
    play(20)
    east.steer.agents.max_speed = 0.5
    assert live.status(west).diagnosis is not None
    play(20)
    assert live.status(west).diagnosis is None


def test_the_overlay_names_neighbors_of_other_crowds_with_their_crowd():
    west, east = head_on()
    bpy.context.view_layer.objects.active = west
    scene = bpy.context.scene
    scene.steer_overlay.show = True
    play(40)
    try:
        answers.refresh(scene, bpy.context.view_layer.depsgraph)
        found = answers.get(west)
        ids = [int(number) for number in live.get_frame(west, 40).id]
        told = {
            str(name)
            for number in ids
            for part in answers.agent(found, number).parts
            for name in part.neighbors
        }
    finally:
        scene.steer_overlay.show = False
        answers.forget()
    assert told & {f"{number} of East" for number in range(14)}
    assert told & {str(number) for number in ids}


def bake(crowd, folder):
    """Bake a crowd to a cache that it plays from then on."""
    crowd.steer.cache_directory = str(folder)
    bpy.context.view_layer.objects.active = crowd
    bpy.context.view_layer.update()
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}


@pytest.mark.slow
def test_a_baked_crowd_is_met_as_it_plays_whatever_its_settings_say_by_now(tmp_path):
    west, east = head_on()
    for crowd in (west, east):
        crowd.steer.frame_end = 75
    bake(east, tmp_path)
    cache = open_cache(baked_file.file_of(east).parent)
    shown = [cache.frame(number).position for number in range(1, 76)]
    # none of these is what was baked
    east.steer.agents.max_speed = 0.2
    east.steer.seed = 5
    play(75)
    assert live.get_frame(east, 40) is None
    walked = lived(west, 75)
    assert nearest(walked, shown) > 2.0 * RADIUS - 0.06
    np.testing.assert_array_equal(walked, offline(west, 75))
