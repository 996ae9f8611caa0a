"""Heroes of characters made from rigs step round where they turn on the spot, as instances do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from walktools import walk  # noqa: E402

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.characters import making, origins  # noqa: E402
from steer_addon.blender.characters.heroes import hero, stepping  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.characters.cast import POSTURE  # noqa: E402
from steer_addon.core.characters.holding import held_back  # noqa: E402
from steer_addon.core.characters.legs import share_of_turn  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.results.frames import Frame, rotations  # noqa: E402
from tests.blender.live_scenes import make_crowd  # noqa: E402
from tests.blender.made_once import import_rig  # noqa: E402
from tests.blender.test_heroes import KNIGHT, mesh_points  # noqa: E402
from tests.blender.walking_rigs import character_of, hero_parts, made_by, nearest, walking_rig  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

WAY = 0.01
"""Way from pose to pose [m]."""
FRAMES = 50


def knight(connected):
    rig = import_rig(KNIGHT)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.use_connect = connected and bone.name[:-2] in ("lowerleg", "foot", "toes")
    bpy.ops.object.mode_set(mode="OBJECT")
    plan = Plan(tolerance=WAY, steps=48, ratio=2.0)
    recipe = making.Recipe("Idle", "Walking_A", plan=plan)
    return making.make_character(bpy.context.scene, rig, recipe)


def crowd_of(made):
    obj = make_crowd(((0.0, 0.0, 0.0),))
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    return obj


def frames_of(went):
    """Frames of a crowd of one agent that does as a body did."""
    heading = np.stack([np.sin(went.yaws), -np.cos(went.yaws), 0.0 * went.yaws], axis=1)
    turns = rotations(heading.astype(np.float32), "NEG_Y")
    moves = np.hstack([went.slopes, went.moves])
    for k in range(len(went.yaws)):
        values = [went.phases[k], went.gaits[k], 0.0, *moves[k], 0.0]
        posture = {n: np.array([v], np.float32) for n, v in zip(POSTURE, values, strict=True)}
        place = np.array([[*went.places[k], 0.0]], np.float32)
        size, alive = np.full(1, 0.25, np.float32), np.ones(1, np.uint8)
        turn = turns[k : k + 1]
        yield Frame(k + 1, np.array([0]), place, 0.0 * place, turn, size, alive, posture)


def promoted(obj, went, monkeypatch, times=None):
    """Where vertices of the hero are that does as a body did, shape (frame_count, n, 3)."""
    times = np.arange(1.0, len(went.yaws) + 1.0) if times is None else times
    monkeypatch.setattr(heroes, "frames_of", lambda *_: frames_of(went))
    assert heroes.promote(obj, bpy.context.scene, [0]).done == [0]
    parts = [part for part in hero_parts(heroes.carriers(obj)[0]) if part.type == "MESH"]
    parts.sort(key=lambda part: part.name)
    found = []
    for time in times.tolist():
        bpy.context.scene.frame_set(int(time), subframe=time % 1.0)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found.append(np.concatenate([mesh_points(depsgraph, part) for part in parts]))
    return np.array(found)


def rigid(found, stand, connected):
    """How far the rigid bones of a leg are at most from where poses have its vertices [m].

    In poses a thigh is turned and lifted by nothing at its top, and nearly as far as the foot at
    its end. A bone is so by the mean: half too much at one end, half too little at the other, by
    the turn as far as the leg is thick. Soles are where they belong; only where bones of a leg are
    connected, so that it cannot get shorter, a foot in the air may be too low by half of its lift.
    """
    legs = next(row.legs for row in found.rows if row.legs)
    turn, lift = (np.abs([getattr(leg, n) for leg in legs]).max() for n in ("turns", "lifts"))
    hips = [np.array(found.rig.data.bones[name].head_local)[:2] for name in found.legs]
    thick = np.min([np.linalg.norm(stand[:, :2] - hip, axis=1) for hip in hips], axis=0)
    share = share_of_turn(stand[:, 2], legs[0].low, legs[0].top)
    limits = np.where(share > 0.0, 0.5 * (turn * thick + lift), 0.0)
    limits[stand[:, 2] < 0.01] = 0.5 * lift if connected else 0.0
    return limits


def at_phase(went):
    """Where vertices are at the very phases of a body, as heroes have them; see `Walk.vertices`."""
    points, moves = [], went.moves.copy()
    for k, (number, phase) in enumerate(zip(went.gaits, went.phases, strict=True)):
        row = went.space.rows[number]
        place = phase % 1.0 * row.count
        before, part = int(place), place % 1.0
        poses = went.space.positions[row.first : row.first + row.count].astype(float)
        points.append((1.0 - part) * poses[before] + part * poses[(before + 1) % row.count])
        moves[k, 1] += held_back(phase, row.stride, row.count)
    return replace(went, moves=moves).placed(np.array(points), np.arange(len(points)))


def slips(points, planted):
    """How far planted vertices move on the ground from frame to frame [m]."""
    return np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)[planted]


@pytest.mark.slow
@pytest.mark.skipif(not KNIGHT.is_file(), reason="the shared rigs are not here")
# legs that are not connected are those of the rig made by script, each time
@pytest.mark.parametrize("connected", often([False, True], True))
def test_a_hero_steps_round_as_its_instance(monkeypatch, connected):
    made = knight(connected)
    obj = crowd_of(made)
    kinds = ("objects", "meshes", "actions", "armatures", "collections", "scenes")
    before = {kind: set(getattr(bpy.data, kind).keys()) for kind in kinds}
    speed = next(row.speed for row in made.space.gaits if row.name == "walk")
    walks = walk(made.space, [speed] * FRAMES, [0.0] * FRAMES)
    turns = walk(made.space, [0.0] * FRAMES, [0.0] * 4 + [2.0] * 20 + [0.0] * 6 + [-2.0] * 20)
    assert np.degrees(turns.yaws.max()) > 90.0
    beside, found = [], []
    for went in (walks, turns):
        seen, expected = promoted(obj, went, monkeypatch), at_phase(went)
        same = nearest(expected[0], seen[0])[0] if went is turns else None
        found.append((seen, expected))
        names = sorted(a.name for a in bpy.data.actions if a.get(hero.MARK) == "Rig")
        # who does not turn plays no such action
        assert names == (["Rig turn left", "Rig turn right"] if went is turns else [])
        assert heroes.demote(obj).done == [0]
        assert {kind: set(getattr(bpy.data, kind).keys()) for kind in kinds} == before
    for seen, expected in found:
        beside.append(np.linalg.norm(seen[:, same] - expected, axis=-1))
    limits = beside[0].max() + rigid(origins.read(made.character), expected[0], connected)
    assert (beside[1] <= limits).all(), (beside[1] - limits).max()
    # soles that are down in two frames; instances are beside their phase by WAY / 4 on average
    down = turns.vertices()[..., 2] < 0.005
    down = down[1:] & down[:-1]
    assert len(slips(seen, down)) > 1000
    for share in (50, 75, 90, 100):
        own, shown = (slips(p, down) for p in (seen[:, same], turns.vertices()))
        assert np.percentile(own, share) <= np.percentile(shown, share) + WAY / 4


@pytest.mark.parametrize("mode", ["QUATERNION", "ZYX", "AXIS_ANGLE"])
def test_bones_turn_by_whatever_property_they_are_turned(monkeypatch, mode):
    rig = walking_rig()
    for name in ("leg.l", "leg.r"):
        rig.pose.bones[name].rotation_mode = mode
    made = character_of(rig)
    turns = walk(made.space, [0.0] * 24, [2.0] * 12 + [-2.0] * 12)
    seen, expected = promoted(crowd_of(made), turns, monkeypatch), at_phase(turns)
    soles = np.flatnonzero(expected[0, :, 2] < 0.01)
    same = nearest(expected[0], seen[0])[0][soles]
    assert len(soles) == 8
    # between two poses, which are few here, each property goes straight
    assert np.linalg.norm(seen[:, same] - expected[:, soles], axis=-1).max() < 0.004


def test_legs_do_not_rush_on_where_a_turn_ends_between_two_frames(monkeypatch):
    made = made_by(walking_rig)
    turns = walk(made.space, [0.0] * 40, [2.0] * 9 + [0.0] * 9 + [-2.0] * 9 + [2.0] * 5 + [0.0] * 8)
    assert np.count_nonzero(np.diff(turns.gaits)) == 4
    seen = promoted(crowd_of(made), turns, monkeypatch, np.arange(1.0, 40.25, 0.25))
    soles = seen[0, :, 2] < 0.01
    steps = np.linalg.norm(np.diff(seen[:, soles], axis=0), axis=-1).max(axis=1).reshape(-1, 4)
    steps, ends = steps[turns.gaits[:-1] > 0], np.flatnonzero(np.diff(turns.gaits[turns.gaits > 0]))
    usual = np.delete(steps, ends, axis=0).max()
    assert len(ends) == 2 and steps[:, :3].max() <= usual


@pytest.mark.parametrize("slows", [20, 2])
def test_a_hero_sets_its_foot_down_as_its_instance(slows, monkeypatch):
    made = made_by(walking_rig)
    obj, last = crowd_of(made), len(made.space.rows) - 1
    speed, slowest = made.space.gaits[-1].speed, made.space.gaits[2].speed
    slowing = np.linspace(speed, 0.5 * slowest, slows)
    speeds = np.concatenate([[speed] * 20, slowing, [0.0] * 40])
    went = walk(made.space, speeds, 0.0 * speeds)
    shown = went.gaits == last
    assert made.space.rows[last].last_steps and shown.sum() > 4 and went.gaits[-1] == 0
    # it falls through poses of gaits first
    assert went.gaits[np.flatnonzero(shown)[0] - 1] > 2
    seen, expected = promoted(obj, went, monkeypatch), at_phase(went)
    same = nearest(expected[-1], seen[-1])[0]
    beside = np.linalg.norm(seen[:, same] - expected, axis=-1).max(axis=1)
    assert beside[shown].max() < 0.004 and beside[-1] < 0.004


def test_legs_that_constraints_hold_do_not_step_round():
    rig = walking_rig()
    made = character_of(rig)
    found, new = origins.read(made.character), []
    assert [len(row.legs) for row in found.rows[-4:]] == [0, 2, 2, 0]
    assert len(stepping.stepping_round(found, bpy.context.scene, hero.MARK, new).tracks) == 6
    for name in ("leg.l", "leg.r"):
        held = rig.pose.bones[name].constraints.new("LIMIT_ROTATION")
        held.use_limit_x = held.use_limit_y = held.use_limit_z = True
        held.owner_space = "LOCAL"
    before = len(bpy.data.actions)
    assert stepping.stepping_round(found, bpy.context.scene, hero.MARK, new) is found
    assert len(bpy.data.actions) == before
