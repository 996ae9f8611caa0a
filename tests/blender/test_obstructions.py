"""Meshes in the way of a crowd: offered as colliders, by one click."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice, collider_checks, obstructions  # noqa: E402
from steer_addon.blender.making import demos, scene_maker  # noqa: E402
from steer_addon.core.crowd.presets import find_presets  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.operator_calls import undone  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def in_the_way(obj):
    bpy.context.view_layer.update()
    found = obstructions.in_the_way(obj, bpy.context.evaluated_depsgraph_get())
    return sorted(other.name for other in found)


def started(preset="pedestrians", count=40, **options):
    assert bpy.ops.object.steer_start(preset=preset, count=count, **options) == {"FINISHED"}
    return active()


def test_the_cube_of_a_new_file_is_said_and_becomes_a_collider(capfd):
    cube = scenes.make_box("Cube")
    obj = started()
    assert "'Cube' stands in the way and is no collider" in capfd.readouterr().out
    collider_checks.check_colliders(obj, bpy.context.evaluated_depsgraph_get())
    found = [d for d in advice.diagnoses(obj) if d.code == "IN_THE_WAY"]
    assert [d.remedy for d in found] == ["MAKE_COLLIDERS"]
    assert bpy.ops.object.steer_make_colliders() == {"FINISHED"}
    assert cube in set(obj.steer.colliders.objects)
    # it stays where it was
    assert cube in set(bpy.context.scene.collection.objects)
    assert in_the_way(obj) == [] and advice.diagnoses(obj) == []


def test_a_crowd_without_colliders_gets_a_collection():
    scenes.make_box("Cube")
    obj = started(obstacles=False)
    undone(bpy.ops.object.steer_make_colliders)
    assert active().steer.colliders is None
    bpy.ops.object.steer_make_colliders()
    assert [o.name for o in active().steer.colliders.objects] == ["Cube"]
    assert active().steer.colliders.name == f"{active().name} Colliders"
    assert obj is not None


def test_points_without_a_ground_have_things_in_their_way_too():
    scenes.make_box("Cube")
    bpy.ops.object.steer_add_crowd(distribution="GRID", count=100)
    assert in_the_way(active()) == ["Cube"]


def moved(location, **options):
    return scenes.make_box("Thing", location, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: moved((100.0, 0.0, 0.0)),
        lambda: moved((0.0, 0.0, 6.0)),
        lambda: moved((0.0, 0.0, 1.6)),
        lambda: moved((0.0, 0.0, -1.8)),
        lambda: setattr(moved((0.0, 0.0, 0.0)), "display_type", "WIRE"),
        lambda: setattr(moved((0.0, 0.0, 0.0)), "hide_render", True),
        lambda: moved((0.0, 0.0, 0.0)).hide_set(True),
        lambda: scenes.make_crowd([(0, 0, 0), (1, 0, 5)], "Other"),
    ],
    ids=[
        "far",
        "overhead",
        "above step height",
        "in the ground",
        "wire",
        "not rendered",
        "hidden",
        "crowd",
    ],
)
def test_what_nobody_runs_into_is_left_alone(make):
    obj = started()
    make()
    assert in_the_way(obj) == []


def test_a_crowd_that_heeds_no_colliders_is_left_alone():
    scenes.make_box("Cube")
    obj = scenes.make_crowd()
    assert in_the_way(obj) == []
    obj.steer.bodies.collide_colliders = True
    assert in_the_way(obj) == ["Cube"]


def test_nothing_in_the_way_is_said():
    started()
    with pytest.raises(RuntimeError, match="Nothing stands in the way of crowd 'Crowd'"):
        bpy.ops.object.steer_make_colliders()


@pytest.mark.parametrize("preset", sorted(find_presets()))
def test_what_add_crowd_makes_is_in_nobodys_way(preset):
    obj = started(preset, count=20)
    assert in_the_way(obj) == []


def test_a_second_crowd_is_not_told_of_the_obstacles_of_the_first():
    first, second = started(), started()
    assert in_the_way(first) == in_the_way(second) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", demos.demo_names())
def test_demos_have_nothing_in_the_way(name):
    for crowd in demos.make_demo(name):
        assert in_the_way(crowd) == []


@pytest.mark.slow
def test_the_plaza_has_nothing_in_the_way():
    made = scene_maker.make_scene(scene_maker.SceneOptions(agents=30))
    assert in_the_way(made.crowd) == []
