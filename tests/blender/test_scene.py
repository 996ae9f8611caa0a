"""Inputs of a crowd from a scene: agents, targets, and changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.blender.reading.scene_agents import read_agents  # noqa: E402
from steer_addon.blender.reading.scene_inputs import needs_frames, signature  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import AgentError, SceneError  # noqa: E402
from steer_addon.core.results.frames import Frame  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    data_counts,
    deps,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    move,
    seekers,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def agents_of(obj):
    return read_agents(obj, deps(), settings_of(obj))


def read(obj, reader=None):
    return (reader or WorldReader()).read(obj, deps(), 24.0)


def test_vertices_are_agents_in_world_space():
    obj = make_crowd([(1, 2, 3), (0, 0, 0)])
    obj.location = (10, 0, 0)
    obj.rotation_euler = (0, 0, math.pi / 2)
    obj.scale = (2, 2, 2)
    agents = agents_of(obj)
    np.testing.assert_allclose(agents.position, [(6, 2, 6), (10, 0, 0)], atol=1e-5)
    # -Y, turned by 90 degrees, is +X
    np.testing.assert_allclose(agents.heading, [(1, 0, 0)] * 2, atol=1e-6)
    np.testing.assert_allclose(agents.max_speed, 1.4)


def test_point_attributes_override():
    settings = seekers({"type": "arrive", "name": "go"}, {"type": "seek"})
    obj = make_crowd(settings=settings)
    obj.rotation_euler = (0, 0, math.pi / 2)
    add_attribute(obj, "velocity", "FLOAT_VECTOR", [(1, 0, 0), (0, 0, 0), (0, 2, 0)])
    add_attribute(obj, "id", "INT", [7, 5, 6])
    add_attribute(obj, "radius", "FLOAT", [0.1, 0.2, 0.3])
    add_attribute(obj, "max_speed", "INT", [1, 2, 3])
    add_attribute(obj, "target_index", "INT", [1, 0, -1])
    add_attribute(obj, "slow_radius", "FLOAT", [4, 5, 6])
    add_attribute(obj, "go.weight", "FLOAT", [0, 1, 2])
    add_attribute(obj, "seek.weight", "BOOLEAN", [True, False, True])
    add_attribute(obj, "weight", "FLOAT", [9, 9, 9])
    add_attribute(obj, "unknown", "FLOAT", [9, 9, 9])
    agents = agents_of(obj)
    np.testing.assert_allclose(agents.velocity, [(0, 1, 0), (0, 0, 0), (-2, 0, 0)], atol=1e-6)
    np.testing.assert_allclose(agents.heading, [(0, 1, 0), (1, 0, 0), (-1, 0, 0)], atol=1e-6)
    np.testing.assert_array_equal(agents.id, [7, 5, 6])
    np.testing.assert_allclose(agents.radius, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(agents.max_speed, [1, 2, 3])
    np.testing.assert_array_equal(agents.target_index, [1, 0, -1])
    assert set(agents.attributes) == {"slow_radius", "go.weight", "seek.weight"}
    np.testing.assert_allclose(agents.attributes["seek.weight"], [1, 0, 1])


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("heading", "FLOAT_VECTOR", (0, 5, 0)),
        ("rotation", "QUATERNION", (math.sqrt(0.5), 0, 0, math.sqrt(0.5))),
    ],
)
def test_first_heading_comes_from_attributes(name, kind, value):
    obj = make_crowd([(0, 0, 0)])
    if name == "rotation":
        # what looks along +X and is turned by 90 degrees about Z looks along +Y
        obj.steer.motion.forward_axis = "POS_X"
    add_attribute(obj, name, kind, [value])
    np.testing.assert_allclose(agents_of(obj).heading, [(0, 1, 0)], atol=1e-6)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1e6, 1e6, 1e6), (1e-6, 2, 3)])
def test_negative_and_huge_scales_work(scale):
    obj = make_crowd([(1, 1, 1)])
    obj.scale = scale
    np.testing.assert_allclose(agents_of(obj).position, [scale], rtol=1e-5)


def test_scale_zero_is_refused():
    obj = make_crowd()
    obj.scale = (1, 0, 1)
    with pytest.raises(SceneError, match=r"'Crowd' has scale 0 on its Y axis: give"):
        agents_of(obj)


def test_no_vertices_and_places_that_are_not_finite():
    obj = make_crowd()
    places = np.float32([(0, 0, 0), (np.nan, 0, 0), (0, np.inf, 0)])
    # single vertices would be clamped to the largest number
    obj.data.attributes["position"].data.foreach_set("vector", places.ravel())
    with pytest.raises(AgentError, match=r"2 of 3 points are not at finite .*first: point 1"):
        agents_of(obj)
    obj.data.clear_geometry()
    with pytest.raises(AgentError, match=r"'Crowd' has no vertices: give"):
        agents_of(obj)


def test_bad_attributes_name_the_crowd():
    obj = make_crowd()
    add_attribute(obj, "id", "INT", [1, 1, 2])
    with pytest.raises(AgentError, match=r"Crowd 'Crowd': attribute 'id' repeats"):
        agents_of(obj)


def test_modifiers_above_count_and_those_below_do_not():
    obj = make_crowd([(0, 0, 0)])
    above = obj.modifiers.new("Above", "ARRAY")
    above.count, above.use_relative_offset = 4, False
    above.use_constant_offset, above.constant_offset_displace = True, (0, 3, 0)
    obj.modifiers.move(obj.modifiers.find("Above"), 0)
    below = obj.modifiers.new("Below", "ARRAY")
    below.count = 2
    before = data_counts()
    agents = agents_of(obj)
    np.testing.assert_allclose(agents.position, [(0, 3 * i, 0) for i in range(4)], atol=1e-6)
    assert data_counts() == before
    assert [m.name for m in obj.modifiers] == ["Above", "Crowd", "Below"]
    # a state that is shown is not read back
    frame = Frame(
        number=1,
        id=np.arange(2),
        position=np.ones((2, 3), np.float32),
        velocity=np.zeros((2, 3), np.float32),
        rotation=np.tile(np.float32([1, 0, 0, 0]), (2, 1)),
        radius=np.ones(2, np.float32),
        alive=np.ones(2, np.uint8),
    )
    state.write_state(state.ensure_state(obj), frame)
    assert agents_of(obj).count == 4
    above.show_viewport = False
    assert agents_of(obj).count == 1


def test_shape_keys_count():
    obj = make_crowd([(0, 0, 0)])
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    key.data[0].co = (0, 0, 2)
    key.value = 0.5
    np.testing.assert_allclose(agents_of(obj).position, [(0, 0, 1)], atol=1e-6)


def test_a_parented_crowd():
    obj = make_crowd([(1, 0, 0)])
    parent = make_target(location=(0, 0, 5))
    obj.parent = parent
    np.testing.assert_allclose(agents_of(obj).position, [(1, 0, 5)], atol=1e-6)


# Targets


def test_targets_of_every_kind():
    obj = make_crowd()
    make_target(obj, (1, 2, 3))
    np.testing.assert_allclose(read(obj).targets[""].position, [(1, 2, 3)])
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    outer.children.link(inner)
    for number, (name, where) in enumerate([("b", inner), ("c", outer), ("a", outer)]):
        where.objects.link(make_target(location=(number, 0, 0), name=name))
    outer.objects.link(obj)
    outer.objects.link(state.get_state(obj))
    obj.steer.target_kind, obj.steer.target_collection = "COLLECTION", outer
    np.testing.assert_allclose(read(obj).targets[""].position[:, 0], [2, 0, 1])
    box = make_box(location=(5, 0, 0))
    box.modifiers.new("Mirror", "MIRROR")
    obj.steer.target_kind, obj.steer.target_object = "POINTS", box
    assert read(obj).targets[""].position.shape == (16, 3)
    assert read(obj).targets[""].position[:, 0].min() == pytest.approx(4.0)


def test_a_behavior_has_targets_of_its_own():
    obj = make_crowd(settings=seekers({"type": "seek"}, {"type": "flee", "name": "fear"}))
    make_target(obj, (1, 0, 0))
    item = obj.steer.behaviors["fear"]
    item.use_own_target = True
    item.target_object = make_target(location=(0, 7, 0), name="Danger")
    world = read(obj)
    assert set(world.targets) == {"", "fear"}
    assert settings_of(obj).behaviors[1].target == "fear"
    np.testing.assert_allclose(world.targets_of("fear").position, [(0, 7, 0)])


def test_target_velocity_is_a_finite_difference():
    obj = make_crowd()
    target = make_target(obj)
    move(target, {1: (0, 0, 0), 11: (10, 0, 0)})
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    reader, scene = WorldReader(), bpy.context.scene
    scene.frame_set(1)
    np.testing.assert_allclose(read(obj, reader).targets[""].velocity, [(0, 0, 0)])
    scene.frame_set(2)
    np.testing.assert_allclose(read(obj, reader).targets[""].velocity, [(24, 0, 0)], rtol=1e-5)
    np.testing.assert_allclose(read(obj, reader).targets[""].velocity, [(24, 0, 0)], rtol=1e-5)
    scene.frame_set(4)
    np.testing.assert_allclose(read(obj, reader).targets[""].velocity, [(24, 0, 0)], rtol=1e-5)


def test_missing_targets_are_said_and_not_raised():
    obj, reader = make_crowd(), WorldReader()
    assert len(read(obj, reader).targets[""].position) == 0
    assert reader.warnings == [diagnose("CROWD_WITHOUT_TARGET", "Crowd", noun="target")]
    target = make_target(obj)
    read(obj, reader)
    assert reader.warnings == []
    bpy.context.scene.collection.objects.unlink(target)
    assert len(read(obj, reader).targets[""].position) == 0
    assert diagnose("INPUT_LOST", "Target", what="Target") in reader.warnings
    bpy.data.objects.remove(target)
    assert len(read(obj, reader).targets[""].position) == 0
    assert reader.warnings == [diagnose("CROWD_WITHOUT_TARGET", "Crowd", noun="target")]


def test_a_target_out_of_this_world_is_ignored():
    obj, reader = make_crowd(), WorldReader()
    make_target(obj, (float("nan"), 0, 0))
    assert len(read(obj, reader).targets[""].position) == 0
    assert reader.scene_warnings == [diagnose("TARGETS_NOT_FINITE", "Crowd", count=1)]


# Changes


def test_which_inputs_need_every_frame():
    obj = make_crowd()
    target = make_target(obj)
    make_colliders(obj, box := make_box())
    assert not needs_frames(obj)
    parent = make_target(name="Parent")
    box.parent = parent
    assert not needs_frames(obj)
    move(parent, {1: (0, 0, 0), 5: (1, 0, 0)})
    assert needs_frames(obj)
    box.parent = None
    assert not needs_frames(obj)
    target.constraints.new("COPY_LOCATION")
    assert needs_frames(obj)
    target.constraints.clear()
    obj.keyframe_insert("steer.behaviors[0].weight", frame=1)
    assert needs_frames(obj)


def test_the_signature_tells_moves_and_edits():
    obj = make_crowd()
    target = make_target(obj)
    make_colliders(obj, box := make_box())
    signatures = {signature(obj, deps(), geometry=True)}
    target.location.x += 1
    signatures.add(signature(obj, deps(), geometry=True))
    box.data.vertices[0].co.x += 1
    box.data.update()
    signatures.add(signature(obj, deps(), geometry=True))
    obj.location.x += 1
    signatures.add(signature(obj, deps(), geometry=True))
    assert len(signatures) == 4
    assert signature(obj, deps(), geometry=True) in signatures
    assert signature(obj, deps()) == signature(obj, deps())
