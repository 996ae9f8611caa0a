"""Further inputs of a crowd: spheres, line walls, second targets, containers."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.blender.reading.scene_inputs import needs_frames  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.geometry import bvh  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    CUBE_FACES,
    data_counts,
    deps,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    move,
    seekers,
    update,
)
from tests.blender.source_makers import (  # noqa: E402
    between,
    make_collection,
    make_curve,
    make_shape,
    make_user,
    make_wire,
    read,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


# Spheres


def test_sphere_empties_among_the_colliders_are_spheres():
    obj = make_crowd()
    ball = make_shape("SPHERE", 2.0, (5, 0, 1), (1, 3, 2), "Ball")
    make_colliders(obj, ball, make_shape("CUBE", 9.0), make_box(location=(0, 9, 0)))
    world = read(obj)
    np.testing.assert_allclose(world.spheres.center, [(5, 0, 1)])
    np.testing.assert_allclose(world.spheres.radius, [6.0])
    # the bounding spheres of the meshes come after them
    np.testing.assert_allclose(world.all_spheres().radius, [6.0, math.sqrt(3)], rtol=1e-6)
    assert world.colliders.names == ("Box",)
    assert read(make_crowd(name="Other")).spheres is None


def test_spheres_move_and_may_be_hidden_or_instanced():
    obj = make_crowd()
    ball = make_shape("SPHERE", 1.0, name="Ball")
    ball.hide_viewport = True
    part = make_shape("SPHERE", 0.5, (1, 0, 0), name="Part")
    source = make_collection(part, name="Source")
    bpy.context.scene.collection.objects.unlink(part)
    instance = make_target(location=(0, 20, 0), name="Instance")
    instance.instance_type, instance.instance_collection = "COLLECTION", source
    instance.scale = (2, 2, 2)
    make_colliders(obj, ball, instance)
    update()
    before, reader = data_counts(), WorldReader()
    spheres = read(obj, reader).spheres
    np.testing.assert_allclose(spheres.center, [(0, 0, 0), (2, 20, 0)], atol=1e-6)
    np.testing.assert_allclose(spheres.radius, [1.0, 1.0])
    assert reader.scene_warnings == [] and data_counts() == before
    ball.hide_viewport = False
    move(ball, {1: (0, 0, 0), 11: (0, 0, 7)})
    assert needs_frames(obj)
    bpy.context.scene.frame_set(11)
    np.testing.assert_allclose(read(obj, reader).spheres.center[0], (0, 0, 7))


@pytest.mark.parametrize(
    "place", [{"location": (math.nan, 0, 0)}, {"size": 1000.0, "scale": (1, 1, 1e38)}]
)
def test_a_sphere_out_of_this_world_is_named_and_ignored(place):
    obj, reader = make_crowd(), WorldReader()
    make_colliders(obj, make_shape("SPHERE", 3.0), make_shape("SPHERE", name="Lost", **place))
    np.testing.assert_allclose(read(obj, reader).spheres.radius, [3.0])
    assert reader.scene_warnings == [diagnose("SPHERE_NOT_FINITE", "Lost", object="Lost")]


# Walls


def ray(world, origin, direction=(1, 0, 0)):
    """How far a ray gets; infinity when nothing stops it."""
    triangle, distance = bvh.ray_cast_many(
        world.colliders.bvh, np.float32([origin]), np.float32([direction]), 100.0
    )
    return float(distance[0]) if triangle[0] >= 0 else math.inf


def test_edges_and_curves_stand_as_walls():
    obj = make_crowd()
    plan = make_wire([(0, -5, 0), (0, 5, 0)], [(0, 1)], name="Plan")
    plan.location = (4, 0, 1)
    fence = make_curve([(8, -5, 0), (8, 5, 0)], name="Fence")
    make_colliders(obj, plan, fence)
    update()
    obj.steer.motion.wall_height = 2.0
    reader = WorldReader()
    world = read(obj, reader)
    assert reader.scene_warnings == []
    assert world.colliders.names == ("Fence", "Plan")
    assert ray(world, (0, 0, 1.5)) == pytest.approx(4.0)
    assert ray(world, (6, 0, 1.5), (-1, 0, 0)) == pytest.approx(2.0)
    assert ray(world, (0, 0, 0.5)) == pytest.approx(8.0)
    assert ray(world, (0, 0, 2.9)) == pytest.approx(4.0)
    assert math.isinf(ray(world, (0, 0, 3.1)))
    obj.steer.motion.wall_height = 3.0
    assert ray(read(obj, reader), (0, 0, 3.1)) == pytest.approx(4.0)


def test_agents_keep_off_a_drawn_wall():
    settings = seekers({"type": "wall_avoidance"}, {"type": "seek"})
    obj = make_crowd([(0, y, 0) for y in (-2, 0, 2)], settings=settings)
    make_target(obj, (20, 0, 0))
    make_colliders(obj, make_wire([(3, -9, 0), (3, 9, 0)], [(0, 1)]))
    *_, last = simulate.run(obj, bpy.context.scene, range(1, 61))
    assert last.position[:, 0].min() > 0.5 and last.position[:, 0].max() < 3.0


@pytest.mark.slow
def test_the_zone_of_each_agent_is_on_its_point():
    settings = seekers({"type": "seek"}, {"type": "obstacle_zones"})
    obj = make_crowd([(0, y, 0) for y in (-1, 0, 1)], settings=settings)
    make_target(obj, (20, 0, 0))
    make_colliders(obj, make_wire([(5, -2, 0), (5, 2, 0)], [(0, 1)]))
    obj.steer.frame_end = 150
    seen = set()
    for frame in list(simulate.run(obj, bpy.context.scene, range(1, 151))):
        bpy.context.scene.frame_set(frame.number)
        points = obj.evaluated_get(deps()).data.attributes["zone"].data
        zones = [element.value for element in points]
        assert zones == frame.attributes["zone"].tolist()
        seen.update(zones)
    assert seen == {0.0, 1.0, 2.0, 3.0, 4.0}


def test_loose_edges_of_a_mesh_with_faces_are_walls_too():
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    obj = make_crowd()
    box = make_wire([*corners, (3, -1, 0), (3, 1, 0)], [(8, 9)], CUBE_FACES, name="Box")
    make_colliders(obj, box)
    reader = WorldReader()
    world = read(obj, reader)
    assert len(world.colliders.bvh.triangles) == 14
    assert reader.scene_warnings == []
    assert ray(world, (2, 0, 2.5)) == pytest.approx(1.0)
    obj.steer.ground = box
    assert len(read(obj, reader).ground.triangles) == 12


def test_hidden_and_tubular_lines():
    obj = make_crowd()
    hidden = make_wire([(4, -5, 0), (4, 5, 0)], [(0, 1)], name="Hidden")
    hidden.hide_viewport = True
    tube = make_curve([(8, -5, 1), (8, 5, 1)], bevel_depth=0.25, name="Tube")
    make_colliders(obj, hidden, tube)
    update()
    world = read(obj)
    assert ray(world, (0, 0, 0.1)) == pytest.approx(4.0)
    assert ray(world, (5, 0, 1)) == pytest.approx(2.75)
    assert math.isinf(ray(world, (5, 0, 2)))


# Second targets


def test_a_behavior_has_a_second_target_that_moves():
    obj, item = between()
    move(item.second_target_object, {1: (10, 0, 0), 2: (12, 0, 0)})
    reader = WorldReader()
    for number in (1, 2):
        bpy.context.scene.frame_set(number)
        world = read(obj, reader)
    assert set(world.second_targets) == {"interpose"}
    np.testing.assert_allclose(world.second_targets["interpose"].position, [(12, 0, 0)])
    np.testing.assert_allclose(world.second_targets["interpose"].velocity, [(48, 0, 0)])
    np.testing.assert_allclose(world.targets[""].position, [(0, 0, 0)])
    assert needs_frames(obj) and reader.warnings == []


def test_second_targets_are_of_every_kind():
    obj, item = between()
    item.second_target_kind = "COLLECTION"
    item.second_target_collection = make_collection(make_target(location=(3, 0, 0), name="Three"))
    np.testing.assert_allclose(read(obj).second_targets["interpose"].position, [(3, 0, 0)])
    item.second_target_kind, item.second_target_object = "POINTS", make_box()
    assert read(obj).second_targets["interpose"].count == 8
    other = make_crowd([(0, 8, 0), (0, 9, 0)], name="Other")
    item.second_target_kind, item.second_target_object = "CROWD", other
    assert read(obj).second_targets["interpose"].count == 0
    # quick, so that they stand still at the end
    obj.steer.agents.max_speed, obj.steer.agents.max_force = 10.0, 1000.0
    obj.steer.solver.relaxation_time = 0.1
    *_, last = simulate.run(obj, bpy.context.scene, range(1, 61))
    # between the origin and the nearer one of the other crowd
    np.testing.assert_allclose(last.position[:, 1], 4.0, atol=0.1)


def test_a_missing_second_target_is_said():
    obj, item = between()
    item.second_target_object = None
    reader = WorldReader()
    read(obj, reader)
    lacks = {"noun": "second target", "behavior": "Interpose"}
    assert reader.warnings == [diagnose("BEHAVIOR_WITHOUT_TARGET", "Crowd", **lacks)]
    item.enabled = False
    read(obj, reader)
    assert reader.warnings == []


def test_targets_have_the_axes_of_their_objects():
    obj = make_crowd()
    target = make_target(obj)
    target.rotation_euler = (0, 0, math.pi / 2)
    update()
    found = read(obj).targets[""]
    np.testing.assert_allclose(found.heading, [(1, 0, 0)], atol=1e-6)
    np.testing.assert_allclose(found.up, [(0, 0, 1)], atol=1e-6)


# Containers


def container_of(obj, reader=None):
    return read(obj, reader).containers["containment"]


def test_a_box_goes_along_with_its_object():
    box = make_box(half=1.0)
    box.location, box.rotation_euler, box.scale = (5, 0, 0), (0, 0, math.pi / 4), (3, -2, 1)
    update()
    obj, _ = make_user("containment", box)
    reader = WorldReader()
    found = container_of(obj, reader)
    side = math.sqrt(0.5)
    np.testing.assert_allclose(found.center, (5, 0, 0), atol=1e-6)
    np.testing.assert_allclose(found.half, (3, 2, 1), atol=1e-6)
    np.testing.assert_allclose(np.abs(found.axes), [(side, side, 0), (side, side, 0), (0, 0, 1)],
                               atol=1e-6)  # fmt: skip
    assert found.radius == pytest.approx(3.0)
    assert container_of(obj, reader) is found and reader.warnings == []


def test_a_box_that_is_no_box_any_more_is_the_one_around_it():
    parent = make_target(location=(0, 0, 0), name="Parent")
    parent.scale = (2, 1, 1)
    box = make_box()
    box.parent, box.rotation_euler = parent, (0, 0, math.pi / 4)
    update()
    obj, _ = make_user("containment", box)
    found = container_of(obj)
    np.testing.assert_allclose(found.axes, np.eye(3))
    np.testing.assert_allclose(found.half, (2 * math.sqrt(2), math.sqrt(2), 1), rtol=1e-5)


@pytest.mark.parametrize("kind", ["SPHERE", "CUBE"])
def test_empties_are_containers(kind):
    shape = make_shape(kind, 2.0, (1, 2, 3), (1, 1, 3))
    obj, _ = make_user("containment", shape)
    reader = WorldReader()
    found = container_of(obj, reader)
    np.testing.assert_allclose(found.center, (1, 2, 3))
    np.testing.assert_allclose(found.half, (2, 2, 6))
    assert found.radius == 6.0
    shape.empty_display_size = 4.0
    update()
    assert container_of(obj, reader).radius == 12.0


def test_the_mesh_counts_only_for_its_shape():
    box = make_box("Room", half=2.0, location=(1, 0, 0), faces=CUBE_FACES[:5])
    obj, item = make_user("containment", box)
    reader = WorldReader()
    assert len(container_of(obj, reader).tree.triangles) == 12
    assert reader.warnings == []
    item.containment.shape = "MESH"
    for _ in range(2):
        assert len(container_of(obj, reader).tree.triangles) == 10
        assert reader.warnings == [diagnose("CONTAINER_OPEN", "Room", object="Room")]
    item.source_object = make_curve([(0, 0, 0), (1, 1, 1)], name="Line")
    container_of(obj, reader)
    assert reader.warnings == [diagnose("CONTAINER_WITHOUT_FACES", "Line", object="Line")]
    # agents stay in a closed one whichever way its normals point
    item.source_object = make_box("Turned", faces=[face[::-1] for face in CUBE_FACES])
    assert len(container_of(obj, reader).tree.triangles) == 12
    assert reader.warnings == []


def test_a_collection_is_one_container():
    box, ball = make_box(location=(-4, 0, 0)), make_shape("SPHERE", 1.0, (4, 0, 0))
    obj, _ = make_user("containment", make_collection(box, ball))
    found = container_of(obj)
    np.testing.assert_allclose(found.center, (0, 0, 0))
    np.testing.assert_allclose(found.half, (5, 1, 1))


@pytest.mark.parametrize(
    ("make", "code", "subject"),
    [
        (lambda: None, "CROWD_WITHOUT_SOURCE", "Crowd"),
        (lambda: make_target(name="Nil"), "SOURCE_UNUSABLE", "Nil"),
        (lambda: make_wire([(1, 1, 1)], []), "CONTAINER_WITHOUT_EXTENT", "Wire"),
        (lambda: make_wire([], []), "CONTAINER_WITHOUT_EXTENT", "Wire"),
        (lambda: make_shape("CUBE", 1.0, (math.nan, 0, 0)), "SOURCE_IGNORED", "Shape"),
    ],
)
def test_what_is_wrong_with_a_container_is_said(make, code, subject):
    obj, _ = make_user("containment", make())
    reader = WorldReader()
    for _ in range(2):
        read(obj, reader)
        (found,) = reader.warnings
        assert (found.code, found.subject) == (code, subject)
