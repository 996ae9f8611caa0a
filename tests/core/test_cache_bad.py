"""Caches from strangers, and damaged ones: a typed error each, in bounded memory, nothing run.

The default run takes a few hundred; STEER_FUZZ=10000 takes as many as it says.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import resource
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from cachetools import make_frame, make_state, resign, write

from steer_addon.core.cache import MANIFEST, CacheHeader, CacheWriter, open_cache
from steer_addon.core.errors import CacheError

CASES = int(os.environ.get("STEER_FUZZ", "300"))
PER_TEST = 100
MEMORY = 300_000_000
"""More than the process has at the start [bytes]; the files here have some kilobytes."""

pytestmark = pytest.mark.usefixtures("quick_disk")


class Trap:
    """Would be run if anything were unpickled."""

    def __reduce__(self):
        return (os.makedirs, ("/tmp/steer-trap-was-run",))


def read_all(folder: Path) -> list[bytes]:
    """Everything that can be read of a cache."""
    cache = open_cache(folder)
    found = []
    for frame in cache:
        arrays = (frame.id, frame.position, frame.velocity, frame.rotation, frame.radius)
        found += [a.tobytes() for a in (*arrays, frame.alive, *frame.attributes.values())]
    for number in cache.state_frames:
        for agents in cache.states(number).values():
            found += [v.tobytes() for v in vars(agents).values() if isinstance(v, np.ndarray)]
    return found


def flipped(data: bytes, rng: random.Random) -> bytes:
    raw = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 50))):
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(raw)


def zip_bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("position.npy", b"\0" * 20_000_000)
    return file.getvalue()


def pickled() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Trap()], object), allow_pickle=True)
    return file.getvalue()


BOMB, PICKLE = zip_bomb(), pickled()
HUGE = b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little") + b"{" * 5000
DAMAGES = (
    flipped,
    lambda data, rng: data[: rng.randrange(len(data))],
    lambda data, rng: data + rng.randbytes(rng.randrange(1, 99)),
    lambda data, rng: rng.randbytes(len(data)),
    lambda data, rng: b"\0" * len(data),
    lambda data, rng: data[::-1],
    lambda data, rng: BOMB,
    lambda data, rng: PICKLE,
    lambda data, rng: HUGE,
    lambda data, rng: pickle.dumps(Trap()),
    lambda data, rng: b"",
    lambda data, rng: b"\xff\xfe" + data,
)
"""Damage to a file by a disk, a network or an attacker."""

JUNK = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**30, 1.5, -0.0, 1e308, "", "x", "../../etc/passwd",
    "/etc", "C:\\x", "\0", "a" * 2000, [], {}, [[]], {"": 0}, [1] * 300, "position", [-1],
    [2**62, 2**62],
    {"position": "0" * 64}, "0" * 64, "0" * 63 + "g", "NEG_Y",
)  # fmt: skip


def places(data, path=()):
    """The paths of all values in JSON data."""
    yield path
    if isinstance(data, (dict, list)):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from places(value, (*path, key))


def lied(raw: bytes, rng: random.Random) -> bytes:
    """A manifest with wrong contents and the right checksum."""
    body = raw.partition(b"\n")[2][:-3]
    kind = rng.randrange(12)
    if kind == 0:
        return resign(raw, rng.choice((b"[" * 100_000, b'{"a":' * 50_000, b"[" * 900 + b"]" * 900)))
    if kind == 1:
        return resign(
            raw, rng.choice((b"\xff\xfe\x00", b"NaN", b"1e999", b"9" * 6000, b"", b"null"))
        )
    if kind == 2:
        text = rng.choice((b"NaN", b"Infinity", b"1e999", b"-1e999", b"9" * 5000))
        return resign(raw, body.replace(b"24.0", text))
    data = json.loads(body)
    for _ in range(rng.choice((1, 1, 1, 3))):
        path = rng.choice([p for p in places(data) if p])
        owner = data
        for key in path[:-1]:
            owner = owner[key] if not isinstance(owner, (int, str, float, type(None))) else {}
        if not isinstance(owner, (dict, list)) or (isinstance(owner, list) and not owner):
            continue
        if rng.random() < 0.2:
            try:
                del owner[path[-1]]
            except (KeyError, IndexError):
                continue
        elif isinstance(owner, dict) or path[-1] < len(owner):
            value = rng.choice(JUNK)
            if type(value) is int and rng.random() < 0.5:
                value = rng.randrange(-5, 30)
            owner[path[-1]] = value
    return resign(raw, json.dumps(data).encode())


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A good cache, some chunks of which are even and some are not, and what is in it."""
    frames = [make_frame(n, range(5 if n < 5 else 3 + n % 3)) for n in range(1, 10)]
    about = {"settings": {"Crowd": {}}, "inputs": {"parts": {}}}
    folder = write(tmp_path_factory.mktemp("good") / "A", frames, about=about)
    return folder, read_all(folder)


