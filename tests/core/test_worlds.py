"""Stored worlds without Blender: what is written is read, and worlds of strangers are refused."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tried import tried
from worldfiles import LAST, data_of, make_points, make_settings, make_stored, make_worlds, put, use

from steer_addon.core.errors import OutputError, SteerError, WorldError
from steer_addon.core.runs.points import agents_of
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.worlds.layout import MANIFEST, is_world
from steer_addon.core.worlds.parts import parts_of
from steer_addon.core.worlds.recorder import new_world
from steer_addon.core.worlds.source import Replayer
from steer_addon.core.worlds.stored import open_world

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def stored(tmp_path):
    return make_stored(tmp_path / "world")


def test_a_world_is_read_as_it_was_written(stored):
    (crowd,) = open_world(stored).crowds
    replayer, before = Replayer(crowd), {}
    for number, world in enumerate(make_worlds(), 1):
        found = {part[:2]: part for part in parts_of(replayer.world(crowd.row(number).record))}
        wanted = {part[:2]: part for part in parts_of(world)}
        assert list(found) == list(wanted) and len(found) == 10
        for key, part in wanted.items():
            same = zip(part.arrays, found[key].arrays, strict=True)
            assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in same), key
        moved = {k for k, part in found.items() if before.get(k) is not part.value}
        assert number == 1 or moved == {("targets", ""), ("colliders", "gate")}
        before = {key: part.value for key, part in found.items()}
    assert [len(crowd.warnings[crowd.row(n).warnings]) for n in range(1, LAST + 1)] == [0, 0, 1, 1]


def test_it_simulates_as_its_worlds_do(stored):
    told, worlds = make_settings(), list(make_worlds())
    agents = agents_of(make_points(), told, "Crowd")
    simulation = Simulation(told, agents, frame=1, fps=24.0, world=worlds[0])
    places = [simulation.current().position.tobytes()]
    places += [simulation.step(world, told).position.tobytes() for world in worlds[1:]]
    found = use(stored)
    assert found[:-1] == places and len(set(places)) == LAST
    assert b"PATH_TOO_SHORT" in found[-1]


def at(data, *path, value):
    """Change a value in a manifest."""
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


def first_place(data, kind, number=0):
    """Place of the version table of a kind of input, in int64.npy, and of an array in it."""
    crowd = data["crowds"][0]
    slot = [k for k, _ in crowd["slots"]].index(kind)
    return crowd["versions"][slot][0] + 2 * number


def numbers_of(data, numbers, kind, array=0):
    """Start of an array of an input in the file of its numbers."""
    return int(numbers["int64"][first_place(data, kind, array)])


CROWD = ("crowds", 0)
LEAVES = {
    "no crowds": (("crowds",), []),
    "no number of frames": (("fps",), 0.0),
    "a number that is a text": (("fps",), "24"),
    "another type of array": (("arrays", "float32", "count"), 10**12),
    "a checksum that is none": (("arrays", "float32", "sha256"), "0" * 63),
    "frames that run backwards": ((*CROWD, "last"), -5),
    "frames beyond all": ((*CROWD, "first"), 10**9),
    "a range of others": ((*CROWD, "default"), [0, 99]),
    "a crowd that is not there": ((*CROWD, "steers_by"), [["targets", "", 7]]),
    "a role of another kind": ((*CROWD, "steers_by"), [["colliders", "", 0]]),
    "a crowd met that is not there": ((*CROWD, "met"), [3]),
    "a name of no text": ((*CROWD, "name"), 5),
    "a name without end": ((*CROWD, "name"), "x" * 10**5),
    "an unknown setting": ((*CROWD, "settings", 0, 0, "spell"), 1),
    "a setting out of range": ((*CROWD, "settings", 0, 0, "agents", "radius"), -1.0),
    "characters that are not there": ((*CROWD, "settings", 0, 1), 4),
    "characters of nothing": ((*CROWD, "casts"), [{}]),
    "an unknown input": ((*CROWD, "slots", 0, 0), "magic"),
    "an input twice": ((*CROWD, "slots", 0), ["colliders", "wall"]),
    "an unknown diagnosis": ((*CROWD, "warnings", 1, 0, "code"), "NONSENSE"),
    "a diagnosis of nothing": ((*CROWD, "warnings", 1, 0, "values"), {"a": [None]}),
    "a place before the start": ((*CROWD, "frames"), [-7, 4]),
    "a place beyond the end": ((*CROWD, "frames"), [10**9, 4]),
    "more rows than there are": ((*CROWD, "begins", 0, "points", "position"), [0, 2**39]),
    "points of other counts": ((*CROWD, "begins", 0, "points", "velocity"), [0, 2]),
    "no points": ((*CROWD, "begins", 0, "points", "position"), [-1, 0]),
    "a column of objects": ((*CROWD, "begins", 0, "points", "ids", 0), "object"),
    "no start": ((*CROWD, "begins"), []),
    "a nest of lists": ((*CROWD, "warnings"), json.loads("[" * 200 + "]" * 200)),
    "no list at all": (("crowds",), {"a": 1}),
    "nothing": (("crowds", 0), None),
}


@pytest.mark.parametrize("what", LEAVES)
def test_manifests_of_strangers(stored, what):
    data, numbers = data_of(stored)
    path, value = LEAVES[what]
    at(data, *path, value=value)
    put(stored, data, numbers, resign="arrays" not in path)
    with pytest.raises(WorldError, match="extract|cannot be used"):
        use(stored)


NUMBERS = {
    "a target nowhere": ("targets", 0, "float32", np.nan),
    "a target beyond all": ("targets", 0, "float32", 3.0e38),
    "a heading of no length": ("targets", 2, "float32", 9.0),
    "a weight below 0": ("targets", 4, "float32", -1.0),
    "a wall nowhere": ("colliders", 0, "float32", np.inf),
    "a sphere of negative size": ("spheres", 1, "float32", -1.0),
    "a path that begins elsewhere": ("paths", 1, "int32", 1),
    "a path of neither kind": ("paths", 2, "uint8", 9),
    "a container of negative size": ("containers", 3, "float32", -1.0),
    "shares that fall": ("emitters", 1, "float64", 2.0),
    "a direction of no length": ("emitters", 2, "float32", 7.0),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_of_strangers(stored, what):
    data, numbers = data_of(stored)
    kind, array, file, value = NUMBERS[what]
    numbers[file][numbers_of(data, numbers, kind, array)] = value
    put(stored, data, numbers)
    with pytest.raises(WorldError):
        use(stored)


@pytest.mark.parametrize(
    ("kind", "array", "change"),
    [("targets", 1, 1), ("fields", 1, -1), ("emitters", 1, 10**6), ("paths", 1, -(2**62))],
)
def test_arrays_of_other_sizes(stored, kind, array, change):
    data, numbers = data_of(stored)
    numbers["int64"][first_place(data, kind, array) + 1] += change
    put(stored, data, numbers)
    with pytest.raises(WorldError):
        use(stored)


def test_damaged_files(stored, tmp_path):
    manifest, numbers = stored / MANIFEST, stored / "float32.npy"
    whole, raw = manifest.read_bytes(), numbers.read_bytes()
    secret = tmp_path / "secret"
    secret.write_bytes(raw)

    def refused(words):
        with pytest.raises(WorldError, match=words):
            use(stored)

    for damaged in (raw[:-4], raw + b"more", b"", raw[:200] + b"\1" + raw[201:], b"PK" + raw[2:]):
        numbers.write_bytes(damaged)
        refused("float32.npy")
    numbers.unlink()
    refused("cannot be read")
    numbers.symlink_to(secret)
    refused("no plain file")
    numbers.unlink()
    numbers.write_bytes(raw)
    for damaged in (whole[:-9], whole.replace(b'"Crowd"', b'"Crowf"'), whole[:60], b"{}"):
        manifest.write_bytes(damaged)
        refused("damaged")
    manifest.write_bytes(whole.replace(b'"version": 1', b'"version": 2', 1))
    refused("format version 2, this Steer reads version 1: use the Steer that")
    manifest.write_bytes(whole)
    assert len(use(stored)) == LAST + 1


odd = st.sampled_from(
    [None, True, "", "../../x", -1, 0, 3, 2**31, 2**70, 1.5, -1.0e300, [], [[]], {}, [0, 1]]
)


def leaves(data, path=()):
    """Paths to all values of plain data."""
    yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


@settings(max_examples=tried(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_is_taken_or_refused(stored, data):
    """Whatever a manifest and its numbers say, nothing but a typed error comes of it."""
    twin = stored.parent / "twin"
    shutil.rmtree(twin, ignore_errors=True)
    shutil.copytree(stored, twin)
    manifest, numbers = data_of(twin)
    crowd = manifest["crowds"][0]
    crowd["settings"] = crowd["settings"][:1]
    if data.draw(st.booleans()):
        path = data.draw(st.sampled_from([p for p in leaves(manifest) if p]))
        at(manifest, *path, value=data.draw(odd))
    else:
        name = data.draw(st.sampled_from(["float32", "int64", "int32", "float64"]))
        row = data.draw(st.integers(0, len(numbers[name]) - 1))
        with np.errstate(over="ignore"):
            numbers[name][row] = data.draw(st.sampled_from([-1, 0, 1, 7, 2**31 - 1]))
    with suppress(KeyError, TypeError, AttributeError):
        put(twin, manifest, numbers)
    with suppress(SteerError):
        use(twin)


def test_only_worlds_are_replaced(stored, tmp_path):
    assert is_world(stored)
    before = (stored / MANIFEST).read_bytes()
    with pytest.raises(ZeroDivisionError), new_world(stored) as folder:
        (folder / "float32.npy").write_bytes(b"half")
        raise ZeroDivisionError
    assert (stored / MANIFEST).read_bytes() == before
    for make in (
        lambda path: path.write_text("a file"),
        lambda path: os.symlink(stored, path),
        lambda path: (path.mkdir(), (path / MANIFEST).write_text("{}")),
        lambda path: (shutil.copytree(stored, path), (path / "mine.txt").write_text("mine")),
    ):
        path = tmp_path / "other"
        make(path)
        with (
            pytest.raises(OutputError, match="no world that `steer extract` wrote"),
            new_world(path),
        ):
            raise AssertionError
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["world"]
