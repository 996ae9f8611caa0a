"""Every built-in character: a closed skin that follows a skeleton, without jumps."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from figuretools import made, poses

from steer_addon.core.characters import curves, leaving
from steer_addon.core.characters.figures import NAMES, assembly, make_figure
from steer_addon.core.characters.pose_space import split_clips
from steer_addon.core.compiled import jit
from steer_addon.core.errors import CharacterError
from steer_addon.core.files import cache_folder
from steer_addon.core.files.signed import Format
from tests.often import often

FORMAT = Format("gaits", 1, 0, ("", ""))


@pytest.fixture(params=NAMES)
def figure(request):
    return made(request.param)


def test_no_vertex_jumps_between_poses(figure):
    """A step is at most twice what the poses before and after say, as a velocity would."""
    for row in figure.space.gaits:
        points = poses(figure, row)
        step = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=-1)
        central = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
        said = 0.5 * np.linalg.norm(central, axis=-1)
        said = np.maximum(said, np.roll(said, -1, axis=0))
        assert (step <= 2.0 * said + 0.004).all(), row.name


@pytest.mark.parametrize("name", ["woman", "man", "child"])
def test_clips_of_people_begin_and_end_where_standing_begins(name):
    figure = made(name)
    clips = {row.name: poses(figure, row) for row in figure.space.clips}
    shown = {"wave", "clap", "look around", "turn left", "turn right", "last steps"}
    assert set(clips) == shown
    for row in split_clips(figure.space.clips)[0]:
        points, stands = clips[row.name], figure.space.positions[0]
        assert np.abs(points[[0, -1]] - stands).max() < 1e-5
        step = np.linalg.norm(np.diff(points, axis=0), axis=-1)
        # a step is like the one before: nothing jumps
        assert np.abs(np.diff(step, axis=0)).max() < 0.04
        # both ends of what goes round are alike
        first, last = (round(at * (row.count - 1)) for at in (row.round_from, row.round_to))
        assert np.abs(points[first] - points[last]).max() < 0.02
        # it is a gesture: feet stay where they are
        feet = stands[:, 2] < 0.03
        assert feet.any() and np.abs(points[:, feet] - stands[feet]).max() < 1e-4


def test_skins_are_closed_and_face_outward(figure):
    ends = np.cumsum(figure.surface.sizes)
    faces = [tuple(part.tolist()) for part in np.split(figure.surface.vertices, ends[:-1])]
    edges = [(a, b) for f in faces for a, b in zip(f, (*f[1:], f[0]), strict=True)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    group = np.arange(len(figure.rest))
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
                points = figure.rest[list(face)].astype(float)
                for i in range(1, len(face) - 1):
                    inside += np.linalg.det(points[[0, i, i + 1]]) / 6.0
        assert inside > 0.0


def test_poses_follow_from_the_skeleton(figure):
    """Vertices of one bone alone go as it does: what a rig needs is at hand."""
    w, x, y, z = np.moveaxis(figure.turns.astype(float), -1, 0)
    assert np.abs(w * w + x * x + y * y + z * z - 1.0).max() < 1e-5
    head = figure.skeleton.names.index("head")
    mine = (figure.bones[:, 1] == head) & (figure.shares == 1.0)
    v = figure.rest[mine] - figure.skeleton.rest[head]
    axis = figure.turns[:, head, None, 1:].astype(float)
    twice = 2.0 * np.cross(axis, v)
    turned = v + figure.turns[:, head, None, :1] * twice + np.cross(axis, twice)
    away = turned + figure.places[:, head, None] - figure.space.positions[:, mine]
    assert np.abs(away).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", often(NAMES, "child", "dog"))
def test_determinism(name):
    again = make_figure(name)
    assert np.array_equal(again.space.positions, made(name).space.positions)


@pytest.mark.slow
def test_sizes(figure):
    assert figure.space.pose_count <= 3760
    assert figure.space.positions.nbytes <= 32.7e6
    assert sum(row.count for row in figure.space.gaits) <= 3400
    assert figure.surface.materials.max() == len(figure.slots) - 1
    gaits = [row for row in figure.space.gaits if row.stride]
    coarse = [row for row in make_figure(figure.name, 3 * 0.0058).space.gaits if row.stride]
    for one, other in zip(gaits, coarse, strict=True):
        # three times the way a pose, in pairs of poses
        assert one.count / 3 <= other.count <= one.count / 3 + 2


def test_unknown_characters_are_told():
    with pytest.raises(CharacterError, match="no character 'cow'"):
        make_figure("cow")
    with pytest.raises(CharacterError, match="give more than 0"):
        make_figure("man", 0.0)


def test_what_is_found_of_gaits_is_kept_and_damaged_files_are_found_again(tmp_path, monkeypatch):
    folder = tmp_path / "figures"
    monkeypatch.setattr(cache_folder, "roots", list)
    space = make_figure("child", 0.06).space
    found = space.gaits
    assert sum(bool(row.leaving) for row in found) > 5
    monkeypatch.setattr(cache_folder, "roots", lambda: [tmp_path])
    assert make_figure("child", 0.06).space.gaits == found
    (kept,) = folder.iterdir()
    written = kept.read_text(encoding="utf-8")
    monkeypatch.setattr(curves, "with_turning", None)
    assert make_figure("child", 0.06).space.gaits == found
    # from here on poses are known, and what is found of them is
    monkeypatch.setattr(curves, "with_turning", lambda _: space)
    monkeypatch.setattr(leaving, "with_leaving", lambda known: known)
    none = dict.fromkeys(("turning", "leaving", "landing", "parting", "leaning"), ())
    bare = replace(space, gaits=tuple(replace(row, **none) for row in found))
    rows = json.loads(written)["gaits"]
    short, strange, unknown, empty, large = (deepcopy(rows) for _ in range(5))
    short[-1]["leaving"].pop()
    strange[-1]["turning"][0][0] = True, 2
    empty[-1]["turning"] = [[], []]
    large[-1]["landing"][0][0] = 10**400
    del unknown[-1]["parting"]
    bad = [FORMAT.signed(data).decode() for data in (short, strange, unknown, rows[1:], {}, 3)]
    bad += [FORMAT.signed(data).decode() for data in (empty, large)]
    bad += [replace(FORMAT, version=2).signed(rows).decode(), written.replace("1", "2")]
    for text in [*bad, json.dumps(rows), "[" * 200_000, written[:-9], "\xff", ""]:
        kept.write_text(text, encoding="latin-1")
        assert assembly._fitted(bare).gaits == found
        assert kept.read_text(encoding="utf-8") == written
    # what never ends is not read
    for make in (lambda: kept.symlink_to("/dev/zero"), lambda: os.mkfifo(kept)):
        kept.unlink()
        make()
        assert assembly._fitted(bare).gaits == found
        assert kept.read_text(encoding="utf-8") == written
    # other poses have another file
    monkeypatch.undo()
    monkeypatch.setattr(cache_folder, "roots", lambda: [tmp_path])
    make_figure("child", 0.08)
    assert len(list(folder.iterdir())) == 2
    kept.unlink()
    kept.mkdir()
    assert make_figure("child", 0.06).space.gaits == found


def test_what_is_found_without_compiled_kernels_is_kept_too_and_by_itself(tmp_path, monkeypatch):
    space, found = made("child").space, []
    monkeypatch.setenv("STEER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(curves, "with_turning", lambda _: found.append("turning") or space)
    monkeypatch.setattr(leaving, "with_leaving", lambda known: known)
    for compiled in (True, False):
        monkeypatch.setattr(jit, "status", lambda compiled=compiled: jit.Status(compiled))
        monkeypatch.setattr(jit, "cache_root", lambda there=compiled: tmp_path if there else None)
        for _ in range(2):
            assert assembly._fitted(space).gaits == space.gaits
    assert len(found) == len(list((tmp_path / "figures").iterdir())) == 2
