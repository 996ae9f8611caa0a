"""A second Add > Crowd: beside the first crowd, with a seed of its own, where the user works."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making import plans  # noqa: E402
from steer_addon.blender.reading import extents  # noqa: E402
from steer_addon.core.crowd.presets import find_presets  # noqa: E402
from tests.blender.crowd_makers import active, make_plane  # noqa: E402
from tests.blender.live_scenes import make_box, make_ground  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def started(preset="pedestrians", **options):
    assert bpy.ops.object.steer_start(preset=preset, **options) == {"FINISHED"}
    return active()


def added(**options):
    assert bpy.ops.object.steer_add_crowd(**options) == {"FINISHED"}
    bpy.context.view_layer.update()
    return active()


def nearest(one, other):
    """Smallest distance between agents of two crowds [m]."""
    a, b = extents.start_points(one), extents.start_points(other)
    return np.linalg.norm(a[:, None] - b[None], axis=2).min()


def test_a_second_crowd_starts_and_walks_beside_the_first_on_its_ground():
    first, second, third = (started(count=80, bodies=False) for _ in range(3))
    boxes = [extents.footprint(crowd) for crowd in (first, second, third)]
    for place, box in enumerate(boxes):
        assert not any(extents.overlap(box, other) for other in boxes[:place])
    assert first.steer.ground == second.steer.ground == third.steer.ground
    ground = extents.object_box(first.steer.ground)
    assert all(extents.holds(ground, box) for box in boxes)
    # its own target and obstacles go with it
    assert second.steer.target_object != first.steer.target_object
    pillars = second.steer.colliders.objects
    assert all(extents.overlap(extents.object_box(p), boxes[1]) for p in pillars)


@pytest.mark.parametrize("preset", ["pedestrians", "seeker"])
def test_the_obstacles_of_small_crowds_stand_beside_one_another(preset):
    made = [started(preset, count=5, bodies=False) for _ in range(3)]
    bpy.context.view_layer.update()
    found = [extents.object_boxes(list(crowd.steer.colliders.objects)) for crowd in made]
    for place, boxes in enumerate(found):
        for others in found[:place]:
            assert not extents.overlap(boxes[:, None], others).any()


def test_a_city_of_colliders_keeps_no_crowd_away():
    first = started(count=20, bodies=False)
    for place in (-60.0, -40.0, 40.0, 60.0):
        first.steer.colliders.objects.link(make_box("House", (place, 0.0, 0.0), half=2.0))
        first.steer.colliders.objects.link(make_box("Block", (place, 0.0, 0.0), half=15.0))
    bpy.context.view_layer.update()
    box = extents.with_obstacles(first, extents.footprint(first))
    assert np.abs(box[:, :2]).max() < 20.0


def test_the_place_of_a_new_crowd_is_found_by_one_comparison_per_crowd(monkeypatch):
    taken = [np.array([(k, -9.0, 0.0), (k + 1.5, 9.0, 1.0)]) for k in range(30)]
    asked, overlap = [], extents.overlap
    monkeypatch.setattr(extents, "overlap", lambda *a: asked.append(a) or overlap(*a))
    move = extents.free_shift(np.array([(14.0, -1.0, 0.0), (15.0, 1.0, 1.0)]), taken)
    np.testing.assert_allclose(move, (0.0, 10.0, 0.0), atol=1e-3)
    assert len(asked) == 30


def test_a_crowd_that_finds_no_room_on_the_ground_gets_one_beside_it():
    first = started(count=80, bodies=False)
    made = [started(count=80, bodies=False) for _ in range(6)]
    new = next(crowd for crowd in made if crowd.steer.ground != first.steer.ground)
    boxes = [extents.object_box(crowd.steer.ground) for crowd in (first, new)]
    assert not extents.overlap(*boxes)


def test_crowds_that_fly_are_beside_one_another_too():
    first, second = (started("birds", count=30, bodies=False) for _ in range(2))
    assert not extents.overlap(extents.footprint(first), extents.footprint(second))


def test_each_new_crowd_has_a_seed_of_its_own():
    seeds = [started(count=5, bodies=False).steer.seed for _ in range(3)]
    seeds.append(added(distribution="DISC", count=5).steer.seed)
    assert seeds == [0, 1, 2, 3]
    assert started(count=5, seed=1, bodies=False).steer.seed == 1


@pytest.mark.parametrize("distribution", ["GRID", "DISC"])
def test_points_alone_are_beside_other_crowds(distribution):
    first, second = (added(distribution=distribution, count=30, spacing=1.0) for _ in range(2))
    assert nearest(first, second) > 1.0


def test_points_on_one_surface_leave_each_other_room():
    ground = make_plane()
    first = added(distribution="SURFACE", count=20, spacing=1.0)
    bpy.context.view_layer.objects.active = ground
    second = added(distribution="SURFACE", count=20, spacing=1.0)
    assert nearest(first, second) >= 1.0
    assert second.steer.seed == 1


def test_new_objects_go_to_the_active_collection():
    mine = bpy.data.collections.new("Mine")
    bpy.context.scene.collection.children.link(mine)
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["Mine"]
    before = set(bpy.context.scene.collection.objects)
    crowd, points = started(count=5), added(count=5)
    assert {crowd, points} <= set(mine.objects)
    assert {crowd.steer.ground, crowd.steer.target_object} <= set(mine.all_objects)
    assert set(bpy.context.scene.collection.objects) == before
    # the bodies that agents copy are not seen beside them
    bodies = display.shown_body(display.require_modifier(crowd)).objects
    assert len(bodies) == 3 and not any(body.visible_get() for body in bodies)


def test_a_ground_of_the_users_keeps_both_crowds():
    ground = make_ground("Field", half=100.0)
    bpy.context.view_layer.objects.active = ground
    assert started(count=9, bodies=False).steer.ground == ground
    assert started(count=9, bodies=False).steer.ground == ground


COUNTS = (1, 2, 7, 30, 300, 2000, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "preset", often(sorted(find_presets()), "pedestrians", "ahead_spheres", "panic", "seeker")
)
def test_no_agent_and_no_target_starts_in_an_obstacle_of_the_preset(preset):
    for number, count in enumerate(COUNTS):
        plan = plans.plan_of(plans.Wish(preset, count, seed=number))
        spots = plan.spots()
        points = plan.arrangement(spots).places(count).points
        assert len(points) == count
        for spot in spots:
            center = (spot.x, spot.y, spot.z if plan.flies else 0.0)
            room = spot.radius + plan.settings.agents.radius
            assert np.linalg.norm(points - center, axis=1).min() > room
            if plan.start.target != "NONE":
                assert np.linalg.norm(np.array(plan.target) - center) > room


def test_a_large_crowd_starts_without_a_warning():
    from steer_addon.blender.live import live

    crowd = started(count=2000, bodies=False)
    bpy.context.scene.frame_set(1)
    assert live.get_frame(crowd, 1) is not None and live.status(crowd).warnings == ()


def test_the_flag_at_a_target_is_seen_from_every_side():
    target = started(count=5).steer.target_object
    mesh = next(child for child in target.children).data
    cloth = {v for face in mesh.polygons if face.material_index == 1 for v in face.vertices}
    points = np.array([mesh.vertices[v].co for v in cloth])
    for turn in np.radians(np.arange(0, 180, 5)):
        seen = points[:, 0] * np.cos(turn) + points[:, 1] * np.sin(turn)
        assert np.ptp(seen) > 0.5
