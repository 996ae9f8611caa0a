"""Objects of a collection that agents take by an attribute of their points, while they move."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import status  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from tests.blender.crowd_views import instances, make_object  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    frame_set,
    make_crowd,
    make_target,
    play,
)
from tests.blender.test_export import export, needs_usd  # noqa: E402
from tests.blender.test_export_looks import assert_same, in_usd, shown_bodies  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

NUMBERS = [2, 1, 0, 5, -1, 1]
WANTED = "CBACCB"


def make_chosen():
    obj = make_crowd([(i, 0, 0) for i in range(len(NUMBERS))])
    make_target(obj)
    obj.steer.frame_end = 6
    add_attribute(obj, "body", "INT", NUMBERS)
    bodies = bpy.data.collections.new("Bodies")
    for size, name in enumerate("ABC", 1):
        make_object(name, bodies).scale.x = size
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Collection", bodies)
    display.set_input(modifier, "Display", "Collection")
    display.set_input(modifier, "Choose By", "Attribute")
    return obj, modifier


def changed(obj):
    assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
    return [(found.code, found.subject) for found in status.status(obj, bpy.context.scene).changes]


def names():
    return "".join(source for _, source, _ in instances())


def test_agents_keep_their_bodies_while_they_move():
    obj, modifier = make_chosen()
    play(1, 4)
    assert names() == WANTED
    display.set_input(modifier, "Attribute", "other")
    add_attribute(obj, "other", "FLOAT", [0, 1, 2, 0, 1, 2])
    play(1, 4)
    assert names() == "ABCABC"


def test_bakes_keep_them_and_say_when_another_attribute_is_chosen(tmp_path):
    obj, modifier = make_chosen()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "chosen.blend"))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    frame_set(5)
    assert names() == WANTED
    assert changed(obj) == []
    display.set_input(modifier, "Attribute", "other")
    assert ("VALUE_CHANGED", "body") in changed(obj)


def test_points_that_say_their_character_count_as_unchanged(tmp_path):
    obj, modifier = make_chosen()
    add_attribute(obj, "character", "INT", NUMBERS)
    toys = make_toy("Toy").users_collection[0]
    make_toy("Other")
    display.set_input(modifier, "Collection", toys)
    display.set_input(modifier, "Display", "Characters")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "chosen.blend"))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert changed(obj) == []


@needs_usd
def test_point_instancers_have_them(tmp_path):
    obj, _ = make_chosen()
    made = export(obj, "pointinstancer", tmp_path, 4)
    play(1, 4)
    assert names() == WANTED
    np.testing.assert_equal(len(wanted := shown_bodies()), len(NUMBERS))
    assert_same(in_usd(made.path, [4]), [wanted], 2e-2)
