"""Levels of detail: fewer faces for bodies that are small in the picture of the active camera."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

import bmesh  # noqa: E402
from mathutils.bvhtree import BVHTree  # noqa: E402

from steer_addon.blender.characters import library_group, making  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.crowd_views import make_crowd  # noqa: E402
from tests.blender.made_once import made_once  # noqa: E402
from tests.blender.test_characters_shown import level_frame  # noqa: E402
from tests.blender.toy_characters import vectors  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

PLAN = Plan(tolerance=0.15, steps=24, ratio=2.0)
LENS = 2.0 * 50.0 / (36.0 * 9.0 / 16.0)
"""What a camera of 50 mm sees at a distance of 1 is 2 / LENS high."""


def round_rig(name="Walker"):
    """The walking rig, with bodies of many faces."""
    rig = walking_rig(name)
    for part in rig.children:
        made = bmesh.new()
        made.from_mesh(part.data)
        bmesh.ops.subdivide_edges(made, edges=made.edges, cuts=5, use_grid_fill=True)
        made.to_mesh(part.data)
        made.free()
        part.vertex_groups.clear()
        if part.parent_type != "BONE":
            group = part.vertex_groups.new(name=part.name.split(".0")[0])
            group.add(range(len(part.data.vertices)), 1.0, "REPLACE")
    return rig


_made = {}


def character(count, optional=(), rig=None, plan=PLAN):
    """A character with levels; without a rig it is that of `round_rig`, in an empty file."""
    recipe = Recipe("Idle", "Walk", "Run", plan=plan, levels=count, optional=optional)

    def make(rig):
        return making.make_character(bpy.context.scene, rig, recipe)

    if rig is not None:
        return make(rig)
    made_once(recipe, lambda: _made.update({recipe: make(round_rig())}))
    return replace(_made[recipe], character=bpy.data.objects["Walker Character"])


def camera_at(distance, kind="PERSP", scale=1.0):
    """A camera at that distance from the first agent, beside all others."""
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale = kind, scale
    obj = bpy.data.objects.new("Camera", data)
    obj.location = (-distance, 0.0, 0.0)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.scene.camera = obj
    return obj


def crowd_of(made, count=1, **attributes):
    obj, modifier = make_crowd(level_frame(count, **attributes))
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    return obj, modifier


def shown(read=lambda mesh: vectors(mesh)):
    """What is read of the meshes of all that is shown, by its place: their points."""
    bpy.context.view_layer.update()
    return [
        read(instance.object.data)
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance
    ]


def faces_of(made):
    """Number of vertices of the body and of its levels."""
    modifier = library_group.modifier_of(made.character)
    found = [display.get_input(modifier, name) for name in library_group.LEVELS]
    return [len(obj.data.vertices) for obj in (made.character, *found) if obj is not None]


def test_levels_have_a_third_of_the_faces_each():
    made = character(2)
    modifier = library_group.modifier_of(made.character)
    meshes = [display.get_input(modifier, name).data for name in library_group.LEVELS]
    whole = len(made.character.data.polygons)
    for level, mesh in enumerate(meshes, 1):
        mesh.calc_loop_triangles()
        # decimation counts triangles
        share = len(mesh.loop_triangles) / (2 * whole)
        assert share == pytest.approx(3.0**-level, rel=0.2)
        assert [material.name for material in mesh.materials]


def test_faces_are_decimated_beside_the_scene_of_the_user():
    rig, told = round_rig(), []

    def tell(scene, _depsgraph):
        told.append(scene.name)

    bpy.app.handlers.depsgraph_update_post.append(tell)
    try:
        character(2, rig=rig)
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(tell)
    assert told and bpy.context.scene.name not in told


def open_edges(mesh):
    """How many edges of a mesh do not lie between two faces."""
    body = bmesh.new()
    body.from_mesh(mesh)
    found = sum(len(edge.link_faces) != 2 for edge in body.edges)
    body.free()
    return found


def test_parts_on_bones_keep_to_themselves():
    # at its own origin the hat lies among the legs
    made = character(2)
    modifier = library_group.modifier_of(made.character)
    for name in library_group.LEVELS:
        mesh = display.get_input(modifier, name).data
        points = vectors(mesh)
        ways = [np.ptp(points[list(edge.vertices)], axis=0).max() for edge in mesh.edges]
        # the head is 0.6 m high, and 1.2 m above the feet
        assert len(ways) > 50 and max(ways) < 0.62


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_faces_of_split_vertices_stay_together(share):
    rig = round_rig()
    for part in rig.children:
        body = bmesh.new()
        body.from_mesh(part.data)
        # as glTF has them where UVs or normals are split
        bmesh.ops.split_edges(body, edges=list(body.edges))
        body.to_mesh(part.data)
        body.free()
        assert open_edges(part.data) == len(part.data.edges) > 100
    recipe = Recipe("Idle", "Walk", "Run", plan=PLAN, levels=2, faces=share)
    made = making.make_character(bpy.context.scene, rig, recipe).character
    modifier = library_group.modifier_of(made)
    meshes = [display.get_input(modifier, name).data for name in library_group.LEVELS]
    for mesh in meshes if share == 1.0 else [made.data, *meshes]:
        assert len(mesh.polygons) > 20 and not open_edges(mesh)


@pytest.mark.parametrize("gait", often([0, 1, 2], 1))
def test_levels_show_the_pose_of_the_body(gait):
    made = character(2)
    # the first pose of a row is shown at any distance
    crowd_of(made, gait=[gait], phase=[0.0])
    camera = camera_at(1.0)
    (whole,) = shown(lambda mesh: [list(face.vertices) for face in mesh.polygons])
    found = []
    for distance in (1.0, 60.0, 300.0):
        camera.location.x = -distance
        found += shown()
    body = BVHTree.FromPolygons(found[0].tolist(), whole)
    assert len(found[0]) > 2 * len(found[1]) > 4 * len(found[2])
    for points in found[1:]:
        assert max(body.find_nearest(point)[3] for point in points.tolist()) < 1.0e-4
        # no box is missing, nor has one shrunk
        np.testing.assert_allclose(np.ptp(points, axis=0), np.ptp(found[0], axis=0), atol=0.1)


def test_the_size_in_the_picture_chooses():
    made = character(2)
    sizes = faces_of(made)
    _crowd, modifier = crowd_of(made)
    camera = camera_at(1.0)
    height = float(made.space.positions[0][:, 2].max())
    # at this distance the body has the share of the picture from which it is shown in full
    limit = height * LENS / 2.0 / 0.15
    for distance, size in (
        (0.99 * limit, sizes[0]),
        (1.01 * limit, sizes[1]),
        (2.99 * limit, sizes[1]),
        (3.01 * limit, sizes[2]),
        (40.0 * limit, sizes[2]),
    ):
        camera.location.x = -distance
        assert [len(points) for points in shown()] == [size]
    display.set_input(modifier, "Full Detail", 0.0)
    assert [len(points) for points in shown()] == [sizes[0]]


@pytest.mark.skipif(bpy.app.version < (5, 0), reason="no node reads a camera before Blender 5.0")
def test_lenses_count():
    made = character(1)
    sizes = faces_of(made)
    crowd_of(made)
    camera = camera_at(60.0)
    assert [len(points) for points in shown()] == [sizes[1]]
    camera.data.lens = 300.0
    assert [len(points) for points in shown()] == [sizes[0]]
    camera.data.type = "ORTHO"
    for scale, size in ((4.0, sizes[0]), (60.0, sizes[1])):
        camera.data.ortho_scale = scale
        assert [len(points) for points in shown()] == [size]


def test_without_a_camera_all_is_shown_in_full():
    made = character(2)
    crowd_of(made)
    assert [len(points) for points in shown()] == faces_of(made)[:1]


@pytest.mark.slow
def test_parts_have_levels_too():
    made = character(1, optional=(("hat", 0.5),))
    camera = camera_at(1.0)
    crowd_of(made, 12)
    near = [len(points) for points in shown()]
    camera.location.x = -500.0
    far = [len(points) for points in shown()]
    assert len(near) == len(far) > 12
    assert set(far).isdisjoint(near) and len(set(far)) == len(set(near)) == 2


def test_agents_of_one_crowd_have_levels_of_their_own():
    made = character(2)
    sizes = faces_of(made)
    crowd_of(made, 100)
    camera_at(2.0)
    found = [len(points) for points in shown()]
    assert set(found) == set(sizes)
    assert found == sorted(found, reverse=True)


@pytest.mark.slow
def test_made_anew_with_other_levels():
    rig = round_rig()
    made = character(2, rig=rig)
    before = {obj.name for obj in bpy.data.objects}
    recipe = Recipe("Idle", "Walk", "Run", plan=PLAN, levels=1)
    for _step in making.making(bpy.context.scene, rig, recipe, made.character):
        pass
    assert len(faces_of(made)) == 2
    gone = before - {obj.name for obj in bpy.data.objects}
    assert gone == {"Walker Character Level 2", ".Walker Character Level 2 Poses"}
    assert not [mesh for mesh in bpy.data.meshes if mesh.users == 0]


def test_levels_are_kept_in_the_file(tmp_path):
    made = character(2)
    name, sizes = made.character.name, faces_of(made)
    path = str(tmp_path / "people.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    modifier = library_group.modifier_of(bpy.data.objects[name])
    kept = [display.get_input(modifier, level) for level in library_group.LEVELS]
    assert [len(obj.data.vertices) for obj in kept] == sizes[1:]


@pytest.mark.slow
def test_a_level_of_other_poses_is_passed_over():
    made = character(0)
    other = making.make_character(
        bpy.context.scene, round_rig("Other"), Recipe(walk="Walk", plan=PLAN)
    )
    display.set_input(library_group.modifier_of(made.character), "Level 1", other.character)
    crowd_of(made)
    camera_at(500.0)
    assert [len(points) for points in shown()] == faces_of(made)[:1]


@pytest.mark.parametrize("count", [-1, 3, 1.5])
def test_bad_numbers_of_levels_are_told(count):
    with pytest.raises(CharacterError, match="Levels of Detail is .*: give 1 or 2"):
        Recipe(walk="Walk", levels=count)
