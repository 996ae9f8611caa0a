"""Handles of a crowd: which there are, where they stand, and what they do to a box."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Euler, Matrix, Vector  # noqa: E402

from steer_addon.blender.crowd import properties  # noqa: E402
from steer_addon.blender.overlay import gizmos  # noqa: E402
from steer_addon.blender.reading import scene_shapes  # noqa: E402
from tests.blender.live_scenes import make_crowd, make_target, play, update  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def make_region():
    region = bpy.data.objects.new("Region", None)
    region.empty_display_type, region.empty_display_size = "CUBE", 2.0
    region.location, region.scale = (1.0, 2.0, 3.0), (2.0, 1.0, 0.5)
    region.rotation_euler = Euler((0.1, 0.2, 0.7))
    bpy.context.scene.collection.objects.link(region)
    update()
    return region


def container_of(region):
    raw = scene_shapes.read_extent(region, False)
    return scene_shapes.make_extent(region, raw, np.array(region.matrix_world), "extent")[0]


def test_the_target_of_the_crowd_or_of_the_active_entry_has_a_handle():
    crowd = make_crowd()
    assert gizmos.target_of(crowd) is None
    target, own = make_target(crowd), make_target(name="Own")
    assert gizmos.target_of(crowd) == target
    item = crowd.steer.behaviors[0]
    item.use_own_target, item.target_object = True, own
    assert gizmos.target_of(crowd) == own
    own.lock_location = (True, True, True)
    assert gizmos.target_of(crowd) is None


def test_only_a_box_that_is_one_object_has_handles():
    crowd, region = make_crowd(), make_region()
    assert gizmos.box_of(crowd) is None
    item = properties.add_behavior(crowd, "containment")
    crowd.steer.active_behavior = 1
    assert gizmos.box_of(crowd) is None
    item.source_object = region
    assert gizmos.box_of(crowd) == region
    item.containment.shape = "SPHERE"
    assert gizmos.box_of(crowd) is None


@pytest.mark.parametrize("number", range(6))
def test_a_face_is_moved_and_the_one_opposite_stays(number):
    region = make_region()
    before = gizmos.faces_of(region)
    (face, normal), (other, _) = before[number], before[number ^ 1]
    size = (face - other).length
    axis = number // 2
    # the faces are those of the container that agents stay in
    assert size == pytest.approx(2.0 * container_of(region).half[axis], rel=1e-5)
    region.matrix_world = gizmos.stretched(region.matrix_world.copy(), face, normal, size, 0.6)
    update()
    after = gizmos.faces_of(region)
    np.testing.assert_allclose(after[number][0], face + normal * 0.6, atol=1e-5)
    np.testing.assert_allclose(after[number ^ 1][0], other, atol=1e-5)
    np.testing.assert_allclose(after[number][1], normal, atol=1e-5)
    assert 2.0 * container_of(region).half[axis] == pytest.approx(size + 0.6, rel=1e-5)


def test_a_box_is_never_turned_inside_out():
    place = gizmos.stretched(Matrix.Identity(4), Vector((1, 0, 0)), Vector((1, 0, 0)), 2.0, -50.0)
    assert 0.0 < place[0][0] < 0.02


def test_the_wander_circle_stands_at_the_chosen_agent():
    crowd, scene = make_crowd(), bpy.context.scene
    make_target(crowd, location=(40, 0, 0))
    play(1, 30)
    place, heading = gizmos.place_and_heading(crowd, scene)
    np.testing.assert_allclose(heading, (1, 0, 0), atol=0.05)
    scene.steer_overlay.agents = "99, 2"
    other, _ = gizmos.place_and_heading(crowd, scene)
    assert other.x > place.x + 1.0


def test_without_a_crowd_or_a_view_nothing_is_polled_in():
    make_crowd()
    assert not gizmos.VIEW3D_GGT_steer_crowd.poll(bpy.context)
