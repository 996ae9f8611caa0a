"""The library object: instance k is pose k, what moves in it, and what is known of its rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, library_group  # noqa: E402
from steer_addon.core.characters.pose_space import PoseSpace, Row  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402

from .crowd_views import make_object  # noqa: E402
from .toy_characters import body, make_toy, poses_of, space  # noqa: E402


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def test_instance_k_is_pose_k():
    # numbers of more than two digits: names of poses are in the order of their numbers
    poses = space(walk=90, run=40)
    shown, _ = poses_of(make_toy(poses=poses))
    assert len(shown) == poses.pose_count
    for one, positions in zip(shown, poses.positions, strict=True):
        np.testing.assert_array_equal(one.points, positions)


def test_poses_keep_faces_and_materials_and_nothing_of_other_poses():
    materials = [bpy.data.materials.new(name) for name in ("Shoe", "Coat")]
    shown, _ = poses_of(make_toy(materials=materials))
    last = shown[-1]
    assert last.materials == ["Shoe", "Coat"]
    assert last.faces == [(0, True)] * 6 + [(0, False)] * 6 + [(1, False)] * 6
    assert not [name for name in last.attributes if name.startswith(("pose_", "row_"))]


def test_velocity_is_the_way_between_the_poses_before_and_after_by_their_time():
    poses = space()
    shown, _ = poses_of(make_toy(poses=poses))
    assert not shown[0].velocity.any()
    for row in poses.gaits[1:]:
        cycle = poses.positions[row.first : row.first + row.count]
        time = 2 * row.duration / row.count
        expected = (np.roll(cycle, -1, axis=0) - np.roll(cycle, 1, axis=0)) / time
        for number in range(row.count):
            found = shown[row.first + number].velocity
            np.testing.assert_allclose(found, expected[number], atol=1e-5)


def test_the_ends_of_a_clip_that_ends_take_one_neighbor():
    poses = space()
    (clip,) = poses.clips
    shown, _ = poses_of(make_toy(poses=poses))
    height = poses.positions[clip.first :, 0, 2]
    rising = [one.velocity[0, 2] for one in shown[clip.first :]]
    np.testing.assert_allclose(rising, np.gradient(height, clip.duration / clip.count), atol=1e-5)


def test_more_rows_than_vertices():
    rows = tuple(Row(str(n), n, 1, float(n)) for n in range(6))
    points = np.random.default_rng(1).random((6, 3, 3)).astype(np.float32)
    mesh = bpy.data.meshes.new("Triangle")
    mesh.from_pydata(points[0].tolist(), [], [(0, 1, 2)])
    made = library.make("Triangle", mesh, PoseSpace(points, rows), bpy.context.scene)
    shown, firsts = poses_of(made)
    assert firsts == [0, 1, 2, 3, 4, 5]
    for triangle, positions in zip(shown, points, strict=True):
        np.testing.assert_array_equal(triangle.points[:3], positions)


def test_the_object_is_neither_seen_nor_rendered():
    made = make_toy()
    assert made.hide_render and made.hide_viewport and not made.visible_get()
    (collection,) = made.users_collection
    assert collection.name == "Characters"
    assert bpy.context.view_layer.layer_collection.children[collection.name].exclude
    other = make_toy("Other")
    assert other.users_collection == made.users_collection
    assert other.modifiers[0].node_group == made.modifiers[0].node_group


def test_rows_are_read_from_the_object_alone():
    poses = space()
    made = make_toy(poses=poses)
    assert library.is_character(made) and not library.is_character(make_object("Cube"))
    assert library.rows_of(made) == (poses.gaits, poses.clips)
    with pytest.raises(CharacterError, match="'Cube' is no character"):
        library.rows_of(bpy.data.objects["Cube"])


def changed(**values):
    return {"name": "stand", "first": 0, "count": 1, "speed": 0.0, "stride": 0.0,
            "duration": 1.0, "loops": True} | values  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        "7",
        '{"version": 1}',
        '{"version": 1, "gaits": 3, "clips": []}',
        *(
            json.dumps({"version": 1, "gaits": [row], "clips": []})
            for row in (
                3,
                {"name": "stand"},
                changed(more=1),
                changed(name=None),
                changed(first=True),
                changed(turning=3),
                changed(turning=[[0.0, 1.0]]),
                changed(turning=[[0.0, 1.0, "far"]]),
                changed(turning=[[0.0, 1.0, float("nan")]]),
                changed(leaving=[[0.0, 1.0, 2.0]]),
                changed(leaving=[[0.0, float("inf")]]),
                changed(lifts=[[0.0, 1.0]]),
                changed(rolling=[[0.0, 1.0]]),
                changed(first=0.5),
                changed(first=1),
                changed(count=0),
                changed(count=10**400),
                changed(speed=float("nan")),
                changed(stride=-1.0),
                changed(duration=0.0),
                changed(duration=float("inf")),
                changed(loops=1),
            )
        ),
    ],
)
def test_a_damaged_property_is_told(text):
    made = make_toy()
    made[library.KEY] = text
    with pytest.raises(CharacterError, match="'Toy' is damaged"):
        library.rows_of(made)


def test_a_property_of_another_kind_or_version_is_told():
    made = make_toy()
    data = json.loads(made[library.KEY])
    made[library.KEY] = json.dumps({**data, "version": 99})
    with pytest.raises(CharacterError, match="version 99.*update Steer"):
        library.rows_of(made)
    made[library.KEY] = 3
    with pytest.raises(CharacterError, match="is damaged"):
        library.rows_of(made)


def test_poses_of_other_vertices_are_told():
    mesh = bpy.data.meshes.new("Empty")
    with pytest.raises(CharacterError, match="'Empty' has 0 vertices"):
        library.make("Empty", mesh, space(), bpy.context.scene)
    assert not bpy.data.objects


def test_another_mesh_and_other_poses_take_the_place():
    made = make_toy()
    before = made.data.name
    wide = space(walk=8, width=2.0)
    library.refill(made, body(wide), wide)
    assert {mesh.name for mesh in bpy.data.meshes} == {before, ".Toy Poses"}
    assert [obj.name for obj in bpy.data.objects] == [".Toy Poses", "Toy"]
    assert len(made.modifiers) == 1
    assert library.rows_of(made)[0] == wide.gaits
    shown, _ = poses_of(made)
    np.testing.assert_array_equal(shown[3].points, wide.positions[3])


def of_before(character, poses):
    """Let a character be as they were, with an attribute of its mesh for each pose."""
    for number, positions in enumerate(poses.positions):
        made = character.data.attributes.new(f"pose_{number:04}", "FLOAT_VECTOR", "POINT")
        made.data.foreach_set("vector", positions.ravel())
    points = bpy.data.objects[f".{character.name} Poses"]
    bpy.data.meshes.remove(points.data)
    group = library_group.ensure_group()
    for socket in list(group.interface.items_tree):
        if socket.name == "Pose Points":
            group.interface.remove(socket)
    group["steer_character_version"] = 5


def test_poses_of_before_are_moved_out_of_the_mesh_which_two_characters_may_share():
    poses = space(walk=90, run=40)
    toy = make_toy(poses=poses)
    of_before(toy, poses)
    twin = toy.copy()
    twin.name = "Twin"
    np.testing.assert_array_equal(library.positions_of(toy), poses.positions)
    make_toy("Other")
    for one in (toy, twin):
        assert not [a.name for a in one.data.attributes if a.name.startswith("pose_")]
        np.testing.assert_array_equal(library.positions_of(one), poses.positions)
        shown, _ = poses_of(one)
        for found, positions in zip(shown, poses.positions, strict=True):
            np.testing.assert_array_equal(found.points, positions)


def test_the_same_poses_are_there_once():
    poses, wide = space(), space(width=2.0)
    first, second = make_toy(poses=poses), make_toy("Other", poses=poses)
    assert [obj.name for obj in bpy.data.objects] == [".Toy Poses", "Other", "Toy"]
    # either may get others, and they go with the last one
    library.refill(first, body(wide), wide)
    np.testing.assert_array_equal(library.positions_of(first), wide.positions)
    np.testing.assert_array_equal(library.positions_of(second), poses.positions)
    library.refill(second, body(wide), wide)
    assert len(bpy.data.objects) == 3
    np.testing.assert_array_equal(library.positions_of(second), wide.positions)


def test_poses_that_were_deleted_are_told():
    toy = make_toy()
    bpy.data.objects.remove(bpy.data.objects[".Toy Poses"])
    with pytest.raises(CharacterError, match="'Toy' has lost its poses"):
        library.positions_of(toy)
    poses_of(toy)


def test_a_linked_character_stays_as_it_is(tmp_path):
    make_toy()
    path = str(tmp_path / "toy.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Toy"]
    poses = space()
    with pytest.raises(CharacterError, match="'Toy' is linked from another file"):
        library.refill(wanted.objects[0], body(poses), poses)


@pytest.mark.parametrize(
    ("name", "give", "read", "version", "given"),
    [
        ("Weight", library_group.set_weight, library_group.weight_of, 1, 2.5),
        ("Upright", library_group.set_upright, library_group.upright_of, 3, 0.2),
    ],
)
def test_characters_of_before_are_as_others(name, give, read, version, given):
    toy = make_toy()
    give(toy, given)
    group = library_group.ensure_group()
    socket = next(item for item in group.interface.items_tree if item.name == name)
    group.interface.remove(socket)
    assert read(toy) == 1.0
    group["steer_character_version"] = version
    make_toy("Other")
    assert library_group.ensure_group() == group
    assert read(toy) == read(bpy.data.objects["Other"]) == 1.0
    give(toy, 0.5)
    assert read(toy) == 0.5


def test_what_gaits_know_of_curves_and_changes_is_read_again():
    known = {"turning": ((0.0, 0.1, -0.2),) * 3, "leaving": ((0.02, -0.01),) * 2}
    known |= {"lifts": ((0.01,), (-0.01,)), "landing": ((0.02,), (0.03,))}
    known |= {"rolling": ((0.0, 0.1, -0.2, 0.3, 0.4, 0.5),) * 2}
    gaits = (Row("stand", 0, 1), Row("walk", 1, 2, 1.0, 1.2, 1.0, **known))
    points = np.random.default_rng(1).random((3, 3, 3)).astype(np.float32)
    mesh = bpy.data.meshes.new("Triangle")
    mesh.from_pydata(points[0].tolist(), [], [(0, 1, 2)])
    made = library.make("Triangle", mesh, PoseSpace(points, gaits), bpy.context.scene)
    assert library.rows_of(made) == (gaits, ())
