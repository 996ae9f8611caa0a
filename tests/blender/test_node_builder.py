"""Node trees from rows of data."""

from __future__ import annotations

import contextlib
import itertools

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library_group  # noqa: E402
from steer_addon.blender.display import crowd_group, node_builder  # noqa: E402
from steer_addon.blender.display.node_builder import add_nodes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def tree():
    return bpy.data.node_groups.new("Group", "GeometryNodeTree")


@pytest.fixture
def shader_tree():
    material = bpy.data.materials.new("Matte")
    if material.node_tree is None:
        material.use_nodes = True
    return material.node_tree


def test_properties_decide_which_inputs_a_node_has(tree):
    row = {"type": "FunctionNodeCompare", "data_type": "INT", "A": 3, "B": 4, "at": [2, 1]}
    add_nodes(tree, {"less": row})
    (node,) = tree.nodes
    used = {socket.name: socket.default_value for socket in node.inputs if socket.enabled}
    assert used == {"A": 3, "B": 4}
    assert node.location.x > 0.0 > node.location.y


def test_a_link_goes_to_the_first_output_or_to_the_one_named(tree):
    rows = {
        "sum": {"type": "ShaderNodeMath", "values": ["<place.Z", "<place"]},
        "place": {"type": "ShaderNodeSeparateXYZ", "Vector": [1.0, 2.0, 3.0]},
        "both": {"type": "GeometryNodeJoinGeometry", "Geometry": ["<one", "<two"]},
        "one": {"type": "GeometryNodeMeshCone"},
        "two": {"type": "GeometryNodeMeshCircle"},
    }
    add_nodes(tree, rows)
    nodes = dict(zip(rows, tree.nodes, strict=True))
    assert [socket.links[0].from_socket.name for socket in nodes["sum"].inputs[:2]] == ["Z", "X"]
    assert tuple(nodes["place"].inputs[0].default_value) == (1.0, 2.0, 3.0)
    joined = {link.from_node for link in nodes["both"].inputs[0].links}
    assert joined == {nodes["one"], nodes["two"]}


def test_items_of_a_menu_are_numbered_in_their_order(tree):
    items = {"A": "The first", "B": "The second", "C": "The third"}
    row = {"type": "GeometryNodeMenuSwitch", "data_type": "FLOAT", "C": 3.0}
    add_nodes(tree, {"Kind": row}, {"Kind": items})
    node = tree.nodes["Kind"]
    assert {item.name: item.description for item in node.enum_items} == items
    numbers = [s.identifier for s in node.inputs if s.identifier.startswith("Item_")]
    assert numbers == ["Item_0", "Item_1", "Item_2"]
    assert node.inputs["C"].default_value == 3.0


def test_a_node_that_is_there_takes_colors_in_srgb(shader_tree):
    before = len(shader_tree.nodes)
    stops = [[0.0, "#000000"], [0.4, "#FFFFFF"], [0.7, "#BCBCBC"]]
    rows = {
        "ramp": {"type": "ShaderNodeValToRGB", "color_ramp": {"stops": stops}},
        "shader": {"node": "BSDF_PRINCIPLED", "Emission Color": "#BC0000", "Base Color": "<ramp"},
    }
    add_nodes(shader_tree, rows)
    assert len(shader_tree.nodes) == before + 1
    shader = next(node for node in shader_tree.nodes if node.type == "BSDF_PRINCIPLED")
    assert shader.inputs["Base Color"].links[0].from_node.type == "VALTORGB"
    # half of the light is 188 of 255 in sRGB
    emitted = shader.inputs["Emission Color"].default_value
    assert tuple(emitted) == pytest.approx((0.503, 0.0, 0.0, 1.0), abs=0.001)
    elements = shader.inputs["Base Color"].links[0].from_node.color_ramp.elements
    assert [element.position for element in elements] == pytest.approx([0.0, 0.4, 0.7])
    assert [element.color[0] for element in elements] == pytest.approx([0.0, 1.0, 0.503], abs=0.001)


def test_a_wrong_name_is_told(tree):
    with pytest.raises(KeyError, match="no socket 'Size'"):
        add_nodes(tree, {"cone": {"type": "GeometryNodeMeshCone", "Size": 1.0}})


@pytest.fixture
def updates():
    """A type of nodes, and a list that grows with every update of a tree that has one."""
    found = []

    class Counter(bpy.types.Node):
        bl_idname = "SteerTestCounter"
        bl_label = "Counter"

        def update(self):
            found.append(self.name)

    bpy.utils.register_class(Counter)
    yield Counter.bl_idname, found
    bpy.utils.unregister_class(Counter)


def test_a_tree_is_updated_once_for_all_its_links(tree, updates):
    kind, found = updates
    names = [f"sum {n}" for n in range(100)]
    rows = {
        name: {"type": "ShaderNodeMath", "values": [f"<{before}"]}
        for before, name in itertools.pairwise(names)
    }
    add_nodes(tree, {"count": {"type": kind}, "sum 0": {"type": "ShaderNodeValue"}, **rows})
    assert len(tree.links) == 99 and all(link.is_valid for link in tree.links)
    # once for the nodes, too
    assert len(found) <= 2


@pytest.mark.parametrize("wrong", [False, True])
def test_of_many_nodes_too_nothing_else_is_left_and_a_wrong_name_is_told(tree, wrong):
    types, groups = set(dir(bpy.types)), set(bpy.data.node_groups)
    rows = {f"cone {n}": {"type": "GeometryNodeMeshCone"} for n in range(100)}
    if wrong:
        rows["cone 7"]["Size"] = 1.0
    with pytest.raises(KeyError, match="no socket 'Size'") if wrong else contextlib.nullcontext():
        add_nodes(tree, rows)
    assert len(tree.nodes) == 100
    assert set(dir(bpy.types)) == types and set(bpy.data.node_groups) == groups


def plain(item):
    """All properties of an item that are no items themselves, vectors as lists."""
    values = {name: getattr(item, name, None) for name in item.bl_rna.properties.keys()}
    items = (bpy.types.bpy_struct, bpy.types.bpy_prop_collection)
    return {
        name: [*value] if hasattr(value, "__len__") and not isinstance(value, set) else value
        for name, value in values.items()
        if not isinstance(value, items)
    }


def described(tree):
    """All of a tree in its order."""
    nodes = [
        (plain(node), *([plain(s) for s in side] for side in (node.inputs, node.outputs)))
        for node in tree.nodes
    ]
    links = [
        (link.from_socket.path_from_id(), link.to_socket.path_from_id(), plain(link))
        for link in tree.links
    ]
    return nodes, links, [plain(item) for item in tree.interface.items_tree]


# with an update each the group of crowds takes seconds
@pytest.mark.parametrize(
    ("build", "inner"),
    often(
        [
            (crowd_group.build_group, crowd_group.INNER_NAME),
            (library_group._build, library_group.INNER_NAME),
        ],
        (library_group._build, library_group.INNER_NAME),
    ),
)
def test_a_group_is_the_same_as_with_an_update_for_each_change(build, inner, tree, monkeypatch):
    build(tree)
    found = described(tree), described(bpy.data.node_groups[inner])
    assert len(found[1][0]) > 100
    bpy.data.node_groups.remove(bpy.data.node_groups[inner])
    other = bpy.data.node_groups.new("Other", "GeometryNodeTree")
    monkeypatch.setattr(node_builder, "_MANY", 10_000)
    build(other)
    assert described(other) == found[0]
    assert described(bpy.data.node_groups[inner]) == found[1]
