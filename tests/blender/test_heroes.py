"""Heroes: rigs in place of instances, with the same poses, and instances again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix, Quaternion  # noqa: E402

from steer_addon.blender.bake import heroes, keyed_crowds, status  # noqa: E402
from steer_addon.blender.characters import making, origins  # noqa: E402
from steer_addon.blender.characters.heroes import hero as rigs  # noqa: E402
from steer_addon.blender.characters.heroes.playing import playable  # noqa: E402
from steer_addon.blender.crowd import hero_table  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.core.characters import figures  # noqa: E402
from steer_addon.core.characters.picking import SHEARS  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError, SceneError  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.made_once import import_rig, made_once  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.blender.walking_rigs import (  # noqa: E402
    add_gait,
    character_of,
    gaps,
    hero_parts,
    made_by,
    make_rig,
    walking_rig,
)

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

ROUGH = Plan(tolerance=0.15, steps=24, ratio=2.0)
KNIGHT = Path(__file__).parents[3] / "shared" / "characters" / "Knight.glb"
SCRIPT = Path(__file__).with_name("factory_points.py")


def people(last=12, count=12):
    def start():
        assert bpy.ops.object.steer_start(preset="pedestrians", count=count) == {"FINISHED"}

    # beside other objects they are not opened from a file; others have more poses
    start() if bpy.data.objects else made_once(("people", count, figures.built_in), start)
    obj = active()
    obj.steer.frame_end = last
    return obj


def play(last):
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)


def mesh_points(depsgraph, obj):
    evaluated = obj.evaluated_get(depsgraph)
    data, matrix = evaluated.data.attributes["position"].data, np.array(evaluated.matrix_world)
    points = np.empty(3 * len(data), np.float32)
    data.foreach_get("vector", points)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def hero_points(carrier):
    """World places of all vertices of a hero."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    parts = [part for part in hero_parts(carrier) if part.type == "MESH"]
    return np.concatenate([mesh_points(depsgraph, part) for part in parts])


