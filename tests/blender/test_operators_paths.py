"""Add Random Path: its result, the behavior that takes it, undo, refusals, and its panel."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import properties  # noqa: E402
from steer_addon.blender.making import path_curves  # noqa: E402
from steer_addon.blender.operators.add import OBJECT_OT_steer_add_random_path  # noqa: E402
from steer_addon.blender.ui import menus  # noqa: E402
from steer_addon.core.inputs.paths import Path  # noqa: E402
from tests.blender.crowd_makers import active, make_crowd, make_plane  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.blender.source_makers import lines_of, read  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def add(**options):
    assert bpy.ops.object.steer_add_random_path(**options) == {"FINISHED"}
    bpy.context.view_layer.update()
    return active()


def waypoints(curve):
    (spline,) = curve.data.splines
    return np.array([curve.matrix_world @ point.co.xyz for point in spline.points])


def make_follower():
    """The active object: a crowd that follows two paths and has none yet."""
    obj = make_crowd()
    for _ in range(2):
        properties.add_behavior(obj, "follow_path")
    return obj


def test_waypoints_lie_around_the_cursor_one_per_sector():
    bpy.context.scene.cursor.location = (5.0, 6.0, 7.0)
    curve = add(count=12, inner=3.0, outer=8.0, seed=4)
    assert curve.type == "CURVE" and curve.select_get()
    assert curve.data.splines[0].use_cyclic_u
    points = waypoints(curve)
    offset = points - (5.0, 6.0, 7.0)
    distance = np.linalg.norm(offset, axis=1)
    assert len(points) == 12 and (distance >= 3.0 - 1e-5).all() and (distance <= 8.0 + 1e-5).all()
    sector = np.arctan2(offset[:, 1], offset[:, 0]) % (2 * np.pi) // (np.pi / 6)
    np.testing.assert_array_equal(sector, range(12))
    np.testing.assert_array_equal(waypoints(add(count=12, inner=3.0, outer=8.0, seed=4)), points)
    assert not np.allclose(waypoints(add(count=12, inner=3.0, outer=8.0, seed=5)), points)


def test_two_waypoints_are_a_path_to_and_fro():
    obj = make_follower()
    curve = add(count=2, cyclic=True, inner=3.0, outer=8.0)
    assert obj.steer.behaviors[-2].source_object == curve
    ((points, closed),) = lines_of(read(obj).paths["follow_path"])
    assert closed
    np.testing.assert_allclose(points, waypoints(curve), atol=1e-5)


def test_a_rectangle_holds_an_open_path():
    curve = add(cyclic=False, outer=50.0, use_rectangle=True, width=10.0, height=4.0)
    assert not curve.data.splines[0].use_cyclic_u
    limits = np.abs(waypoints(curve)).max(axis=0)
    assert limits[0] <= 5.0 + 1e-5 and limits[1] <= 2.0 + 1e-5


def test_a_crowd_without_a_path_takes_it(capfd):
    obj = make_follower()
    first = add()
    assert obj.steer.behaviors[-2].source_object == first
    assert obj.steer.behaviors[-1].source_object is None
    assert "the path for 'follow_path' of crowd 'Crowd'" in capfd.readouterr().out
    bpy.context.view_layer.objects.active = obj
    second = add()
    bpy.context.view_layer.objects.active = obj
    third = add()
    given = [obj.steer.behaviors[place].source_object for place in (-2, -1)]
    assert given == [first, second] and third not in given
    ((points, closed),) = lines_of(read(obj).paths["follow_path"])
    np.testing.assert_allclose(points, waypoints(first), atol=1e-5)
    assert closed


def test_other_crowds_and_objects_are_left_alone():
    obj = make_crowd()
    make_plane()
    curve = add()
    assert all(item.source_object is None for item in obj.steer.behaviors)
    assert len(bpy.data.curves) == 1 and curve.name == "Path"


def test_it_is_undone():
    make_follower()
    undone(bpy.ops.object.steer_add_random_path)
    assert not bpy.data.curves
    assert bpy.data.objects["Crowd"].steer.behaviors[-2].source_object is None


def test_bad_numbers_are_named():
    with pytest.raises(RuntimeError, match="radii 9 and 3 m: give an inner radius"):
        bpy.ops.object.steer_add_random_path(inner=9.0, outer=3.0)
    assert not bpy.data.curves


def test_it_is_grey_in_edit_mode():
    make_plane()
    bpy.ops.object.mode_set(mode="EDIT")
    assert refusal(bpy.ops.object.steer_add_random_path) == "Go to Object Mode first"
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("use_rectangle", [False, True])
def test_its_panel_shows_what_counts(use_rectangle):
    cls = OBJECT_OT_steer_add_random_path
    known = dict.fromkeys(cls.__annotations__, 0)
    shown = SimpleNamespace(**known, bl_rna=SimpleNamespace(properties=known))
    shown.use_rectangle, shown.layout = use_rectangle, FakeLayout()
    cls.draw(shown, bpy.context)
    hidden = set() if use_rectangle else {"width", "height"}
    assert set(shown.layout.of("prop")) == set(known) - hidden


def test_it_is_in_the_add_menu():
    menu = SimpleNamespace(layout=FakeLayout())
    menus.STEER_MT_add.draw(menu, bpy.context)
    assert "object.steer_add_random_path" in menu.layout.of("operator")


def test_a_path_of_code_becomes_a_curve():
    collection = bpy.context.scene.collection
    path = Path([(0, 0, 0), (1, 2, 3)])
    curve = path_curves.add_curve(path, collection, "Line")
    np.testing.assert_allclose(waypoints(curve), path.points)
    assert not curve.data.splines[0].use_cyclic_u
    assert len(path_curves.add_curve(Path(), collection).data.splines) == 0
