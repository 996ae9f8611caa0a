"""Size Spread and Speed Spread: agents differ, each by its id and the crowd's seed."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import properties  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.reading import scene_agents  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def row_of(count=200, **spreads):
    obj = scenes.make_crowd([(float(i), 0.0, 0.0) for i in range(count)])
    for name, value in spreads.items():
        setattr(obj.steer.agents, name, value)
    return obj


def read(obj):
    layer = bpy.context.view_layer
    layer.update()
    return scene_agents.read_agents(obj, layer.depsgraph, properties.settings_of(obj))


def test_by_default_all_agents_are_alike():
    agents = read(row_of())
    assert set(agents.radius) == {np.float32(0.25)} and set(agents.max_speed) == {np.float32(1.4)}


def test_sizes_and_speeds_spread_around_those_of_the_crowd():
    agents = read(row_of(size_spread=0.2, speed_spread=0.5))
    for values, middle, width in ((agents.radius, 0.25, 0.2), (agents.max_speed, 1.4, 0.5)):
        low, high = middle * (1.0 - width), middle * (1.0 + width)
        assert values.min() >= low and values.max() <= high
        assert values.max() - values.min() > 0.9 * (high - low)
        assert values.mean() == pytest.approx(middle, rel=0.1 * width + 0.02)
    # a large agent is no faster than a small one
    assert abs(np.corrcoef(agents.radius, agents.max_speed)[0, 1]) < 0.2


def test_an_agent_keeps_its_own_by_id_and_another_seed_gives_others():
    obj = row_of(20, size_spread=0.3)
    before = read(obj).radius
    scenes.add_attribute(obj, "id", "INT", np.arange(20)[::-1])
    np.testing.assert_array_equal(read(obj).radius, before[::-1])
    obj.steer.seed = 7
    assert not np.isin(read(obj).radius, before).any()


def test_a_point_attribute_has_the_last_word():
    obj = row_of(4, size_spread=0.3)
    scenes.add_attribute(obj, "radius", "FLOAT", [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(read(obj).radius, np.float32([0.1, 0.2, 0.3, 0.4]))


def test_copies_of_an_object_are_as_large_as_their_bodies():
    obj = row_of(10, size_spread=0.5)
    body = scenes.make_box("Body")
    modifier = display.require_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", body)
    display.set_input(modifier, "Scale", 2.0)
    scenes.make_target(obj)
    scenes.play(1, 2)
    sizes = live.get_frame(obj, 2).radius / 0.25
    shown = [
        instance.matrix_world.to_scale().x
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance and instance.object.original == body
    ]
    np.testing.assert_allclose(sorted(shown), sorted(2.0 * sizes), rtol=1e-5)
    obj.steer.agents.size_spread = 0.0
    assert display.get_input(modifier, "Size by Radius") is False


def test_settings_without_spread_are_those_of_bakes_made_before():
    from steer_addon.blender.bake import inputs

    obj = row_of(3)
    values = inputs.settings_data(obj, bpy.context.scene, obj.name)[obj.name]["values"]
    assert not any("spread" in name for name in values)
    obj.steer.agents.speed_spread = 0.1
    values = inputs.settings_data(obj, bpy.context.scene, obj.name)[obj.name]["values"]
    assert values["agents.speed_spread"] == pytest.approx(0.1)