def shown(obj):
    """World places of the vertices of the instances of a crowd, in the order of its agents."""
    found = []
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.is_instance and instance.parent.original == obj:
            matrix, data = np.array(instance.matrix_world), instance.object.data.attributes
            points = np.empty(3 * len(data["position"].data), np.float32)
            data["position"].data.foreach_get("vector", points)
            found.append(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return found


def assert_same_poses(made, limit):
    """A hero that goes through poses of all rows, sheared, looks as these do.

    Where legs step round, their thighs are of one piece, so all above them counts, and the soles.
    """
    scene, rows = bpy.context.scene, made.space.rows
    random = np.random.default_rng(2)
    row = np.repeat(np.arange(len(rows)), 4)
    pose = random.integers(0, [rows[number].count for number in row])
    count = len(row)
    yaw = 0.5 * random.uniform(0.0, 6.0, count)
    motion = rigs.Motion(
        numbers=np.arange(1.0, count + 1.0),
        location=random.normal(size=(count, 3)),
        rotation=np.stack([np.cos(yaw), 0 * yaw, 0 * yaw, np.sin(yaw)], axis=1),
        scale=np.full(count, 1.1),
        shear=random.uniform(-0.2, 0.2, (count, len(SHEARS))) * ([1.0] * 5 + [0.3] * 3),
        upright=1.0,
        phase=np.array([p / rows[r].count for r, p in zip(row, pose, strict=True)]),
        row=row,
    )
    heights = made.space.positions[0, :, 2]
    sure = np.flatnonzero((heights > 0.5 * heights.max()) | (heights < 0.01))
    collection = bpy.data.collections.new("Heroes")
    scene.collection.children.link(collection)
    found = playable(origins.read(made.character), scene, rigs.MARK, [])
    carrier = rigs.make_hero("Hero", motion, found, collection, [])
    for number in range(count):
        scene.frame_set(number + 1)
        shear, (twist, ahead, side, lift) = np.eye(3), motion.shear[number, 4:]
        shear[2, 1], shear[2, 0], shear[1, 2], shear[0, 2] = -motion.shear[number, :4]
        turn = np.array(Quaternion(motion.rotation[number]).to_matrix())
        poses = made.space.positions[rows[row[number]].first + pose[number]]
        own = poses @ np.array(Matrix.Rotation(twist, 3, "Z")).T - [side, ahead, 0.0]
        expected = 1.1 * (own @ (turn @ shear).T + [0.0, 0.0, lift]) + motion.location[number]
        assert len(points := hero_points(carrier)) == len(expected)
        expected = expected[sure] if rows[row[number]].turn else expected
        assert gaps(expected[::7], points).max() < limit, rows[row[number]].name


@pytest.mark.slow
def test_a_hero_has_the_poses_of_its_character():
    rig = walking_rig()
    add_gait(rig, "Wave", 0.3, 20, bob=0.2)
    assert_same_poses(character_of(rig, (("wave", "Wave"),)), 0.003)


def test_root_motion_and_the_place_of_the_rig_are_taken_out():
    rig = make_rig()
    add_gait(rig, "Idle", 0.0, 24)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    add_gait(rig, "Run", 2.0, 16, bob=0.04, drift=2.0)
    rig.location, rig.rotation_euler = (3.0, 1.0, 0.5), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    made = character_of(rig)
    # a rig that is put aside later changes nothing
    rig.location = (40.0, 0.0, 0.0)
    assert_same_poses(made, 0.003)


@pytest.mark.slow
@pytest.mark.skipif(not KNIGHT.is_file(), reason="the shared rigs are not here")
def test_a_real_rig_has_the_poses_of_its_character():
    rig = import_rig(KNIGHT)
    recipe = making.Recipe("Idle", "Walking_A", "Running_A", (("die", "Death_A"),), plan=ROUGH)
    # actions whose quaternions have opposite signs are blended, and stay as they are
    before = [action.name for action in bpy.data.actions]
    assert_same_poses(making.make_character(bpy.context.scene, rig, recipe), 0.01)
    assert set(before) <= {action.name for action in bpy.data.actions}


@pytest.mark.parametrize("preset", ["pedestrians", pytest.param("birds", marks=pytest.mark.long)])
def test_built_in_heroes_look_as_their_instances(all_poses, preset):
    assert bpy.ops.object.steer_start(preset=preset, count=12) == {"FINISHED"}
    obj = active()
    obj.steer.frame_end = 12
    play(12)
    known = {}
    for frame in (1, 5, 12):
        bpy.context.scene.frame_set(frame)
        known[frame] = shown(obj)[3]
    assert heroes.promote(obj, bpy.context.scene, [3]).done == [3]
    carrier = heroes.carriers(obj)[3]
    for frame, expected in known.items():
        bpy.context.scene.frame_set(frame)
        away = np.linalg.norm(hero_points(carrier) - expected, axis=1)
        # instances have the nearest pose, half a step of 8 to 12 mm beside: limbs go twice as far
        assert np.median(away) < 0.006 and away.max() < (0.03 if preset == "pedestrians" else 0.2)


@pytest.mark.slow
def test_instances_are_hidden_and_come_back():
    obj = people(4)
    play(4)
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "actions")}
    frames = [live.get_frame(obj, number).position.copy() for number in (2, 4)]
    heroes.promote(obj, bpy.context.scene, [3, 5])
    assert len(shown(obj)) == 10 and set(heroes.carriers(obj)) == {3, 5}
    # promoted once more, a hero stays as it is
    assert heroes.promote(obj, bpy.context.scene, [5, 6]).kept == [5]
    assert len(shown(obj)) == 9
    assert np.array_equal(live.get_frame(obj, 4).position, frames[1])
    simulated = list(simulate.run(obj, bpy.context.scene, range(1, 5)))
    assert np.array_equal(simulated[1].position, frames[0])
    assert heroes.demote(obj, [5]).done == [5]
    assert len(shown(obj)) == 10
    assert heroes.demote(obj).done == [3, 6]
    assert len(shown(obj)) == 12 and hero_table.table_of(obj) is None
    assert {kind: len(getattr(bpy.data, kind)) for kind in before} == before
    assert not [c.name for c in bpy.data.collections if c.name.startswith("Heroes")]


