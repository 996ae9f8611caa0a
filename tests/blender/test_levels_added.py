"""Levels of detail that are made of the poses, for characters without a rig."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import bmesh  # noqa: E402
from mathutils.bvhtree import BVHTree  # noqa: E402

from steer_addon.blender.characters import levels, library, library_group  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.operators import looks, stepping  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.blender.test_levels import character, round_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def dogs():
    """A crowd of dogs, which are quick to make; returns it and the dog."""
    bpy.ops.object.steer_start(preset="predators", count=2)
    crowd = bpy.context.object
    return crowd, library.among(display.shown_body(display.require_modifier(crowd)))[0]


def levels_of(obj):
    own = library_group.modifier_of(obj)
    return [display.get_input(own, name) for name in library_group.LEVELS]


def triangles(mesh):
    return sum(len(face.vertices) - 2 for face in mesh.polygons)


def most_apart(mesh, pose, places):
    """How far places are from the faces of a mesh in a pose at most [m]."""
    faces = [list(face.vertices) for face in mesh.polygons]
    tree = BVHTree.FromPolygons(pose.tolist(), faces)
    return max(tree.find_nearest(place)[3] for place in places.tolist())


def test_built_in_characters_take_levels():
    _crowd, dog = dogs()
    objects, scenes, meshes = (len(d) for d in (bpy.data.objects, bpy.data.scenes, bpy.data.meshes))
    whole, poses = triangles(dog.data), library_group.poses_of(dog)
    assert bpy.ops.object.steer_add_levels() == {"FINISHED"}
    size = np.ptp(poses[0], axis=0).max()
    for share, level in zip((3, 9), levels_of(dog), strict=True):
        assert triangles(level.data) == pytest.approx(whole / share, rel=0.1)
        own = library_group.poses_of(level)
        assert own.shape == (len(poses), len(level.data.vertices), 3)
        for pose in (0, len(poses) // 2, len(poses) - 1):
            # faces of four corners that are bent are split one way here, and the other way there
            assert most_apart(dog.data, poses[pose], own[pose]) < 2e-3 * size
    # two levels of the dog, with an object and a mesh each for their poses
    assert len(bpy.data.scenes) == scenes
    assert len(bpy.data.objects) - objects == len(bpy.data.meshes) - meshes <= 4


@pytest.mark.slow
def test_they_are_offered_until_there_are_some():
    crowd, dog = dogs()
    add = bpy.ops.object.steer_add_levels
    assert add() == {"FINISHED"} and all(levels_of(dog))
    assert refusal(add) == "All characters of the crowd have levels of detail already"
    modifier = display.require_modifier(crowd)
    display.set_input(modifier, "Display", "Cones")
    assert refusal(add).startswith("The crowd shows no characters: choose Character")
    made = character(0, rig=round_rig())
    bpy.context.view_layer.objects.active = crowd
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", made.character)
    assert refusal(add).endswith("set Levels of Detail in Make Character")


def test_they_are_made_in_steps_and_nothing_is_left_of_what_is_stopped():
    _crowd, dog = dogs()
    before = [len(one) for one in (bpy.data.objects, bpy.data.meshes, bpy.data.scenes)]
    shares = list(levels.adding([dog]))
    assert len(shares) > 3 and shares == sorted(shares) and 0.0 <= shares[0] < shares[-1] < 1.0
    assert all(levels_of(dog))
    levels.put(dog, [])
    for after in range(1, len(shares) + 1):
        steps = levels.adding([dog])
        for _ in range(after):
            next(steps)
        steps.close()
        assert levels_of(dog) == [None, None]
        assert [len(one) for one in (bpy.data.objects, bpy.data.meshes, bpy.data.scenes)] == before
    # the window goes on, with progress in the status bar, until Esc stops it
    assert issubclass(looks.OBJECT_OT_steer_add_levels, stepping.SteppedOperator)


def test_without_a_camera_it_says_that_nothing_changes(capfd):
    assert bpy.context.scene.camera is None
    dogs()
    bpy.ops.object.steer_add_levels()
    told = capfd.readouterr().out
    assert "Added levels of detail to 1 character. The scene has no active camera, so all" in told


def test_levels_are_added_in_one_undo():
    _crowd, dog = dogs()
    name = dog.name
    undone(bpy.ops.object.steer_add_levels)
    assert levels_of(bpy.data.objects[name]) == [None, None]


def balls(*radii):
    """A mesh of balls in one another, and the number of faces of the first one."""
    whole = bmesh.new()
    for radius in radii:
        bmesh.ops.create_icosphere(whole, subdivisions=3, radius=radius)
    mesh = bpy.data.meshes.new("Balls")
    whole.to_mesh(mesh)
    whole.free()
    points = np.array([vertex.co for vertex in mesh.vertices], np.float32)
    return mesh, points, len(mesh.polygons) // len(radii)


@pytest.mark.parametrize(("radius", "bare"), [(1.02, False), (1.2, True)])
def test_what_is_close_beneath_other_faces_is_left_out_of_levels(radius, bare):
    """Thinned hair let the skin of the head show, which was thinned too: bald patches."""
    mesh, points, count = balls(1.0, radius)
    scene = bpy.data.scenes.new("Levels")
    one = np.zeros(len(points), np.int32)
    made = levels.decimated(mesh, points, one, 1, scene, [points])[0]
    places = np.array([vertex.co for vertex in made.vertices])
    assert len(made.polygons) == pytest.approx(2 * count / 3, rel=0.05)
    assert (np.linalg.norm(places, axis=1).min() < 0.99 * radius) == bare
    # and what moves out from beneath it stays
    moved = np.concatenate(
        [points[: len(points) // 2] + (3.0, 0.0, 0.0), points[len(points) // 2 :]]
    )
    made = levels.decimated(mesh, points, one, 1, scene, [points, moved.astype(np.float32)])[0]
    assert min(vertex.co.length for vertex in made.vertices) < 1.01


def test_thin_fins_are_not_black_in_levels():
    """Both sides became one, so normals that are blended over them pointed nowhere."""
    bpy.ops.object.steer_start(preset="fish", count=2)
    bpy.ops.object.steer_add_levels()
    for level in levels_of(bpy.data.objects["Fish"]):
        mesh, wrong = level.data, 0.0
        for face in mesh.polygons:
            corners = [mesh.corner_normals[loop].vector for loop in face.loop_indices]
            if min(one.dot(face.normal) for one in corners) < 0.05:
                wrong += face.area
        share = wrong / sum(face.area for face in mesh.polygons)
        assert share < 0.005
