"""Colors, discs, which body an agent takes, and how many are shown."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import casting, state  # noqa: E402
from steer_addon.blender.display import crowd_group, display, nested_group  # noqa: E402
from steer_addon.blender.operators import looks  # noqa: E402
from steer_addon.blender.ui import display_fields  # noqa: E402

from .crowd_views import evaluated, instances, make_crowd, make_frame, make_object  # noqa: E402
from .toy_characters import make_toy  # noqa: E402


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def colors(obj):
    data = evaluated(obj).data.attributes["color"].data
    found = np.empty(4 * len(data), np.float32)
    data.foreach_get("color", found)
    return found.reshape(-1, 4)


def shown_with(count=8, **attributes):
    frame = make_frame(count)
    frame.attributes.update({k: np.asarray(v, np.float32) for k, v in attributes.items()})
    return frame


def test_without_a_choice_there_is_no_color():
    obj, _ = make_crowd(make_frame())
    assert "color" not in evaluated(obj).data.attributes


def test_speed_goes_from_blue_to_red_at_the_range():
    frame = make_frame(3)
    frame.velocity[:] = [[0, 0, 0], [2, 0, 0], [9, 0, 0]]
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Color By", "Speed")
    display.set_input(modifier, "Color Range", 4.0)
    slow, half, fast = colors(obj)
    assert slow[2] == slow.max() - 0.1 or slow[2] > slow[0]
    assert half[1] > half[0] and half[1] > half[2]
    assert fast[0] > fast[1] and fast[0] > fast[2]


def test_ids_keep_their_colors_and_differ():
    frame = make_frame(40)
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Color By", "ID")
    before = colors(obj)
    assert len(np.unique(before.round(4), axis=0)) > 30
    frame.position[:] += 3.0
    state.write_state(state.ensure_state(obj), frame)
    np.testing.assert_array_equal(colors(obj), before)


def test_states_differ():
    zone = [0, 1, 2, 3, 4, 0, 0, 4]
    hidden, arrived = [0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1]
    obj, modifier = make_crowd(shown_with(zone=zone, hidden=hidden, arrived=arrived))
    display.set_input(modifier, "Color By", "State")
    found = colors(obj)
    assert len(np.unique(found[:7].round(4), axis=0)) == 7
    # arrived agents are shown as arrived, in any zone
    np.testing.assert_array_equal(found[6], found[7])


def test_density_counts_who_stands_in_the_same_square():
    frame = make_frame(6)
    frame.position[:] = [[x, 0.5, 0] for x in (0.2, 0.5, 0.9, 1.5, 30.0, -9.0)]
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Color By", "Density")
    display.set_input(modifier, "Color Range", 1.0)
    found = colors(obj)
    # four in 4 m² are 1/m²: red
    assert (found[:4, 0] > 0.5).all() and (found[:4, 2] < 0.3).all()
    np.testing.assert_array_equal(found[4], found[5])
    assert found[4, 2] > found[4, 0]


def make_bodies(*names):
    bodies = bpy.data.collections.new("Bodies")
    bpy.context.scene.collection.children.link(bodies)
    for name in names:
        make_object(name, bodies)
    return bodies


def test_bodies_are_taken_in_order_or_by_an_attribute():
    frame = shown_with(7, body=[2, 1, 0, 5, -1, 2, 1])
    _, modifier = make_crowd(frame)
    display.set_input(modifier, "Collection", make_bodies("A", "B", "C"))
    display.set_input(modifier, "Display", "Collection")
    display.set_input(modifier, "Choose By", "Index")
    assert [source for _, source, _ in instances()] == ["ABC"[n % 3] for n in frame.id]
    display.set_input(modifier, "Choose By", "Attribute")
    assert "".join(source for _, source, _ in instances()) == "CBACCCB"
    display.set_input(modifier, "Attribute", "speed")
    assert [source for _, source, _ in instances()] == ["ABC"[int(s) % 3] for s in frame.speed]


def test_discs_lie_flat_and_look_ahead():
    frame = make_frame(5)
    _, modifier = make_crowd(frame)
    display.set_input(modifier, "Display", "Discs")
    assert len(instances()) == 5
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = next(i.object.data for i in depsgraph.object_instances if i.is_instance)
    points = np.array([v.co for v in mesh.vertices])
    assert np.ptp(points[:, 2]) < 1e-6
    # the nose reaches out to -Y, where bodies look
    assert points[:, 1].min() < -1.2 and points[:, 1].max() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("limit", "count"), [(0, 50), (1, 1), (7, 7), (49, 49), (50, 50), (99, 50)]
)
def test_a_viewport_shows_no_more_than_its_limit(limit, count):
    obj, modifier = make_crowd(make_frame(50))
    display.set_input(modifier, "Viewport Limit", limit)
    assert len(instances()) == count
    # later modifiers have all points
    assert len(evaluated(obj).data.vertices) == 50


def render(animation=False):
    """Render tiny pictures; returns how many copies each kind of depsgraph had at each frame."""
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    found = {"RENDER": [], "VIEWPORT": []}

    def count(scene, depsgraph):
        found[depsgraph.mode].append(sum(i.is_instance for i in depsgraph.object_instances))

    bpy.app.handlers.frame_change_post.append(count)
    try:
        bpy.ops.render.render(animation=animation)
    finally:
        bpy.app.handlers.frame_change_post.remove(count)
    return found


@pytest.mark.parametrize("animation", [False, True])
@pytest.mark.parametrize("shown", ["Cones", "Discs", "Object"])
def test_a_render_shows_all_whatever_the_limit_of_viewports(shown, animation, tmp_path):
    _, modifier = make_crowd(make_frame(50))
    display.set_input(modifier, "Display", shown)
    if shown == "Object":
        display.set_input(modifier, "Object", make_object("Body"))
    display.set_input(modifier, "Viewport Limit", 4)
    copies = len(instances())
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 2
    scene.render.filepath = str(tmp_path / "picture_")
    bpy.context.view_layer.update()
    found = render(animation)
    assert copies == 4
    assert set(found["RENDER"]) == {50} and len(found["RENDER"]) >= (2 if animation else 1)
    assert len(instances()) == 4


def test_the_dead_stay_hidden_among_few():
    frame = make_frame(50)
    frame.alive[::2] = 0
    _, modifier = make_crowd(frame)
    display.set_input(modifier, "Viewport Limit", 25)
    assert {number for _, _, number in instances()} <= set(frame.id[1::2].tolist())


def with_few_nodes(patch):
    """From now on groups are built of all inputs, but of few nodes: those of menus and the state.

    That a group is rebuilt with all its nodes stands in test_display.py.
    """
    data = crowd_group._data()
    rows = {name: data["nodes"][name] for name in ("inputs", "state")}
    for name in data["menus"]:
        kept = ("type", "at", "data_type", "Menu")
        rows[name] = {key: data["nodes"][name][key] for key in kept}
    rows["output"] = {"type": "NodeGroupOutput", "at": [2, 0], "Geometry": "<state.Geometry"}
    patch.setattr(crowd_group, "_data", lambda: {**data, "nodes": rows})


def test_an_older_group_of_a_file_that_is_opened_gets_the_new_inputs_with_their_defaults(
    steer, tmp_path, monkeypatch
):
    obj, modifier = make_crowd(make_frame())
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Scale", 3.0)
    group = modifier.node_group
    for name in (
        "Choose By",
        "Attribute",
        "Color By",
        "Color Range",
        "Viewport Limit",
        "Keep Points",
    ):
        group.interface.remove(display._socket(modifier, name))
    group[crowd_group.VERSION_KEY] = 2
    path, crowd = str(tmp_path / "old.blend"), obj.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    with_few_nodes(monkeypatch)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects[crowd]
    modifier = display.find_modifier(obj)
    group = modifier.node_group
    assert group[crowd_group.VERSION_KEY] == 16
    names = [socket.name for socket in nested_group.sockets_of(group)[2:]]
    values = {name: display.get_input(modifier, name) for name in names}
    assert (values["Display"], values["Scale"]) == ("Object", 3.0)
    assert (values["Choose By"], values["Color By"]) == ("Random", "Nothing")
    # further modifiers of such a file may read the points
    assert values["Keep Points"] is True
    assert (values["Attribute"], values["Color Range"], values["Viewport Limit"]) == (
        "body",
        2.0,
        0,
    )
    assert len(evaluated(obj).data.vertices) == 5


def older_crowd(tmp_path):
    """Save a crowd with a group of version 4, and return the file."""
    obj, modifier = make_crowd(make_frame())
    obj.name = "Old"
    obj.steer.is_crowd = True
    display.set_input(modifier, "Display", "Cones")
    display.set_input(modifier, "Scale", 3.0)
    for name in ("Keep Points", "Size by Radius"):
        modifier.node_group.interface.remove(display._socket(modifier, name))
    modifier.node_group[crowd_group.VERSION_KEY] = 4
    path = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def load_crowd(path, *, link):
    with bpy.data.libraries.load(path, link=link) as (_, wanted):
        wanted.objects = ["Old"]
    obj = wanted.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    return obj


def test_an_older_group_that_is_appended_is_brought_up_to_date(steer, tmp_path, monkeypatch):
    path = older_crowd(tmp_path)
    with_few_nodes(monkeypatch)
    obj = load_crowd(path, link=False)
    modifier = display.find_modifier(obj)
    assert modifier.node_group[crowd_group.VERSION_KEY] == 16
    assert display.get_input(modifier, "Scale") == 3.0
    assert display.get_input(modifier, "Keep Points") is True
    obj.steer.agents.size_spread = 0.2
    assert display.get_input(modifier, "Size by Radius") is True


def test_a_linked_older_group_is_drawn_and_set_without_the_inputs_that_it_lacks(
    steer, tmp_path, capfd
):
    obj = load_crowd(older_crowd(tmp_path), link=True)
    obj = obj.override_create(remap_local_usages=True)
    modifier = display.find_modifier(obj)
    assert modifier.node_group[crowd_group.VERSION_KEY] == 4
    names = display_fields.shown_inputs(modifier)
    assert "Viewport Limit" in names and "Keep Points" not in names
    obj.steer.agents.radius, obj.steer.agents.size_spread = 0.4, 0.2
    assert display.get_input(modifier, "Radius") == pytest.approx(0.4)
    assert "Traceback" not in capfd.readouterr().err


def drawn_inputs(modifier, **values):
    for name, value in values.items():
        display.set_input(modifier, name.replace("_", " "), value)
    return set(display_fields.shown_inputs(modifier))


def test_only_inputs_that_count_are_drawn():
    _, modifier = make_crowd()
    always = {"Display", "Color By"}
    body = {"Scale", "Align to Heading", "Viewport Limit", "Keep Points"}
    assert drawn_inputs(modifier, Display="Points") == always
    assert drawn_inputs(modifier, Display="Discs") == always | body | {"Material"}
    pick = always | body | {"Collection", "Choose By"}
    assert drawn_inputs(modifier, Display="Collection") == pick | {"Seed"}
    assert drawn_inputs(modifier, Choose_By="Index") == pick
    assert drawn_inputs(modifier, Choose_By="Attribute") == pick | {"Attribute"}
    posed = {"Upright", "Full Detail"}
    assert drawn_inputs(modifier, Display="Characters") == pick | posed | {"Attribute"}
    assert drawn_inputs(modifier, Display="Character") == always | body | posed | {"Object"}
    assert drawn_inputs(modifier, Display="Collection") == pick | {"Attribute"}
    assert drawn_inputs(modifier, Color_By="Density") == pick | {"Attribute", "Color Range"}


def test_the_material_shows_the_color_of_each_agent():
    material = looks.color_material()
    assert looks.color_material() == material
    node = next(n for n in material.node_tree.nodes if n.type == "ATTRIBUTE")
    assert (node.attribute_type, node.attribute_name) == ("INSTANCER", "color")
    assert node.outputs["Color"].links[0].to_socket.name == "Base Color"


def test_characters_of_a_linked_older_group_are_cast_as_it_shows_them(steer):
    obj, modifier = make_crowd(make_frame())
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", make_toy())
    display.set_input(modifier, "Scale", 3.0)
    cast = casting.cast_of(obj)
    assert (cast.scale, cast.sized, cast.upright) == (3.0, False, ())
    for name in ("Upright", "Size by Radius"):
        modifier.node_group.interface.remove(display._socket(modifier, name))
    modifier.node_group[crowd_group.VERSION_KEY] = 4
    assert casting.cast_of(obj) == cast
