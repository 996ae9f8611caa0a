"""The dead are not shown: by the Crowd modifier, nor by what a bake makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake.keyframes import bake  # noqa: E402
from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.display.look import Look  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.core.behaviors import REGISTRY  # noqa: E402
from steer_addon.core.crowd.settings import (  # noqa: E402
    AgentsSettings,
    BodiesSettings,
    CrowdSettings,
)

from . import crowd_views, live_scenes  # noqa: E402
from .bake_frames import circling, curves_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def leaving():
    """Two agents near their target and one that is far away, in a scene."""
    settings = CrowdSettings(
        agents=AgentsSettings(max_force=100.0),
        bodies=BodiesSettings(on_arrival="LEAVE", arrival_distance=0.5),
        behaviors=(REGISTRY["seek"](),),
    )
    points = ((0, 19.0, 0), (0.3, 19.2, 0), (0, -20, 0))
    obj = live_scenes.make_crowd(points, settings=settings)
    live_scenes.make_target(obj)
    return obj


def test_who_leaves_is_hidden_and_scrubbing_back_shows_them_again():
    obj = leaving()
    live_scenes.play(1, 30)
    assert live.get_frame(obj, 1).alive.tolist() == [1, 1, 1]
    assert live.get_frame(obj, 30).alive.tolist() == [0, 0, 1]
    assert live.get_frame(obj, 30).attributes["arrived"].tolist() == [1, 1, 0]
    assert len(crowd_views.instances()) == 1
    assert crowd_views.attribute(crowd_views.evaluated(obj), "alive").tolist() == [0, 0, 1]
    assert len(crowd_views.evaluated(obj).data.vertices) == 3
    live_scenes.frame_set(1)
    assert len(crowd_views.instances()) == 3


@pytest.mark.parametrize("kind", ["BOOLEAN", "INT", "FLOAT"])
def test_points_with_alive_0_are_dead_from_the_start_and_hidden_before_it(kind):
    obj = live_scenes.make_runner()
    live_scenes.add_attribute(obj, "alive", kind, [1, 0, 1])
    live_scenes.update()
    assert len(crowd_views.instances()) == 2
    live_scenes.play(1, 3)
    assert live.get_frame(obj, 3).alive.tolist() == [1, 0, 1]
    assert live.get_frame(obj, 3).position[1].tolist() == [1, 0, 0]
    assert len(crowd_views.instances()) == 2


def test_states_of_older_files_without_the_attribute_are_shown():
    obj, modifier = crowd_views.make_crowd(crowd_views.make_frame(5))
    shown = display.get_input(modifier, "State")
    shown.data.attributes.remove(shown.data.attributes["alive"])
    shown.data.update()
    live_scenes.update()
    assert len(crowd_views.instances()) == 5
    assert state.read_state(shown) is None


def dying():
    """Three agents, the second of which is gone from frame 4 on, and there again at 7."""
    return [
        replace(frame, alive=np.array([1, int(not 4 <= frame.number < 7), 1], np.uint8))
        for frame in circling(range(1, 9))
    ]


def test_baked_agents_are_hidden_by_keys_while_they_are_dead():
    scene = bpy.context.scene
    made = bake(dying(), name="Crowd", collection_parent=scene.collection)
    first, second, _ = made.collection.objects
    assert len(curves_of(first)) == 10
    assert len(curves_of(second)) == 14
    for number in range(1, 9):
        scene.frame_set(number)
        gone = 4 <= number < 7
        assert (second.hide_render, *second.scale) == (gone, *[float(not gone)] * 3)
        assert (first.hide_render, *first.scale) == (False, 1.0, 1.0, 1.0)
    assert made.key_count == 3 * 10 * 8 + 4 * 3


def test_what_hangs_below_a_baked_agent_is_hidden_by_its_scale():
    body = bpy.data.objects.new("Body", None)
    hat = bpy.data.objects.new("Hat", None)
    hat.parent = body
    scene = bpy.context.scene
    for item in (body, hat):
        scene.collection.objects.link(item)
    made = bake(
        dying(), name="Crowd", collection_parent=scene.collection, source=body, look=Look(scale=2.0)
    )
    second = made.collection.objects["Crowd.0001"]
    for number in range(1, 9):
        scene.frame_set(number)
        size = 0.0 if 4 <= number < 7 else 2.0
        assert second.scale[:] == pytest.approx((size,) * 3)
        worn = second.children[0].evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert worn.matrix_world.to_scale()[:] == pytest.approx((size,) * 3, abs=1e-6)
