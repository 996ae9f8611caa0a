"""Weights of targets, read from objects and from points, and targets one to one and in order."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.blender.reading.scene_agents import read_agents  # noqa: E402
from steer_addon.blender.reading.scene_inputs import signature  # noqa: E402
from steer_addon.core.results.digests import digest  # noqa: E402
from steer_addon.core.step.simulation import Simulation  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    deps,
    make_box,
    make_crowd,
    make_target,
    seekers,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

POINTS = [(x, 0.0, 0.0) for x in range(6)]


def read(obj):
    return WorldReader().read(obj, deps(), 24.0)


def crowd_among(weights, choice="BY_WEIGHT", points=POINTS):
    """A crowd whose targets are objects in a collection, with these weights or None."""
    obj = make_crowd(points, settings=seekers({"type": "seek", "target_choice": choice}))
    collection = bpy.data.collections.new("Goals")
    bpy.context.scene.collection.children.link(collection)
    for number, weight in enumerate(weights):
        target = make_target(location=(5.0 * number, 20.0, 0.0), name=f"goal {number}")
        if weight is not None:
            target["target_weight"] = weight
        collection.objects.link(target)
    obj.steer.target_kind, obj.steer.target_collection = "COLLECTION", collection
    return obj, list(collection.objects)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([None, 2.5, 0], [1.0, 2.5, 0.0]), ([None, -1.0, 3], [1.0, 0.0, 3.0]),
     (["heavy", 1.0, True], [1.0, 1.0, 1.0])],
)  # fmt: skip
def test_a_custom_property_is_the_weight_of_an_object(weights, expected):
    obj, _ = crowd_among(weights)
    assert read(obj).targets[""].weights.tolist() == expected


def test_a_key_or_an_edit_of_a_weight_counts():
    obj, goals = crowd_among([1.0, 2.0])
    before, places = digest(read(obj).targets[""]), signature(obj, deps())
    goals[1]["target_weight"] = 5.0
    goals[1].update_tag()
    bpy.context.view_layer.update()
    assert read(obj).targets[""].weights.tolist() == [1.0, 5.0]
    assert digest(read(obj).targets[""]) != before
    assert signature(obj, deps()) != places
    goals[0].keyframe_insert('["target_weight"]', frame=1)
    goals[0]["target_weight"] = 9.0
    goals[0].keyframe_insert('["target_weight"]', frame=11)
    bpy.context.scene.frame_set(11)
    assert read(obj).targets[""].weights[0] == 9.0


def test_targets_without_weights_are_as_they_always_were():
    obj, _ = crowd_among([None, None])
    found = read(obj).targets[""]
    assert found.weight is None
    assert found.weights.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", ["FLOAT", "INT"])
def test_a_point_attribute_is_the_weight_of_a_point(kind):
    obj = make_crowd(settings=seekers({"type": "seek", "target_choice": "BY_WEIGHT"}))
    box = make_box()
    add_attribute(box, "target_weight", kind, list(range(8)))
    obj.steer.target_kind, obj.steer.target_object = "POINTS", box
    assert read(obj).targets[""].weights.tolist() == list(range(8))


def test_a_crowd_goes_where_the_weight_is():
    obj, _ = crowd_among([0.0, 0.0, 1.0])
    settings = settings_of(obj)
    sim = Simulation(settings, read_agents(obj, deps(), settings), frame=1, fps=24.0)
    for _ in range(24):
        sim.step(read(obj))
    toward = np.array([10.0, 20.0, 0.0]) - sim.agents.position
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    assert (np.einsum("ij,ij->i", toward, sim.agents.velocity) > 0.99 * sim.agents.speed).all()


def test_fewer_targets_than_agents_are_told_in_the_scene():
    obj, _ = crowd_among([None, None], choice="ASSIGNED")
    settings = settings_of(obj)
    sim = Simulation(settings, read_agents(obj, deps(), settings), frame=1, fps=24.0)
    sim.step(read(obj))
    assert [(d.code, d.values["count"]) for d in sim.warnings] == [("TOO_FEW_TARGETS", 4)]


def test_what_belongs_to_the_order_is_there_as_properties():
    obj, _ = crowd_among([None], choice="IN_ORDER")
    group = obj.steer.behaviors[0].seek
    group.min_wait, group.max_wait, group.after_last = 2.0, 5.0, "LOOP"
    (entry,) = settings_of(obj).behaviors
    assert (entry.min_wait, entry.max_wait, entry.after_last) == (2.0, 5.0, "LOOP")
    items = group.bl_rna.properties["target_choice"].enum_items
    assert all(item.description for item in items)
    assert "order" in items["IN_ORDER"].description