def outcome(folder: Path):
    """The read data, or None for a typed error; any other error fails the test."""
    try:
        return read_all(folder)
    except CacheError as error:
        assert "\n" not in str(error).replace(str(folder), "")
        return None


@pytest.mark.parametrize("first", range(0, CASES, PER_TEST))
def test_damaged_files_are_a_typed_error(good, tmp_path, first):
    """Any damage to a file is reported, or it changed nothing."""
    folder, content = tmp_path / "A", good[1]
    shutil.copytree(good[0], folder)
    paths = sorted(p for p in folder.rglob("*") if p.suffix in (".npy", ".json"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for case in range(first, min(first + PER_TEST, CASES)):
        rng = random.Random(case)
        path = paths[0] if rng.random() < 0.4 else rng.choice(paths)
        data = path.read_bytes()
        if path.name == MANIFEST and rng.random() < 0.6:
            # a liar may well describe another cache that makes sense
            path.write_bytes(lied(data, rng))
            outcome(folder)
        else:
            damaged = rng.choice(DAMAGES)(data, rng)
            path.write_bytes(damaged)
            found = outcome(folder)
            assert found is None or (damaged == data and found == content), (case, path)
        path.write_bytes(data)
    assert outcome(folder) == content
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) * 1024 < MEMORY
    assert not Path("/tmp/steer-trap-was-run").exists()


def test_a_chunk_with_a_fitting_checksum_but_another_header(good, tmp_path):
    """A liar replaces an array by one that would be unpickled, and signs it."""
    import hashlib

    folder = tmp_path / "A"
    shutil.copytree(good[0], folder)
    path = folder / "bake_1" / "frames_1_4" / "position.npy"
    size, old = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(PICKLE.ljust(size, b"\0")[:size])
    new = hashlib.sha256(path.read_bytes()).hexdigest()
    raw = (folder / MANIFEST).read_bytes()
    body = raw.partition(b"\n")[2][:-3].replace(old.encode(), new.encode())
    (folder / MANIFEST).write_bytes(resign(raw, body))
    with pytest.raises(CacheError, match="damaged"):
        read_all(folder)


def test_claims_of_huge_arrays_take_no_memory(good, tmp_path):
    folder = tmp_path / "A"
    shutil.copytree(good[0], folder)
    raw = (folder / MANIFEST).read_bytes()
    data = json.loads(raw.partition(b"\n")[2][:-3])
    data["chunks"][0]["counts"] = [100_000]
    (folder / MANIFEST).write_bytes(resign(raw, json.dumps(data).encode()))
    with pytest.raises(CacheError, match="bytes instead of"):
        read_all(folder)
    # a file without contents may be as large as it likes
    with (folder / MANIFEST).open("r+b") as file:
        file.truncate(1 << 33)
    with pytest.raises(CacheError, match="at most"):
        read_all(folder)


def link(path, outside):
    path.symlink_to(outside)


def pipe(path, outside):
    os.mkfifo(path)


@pytest.mark.parametrize("make", [link, pipe, lambda path, outside: path.mkdir(), None])
@pytest.mark.parametrize(
    "name", [MANIFEST, "bake_1/frames_1_4/id.npy", "bake_1/frames_1_4/state_0.npy"]
)
def test_what_is_no_plain_file_is_not_opened(good, tmp_path, make, name):
    folder = tmp_path / "A"
    shutil.copytree(good[0], folder)
    outside = Path(shutil.copy(folder / name, tmp_path / "outside"))
    (folder / name).unlink()
    if make is not None:
        make(folder / name, outside)
    with pytest.raises(CacheError):
        read_all(folder)


@pytest.mark.parametrize("name", ["bake_1", "bake_1/frames_1_4"])
def test_folders_that_lead_out_of_the_cache_are_not_followed(good, tmp_path, name):
    folder = tmp_path / "A"
    shutil.copytree(good[0], folder)
    shutil.move(folder / name, tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(CacheError, match="link out of the cache"):
        read_all(folder)
    before = sorted((tmp_path / "outside").rglob("*"))
    with CacheWriter(folder, open_cache(folder).header) as writer:
        for number in range(1, 10):
            writer.add(make_frame(number))
        writer.finish()
    assert sorted((tmp_path / "outside").rglob("*")) == before
    assert len(read_all(folder)) == 9 * 7


@pytest.mark.parametrize(
    ("field", "value"),
    [("position", np.nan), ("mass", 0.0), ("radius", -1.0), ("memory_0", np.inf), ("id", 3)],
)
def test_states_that_no_simulation_leaves_are_not_gone_on_with(good, tmp_path, field, value):
    """Kernels trust these numbers, and a liar can sign them."""
    import hashlib

    folder = tmp_path / "A"
    shutil.copytree(good[0], folder)
    path = folder / "bake_1" / "frames_1_4" / "state_0.npy"
    old = hashlib.sha256(path.read_bytes()).hexdigest()
    state = np.load(path)
    state[field] = value
    header = path.read_bytes()[: path.stat().st_size - state.nbytes]
    path.write_bytes(header + state.tobytes())
    new = hashlib.sha256(path.read_bytes()).hexdigest()
    raw = (folder / MANIFEST).read_bytes()
    body = raw.partition(b"\n")[2][:-3].replace(old.encode(), new.encode())
    (folder / MANIFEST).write_bytes(resign(raw, body))
    with pytest.raises(CacheError, match="no agents that can continue"):
        open_cache(folder).state(4)


LONG = "n" * 1001
"""One character more than a reader takes."""


@pytest.mark.parametrize("name", [LONG, None, 7, b"Crowd"])
def test_a_crowd_with_a_name_that_no_reader_takes_is_refused_before_anything_is_there(
    tmp_path, name
):
    folder = tmp_path / "cache"
    with pytest.raises(CacheError, match="cannot hold crowds with the name .* 1000 characters"):
        CacheWriter(folder, CacheHeader(name, 24.0, 1, 9))
    assert not folder.exists()


@pytest.mark.parametrize("where", ["frame", "crowd", "attributes", "memory"])
@pytest.mark.parametrize("name", [LONG, None, 7])
def test_names_that_no_reader_takes_are_refused_before_frames_are_kept(tmp_path, where, name):
    frame = make_frame(1, names=(name,) if where == "frame" else ())
    agents = make_state(frame)
    if where != "frame":
        getattr(agents, where, {})[name] = np.zeros((6, 1), np.float32)
    states = {name if where == "crowd" else "Crowd": agents}
    with CacheWriter(tmp_path, CacheHeader("Crowd", 24.0, 1, 9)) as writer:
        with pytest.raises(CacheError, match=r"cannot hold .* with the name (7|None|'nnn.*nnn')"):
            writer.add(frame, states)
        # the same frame under another name
        writer.add(make_frame(1), {"Crowd": make_state(frame)})


@pytest.mark.parametrize("count", [1, 1000])
def test_the_longest_names_are_read_again(tmp_path, count):
    frame, name = make_frame(1, names=("a" * count,)), "b" * count
    states = {name: make_state(frame)}
    with CacheWriter(tmp_path, CacheHeader(name, 24.0, 1, 1)) as writer:
        writer.add(frame, states)
        writer.finish()
    found = open_cache(tmp_path)
    assert found.header.name == name and set(found.states(1)) == {name}
    assert set(found.frame(1).attributes) == {"a" * count}


def test_more_attributes_than_a_reader_takes_are_refused(tmp_path):
    frame = make_frame(1, names=[f"a{k}" for k in range(251)])
    with CacheWriter(tmp_path, CacheHeader("Crowd", 24.0, 1, 1)) as writer:
        with pytest.raises(CacheError, match="at most 250 attributes: these are 251"):
            writer.add(frame)
