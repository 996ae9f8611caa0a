"""Attributes of a crowd's own points that the materials of what it shows read."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes, keyed_crowds, status  # noqa: E402
from steer_addon.blender.crowd.casting import carried_of, clip_names, numbered_clips  # noqa: E402
from steer_addon.blender.crowd.state import get_state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import formats  # noqa: E402
from steer_addon.blender.writing.usd_points import pxr  # noqa: E402
from tests.blender.crowd_views import make_object  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    frame_set,
    make_crowd,
    make_target,
    play,
)
from tests.blender.test_export import needs_usd  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

MOODS = [0.0, 0.25, 0.5, 2.0]


def reads(tree, name, kind="INSTANCER"):
    node = tree.nodes.new("ShaderNodeAttribute")
    node.attribute_type, node.attribute_name = kind, name


def make_moody(**attributes):
    """A crowd of boxes whose material reads `mood` in a group, and `id`."""
    obj = make_crowd([(i, 0, 0) for i in range(len(MOODS))])
    make_target(obj)
    obj.steer.frame_end = 6
    for name, values in attributes.items():
        add_attribute(obj, name, "FLOAT", values)
    box = make_object("Box")
    material = bpy.data.materials.new("Moody")
    if material.node_tree is None:
        material.use_nodes = True  # before 5.0
    group = bpy.data.node_groups.new("Looks", "ShaderNodeTree")
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = group
    reads(group, "mood")
    reads(material.node_tree, "id")
    reads(material.node_tree, "other", "GEOMETRY")
    box.data.materials.append(material)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", box)
    display.set_input(modifier, "Display", "Object")
    return obj, material


def on_copies(obj, name):
    """Values of an attribute at the copies, or None where it is not there."""
    geometry = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).evaluated_geometry()
    found = geometry.instances_pointcloud().attributes.get(name)
    return None if found is None else [item.value for item in found.data]


def test_copies_have_what_their_material_reads():
    obj, _ = make_moody(mood=MOODS, other=MOODS)
    assert carried_of(obj) == ("mood",)
    play(1, 4)
    np.testing.assert_array_equal(on_copies(obj, "mood"), MOODS)
    assert on_copies(obj, "other") is None


def test_a_material_that_reads_more_shows_it_when_played_again():
    obj, material = make_moody(mood=MOODS, other=MOODS)
    play(1, 3)
    reads(material.node_tree, "other")
    play(1, 4)
    np.testing.assert_array_equal(on_copies(obj, "other"), MOODS)


def test_what_no_point_has_or_steer_writes_is_not_carried():
    obj, material = make_moody(other=MOODS, speed=MOODS)
    reads(material.node_tree, "speed")
    assert carried_of(obj) == ()
    # a modifier before Crowd may make it
    nodes = obj.modifiers.new("Before", "NODES")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    assert carried_of(obj) == ("mood",)
    nodes.node_group = bpy.data.node_groups.new("Before", "GeometryNodeTree")
    play(1, 2)
    names = [item.name for item in get_state(obj).data.attributes]
    assert "mood" not in names


def test_bakes_have_it_and_say_when_a_material_reads_more(tmp_path):
    obj, material = make_moody(mood=MOODS, other=MOODS)
    path = str(tmp_path / "moody.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    frame_set(5)
    np.testing.assert_array_equal(on_copies(obj, "mood"), MOODS)

    def changes():
        assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
        return [found.subject for found in status.status(obj, bpy.context.scene).changes]

    assert changes() == []
    reads(material.node_tree, "other")
    assert "attribute" in changes()


def test_keyed_objects_have_it_as_a_property():
    obj, _ = make_moody(mood=MOODS)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    made = sorted(obj.steer.bake_collection.objects, key=lambda one: one["id"])
    assert [one["mood"] for one in made] == MOODS


ODD = {"my mood": 1.0, "my_mood": 2.0, "mood.1": 3.0, "1st": 4.0, "größe": 5.0, 'a"b': 6.0}
"""Names of attributes, and what they are multiplied by."""


def make_odd():
    obj, material = make_moody(**{name: np.multiply(MOODS, by) for name, by in ODD.items()})
    for name in ODD:
        reads(material.node_tree, name)
    bpy.context.view_layer.objects.active = obj
    return obj


def assert_odd(obj):
    for name, by in ODD.items():
        np.testing.assert_array_equal(on_copies(obj, name), np.multiply(MOODS, by), name)


@needs_usd
def test_names_that_files_have_no_room_for_are_the_same_in_bakes(tmp_path):
    obj = make_odd()
    play(1, 4)
    assert_odd(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "odd.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    frame_set(5)
    assert_odd(obj)
    groups = len(bpy.data.node_groups)
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    frame_set(4)
    assert_odd(obj)
    assert len(bpy.data.node_groups) == groups
    # as it is without Steer
    name = obj.name
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    frame_set(3)
    assert_odd(bpy.data.objects[name])


def test_keyed_objects_have_these_names_too():
    obj = make_odd()
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    made = sorted(obj.steer.bake_collection.objects, key=lambda one: one["id"])
    for name, by in ODD.items():
        assert [one[name] for one in made] == list(np.multiply(MOODS, by)), name


@needs_usd
def test_exports_say_by_which_names_other_programs_read_them(tmp_path):
    obj = make_odd()
    path, told = tmp_path / "odd.usdc", []
    scene, chosen = bpy.context.scene, formats.FORMATS["usd"]
    formats.export_crowd(obj, scene, chosen, path, numbers=range(1, 3), warnings=told)
    renamed = {f.subject: f.values["key"] for f in told if f.code == "ATTRIBUTE_RENAMED"}
    # those that are right as they are keep their names
    assert "my_mood" not in renamed and renamed.keys() == {*ODD} - {"my_mood"}
    usd = pxr()
    stage = usd.Usd.Stage.Open(str(path))
    for name, key in renamed.items():
        values = stage.GetDefaultPrim().GetAttribute(f"primvars:{key}").Get(1)
        np.testing.assert_array_equal(values, np.multiply(MOODS, ODD[name]))


def test_names_that_are_too_long_for_objects_are_left_out_of_these_and_named():
    # 64 bytes in 34 letters; one less is right
    long, right = "ä" * 30 + "long", "ä" * 30 + "lon"
    obj, material = make_moody(**{long: MOODS, right: MOODS})
    for name in (long, right):
        reads(material.node_tree, name)
    told = []
    keyed_crowds.bake_crowd(obj, bpy.context.scene, lambda share: None, told, range(1, 3))
    assert [(found.code, found.subject) for found in told] == [("ATTRIBUTE_TOO_LONG", long)]
    for made in obj.steer.bake_collection.objects:
        assert right in made and long not in made


@pytest.mark.slow
@pytest.mark.usefixtures("few_poses")
def test_heroes_have_it_and_clips_show_their_numbers():
    assert bpy.ops.object.steer_start(preset="pedestrians", count=4) == {"FINISHED"}
    obj = bpy.context.object
    obj.steer.frame_end = 4
    add_attribute(obj, "mood", "FLOAT", MOODS)
    for material in bpy.data.materials:
        if material.name.endswith("Top"):
            reads(material.node_tree, "mood")
    assert heroes.promote(obj, bpy.context.scene, [2]).done == [2]
    (carrier,) = (one for one in bpy.data.objects if one.name == f"{obj.name}.0002")
    meshes = [one for one in carrier.children_recursive if one.type == "MESH"]
    assert meshes and {one["mood"] for one in meshes} == {0.5}
    assert clip_names(obj) == ["wave", "clap", "look around"]
    assert numbered_clips(obj) == ["0 wave", "1 clap", "2 look around"]
