"""Surfaces on disk: the same when they are read, and found again when they are anything else."""

from __future__ import annotations

import os
import shutil
import time

import numpy as np
import pytest
import way_scenes as scenes
from waytools import RADIUS, SHAPE, blocks_of, led

from steer_addon.core.ways import ways as ways_module
from steer_addon.core.ways.ahead import found as ahead
from steer_addon.core.ways.ahead import stored
from steer_addon.core.ways.surface import Surface
from steer_addon.core.ways.ways import Ways

NO_GOALS = np.zeros((0, 3), np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Let each surface take long to find, and be kept."""
    monkeypatch.setattr(ahead, "LONG", 1)
    monkeypatch.setattr(ahead, "_found", ahead._Found())
    monkeypatch.setattr(stored, "WORTH", 0.0)
    monkeypatch.setattr(stored.jit, "cache_root", lambda: tmp_path)
    return tmp_path / "surfaces"


@pytest.fixture
def made(monkeypatch):
    """The surfaces that are found, and not read."""
    found, make = [], ways_module.make_surface
    monkeypatch.setattr(ways_module, "make_surface", lambda *a: found.append(a) or make(*a))
    return found


def surface_of(scene, *more, shape=SHAPE):
    return Ways().surface(shape, blocks_of(scene, *more), NO_GOALS)


def assert_same(one, other):
    assert one.shape == other.shape
    for name, a, b in zip(one.view._fields, one.view, other.view, strict=True):
        assert type(a) is type(b), name
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None), name


def test_a_surface_is_found_once_and_read_from_then_on(folder, made):
    scene = scenes.random_blocks(1)
    starts = scenes.free_places(scene, 2.0 * RADIUS, 20, 3)
    first = surface_of(scene)
    wanted = led(scene, starts[1:], starts[0])
    assert len(made) == 1 and len(os.listdir(folder)) == 1
    blocks_of.cache_clear()
    # others with the same triangles, as in a file that is opened again
    assert_same(surface_of(scene), first)
    for one, other in zip(led(scene, starts[1:], starts[0]), wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(made) == 1


def test_another_scene_or_body_has_a_surface_of_its_own(folder, made):
    scene, door = scenes.two_doors(), scenes.door_leaf(0.3)
    low = SHAPE.__class__(**{**SHAPE.__dict__, "height": 1.2})
    for number, (more, shape) in enumerate([((), SHAPE), ((door,), SHAPE), ((), low)]):
        surface_of(scene, *more, shape=shape)
        assert len(made) == len(os.listdir(folder)) == number + 1


def test_a_folder_that_lets_nobody_write_is_read(made, monkeypatch):
    scene = scenes.two_doors()
    first = surface_of(scene)

    def refuse(path):
        raise PermissionError(path)

    monkeypatch.setattr(stored.os, "utime", refuse)
    assert_same(surface_of(scene), first)
    assert len(made) == 1


def test_another_version_of_steer_finds_its_own(made, monkeypatch):
    scene = scenes.two_doors()
    surface_of(scene)
    monkeypatch.setattr(stored.jit_sources, "digest", lambda *modules: "other sources")
    surface_of(scene)
    assert len(made) == 2


def test_what_is_found_soon_is_not_kept(folder, made, monkeypatch):
    monkeypatch.setattr(stored, "WORTH", 1.0e6)
    surface_of(scenes.two_doors())
    assert len(made) == 1 and not folder.exists()


def test_what_is_found_ahead_is_kept_too(folder, made):
    scene = scenes.two_doors()
    shares = []
    Ways(shares.append).surface(SHAPE, blocks_of(scene), NO_GOALS)
    assert len(made) == 1 and len(os.listdir(folder)) == 1 and shares
    surface_of(scene)
    assert len(made) == 1


def cut(path, other):
    path.write_bytes(path.read_bytes()[:-200])


def changed(path, other):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def empty(path, other):
    path.write_bytes(b"")


def of_another(path, other):
    shutil.copy(other, path)


def pickled(path, other):
    parts = dict(np.load(path))
    np.savez(path, **{**parts, "z": np.array([{"a": 1}, None], object)})


def lacking(path, other):
    parts = dict(np.load(path))
    del parts["link"]
    np.savez(path, **parts)


def link(path, other):
    elsewhere = path.parents[1] / "elsewhere.npz"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("damage", [cut, changed, empty, of_another, pickled, lacking, link])
def test_what_is_damaged_or_foreign_is_found_again_and_replaced(folder, made, damage):
    scene = scenes.two_doors()
    first = surface_of(scene)
    (path,) = folder.iterdir()
    surface_of(scene, scenes.door_leaf(0.3))
    (other,) = set(folder.iterdir()) - {path}
    damage(path, other)
    assert_same(surface_of(scene), first)
    assert len(made) == 3 and path.is_file() and not path.is_symlink()
    assert_same(surface_of(scene), first)
    assert len(made) == 3
    if damage is link:
        # what it led to is as it was
        assert (folder.parent / "elsewhere.npz").is_file()


def test_wherever_a_file_is_damaged_it_is_found_again_or_the_same(folder, made):
    scene, rng = scenes.two_doors(), np.random.default_rng(5)
    first = surface_of(scene)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    # names and sizes of the arrays, and the table at the end
    places = [*range(0, 400, 3), *range(len(whole) - 1200, len(whole), 7)]
    for place in [*places, *rng.integers(0, len(whole), 100).tolist()]:
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(data)
        view = stored._read(path)
        if view is not None:
            assert_same(Surface(view, first.shape), first)


def test_a_folder_that_takes_no_files_is_no_error(folder, made, monkeypatch):
    scene = scenes.two_doors()
    folder.write_text("a file in its place")
    surface_of(scene)
    surface_of(scene)
    assert len(made) == 2 and folder.read_text() == "a file in its place"
    monkeypatch.setattr(stored.jit, "cache_root", lambda: None)
    surface_of(scene)
    assert len(made) == 3


def test_the_files_used_longest_ago_make_room_and_no_others_do(folder, made, monkeypatch):
    scene = scenes.two_doors()
    surface_of(scene)
    (first,) = folder.iterdir()
    size = first.stat().st_size
    monkeypatch.setattr(stored, "MOST_BYTES", int(2.5 * size))
    for name in ("notes.txt", "mine.npz", "0" * 64 + ".npz.bak"):
        (folder / name).write_bytes(bytes(3 * size))
    (folder / ("0" * 64 + ".npz")).mkdir()
    there, leaves = set(folder.iterdir()), (0.2, 0.4, 0.6)
    old = time.time() - 1000.0
    for number, shut in enumerate(leaves):
        os.utime(first, (old, old)) if number == 2 else surface_of(scene)
        surface_of(scene, scenes.door_leaf(shut))
        now = set(folder.iterdir()) - there
        if number == 0:
            second = now.pop()
            os.utime(second, (old, old))
        elif number == 1:
            # the first one was read by now
            assert first.exists() and not second.exists()
    assert not first.exists() and len(set(folder.iterdir()) - there) == 2
    assert {path for path in there if path.exists()} == there - {first}


def test_a_surface_larger_than_all_of_the_room_is_not_kept(folder, made, monkeypatch):
    monkeypatch.setattr(stored, "MOST_BYTES", 1000)
    surface_of(scenes.two_doors())
    assert len(made) == 1 and not folder.exists()
