"""Crowds of characters: who is in which pose, where, and that no Steer is needed to show it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.characters import library_group  # noqa: E402
from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.characters.picking import SHEARS, stances  # noqa: E402
from steer_addon.core.results.frames import Frame, rotations  # noqa: E402

from .crowd_views import MATRICES, instances, make_crowd, make_frame, make_object  # noqa: E402
from .toy_characters import FEET, SOLES, make_toy, shown_meshes, shown_points, shown_poses, space  # noqa: E402

SCRIPT = Path(__file__).with_name("factory_points.py")


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def level_frame(count, heading=(0.0, -1.0, 0.0), axis="NEG_Y", **attributes):
    ahead = np.tile(np.float32(heading), (count, 1))
    return Frame(
        number=1,
        id=np.arange(count),
        position=np.float32([[2 * n, 0, 0] for n in range(count)]),
        velocity=ahead,
        rotation=rotations(ahead, axis),
        radius=np.full(count, 0.25, np.float32),
        alive=np.ones(count, np.uint8),
        attributes={name: np.float32(values) for name, values in attributes.items()},
    )


def crowd_of(frame, *characters, matrix=None):
    obj, modifier = make_crowd(frame, matrix)
    display.set_input(modifier, "Object", characters[0])
    display.set_input(modifier, "Collection", characters[0].users_collection[0])
    display.set_input(modifier, "Display", "Character" if len(characters) == 1 else "Characters")
    bpy.context.view_layer.update()
    return obj, modifier


def test_the_pose_follows_from_phase_and_gait():
    poses = space(walk=16, run=12, jump=6)
    phase = [0, 0, 0.25, 7.25, 0.97, 0.96, 0.5, -0.25, 0.5]
    gait = [0, 1, 1, 1, 1, 1, 2, 1, 1.4]
    crowd_of(level_frame(9, phase=phase, gait=gait), make_toy(poses=poses))
    assert [number for _, number in shown_poses(toy=poses)] == [0, 1, 5, 5, 1, 16, 23, 13, 9]


@pytest.mark.parametrize("apart", [1, 7])
def test_few_and_most_of_many_poses_are_shown_alike(apart):
    poses = space(walk=400, run=300, jump=0)
    gait = np.repeat([1, 2], [400, 300])[::apart]
    phase = np.concatenate([np.arange(400) / 400, np.arange(300) / 300])[::apart]
    crowd_of(level_frame(len(gait), phase=phase, gait=gait), make_toy(poses=poses))
    known = {points.tobytes(): number for number, points in enumerate(poses.positions)}
    shown = [known[points.tobytes()] for points in shown_meshes()]
    assert shown == list(range(1, 701, apart))


def test_clips_that_end_do_not_begin_anew_with_their_last_poses():
    poses = space(walk=16, run=12, jump=6)
    phase, gait = [0, 7.5, 3.99, 0.999, 40.84, -3.0], [3] * 6
    crowd_of(level_frame(6, phase=phase, gait=gait), make_toy(poses=poses))
    assert [number - 29 for _, number in shown_poses(toy=poses)] == [0, 3, 5, 5, 5, 0]


def test_gaits_that_a_character_lacks_are_its_nearest_ones():
    poses = space(walk=16, run=12, jump=0)
    crowd_of(level_frame(3, phase=[0] * 3, gait=[99, -4, 2]), make_toy(poses=poses))
    assert [number for _, number in shown_poses(toy=poses)] == [17, 0, 17]


def test_each_of_several_characters_has_rows_of_its_own():
    thin, wide = space(walk=16, run=0, jump=5), space(walk=10, run=8, jump=0, width=1.5)
    # in the order of their names
    second, first = make_toy("Wide", wide), make_toy("Thin", thin)
    character = [0, 1, 0, 1, 2, -1, 1]
    frame = level_frame(7, phase=[0.5] * 7, gait=[0, 0, 1, 1, 1, 2, 2], character=character)
    crowd_of(frame, first, second)
    assert shown_poses(thin=thin, wide=wide) == [
        ("thin", 0), ("wide", 0), ("thin", 9), ("wide", 6), ("thin", 9), ("wide", 15), ("wide", 15)
    ]  # fmt: skip


def test_without_attributes_agents_stand_and_keep_a_character_of_their_own():
    thin, wide = space(), space(width=1.5)
    frame = make_frame(60)
    obj, modifier = crowd_of(frame, make_toy("Thin", thin), make_toy("Wide", wide))
    found = shown_poses(thin=thin, wide=wide)
    assert set(found) == {("thin", 0), ("wide", 0)}
    frame.position[:] += 1.0
    state.write_state(state.ensure_state(obj), frame)
    assert shown_poses(thin=thin, wide=wide) == found
    display.set_input(modifier, "Seed", 3)
    assert shown_poses(thin=thin, wide=wide) != found
    display.set_input(modifier, "Choose By", "Index")
    assert [name for name, _ in shown_poses(thin=thin, wide=wide)] == [
        "thin" if number % 2 == 0 else "wide" for number in frame.id
    ]


def test_starts_differ_where_there_is_no_phase():
    poses = space()
    crowd_of(level_frame(40, gait=[1] * 40), make_toy(poses=poses))
    assert len({number for _, number in shown_poses(toy=poses)}) > 10


@pytest.mark.parametrize("axis", ["NEG_Y", "POS_X", "POS_Y", "NEG_X"])
@pytest.mark.parametrize("matrix", ["identity", "turned", "uneven"])
def test_characters_face_their_heading_whatever_the_axis_and_the_crowd_object(axis, matrix):
    heading = np.float32([0.6, 0.8, 0.0])
    frame = level_frame(3, heading, axis)
    _, modifier = crowd_of(frame, make_toy(), matrix=MATRICES[matrix])
    display.set_input(modifier, "Forward Axis", axis)
    display.set_input(modifier, "Scale", 1.5)
    for row, (found, _, _) in enumerate(instances()):
        ahead, up = -np.array(found)[:3, 1], np.array(found)[:3, 2]
        np.testing.assert_allclose(ahead, 1.5 * heading, atol=2e-5)
        np.testing.assert_allclose(up, [0, 0, 1.5], atol=2e-5)
        np.testing.assert_allclose(found.translation, frame.position[row], atol=2e-5)
    display.set_input(modifier, "Align to Heading", False)
    for found, _, _ in instances():
        np.testing.assert_allclose(-np.array(found)[:3, 1], [0, -1.5, 0], atol=2e-5)


@pytest.mark.parametrize("upright", [1.0, 0.4, 0.0])
def test_soles_lie_on_slopes_and_bodies_are_upright_by_a_share(upright):
    rise = math.tan(math.radians(15.0))
    heading = np.float32([0.6, 0.8, 0.0])
    # a plane that rises along x: seen by somebody who walks askew
    frame = level_frame(
        4, heading, phase=[0, 0.25, 0.6, 0.9], gait=[1] * 4,
        slope_ahead=[0.6 * rise] * 4, slope_side=[0.8 * rise] * 4,
    )  # fmt: skip
    frame.position[:, 2] = rise * frame.position[:, 0]
    _, modifier = crowd_of(frame, make_toy(), matrix=MATRICES["moved"])
    display.set_input(modifier, "Upright", upright)
    for points in shown_points():
        soles = points[SOLES]
        np.testing.assert_allclose(soles[:, 2], rise * soles[:, 0], atol=2e-5)
    tilt = math.radians(15.0) * (1.0 - upright)
    up = [-math.sin(tilt), 0.0, math.cos(tilt)]
    for found, _, _ in instances():
        np.testing.assert_allclose(np.array(found)[:3, 2], up, atol=2e-5)


@pytest.mark.parametrize("upright", [1.0, 0.7, 0.0])
def test_nodes_and_heroes_have_the_same_stances(upright):
    shears = np.random.default_rng(3).uniform(-0.4, 0.4, (8, len(SHEARS)))
    shears[0] = 0.0
    frame = level_frame(8, **dict(zip(SHEARS, shears.T, strict=True)))
    frame.position[:] = 0.0
    _, modifier = crowd_of(frame, make_toy())
    display.set_input(modifier, "Upright", upright)
    for (found, _, _), expected in zip(instances(), stances(shears, upright), strict=True):
        np.testing.assert_allclose(np.array(found), expected, atol=2e-6)


def test_bakes_from_before_bodies_turned_on_curves_look_as_they_did():
    shears = dict(zip(SHEARS, np.random.default_rng(5).uniform(-0.3, 0.3, (8, 4)), strict=True))
    old = {name: shears[name] for name in SHEARS[:4]}
    _, modifier = crowd_of(level_frame(4, **old), make_toy())
    display.set_input(modifier, "Upright", 0.6)
    values = np.stack([*old.values(), *np.zeros((4, 4))], axis=1)
    for (found, _, _), expected in zip(instances(), stances(values, 0.6), strict=True):
        np.testing.assert_allclose(np.array(found)[:3, :3], expected[:3, :3], atol=2e-6)


def test_each_of_several_characters_is_upright_by_a_share_of_its_own():
    rise = math.tan(math.radians(15.0))
    frame = level_frame(6, slope_ahead=[rise] * 6, character=[0, 1, 0, 1, 1, 0])
    person, dog = make_toy("A Person"), make_toy("Dog", space(width=1.5))
    _, modifier = crowd_of(frame, person, dog)
    library_group.set_upright(dog, 0.25)
    assert (library_group.upright_of(person), library_group.upright_of(dog)) == (1.0, 0.25)
    for crowd in (1.0, 0.6):
        display.set_input(modifier, "Upright", crowd)
        bpy.context.view_layer.update()
        for (found, _, _), who in zip(instances(), frame.attributes["character"], strict=True):
            share = crowd * (0.25 if who else 1.0)
            tilt = math.radians(15.0) * (1.0 - share)
            up = np.array(found)[:3, 2]
            np.testing.assert_allclose(up, [0, math.sin(tilt), math.cos(tilt)], atol=2e-5)


def test_headings_that_point_up_the_slope_add_nothing_to_it():
    ahead = np.float32([math.cos(0.3), 0.0, math.sin(0.3)])
    level = level_frame(1, (1.0, 0.0, 0.0), slope_ahead=[math.tan(0.3)])
    obj, _ = crowd_of(level, make_toy())
    (expected,) = shown_points()
    risen = level_frame(1, ahead, slope_ahead=[math.tan(0.3)])
    state.write_state(state.ensure_state(obj), risen)
    np.testing.assert_allclose(shown_points()[0], expected, atol=2e-5)
    # without a slope they are flyers, whose whole body points there
    state.write_state(state.ensure_state(obj), level_frame(1, ahead))
    ((found, _, _),) = instances()
    np.testing.assert_allclose(-np.array(found)[:3, 1], ahead, atol=2e-5)


def test_leaning_shifts_by_height_and_leaves_the_soles_where_they_are():
    crowd_of(level_frame(2, lean_ahead=[0, 0.2], lean_side=[0, -0.1]), make_toy())
    straight, leaning = shown_points()
    leaning = leaning - [2, 0, 0]
    # ahead is -Y, the right is -X
    height = straight[:, 2:]
    np.testing.assert_allclose(leaning - straight, height * [0.1, -0.2, 0], atol=2e-6)
    assert straight[FEET, 2].min() == 0.0


def test_the_size_follows_the_radius_where_it_counts():
    frame = level_frame(2)
    frame.radius[:] = 0.25, 0.5
    _, modifier = crowd_of(frame, make_toy())
    display.set_input(modifier, "Size by Radius", True)
    assert [points[:, 2].max() for points in shown_points()] == pytest.approx([1.7, 3.4])


def test_the_dead_and_those_over_the_limit_are_left_out():
    frame = make_frame(50)
    frame.alive[::2] = 0
    obj, modifier = crowd_of(frame, make_toy())
    assert [number for _, _, number in instances()] == frame.id[1::2].tolist()
    display.set_input(modifier, "Viewport Limit", 10)
    assert {number for _, _, number in instances()} <= set(frame.id[1::2].tolist())
    display.set_input(modifier, "Keep Points", False)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert len(evaluated.data.vertices) == 0


@pytest.mark.parametrize("shown", ["Character", "Characters"])
def test_points_stand_in_for_characters_that_are_none(shown):
    obj, modifier = make_crowd(make_frame(9))
    display.set_input(modifier, "Keep Points", False)
    display.set_input(modifier, "Display", shown)
    cubes = bpy.data.collections.new("Cubes")
    for choice in (False, True):
        if choice:
            display.set_input(modifier, "Object", make_object("Cube", cubes))
            display.set_input(modifier, "Collection", cubes)
        assert instances() == []
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert len(evaluated.data.vertices) == 9


def test_objects_beside_characters_are_passed_over():
    poses = space()
    toy = make_toy(poses=poses)
    make_object("A cube", toy.users_collection[0])
    _, modifier = crowd_of(make_frame(9), toy)
    display.set_input(modifier, "Display", "Characters")
    assert shown_poses(toy=poses) == [("toy", 0)] * 9


def mixed_crowd():
    """Two characters on a slope in all their gaits."""
    random = np.random.default_rng(4)
    attributes = {"phase": 9, "gait": 3, "slope_ahead": 0.3, "lean_side": 0.2, "character": 1.4}
    frame = level_frame(
        30, (0.6, 0.8, 0.0), **{name: random.random(30) * most for name, most in attributes.items()}
    )
    crowd_of(frame, make_toy("Thin"), make_toy("Wide", space(walk=9, width=1.5)))
    return np.concatenate(shown_points())


def test_another_blender_without_steer_shows_the_same(tmp_path):
    expected = mixed_crowd()
    blend, found = tmp_path / "crowd.blend", tmp_path / "points.npy"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "resources")}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-P", str(SCRIPT), str(blend), str(found)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.is_file(), done.stdout + done.stderr
    np.testing.assert_array_equal(np.load(found), expected)


def test_a_crowd_that_is_appended_brings_its_characters(tmp_path):
    expected = mixed_crowd()
    blend = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(blend) as (_, wanted):
        wanted.objects = ["Points"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    np.testing.assert_array_equal(np.concatenate(shown_points()), expected)


def test_the_scene_may_lose_the_collection_of_characters():
    poses = space()
    toy = make_toy(poses=poses)
    crowd_of(level_frame(3), toy)
    bpy.data.collections.remove(toy.users_collection[0])
    assert shown_poses(toy=poses) == [("toy", 0)] * 3


def test_moved_crowd_objects_leave_characters_where_they_are():
    frame = level_frame(3, slope_ahead=[0.2] * 3, lean_side=[0.1] * 3)
    obj, _ = crowd_of(frame, make_toy())
    before = np.concatenate(shown_points())
    obj.matrix_world = Matrix.Diagonal((2.0, 0.5, -3.0, 1.0)) @ MATRICES["turned"]
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.concatenate(shown_points()), before, atol=5e-5)
