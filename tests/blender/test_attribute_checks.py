"""Attributes of points that override settings: what has no effect, or is cut, is told."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def crowd():
    obj = scenes.make_crowd(settings=scenes.seekers({"type": "arrive"}))
    bpy.context.view_layer.objects.active = obj
    return obj


def add(obj, name, values=(), kind="FLOAT", domain="POINT"):
    attribute = obj.data.attributes.new(name, kind, domain)
    if len(values):
        attribute.data.foreach_set("value", values)
    return attribute


def told(obj):
    wanted = ("ATTRIBUTE_IGNORED", "ATTRIBUTE_CUT", "CLIP_NUMBER_UNKNOWN", "PARTS_UNKNOWN")
    return [found for found in advice.diagnoses(obj) if found.code in wanted]


@pytest.mark.parametrize(
    ("name", "kind", "domain", "values"),
    [
        ("radius", "FLOAT", "EDGE", ("edges", "Float", "a Float")),
        ("radius", "FLOAT", "FACE", ("faces", "Float", "a Float")),
        ("max_speed", "FLOAT", "CORNER", ("face corners", "Float", "a Float")),
        ("radius", "FLOAT_COLOR", "POINT", ("vertices", "Color", "a Float")),
        ("arrive.slow_radius", "FLOAT_VECTOR", "POINT", ("vertices", "Vector", "a Float")),
        ("slow_radius", "FLOAT_VECTOR", "POINT", ("vertices", "Vector", "a Float")),
        ("arrive.weight", "FLOAT", "FACE", ("faces", "Float", "a Float")),
        ("velocity", "FLOAT", "POINT", ("vertices", "Float", "a Vector")),
    ],
)
def test_an_attribute_of_the_wrong_kind_is_told(name, kind, domain, values):
    obj = crowd()
    add(obj, name, kind=kind, domain=domain)
    expected = dict(zip(("place", "type", "wanted"), values, strict=True))
    assert told(obj) == [diagnose("ATTRIBUTE_IGNORED", obj.name, attribute=name, **expected)]


def test_attributes_that_count_and_those_of_others_are_left_alone():
    obj = crowd()
    count = len(obj.data.vertices)
    add(obj, "radius", np.full(count, 0.3))
    add(obj, "alive", np.ones(count, bool), "BOOLEAN")
    add(obj, "velocity", kind="FLOAT_VECTOR")
    add(obj, "shade", kind="FLOAT_COLOR", domain="CORNER")
    # characters, which it does not show
    add(obj, "clip", np.full(count, 99), "INT")
    add(obj, "weight", np.full(count, -1.0))
    assert told(obj) == []
    # modifiers may make something else of it
    add(obj, "mass", kind="FLOAT", domain="FACE")
    assert len(told(obj)) == 1
    obj.modifiers.new("Above", "SMOOTH")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    assert told(obj) == []


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("radius", -1.0, 0.0),
        ("mass", 0.0, 0.001),
        ("max_speed", -2.0, 0.0),
        ("height", -1.0, 0.0),
        ("slow_radius", -1.0, 0.0),
        ("arrive.weight", 1.0e6, 1000.0),
    ],
)
def test_values_out_of_range_are_cut_and_told(name, value, limit):
    obj = crowd()
    attribute = add(obj, name, np.full(len(obj.data.vertices), limit))
    attribute.data[1].value = value
    (found,) = told(obj)
    assert (found.code, found.values["count"]) == ("ATTRIBUTE_CUT", 1)
    assert found.values["limit"] == f"{limit:g}" and found.values["value"] == f"{value:g}"
    scenes.play(1, 3)
    assert live.status(obj).diagnosis is None
    if name == "radius":
        assert live.get_frame(obj, 3).radius[1] == 0.0


@pytest.mark.slow
def test_numbers_of_clips_that_no_character_has_are_told():
    obj = crowd()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", make_toy())
    count = len(obj.data.vertices)
    add(obj, "clip", np.full(count, -1), "INT")
    assert told(obj) == []
    obj.data.attributes["clip"].data[0].value = 99
    (found,) = told(obj)
    assert found.code == "CLIP_NUMBER_UNKNOWN"
    assert (found.values["count"], found.values["number"]) == (1, "99")
    obj.data.attributes.remove(obj.data.attributes["clip"])
    add(obj, "clip", [np.inf, 1e30, np.nan] + [-1.0] * (count - 3))
    (found,) = told(obj)
    assert (found.values["count"], found.values["number"]) == (2, "inf")
    obj.data.attributes["clip"].data.foreach_set("value", np.full(count, -1.0))
    add(obj, "tempo", [-2.0] + [1.0] * (count - 1))
    assert [found.code for found in told(obj)] == ["ATTRIBUTE_CUT"]
    toy = bpy.data.objects["Toy"]
    obj.data.attributes["tempo"].data[0].value = 1.0
    add(obj, "parts", [3] + [0] * (count - 1), "INT")
    (found,) = told(obj)
    assert (found.code, found.values["count"]) == ("PARTS_UNKNOWN", 1)
    parts = toy.data.attributes.new("part_number", "INT", "POINT")
    parts.data[0].value = 2
    assert told(obj) == []
