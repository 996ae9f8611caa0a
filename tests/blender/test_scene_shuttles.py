"""Cyclic curves of two points: agents go to and fro on them, whatever the type of spline."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from tests.blender.live_scenes import data_counts  # noqa: E402
from tests.blender.source_makers import (  # noqa: E402
    lines_of,
    make_curve,
    make_user,
    make_wire,
    read,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

PAIR = [(0, 0, 0), (8, 0, 0)]
SQUARE = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]


def paths_of(obj, reader=None):
    return lines_of(read(obj, reader).paths["follow_path"])


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("bevel", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["POLY", "BEZIER", "VECTOR", "NURBS"])
def test_two_points_are_a_path_to_and_fro_where_the_spline_is_cyclic(kind, bevel, cyclic):
    splines = kind if kind != "VECTOR" else "BEZIER"
    curve = make_curve(PAIR, kind=splines, cyclic=cyclic, bevel_depth=bevel)
    if kind == "VECTOR":
        # without curvature a Bézier spline has no points between
        for point in curve.data.splines[0].bezier_points:
            point.handle_left_type = point.handle_right_type = "VECTOR"
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", curve)
    before, reader = data_counts(), WorldReader()
    ((points, closed),) = paths_of(obj, reader)
    assert closed == cyclic and reader.warnings == []
    assert points[:, 0].min() == 0.0 and points[:, 0].max() == pytest.approx(8.0)
    assert data_counts() == before


def test_each_spline_of_two_points_keeps_its_own_cyclic():
    curve = make_curve(PAIR, SQUARE, [(0, 0, 0), (2, 2, 0)], [(7, 7, 7)], [(0, 9, 0), (8, 9, 0)])
    for k in (1, 2, 4):
        curve.data.splines[k].use_cyclic_u = True
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", curve)
    reader = WorldReader()
    known = {tuple(points[1]): closed for points, closed in paths_of(obj, reader)}
    assert known == {(8, 0, 0): False, (4, 0, 0): True, (2, 2, 0): True, (8, 9, 0): True}
    curve.data.splines[4].use_cyclic_u = False
    curve.data.update_tag()
    bpy.context.view_layer.update()
    reader.forget({curve.session_uid})
    known = {tuple(points[1]): closed for points, closed in paths_of(obj, reader)}
    assert not known[8, 9, 0] and known[2, 2, 0]


@pytest.mark.skipif(bpy.app.version < (5, 0, 0), reason="Blender cannot be asked before 5.0")
@pytest.mark.parametrize("cyclic", [False, True])
def test_modifiers_can_close_and_open_a_path_of_two_points(cyclic):
    curve = make_curve(PAIR, cyclic=not cyclic)
    tree = bpy.data.node_groups.new("Close", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = [tree.nodes.new(n) for n in ("NodeGroupInput", "GeometryNodeSetSplineCyclic")]
    nodes.append(tree.nodes.new("NodeGroupOutput"))
    for near, far in zip(nodes[:-1], nodes[1:], strict=True):
        tree.links.new(near.outputs[0], far.inputs[0])
    nodes[1].inputs["Cyclic"].default_value = cyclic
    curve.modifiers.new("Close", "NODES").node_group = tree
    bpy.context.view_layer.update()
    obj, _ = make_user("follow_path", curve)
    before = data_counts()
    ((points, closed),) = paths_of(obj)
    assert closed == cyclic and len(points) == 2
    assert data_counts() == before


def test_an_edge_of_a_mesh_is_an_open_path_even_if_it_is_there_twice():
    # two edges between the same vertices are a defect, which Blender's validation takes away
    obj, _ = make_user("follow_path", make_wire(PAIR, [(0, 1), (1, 0)]))
    ((points, closed),) = paths_of(obj)
    assert not closed and points[:, 0].tolist() == [0.0, 8.0]


@pytest.mark.parametrize("method", ["WAYPOINT", "CORRIDOR"])
def test_agents_go_to_and_fro_on_a_cyclic_curve_of_two_points(method):
    obj, item = make_user("follow_path", make_curve(PAIR, cyclic=True))
    item.follow_path.method = method
    frames = range(1, 24 * 25)
    obj.steer.frame_end = frames[-1]
    x = np.array([f.position[0, 0] for f in simulate.run(obj, bpy.context.scene, frames)])
    # 25 s at 1.4 m/s are 35 m: three turns at least
    assert x.max() > 6 and x[np.argmax(x > 6) :].min() < 2
    assert (np.diff(np.sign(np.diff(x)[np.abs(np.diff(x)) > 1e-4])) != 0).sum() >= 3
