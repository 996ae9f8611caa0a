"""The Crowd modifier: its group, its inputs, and what it shows."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import crowd_group, display, nested_group  # noqa: E402
from steer_addon.blender.display.node_builder import add_nodes  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from steer_addon.core.results.frames import Frame  # noqa: E402

from .crowd_views import (  # noqa: E402
    assert_same_matrix,
    attribute,
    evaluated,
    expected_matrix,
    instances,
    make_crowd,
    make_frame,
    make_object,
)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def test_the_group_is_made_once_and_its_inputs_are_explained():
    group = display.ensure_node_group()
    assert display.ensure_node_group() == group
    assert group.name == display.NODE_GROUP_NAME
    assert all(link.is_valid for link in group.links)
    sockets = nested_group.sockets_of(group)
    assert [s.name for s in sockets][:4] == ["Geometry", "State", "Display", "Object"]
    assert all(s.description for s in sockets)


@pytest.mark.slow
def test_an_older_group_is_rebuilt_and_modifiers_keep_their_values():
    obj, modifier = make_crowd(make_frame())
    display.set_input(modifier, "Scale", 2.5)
    display.set_input(modifier, "Display", "Points")
    group = modifier.node_group
    names = [s.name for s in nested_group.sockets_of(group)]
    group.interface.new_socket("Retired", in_out="INPUT", socket_type="NodeSocketFloat")
    group.interface.remove(display._socket(modifier, "Seed"))
    group[crowd_group.VERSION_KEY] = 0
    assert display.ensure_node_group() == group
    assert group[crowd_group.VERSION_KEY] == 16
    assert names == [s.name for s in nested_group.sockets_of(group)]
    assert len(nested_group.sockets_of(group, "OUTPUT")) == 1
    assert display.get_input(modifier, "Scale") == 2.5
    assert display.get_input(modifier, "Display") == "Points"
    assert len(evaluated(obj).data.vertices) == 5


def test_a_modifier_is_found_by_its_group_and_added_once():
    obj, modifier = make_crowd()
    modifier.name = "Something else"
    assert display.find_modifier(obj) == modifier
    assert display.add_modifier(obj) == modifier
    assert len(obj.modifiers) == 1
    assert display.find_modifier(make_object("Other")) is None


def test_only_meshes_take_the_modifier():
    empty = bpy.data.objects.new("Marker", None)
    with pytest.raises(SceneError, match="'Marker' is of type EMPTY"):
        display.add_modifier(empty)


def test_at_rest_attributes_of_the_points_count():
    obj, modifier = make_crowd()
    display.set_input(modifier, "Radius", 0.5)
    np.testing.assert_allclose(attribute(obj, "radius"), 0.5)
    radius = obj.data.attributes.new("radius", "FLOAT", "POINT")
    radius.data.foreach_set("value", [0.1, 0.2, 0.3, 0.4])
    identity = obj.data.attributes.new("id", "INT", "POINT")
    identity.data.foreach_set("value", [9, 8, 7, 6])
    obj.data.update()
    np.testing.assert_allclose(attribute(obj, "radius"), [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(attribute(obj, "id"), [9, 8, 7, 6])


def test_the_own_mesh_is_never_changed():
    obj, _ = make_crowd()
    before = [v.co.copy() for v in obj.data.vertices]
    names = sorted(a.name for a in obj.data.attributes)
    state.write_state(state.ensure_state(obj), make_frame(100))
    assert len(evaluated(obj).data.vertices) == 100
    assert [v.co for v in obj.data.vertices] == before
    assert len(obj.data.polygons) == 1
    assert sorted(a.name for a in obj.data.attributes) == names
    obj.modifiers.remove(display.find_modifier(obj))
    assert len(evaluated(obj).data.vertices) == 4


def test_displays():
    frame = make_frame(40)
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Display", "Points")
    assert instances() == []
    assert len(evaluated(obj).data.vertices) == 40
    display.set_input(modifier, "Display", "Cones")
    assert len(instances()) == 40
    for empty_choice in ("Object", "Collection"):
        display.set_input(modifier, "Display", empty_choice)
        assert instances() == []
        assert len(evaluated(obj).data.vertices) == 40


def test_no_points_lie_beside_what_is_shown_unless_they_are_kept():
    # Blender draws a mesh of loose points as dots, over all that stands there
    frame = make_frame(40)
    frame.alive[:10] = 0
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Keep Points", False)
    for shown in ("Cones", "Discs"):
        display.set_input(modifier, "Display", shown)
        assert (len(evaluated(obj).data.vertices), len(instances())) == (0, 30)
    for empty_choice in ("Object", "Collection"):
        # a crowd of which nothing at all is seen could not be found again
        display.set_input(modifier, "Display", empty_choice)
        assert (len(evaluated(obj).data.vertices), len(instances())) == (30, 0)
    display.set_input(modifier, "Object", make_object("Body"))
    display.set_input(modifier, "Display", "Object")
    assert (len(evaluated(obj).data.vertices), len(instances())) == (0, 30)
    display.set_input(modifier, "Display", "Points")
    assert (len(evaluated(obj).data.vertices), len(instances())) == (40, 0)
    display.set_input(modifier, "Display", "Cones")
    display.set_input(modifier, "Keep Points", True)
    assert (len(evaluated(obj).data.vertices), len(instances())) == (40, 30)
    frame.alive[:] = 0
    display.set_input(modifier, "Keep Points", False)
    state.write_state(state.ensure_state(obj), frame)
    assert (len(evaluated(obj).data.vertices), len(instances())) == (0, 0)


def test_a_new_crowd_shows_no_dots(few_poses):
    bpy.ops.object.steer_start(preset="pedestrians", count=20)
    assert len(evaluated(bpy.context.object).data.vertices) == 0
    assert len(instances()) == 20


def test_every_agent_keeps_its_object_of_a_collection():
    frame = make_frame(60)
    obj, modifier = make_crowd(frame)
    collection = bpy.data.collections.new("Bodies")
    bpy.context.scene.collection.children.link(collection)
    for name in ("A", "B", "C"):
        make_object(name, collection).location = (10.0, 0.0, 0.0)
    display.set_input(modifier, "Collection", collection)
    display.set_input(modifier, "Display", "Collection")
    first = instances()
    assert {source for _, source, _ in first} == {"A", "B", "C"}
    for row, (matrix, _, _) in enumerate(first):
        assert_same_matrix(matrix, expected_matrix(frame, row, 1.0))
    half = Frame(
        number=13,
        id=frame.id[30:],
        position=frame.position[30:],
        velocity=frame.velocity[30:],
        rotation=frame.rotation[30:],
        radius=frame.radius[30:],
        alive=frame.alive[30:],
    )
    state.write_state(state.ensure_state(obj), half)
    assert [source for _, source, _ in instances()] == [source for _, source, _ in first[30:]]
    display.set_input(modifier, "Seed", 5)
    assert [source for _, source, _ in instances()] != [source for _, source, _ in first[30:]]


@pytest.mark.parametrize("shown", ["Cones", "Object", "Collection"])
def test_instances_carry_the_id_of_their_agent(shown):
    frame = make_frame()
    _, modifier = make_crowd(frame)
    collection = bpy.data.collections.new("Bodies")
    display.set_input(modifier, "Object", make_object("Body", collection))
    display.set_input(modifier, "Collection", collection)
    display.set_input(modifier, "Display", shown)
    assert [number for _, _, number in instances()] == frame.id.tolist()


def test_later_modifiers_see_the_attributes():
    frame = make_frame(50)
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Display", "Points")
    group = bpy.data.node_groups.new("Fast ones", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    named = {"type": "GeometryNodeInputNamedAttribute", "data_type": "FLOAT", "Name": "speed"}
    less = {"type": "FunctionNodeCompare", "data_type": "FLOAT", "operation": "LESS_THAN"}
    delete = {"type": "GeometryNodeDeleteGeometry", "Geometry": "<input", "Selection": "<slow"}
    rows = {
        "input": {"type": "NodeGroupInput"},
        "speed": named,
        "slow": {**less, "A": "<speed", "B": 1.0},
        "kept": delete,
        "output": {"type": "NodeGroupOutput", "values": ["<kept"]},
    }
    add_nodes(group, rows)
    obj.modifiers.new("Fast ones", "NODES").node_group = group
    np.testing.assert_array_equal(attribute(obj, "id"), frame.id[frame.speed >= 1.0])


def test_inputs_are_set_read_and_keyed_by_name():
    obj, modifier = make_crowd()
    for name, value in (("Scale", 2.0), ("Display", "Object"), ("Align to Heading", False)):
        display.set_input(modifier, name, value)
        assert display.get_input(modifier, name) == value
    display.set_input(modifier, "Object", obj)
    display.set_input(modifier, "Object", None)
    assert display.get_input(modifier, "Object") is None
    with pytest.raises(SceneError, match="'Display'.*'Spheres'.*Points, Cones, Object, Collection"):
        display.set_input(modifier, "Display", "Spheres")
    with pytest.raises(SceneError, match="no input 'Size'"):
        display.get_input(modifier, "Size")
    display.set_input(modifier, "Display", "Cones")
    owner, prop = display.input_path(modifier, "Scale")
    for frame, scale in ((1, 1.0), (11, 3.0)):
        display.set_input(modifier, "Scale", scale)
        assert owner.keyframe_insert(prop, frame=frame)
    bpy.context.scene.frame_set(11)
    first = instances()[0][0].to_scale()[0]
    bpy.context.scene.frame_set(1)
    assert first == pytest.approx(3.0 * instances()[0][0].to_scale()[0])


def test_cones_take_the_material():
    _, modifier = make_crowd(make_frame())
    material = bpy.data.materials.new("Coat")
    display.set_input(modifier, "Material", material)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    used = set()
    for instance in depsgraph.object_instances:
        if instance.is_instance:
            mesh = instance.object.data
            used |= {mesh.materials[p.material_index].name for p in mesh.polygons}
    assert used == {"Coat"}