@pytest.mark.slow
def test_operators_take_picked_agents_and_those_of_the_camera():
    obj = people(3)
    play(3)
    promote, demote = bpy.ops.object.steer_promote, bpy.ops.object.steer_demote
    with pytest.raises(RuntimeError, match="No agent of 'Crowd' is picked: use Debug"):
        promote()
    overlay = bpy.context.scene.steer_overlay
    overlay.crowd, overlay.agents = obj, "2, 4"
    assert refusal(demote) == "'Crowd' has no heroes"
    assert promote() == {"FINISHED"}
    assert set(heroes.carriers(obj)) == {2, 4}
    overlay.agents = "4"
    assert demote(which="PICKED") == {"FINISHED"}
    assert set(heroes.carriers(obj)) == {2}
    demote()
    bpy.context.scene.camera = None
    with pytest.raises(RuntimeError, match="The scene has no camera: add one"):
        promote(which="IN_VIEW")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    frame = live.get_frame(obj, 3)
    camera.location = frame.position[7]
    camera.location.z += 3.0
    bpy.context.view_layer.update()
    # looking down, it sees the one below itself first
    assert promote(which="IN_VIEW", limit=1) == {"FINISHED"}
    assert set(heroes.carriers(obj)) == {7}
    camera.location.z += 997.0
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="has no agent so near of 'Crowd' at frame 3"):
        promote(which="WITHIN", distance=900.0)
    assert promote(which="WITHIN", distance=1100.0, limit=3) == {"FINISHED"}
    assert len(heroes.carriers(obj)) == 3 and 7 in heroes.carriers(obj)


def test_promoting_is_one_undo():
    people(3)
    bpy.context.scene.steer_overlay.crowd = active()
    bpy.context.scene.steer_overlay.agents = "1"
    undone(bpy.ops.object.steer_promote)
    obj = bpy.data.objects["Crowd"]
    assert not heroes.carriers(obj) and not heroes.hidden(obj)
    assert not [a.name for a in bpy.data.actions if rigs.MARK in a]


@pytest.mark.slow
def test_a_saved_file_shows_heroes_without_steer(tmp_path):
    obj = people(6)
    obj.steer.cache_directory = str(tmp_path / "cache")
    blend, found = tmp_path / "crowd.blend", tmp_path / "found.npy"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    before = hero_points(_promoted(obj, 2))
    expected = np.concatenate(shown(obj))
    assert not status.read_status(obj, bpy.context.scene).out_of_date
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    obj = bpy.data.objects["Crowd"]
    bpy.context.scene.frame_set(5)
    np.testing.assert_allclose(hero_points(heroes.carriers(obj)[2]), before, atol=1.0e-5)
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "resources")}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-P", str(SCRIPT), str(blend), str(found)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.is_file(), done.stdout + done.stderr
    np.testing.assert_allclose(np.load(found), expected, atol=1.0e-6)
    # the bake itself is what a hero is made of
    assert heroes.demote(obj).done == [2]
    np.testing.assert_allclose(hero_points(_promoted(obj, 2)), before, atol=1.0e-5)


def _promoted(obj, number):
    heroes.promote(obj, bpy.context.scene, [number])
    bpy.context.view_layer.update()
    return heroes.carriers(obj)[number]


def test_a_hero_that_was_edited_stays_until_it_is_told():
    obj = people(4)
    heroes.promote(obj, bpy.context.scene, [1, 2])
    carrier = heroes.carriers(obj)[1]
    carrier.location.x += 1.0
    carrier.keyframe_insert("location", frame=2)
    result = heroes.demote(obj)
    assert (result.done, result.kept) == ([2], [1])
    hat = bpy.data.objects.new("Hat", None)
    bpy.context.scene.collection.objects.link(hat)
    hat.parent = carrier
    assert heroes.demote(obj, edited=True).done == [1]
    assert hat.parent is None and hat.name in bpy.context.scene.objects
    assert len(shown(obj)) == 12


