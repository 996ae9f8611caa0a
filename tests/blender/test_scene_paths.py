"""Paths and fields of a scene: curves of every type, edges, collections, and what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.blender.reading.scene_inputs import needs_frames  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    data_counts,
    deps,
    make_target,
    move,
    play,
)
from tests.blender.source_makers import (  # noqa: E402
    add_user,
    add_vectors,
    lines_of,
    make_collection,
    make_curve,
    make_user,
    make_wire,
    read,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

ZIGZAG = [(0, 0, 0), (2, 2, 0), (4, 0, 1), (6, 2, 0), (8, 0, 0)]
SQUARE = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]


def paths_of(obj, reader=None):
    return lines_of(read(obj, reader).paths["follow_path"])


def converted(obj):
    """The vertices that Blender itself makes of a curve."""
    evaluated = obj.evaluated_get(deps())
    points = np.array([obj.matrix_world @ v.co for v in evaluated.to_mesh().vertices], np.float32)
    evaluated.to_mesh_clear()
    return points


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("kind", ["POLY", "BEZIER", "NURBS"])
def test_every_spline_type_is_a_path(kind, cyclic):
    curve = make_curve(ZIGZAG, kind=kind, cyclic=cyclic)
    curve.location, curve.rotation_euler = (1, 2, 3), (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", curve)
    ((points, closed),) = paths_of(obj)
    assert closed == cyclic
    np.testing.assert_allclose(points, converted(curve), atol=1e-5)
    assert len(points) == 5 if kind == "POLY" else len(points) > 8


@pytest.mark.parametrize("kind", ["POLY", "BEZIER", "NURBS"])
@pytest.mark.parametrize("cyclic", [False, True])
def test_a_bevel_leaves_the_center_line(kind, cyclic):
    curve = make_curve(ZIGZAG, kind=kind, cyclic=cyclic)
    obj, _ = make_user("follow_path", curve)
    ((line, _),) = paths_of(obj)
    curve.data.bevel_depth, curve.data.extrude = 0.3, 0.2
    bpy.context.view_layer.update()
    before, reader = data_counts(), WorldReader()
    ((points, closed),) = paths_of(obj, reader)
    np.testing.assert_allclose(points, line, atol=1e-5)
    assert closed == cyclic and reader.warnings == []
    assert data_counts() == before


def test_a_filled_outline_is_its_line():
    curve = make_curve(SQUARE, cyclic=True, dimensions="2D", fill_mode="BOTH")
    obj, _ = make_user("follow_path", curve)
    ((points, closed),) = paths_of(obj)
    assert closed
    np.testing.assert_allclose(points, SQUARE)


def test_a_bevelled_curve_that_bends_is_read_every_frame():
    curve = make_curve(SQUARE, bevel_depth=0.2)
    obj, _ = make_user("follow_path", curve)
    curve.shape_key_add(name="Basis")
    key = curve.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 10.0
    for number, value in ((1, 0.0), (11, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=number)
    curve.modifiers.new("Twist", "SIMPLE_DEFORM").angle = 0.0
    before, reader = data_counts(), WorldReader()
    heights = []
    for number in (1, 11):
        bpy.context.scene.frame_set(number)
        heights.append(paths_of(obj, reader)[0][0][:, 2])
    np.testing.assert_allclose(heights, [[0] * 4, [10] * 4], atol=1e-5)
    assert data_counts() == before
    assert needs_frames(obj)


def test_several_splines_are_several_paths():
    curve = make_curve(SQUARE, ZIGZAG)
    obj, _ = make_user("follow_path", curve)
    (first, _), (second, _) = paths_of(obj)
    np.testing.assert_allclose(first, SQUARE)
    np.testing.assert_allclose(second, ZIGZAG)


def test_edges_are_paths_and_crossings_split_them():
    points = [*SQUARE, (9, 0, 0), (10, 0, 0), (11, 0, 0), (10, 1, 0)]
    edges = [(2, 3), (0, 1), (3, 0), (1, 2), (4, 5), (5, 6), (7, 5)]
    wire = make_wire(points, edges)
    wire.scale = (2, 1, 1)
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", wire)
    *arms, (loop, closed) = paths_of(obj)
    assert closed and [arm[1] for arm in arms] == [False] * 3
    np.testing.assert_allclose(loop, np.float32(SQUARE) * (2, 1, 1))
    ends = [(tuple(arm[0][0, :2]), tuple(arm[0][-1, :2])) for arm in arms]
    assert ends == [((18, 0), (20, 0)), ((20, 0), (22, 0)), ((20, 0), (20, 1))]


def test_a_collection_gives_its_paths_in_order_of_name():
    late = make_curve([(9, 0, 0), (9, 1, 0)], name="b")
    early = make_wire([(1, 0, 0), (1, 1, 0)], [(0, 1)], name="a")
    marker = make_target(name="c")
    obj, item = make_user("follow_path")
    item.source_kind = "COLLECTION"
    item.source_collection = make_collection(late, early, marker, obj, state.get_state(obj))
    reader = WorldReader()
    assert [points[0, 0] for points, _ in paths_of(obj, reader)] == [1, 9]
    assert reader.warnings == []


def test_modifiers_of_a_path_count():
    wire = make_wire([(0, 0, 0), (1, 0, 0)], [(0, 1)])
    array = wire.modifiers.new("Array", "ARRAY")
    array.count, array.use_merge_vertices = 4, True
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", wire)
    ((points, _),) = paths_of(obj)
    assert sorted(points[:, 0]) == [0, 1, 2, 3, 4]


def test_a_path_is_kept_until_it_moves_or_is_edited():
    curve, wire = make_curve(SQUARE), make_wire([(0, 0, 0), (1, 0, 0)], [(0, 1)])
    obj, _ = make_user("follow_path", curve)
    add_user(obj, "follow_path", wire)
    reader = WorldReader()
    first, second = read(obj, reader).paths, read(obj, reader).paths
    assert set(first) == {"follow_path", "follow_path.001"}
    assert all(first[name] is second[name] for name in first)
    move(wire, {1: (0, 0, 0), 11: (0, 0, 5)})
    bpy.context.scene.frame_set(11)
    third = read(obj, reader).paths
    assert third["follow_path"] is first["follow_path"]
    np.testing.assert_allclose(third["follow_path.001"].point[:, 2], 5.0)
    curve.data.splines[0].points[0].co.x = -3.0
    curve.data.update_tag()
    bpy.context.view_layer.update()
    reader.forget({curve.session_uid})
    assert read(obj, reader).paths["follow_path"].point[0, 0] == -3.0


def test_a_hidden_path_is_followed():
    curve = make_curve(SQUARE, bevel_depth=0.1)
    curve.hide_viewport = curve.hide_render = True
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", curve)
    before, reader = data_counts(), WorldReader()
    np.testing.assert_allclose(paths_of(obj, reader)[0][0], SQUARE, atol=1e-6)
    assert reader.warnings == [] and data_counts() == before


@pytest.mark.parametrize(
    ("make", "code", "subject"),
    [
        (lambda: None, "CROWD_WITHOUT_SOURCE", "Crowd"),
        (lambda: make_wire([(0, 0, 0)], []), "PATH_WITHOUT_EDGES", "Wire"),
        (lambda: make_curve(), "PATH_WITHOUT_EDGES", "Curve"),
        (lambda: make_curve([(1, 2, 3)]), "PATH_WITHOUT_EDGES", "Curve"),
        (lambda: make_wire([(0, 0, 0)] * 2, [(0, 1)]), "PATH_TOO_SHORT", "Wire"),
        (lambda: make_target(name="Nil"), "SOURCE_UNUSABLE", "Nil"),
        (lambda: make_hair(), "SOURCE_UNUSABLE", "Hair"),
        (lambda: make_curve([(0, 0, 0), (float("nan"), 0, 0)]), "SOURCE_IGNORED", "Curve"),
    ],
)
def test_what_is_wrong_with_a_path_is_said_in_every_frame(make, code, subject):
    obj, item = make_user("follow_path", make())
    reader = WorldReader()
    for _ in range(2):
        paths = read(obj, reader).paths
        assert not paths or paths["follow_path"].count == 0
        (found,) = reader.warnings
        assert (found.code, found.subject) == (code, subject)
        # a button selects what is there
        assert found.values.get("object", subject) == subject
        assert (found.remedy == "SELECT") == ("object" in found.values)
    item.enabled = item.source_object is not None
    read(obj, reader)
    assert bool(reader.warnings) == item.enabled


def test_a_path_among_several_leads_to_its_object():
    wire = make_wire([(0, 0, 0), (1, 0, 0), (5, 5, 5), (5, 5, 5)], [(0, 1), (2, 3)])
    obj, _ = make_user("follow_path", wire)
    reader = WorldReader()
    assert read(obj, reader).paths["follow_path"].count == 1
    assert reader.warnings == [diagnose("PATH_TOO_SHORT", "Wire 2", object="Wire")]


def make_hair():
    """An object of the type CURVES."""
    hair = bpy.data.objects.new("Hair", bpy.data.hair_curves.new("Hair"))
    hair.data.add_curves([3])
    bpy.context.scene.collection.objects.link(hair)
    return hair


def test_a_deleted_path_is_said():
    curve = make_curve(SQUARE)
    obj, _ = make_user("follow_path", curve)
    reader = WorldReader()
    read(obj, reader)
    bpy.context.scene.collection.objects.unlink(curve)
    assert read(obj, reader).paths == {}
    assert reader.warnings[0] == diagnose("INPUT_LOST", "Curve", what="Path")


def test_agents_follow_a_moving_path_live_and_offline():
    curve = make_curve([(0, 0, 0), (0, 30, 0)])
    move(curve, {1: (0, 0, 0), 40: (6, 0, 0)})
    obj, item = make_user("follow_path", curve)
    item.follow_path.method = "CORRIDOR"
    offline = list(simulate.run(obj, bpy.context.scene, range(1, 41)))
    play(1, 40)
    live = state.read_state(state.get_state(obj))
    np.testing.assert_allclose(live.position, offline[-1].position, atol=1e-5)
    still = offline[0].position
    assert (offline[-1].position[:, 1] > still[:, 1] + 1.0).all()
    result = obj.evaluated_get(deps()).data.attributes["waypoint"]
    shown = [element.value for element in result.data]
    np.testing.assert_array_equal(shown, offline[-1].attributes["waypoint"])


def test_point_attributes_choose_path_lane_and_direction():
    paths = make_collection(*(make_curve([(0, y, 0), (40, y, 0)]) for y in (0, 10)))
    obj, item = make_user("follow_path", paths)
    item.follow_path.method, item.follow_path.path_radius = "CORRIDOR", 0.1
    obj.data.vertices.foreach_set("co", [20.0, 5.0, 0.0] * 3)
    for name, kind, values in (
        ("path_index", "INT", (0, 1, 1)),
        ("lane", "FLOAT", (0.0, 2.0, 2.0)),
        ("direction", "INT", (1, 1, -1)),
    ):
        add_attribute(obj, name, kind, values)
    obj.steer.frame_end = 240
    first, *_, last = simulate.run(obj, bpy.context.scene, range(1, 241))
    assert np.round(last.position[:, 1]).tolist() == [0, 8, 12]
    assert np.sign(last.position - first.position)[:, 0].tolist() == [1, 1, -1]


# Fields

PLANE = ([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [], [(0, 1, 2, 3)])


def field_of(obj, reader=None):
    return read(obj, reader).fields["flow_field"]


@pytest.mark.parametrize("domain", ["POINT", "FACE", "CORNER"])
def test_vectors_go_along_with_their_mesh(domain):
    plane = make_wire(*PLANE, name="Flow")
    add_vectors(plane, [(1, 0, 0)] * (1 if domain == "FACE" else 4), domain)
    plane.rotation_euler, plane.location = (0, 0, np.pi / 2), (0, 0, 5)
    bpy.context.view_layer.update()
    obj, _ = make_user("flow_field", plane)
    reader = WorldReader()
    found = field_of(obj, reader)
    assert len(found.tree.triangles) == 2 and reader.warnings == []
    np.testing.assert_allclose(found.vector.reshape(-1, 3), [(0, 1, 0)] * 6, atol=1e-6)
    assert found.tree.triangles[..., 2].min() == 5.0
    assert field_of(obj, reader) is found


def test_corner_vectors_are_averaged_at_each_point():
    plane = make_wire(*PLANE)
    add_vectors(plane, [(k, 0, 0) for k in range(4)], "CORNER")
    obj, _ = make_user("flow_field", plane)
    found = field_of(obj)
    at = {tuple(p): v[0] for p, v in zip(
        found.tree.triangles.reshape(-1, 3).tolist(), found.vector.reshape(-1, 3), strict=True
    )}  # fmt: skip
    assert at == {(0, 0, 0): 0, (4, 0, 0): 1, (4, 4, 0): 2, (0, 4, 0): 3}


def test_guide_curves_and_meshes_make_one_field():
    plane = make_wire(*PLANE, name="Plane")
    add_vectors(plane, [(0, 0, 1)] * 4)
    guide = make_curve([(10, 0, 0), (10, 5, 0)], bevel_depth=0.1)
    obj, item = make_user("flow_field", make_collection(plane, guide))
    found = field_of(obj)
    assert len(found.tree.triangles) == len(found.vector) == 3
    np.testing.assert_allclose(found.vector[0, 0] / np.linalg.norm(found.vector[0, 0]), (0, 1, 0))
    np.testing.assert_allclose(found.vector[1:].reshape(-1, 3), [(0, 0, 1)] * 6)
    assert item.source_kind == "COLLECTION"


@pytest.mark.parametrize(
    ("values", "domain", "code"),
    [
        (None, "POINT", "FIELD_WITHOUT_ATTRIBUTE"),
        ([(1, 0, 0)] * 4, "EDGE", "FIELD_NO_VECTORS"),
        ([(0, 0, 0)] * 4, "POINT", "FIELD_ZERO"),
        ([(np.nan, 0, 0)] * 4, "POINT", "SOURCE_IGNORED"),
    ],
)
def test_what_is_wrong_with_a_field_is_said(values, domain, code):
    plane = make_wire(*PLANE)
    if values is not None:
        add_vectors(plane, values, domain)
    obj, item = make_user("flow_field", plane)
    reader = WorldReader()
    for _ in range(2):
        read(obj, reader)
        (found,) = reader.warnings
        assert (found.code, found.subject) == (code, "Wire")
        assert found.values["object"] == "Wire"
    add_vectors(plane, [(1, 0, 0)] * 4, name="wind")
    item.flow_field.attribute = "wind"
    read(obj, reader)
    assert reader.warnings == []


@pytest.mark.parametrize("what", ["guide", "vectors"])
def test_agents_flow_along_a_field_live_and_offline(what):
    if what == "guide":
        source = make_curve([(1, -5, 0), (1, 50, 0)])
    else:
        source = make_wire([(-9, -9, 0), (9, -9, 0), (9, 9, 0)], [], [(0, 1, 2)])
        add_vectors(source, [(0, 2, 0)] * 3)
    obj, _ = make_user("flow_field", source)
    *_, last = simulate.run(obj, bpy.context.scene, range(1, 41))
    np.testing.assert_allclose(last.position[:, 0], (0, 1, 2), atol=1e-5)
    assert (last.position[:, 1] > 1.4).all()
    play(1, 40)
    shown = state.read_state(state.get_state(obj))
    np.testing.assert_array_equal(shown.position, last.position)
