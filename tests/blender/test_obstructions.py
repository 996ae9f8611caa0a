"""Meshes in the way of a crowd: offered as colliders, by one click."""

from __future__ import annotations

from itertools import product

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice, collider_checks, obstructions  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making import scene_maker  # noqa: E402
from steer_addon.blender.reading import extents  # noqa: E402
from steer_addon.core.crowd.presets import find_presets  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.operator_calls import undone  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def in_the_way(obj):
    bpy.context.view_layer.update()
    found = obstructions.in_the_way(obj, bpy.context.evaluated_depsgraph_get())
    return sorted(other.name for other in found)


def started(preset="pedestrians", count=40, bodies=False, **options):
    options |= {"preset": preset, "count": count, "bodies": bodies}
    assert bpy.ops.object.steer_start(**options) == {"FINISHED"}
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


@pytest.mark.parametrize("preset", often(sorted(find_presets()), "pedestrians", "birds", "panic"))
def test_what_add_crowd_makes_is_in_nobodys_way(preset):
    obj = started(preset, count=20, bodies=True)
    assert in_the_way(obj) == []


@pytest.mark.parametrize(
    ("preset", "count"),
    often(
        product(("pedestrians", "follow_the_leader", "street_lanes"), (5, 20)),
        *(("pedestrians", 20), ("follow_the_leader", 5)),
    ),
)
def test_a_second_crowd_is_not_told_of_the_obstacles_of_the_first(preset, count):
    made = [started(preset, count, bodies=False) for _ in range(3)]
    assert [in_the_way(crowd) for crowd in made] == [[], [], []]


def rows_of(count=40, **options):
    assert bpy.ops.object.steer_add_crowd(distribution="GRID", count=count, **options) == {
        "FINISHED"
    }
    obj = active()
    obj.steer.bodies.collide_colliders = True
    return obj


def heading_for(location):
    """A crowd of 16 agents that walk to a place."""
    obj, target = rows_of(16, spacing=1.0), scenes.make_target(location=location)
    obj.steer.target_kind, obj.steer.target_object = "OBJECT", target
    return obj, target


def test_a_sky_and_the_terrain_under_a_crowd_are_not_in_the_way():
    obj = rows_of(100)
    scenes.make_box("Sky", half=500.0)
    scenes.make_box("Terrain", half=50.0, location=(0.0, 0.0, -49.0))
    assert in_the_way(obj) == []


def test_keyframe_copies_of_another_crowd_are_its_agents():
    obj, other = rows_of(), rows_of()
    copies = bpy.data.collections.new("Copies")
    bpy.context.scene.collection.children.link(copies)
    copies.objects.link(scenes.make_box("Copy"))
    assert in_the_way(obj) == ["Copy"]
    other.steer.bake_collection = copies
    assert in_the_way(obj) == []


def test_only_what_is_near_a_diagonal_way_is_named():
    obj, _ = heading_for((40.0, 40.0, 0.0))
    scenes.make_box("Corner", (30.0, 8.0, 0.0))
    scenes.make_box("Other Corner", (8.0, 30.0, 0.0))
    scenes.make_box("Beyond", (46.0, 46.0, 0.0))
    scenes.make_box("On the Way", (20.0, 20.0, 0.0))
    scenes.make_box("Beside", (20.0, 23.0, 0.0))
    scenes.make_box("Clear", (17.0, 24.0, 0.0))
    assert in_the_way(obj) == ["Beside", "On the Way"]


def test_a_mesh_with_a_parent_is_in_the_way_unless_it_goes_with_a_target():
    obj, target = heading_for((0.0, 20.0, 0.0))
    root = bpy.data.objects.new("Import", None)
    bpy.context.scene.collection.objects.link(root)
    scenes.make_box("House", (0.0, 10.0, 0.0)).parent = root
    flag = scenes.make_box("Flag")
    flag.parent = target
    assert in_the_way(obj) == ["House"]


def test_parts_of_a_rig_that_agents_are_shown_as_are_known():
    obj, root = rows_of(), bpy.data.objects.new("Rig", None)
    bpy.context.scene.collection.objects.link(root)
    scenes.make_box("Body").parent = root
    assert in_the_way(obj) == ["Body"]
    display.set_input(display.require_modifier(obj), "Object", root)
    assert in_the_way(obj) == []


def test_what_is_seen_is_what_the_scene_of_the_crowd_shows():
    obj, cube = rows_of(), scenes.make_box("Cube")
    other = bpy.data.scenes.new("Other")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    before = bpy.context.window.scene
    bpy.context.window.scene = other
    try:
        assert obstructions.in_the_way(obj, depsgraph) == [cube]
    finally:
        bpy.context.window.scene = before


def calls_for(monkeypatch, count):
    """How often points of crowds are read, and boxes compared, with a number of meshes."""
    obj = rows_of(100)
    solid = bpy.data.collections.new("Solid")
    bpy.context.scene.collection.children.link(solid)
    obj.steer.colliders = solid
    for number in range(count):
        at = (number % 7 - 3.0, number // 7 - 2.0)
        box = scenes.make_box("Solid", (*at, 0.0), half=0.45)
        solid.objects.link(box)
        scenes.make_box("Thing", (at[0] + 0.5, at[1] + 0.5, 0.0), half=0.45)
    calls = dict.fromkeys(("start_points", "object_boxes", "overlap", "holds"), 0)
    for name in calls:
        monkeypatch.setattr(extents, name, counted(calls, name, getattr(extents, name)))
    assert len(in_the_way(obj)) == count
    monkeypatch.undo()
    return calls


def counted(calls, name, function):
    def call(*args):
        calls[name] += 1
        return function(*args)

    return call


def test_meshes_and_colliders_are_compared_all_at_once(monkeypatch):
    few = calls_for(monkeypatch, 3)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert calls_for(monkeypatch, 30) == few and few["start_points"] == 1


def test_the_search_goes_on_at_the_next_turn_of_the_timer(monkeypatch):
    scenes.make_box("Cube")
    obj, depsgraph = rows_of(), bpy.context.evaluated_depsgraph_get()
    asked, search = [], obstructions.diagnoses
    monkeypatch.setattr(obstructions, "diagnoses", lambda *a: asked.append(a) or search(*a))
    collider_checks.later()
    assert not collider_checks.check_colliders(obj, depsgraph, lambda: True)
    assert collider_checks.check_colliders(obj, depsgraph, lambda: True) and len(asked) == 1
    assert [d.code for d in collider_checks.found(obj)] == ["IN_THE_WAY"]
    # an edit, after which the timer is started anew
    collider_checks.later()
    assert not collider_checks.check_colliders(obj, depsgraph, lambda: True)
    assert len(asked) == 2


@pytest.mark.slow
def test_the_plaza_has_nothing_in_the_way():
    made = scene_maker.make_scene(scene_maker.SceneOptions(agents=30))
    assert in_the_way(made.crowd) == []
