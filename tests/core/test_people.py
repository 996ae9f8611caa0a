"""Built-in people: feet stay where they are, gaits join, bodies are whole."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from steer_addon.core.characters.figure import Figure
from steer_addon.core.characters.figures import make_figure
from steer_addon.core.characters.pose_space import Row
from steer_addon.core.errors import CharacterError

PEOPLE = {"woman": 1.66, "man": 1.78, "child": 1.25}
RUNS = ("jog", "run", "fast run")


@cache
def made(name: str) -> Figure:
    return make_figure(name)


@pytest.fixture(params=PEOPLE)
def person(request):
    return made(request.param)


def poses(figure: Figure, row: Row):
    return figure.space.positions[row.first : row.first + row.count].astype(float)


def row_named(figure: Figure, name: str) -> Row:
    return next(row for row in figure.space.rows if row.name == name)


def slips(figure: Figure, speed: float, scale: float) -> tuple[str, np.ndarray]:
    """Ways [mm] that soles on the ground move in a frame of 1/24 s, walking straight ahead."""
    row = min(
        figure.space.gaits[1:], key=lambda row: abs(np.log(speed / row.speed / np.sqrt(scale)))
    )
    way = speed / 24.0 * np.arange(73)
    phase = 0.137 + way / (row.stride * scale)
    number = np.floor(phase % 1.0 * row.count + 0.5).astype(int) % row.count
    points = poses(figure, row)[number] * scale
    points[..., 1] -= way[:, None]
    low = points[..., 2] < 0.004 * scale
    moved = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
    return row.name, 1000.0 * moved[low[1:] & low[:-1]]


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.2])
def test_planted_soles_stay_where_they_are(person, scale):
    walks, runs = [], []
    for speed in np.arange(0.3, 3.55, 0.2):
        name, moved = slips(person, speed, scale)
        (runs if name in RUNS else walks).append(moved)
    walk, run = np.concatenate(walks), np.concatenate(runs)
    # a pose stands for 8 mm of way: when it is the nearest one, half of that is left
    assert np.median(walk) <= 3.0 * max(scale, 1.0) and np.percentile(walk, 95) <= 10.0
    assert np.median(run) <= 5.5 * max(scale, 1.0) and np.percentile(run, 95) <= 25.0


def test_soles_go_back_as_evenly_as_the_ground(person):
    """At any pose but those of contact and of lifting, the lowest vertices move with the ground."""
    for row in person.space.gaits[1:]:
        points = poses(person, row)
        after = np.roll(points, -1, axis=0)
        low = (points[..., 2] < 0.003) & (after[..., 2] < 0.003)
        step = (after - points)[low][:, :2] - [0.0, row.stride / row.count]
        away = np.linalg.norm(step, axis=-1)
        assert np.median(away) < 1e-5
        assert np.percentile(away, 95) < 0.0015, row.name


def test_feet_never_sink_into_the_ground(person):
    assert person.space.positions[..., 2].min() > -0.002


def test_people_who_stand_have_both_feet_down(person):
    stand = person.space.gaits[0]
    assert (stand.speed, stand.stride) == (0.0, 0.0)
    points = poses(person, stand)
    still = np.ptp(points, axis=0).max(axis=-1) < 1e-6
    down = still & (points[0, :, 2] < 1e-4)
    for side in (1.0, -1.0):
        sole = points[0, down & (points[0, :, 0] * side > 0.0)]
        assert len(sole) >= 8 and np.ptp(sole[:, 1]) > 0.1 * person.height
    # slow enough that no pose is seen to follow another
    assert np.abs(np.diff(points, axis=0)).max() < 0.004


def test_walks_always_have_a_foot_down_and_runs_fly(person):
    for row in person.space.gaits[1:]:
        lowest = poses(person, row)[..., 2].min(axis=1)
        share_in_air = np.mean(lowest > 0.003)
        if row.name in RUNS:
            assert 0.08 < share_in_air < 0.5, row.name
        else:
            assert share_in_air == 0.0, row.name


def test_left_and_right_are_half_a_cycle_apart(person):
    keys = {tuple(p): i for i, p in enumerate(np.round(person.rest.astype(float), 4))}
    partner = [keys[-x, y, z] for x, y, z in keys]
    for row in person.space.gaits:
        points = poses(person, row)
        other = np.roll(points, row.count // 2, axis=0)[:, partner] * [-1.0, 1.0, 1.0]
        assert np.abs(points - other).max() < 1e-4


def test_no_vertex_jumps_between_poses(person):
    """A step is at most twice what the poses before and after say, as a velocity would."""
    for row in person.space.gaits:
        points = poses(person, row)
        step = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=-1)
        central = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
        said = 0.5 * np.linalg.norm(central, axis=-1)
        said = np.maximum(said, np.roll(said, -1, axis=0))
        assert (step <= 2.0 * said + 0.004).all(), row.name


def test_gaits_are_near_each_other_where_feet_pass(person):
    for one, other in zip(person.space.gaits, person.space.gaits[1:], strict=False):
        for half in (0.0, 0.5):
            a = person.space.positions[one.first + int(half * one.count)]
            b = person.space.positions[other.first + int(half * other.count)]
            away = np.linalg.norm(a - b, axis=-1) / person.height
            assert away.mean() < 0.022, (one.name, other.name)
            assert away.max() < 0.1, (one.name, other.name)
            # the planted foot hardly moves: sideways, or along with another hip
            sole = a[:, 2] < 1e-3
            side = a[:, 0] > 0.0 if half == 0.0 else a[:, 0] < 0.0
            assert away[sole & side].max() < 0.02, (one.name, other.name)


def test_knees_bend_ahead_and_elbows_too(person):
    number = person.skeleton.names.index
    for side in ("_l", "_r"):
        hip, knee, ankle = (person.places[:, number(n + side)] for n in ("thigh", "shin", "foot"))
        normal = np.cross(knee - hip, ankle - knee)
        assert normal[:, 0].min() > 0.0  # never straight, never backward
        arm = [person.places[:, number(n + side)] for n in ("upper_arm", "forearm", "hand")]
        assert np.cross(arm[1] - arm[0], arm[2] - arm[1])[:, 0].max() < 0.0


def test_strides_and_heights_are_those_of_people(person):
    walk, run = row_named(person, "walk"), row_named(person, "run")
    assert 0.8 * 1.9 < 2.0 / walk.duration < 1.25 * 1.9
    assert 0.9 * 2.7 < 2.0 / run.duration < 1.3 * 2.7
    stand = poses(person, person.space.gaits[0])
    assert np.ptp(stand[..., 2]) == pytest.approx(PEOPLE[person.name], abs=0.025)
    head = person.places[:, person.skeleton.names.index("head")]
    rows = person.space.gaits
    rise = [np.ptp(head[row.first : row.first + row.count, 2]) for row in rows]
    named = {row.name: way / person.height for row, way in zip(rows, rise, strict=True)}
    assert 0.01 < named["walk"] < 0.04 and 0.02 < named["run"] < 0.06


def test_skins_are_closed_and_face_outward(person):
    faces = person.surface.faces
    edges = [(a, b) for f in faces for a, b in zip(f, (*f[1:], f[0]), strict=True)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    group = np.arange(len(person.rest))
    while True:  # parts: vertices that faces join
        before = group.copy()
        for face in faces:
            group[list(face)] = group[list(face)].min()
        if (group == before).all():
            break
    for part in np.unique(group):
        inside = 0.0
        for face in faces:
            if group[face[0]] == part:
                points = person.rest[list(face)].astype(float)
                for i in range(1, len(face) - 1):
                    inside += np.linalg.det(points[[0, i, i + 1]]) / 6.0
        assert inside > 0.0


def test_poses_follow_from_the_skeleton(person):
    """Vertices of one bone alone go as it does: what a rig needs is at hand."""
    w, x, y, z = np.moveaxis(person.turns.astype(float), -1, 0)
    assert np.abs(w * w + x * x + y * y + z * z - 1.0).max() < 1e-5
    head = person.skeleton.names.index("head")
    mine = (person.bones[:, 1] == head) & (person.shares == 1.0)
    v = person.rest[mine] - person.skeleton.rest[head]
    axis = person.turns[:, head, None, 1:].astype(float)
    twice = 2.0 * np.cross(axis, v)
    turned = v + person.turns[:, head, None, :1] * twice + np.cross(axis, twice)
    away = turned + person.places[:, head, None] - person.space.positions[:, mine]
    assert np.abs(away).max() < 1e-4


def test_sizes_and_determinism(person):
    again = make_figure(person.name)
    assert np.array_equal(again.space.positions, person.space.positions)
    assert person.space.pose_count <= 1100
    assert person.space.positions.nbytes <= 10e6
    assert person.surface.materials.max() == len(person.slots) - 1
    assert make_figure(person.name, 0.016).space.pose_count < 0.55 * person.space.pose_count


def test_unknown_characters_are_told():
    with pytest.raises(CharacterError, match="no character 'cow'"):
        make_figure("cow")
    with pytest.raises(CharacterError, match="give more than 0"):
        make_figure("man", 0.0)
