"""Stuck agents: told in the panel, and shown on demand."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.making import starters  # noqa: E402
from steer_addon.core.crowd import presets  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402
from tests.diagnosed import codes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def make_walkers(points, name="Crowd", **bodies):
    settings = presets.load_preset("pedestrians").settings
    told = BodiesSettings(collide_agents=True, collide_colliders=True, **bodies)
    settings = CrowdSettings(agents=settings.agents, behaviors=settings.behaviors, bodies=told)
    crowd = scenes.make_crowd(points, name, settings)
    crowd.steer.frame_end = 400
    bpy.context.view_layer.objects.active = crowd
    return crowd


def play(last):
    for number in range(1, last + 1):
        bpy.context.scene.frame_set(number)


def make_wall(x, y, wide, deep):
    wall = scenes.make_box("Wall", (x, y, 0.0))
    wall.scale = (wide / 2.0, deep / 2.0, 2.0)
    return wall


def make_blocked(count=4):
    """People before a dead end, with their target behind it."""
    crowd = make_walkers([(0.7 * i - 1.0, -3.0, 0.0) for i in range(count)])
    scenes.make_target(crowd, (0.0, 15.0, 0.0))
    sides = [make_wall(side, -1.0, 0.2, 4.0) for side in (-2.0, 2.0)]
    scenes.make_colliders(crowd, make_wall(0.0, 1.0, 4.0, 0.2), *sides)
    bpy.context.view_layer.update()
    return crowd


@pytest.mark.slow
def test_people_before_a_wall_are_told_and_shown():
    crowd = make_blocked()
    play(330)
    (stuck,) = [d for d in live.status(crowd).warnings if d.code == "STUCK"]
    assert stuck.values["total"] == 4 and stuck.values["count"] >= 3
    ids = {int(word) for word in stuck.values["agents"].split(",")}
    frames = live.get_frame(crowd, 330)
    assert bpy.ops.object.steer_show_agents(agents=stuck.values["agents"]) == {"FINISHED"}
    overlay = bpy.context.scene.steer_overlay
    assert (overlay.crowd, overlay.agents, overlay.show) == (crowd, stuck.values["agents"], True)
    assert {v.index for v in crowd.data.vertices if v.select} == ids
    # selecting points is no edit of the crowd
    bpy.context.view_layer.update()
    assert live.get_frame(crowd, 330) is frames and live.status(crowd).diagnosis is None


def test_points_are_selected_by_their_own_ids():
    crowd = make_blocked(3)
    scenes.add_attribute(crowd, "id", "INT", [7, 8, 9])
    bpy.ops.object.steer_show_agents(agents="9, 7")
    assert [v.select for v in crowd.data.vertices] == [True, False, True]


def test_all_of_many_agents_are_selected_and_the_overlay_names_some():
    crowd = scenes.make_crowd([(i, 0.0, 0.0) for i in range(150)])
    bpy.context.view_layer.objects.active = crowd
    agents = ", ".join(map(str, range(140)))
    assert bpy.ops.object.steer_show_agents(agents=agents) == {"FINISHED"}
    assert [v.select for v in crowd.data.vertices] == [True] * 140 + [False] * 10
    named = bpy.context.scene.steer_overlay.agents
    assert named.split(", ") == [str(i) for i in range(100)]


def test_agents_are_shown_for_crowds_only():
    bpy.context.view_layer.objects.active = scenes.make_target()
    assert "crowd" in refusal(bpy.ops.object.steer_show_agents)


def test_a_simulation_without_a_window_tells_them_once():
    crowd, found = make_blocked(), []
    for _ in simulate.run(crowd, bpy.context.scene, range(1, 331), warnings=found):
        pass
    assert codes(found).count("STUCK") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", often(presets.find_presets(), "pedestrians", "office"))
def test_presets_tell_of_hardly_anybody(name):
    crowd = starters.start(bpy.context.scene, bpy.context.view_layer, starters.Wish(name, 80))
    crowd.steer.frame_end = 400
    most = 0
    for moment in simulate.moments(crowd, bpy.context.scene, 400):
        stuck = moment[0][1].simulation.stuck
        most = max(most, 0 if stuck is None else stuck.values["count"])
    # two that hide stand for good between a pillar and their path
    assert most <= (2 if name == "feelers_hide_path" else 0)