def test_heroes_that_were_deleted_by_hand_are_shown_again():
    obj = people(4)
    heroes.promote(obj, bpy.context.scene, [1])
    bpy.data.batch_remove(hero_parts(heroes.carriers(obj)[1]))
    assert len(shown(obj)) == 11
    assert heroes.demote(obj).done == [1]
    assert len(shown(obj)) == 12


@pytest.mark.slow
def test_a_duplicate_of_a_crowd_has_heroes_of_its_own():
    obj = people(3)
    heroes.promote(obj, bpy.context.scene, [1])
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    assert not heroes.carriers(other)
    heroes.promote(other, bpy.context.scene, [2])
    assert set(heroes.carriers(obj)) == {1} and set(heroes.carriers(other)) == {2}
    heroes.demote(obj)
    assert heroes.hidden(other) == {1, 2}


@pytest.mark.slow
def test_keyframe_bakes_to_rigs_walk():
    obj = people(6, count=5)
    play(6)
    bpy.context.scene.frame_set(4)
    expected = shown(obj)[2]
    obj.steer.bake.bodies = "RIGS"
    for _ in range(2):
        assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    collection = obj.steer.bake_collection
    assert collection.name == "Crowd Bake" and obj.hide_render
    carriers = [item for item in collection.objects if item.parent is None]
    assert [item.name for item in carriers] == [f"Crowd.{number:04}" for number in range(5)]
    bpy.context.scene.frame_set(4)
    away = np.linalg.norm(hero_points(carriers[2]) - expected, axis=1)
    assert away.max() < 0.03
    assert not keyed_crowds.take_back(obj) % 4
    assert not [a.name for a in bpy.data.actions] and not obj.hide_render


def refused(obj, ids=(1,), kind=SceneError):
    before = {name: len(getattr(bpy.data, name)) for name in ("objects", "actions", "collections")}
    with pytest.raises(kind) as error:
        heroes.promote(obj, bpy.context.scene, list(ids))
    assert before == {name: len(getattr(bpy.data, name)) for name in before}
    assert not heroes.hidden(obj)
    return str(error.value)


def test_what_cannot_be_a_hero_says_why():
    obj = people(3)
    modifier = display.find_modifier(obj)
    assert "has no agent 99: pick agents from 0 to 11" in refused(obj, [1, 99])
    display.set_input(modifier, "Display", "Cones")
    assert "shows no characters: choose Character or Characters under Display" in refused(obj)
    assert "shows no characters" in refusal(bpy.ops.object.steer_promote)
    display.set_input(modifier, "Display", "Characters")
    obj.steer.hidden_by_bake = {"RENDER"}
    assert "is baked to objects: use Delete Keyframe Bake first" in refused(obj)


def test_a_character_whose_rig_is_gone_says_so():
    obj = people(3)
    rig = walking_rig()
    character = character_of(rig).character
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", character)
    display.set_input(modifier, "Display", "Character")
    bpy.data.actions.remove(bpy.data.actions["Run"])
    assert "Action 'Run' of character 'Walker Character' is not in this file" in refused(
        obj, kind=CharacterError
    )
    bpy.data.objects.remove(rig)
    assert "Object 'Walker' of the rig of character" in refused(obj, kind=CharacterError)
    del character[origins.KEY]
    assert "knows no rig: make it again from an armature" in refused(obj, kind=CharacterError)


@pytest.mark.slow
def test_a_rig_that_is_linked_from_another_file_makes_heroes(tmp_path):
    made_by(walking_rig)
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (known, wanted):
        wanted.objects, wanted.actions = known.objects, known.actions
    obj = people(3)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", bpy.data.objects["Walker Character"])
    display.set_input(modifier, "Display", "Character")
    play(3)
    expected = shown(obj)[1]
    carrier = _promoted(obj, 1)
    assert gaps(expected, hero_points(carrier)).max() < 0.04
    assert heroes.demote(obj).done == [1]
