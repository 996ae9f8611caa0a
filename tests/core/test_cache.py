"""Caches: what is written is read, whatever happened in between."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from cachetools import (
    add,
    equal_agents,
    files,
    make_frame,
    make_state,
    resign,
    same,
    write,
)

from steer_addon.core.cache import (
    MANIFEST,
    NEXT,
    CacheHeader,
    CacheWriter,
    delete_cache,
    folder_name,
    layout,
    open_cache,
    record_played,
)
from steer_addon.core.cache.baking import bake
from steer_addon.core.cache.manifest import read_manifest, write_manifest
from steer_addon.core.errors import CacheError, OutputError, SceneError

pytestmark = pytest.mark.usefixtures("quick_disk")

FRAMES = [make_frame(number) for number in range(-3, 12)]


def test_frames_and_states_come_back_to_the_bit(tmp_path):
    cache = open_cache(write(tmp_path / "A", FRAMES, forward_axis="POS_X", settings_hash="abc"))
    assert cache.complete and cache.frames == range(-3, 12) and len(cache) == 15
    assert all(same(a, b) for a, b in zip(cache, FRAMES, strict=True))
    header = cache.header
    assert (header.name, header.fps, header.agent_count) == ("Crowd", 24.0, 6)
    assert (header.attributes, header.forward_axis) == (("zone",), "POS_X")
    assert (header.settings_hash, header.version) == ("abc", 1)
    assert cache.state_frames == [0, 4, 8, 11]
    assert equal_agents(cache.state(4), make_state(FRAMES[7]))
    assert same(cache.frame(11), FRAMES[-1]) and same(cache.frame(-3), FRAMES[0])
    assert len(list(cache.verify())) == 4


def test_numpy_reads_the_files_without_pickle(tmp_path):
    folder = write(tmp_path / "A", FRAMES) / "bake_1" / "frames_-3_0"
    position = np.load(folder / "position.npy", allow_pickle=False, mmap_mode="r")
    assert position.dtype == np.float32 and position.shape == (4, 6, 3)
    assert position[2].tobytes() == FRAMES[2].position.tobytes()
    assert np.load(folder / "id.npy", allow_pickle=False).shape == (1, 6)
    state = np.load(folder / "state_0.npy", allow_pickle=False)
    assert state["position"].tobytes() == FRAMES[3].position.tobytes()
    assert all(p.suffix == ".npy" for p in folder.iterdir())


def test_agents_that_come_and_go_and_attributes_that_appear(tmp_path):
    ids = [range(3), range(3), range(5), [4, 1], [], range(2), [7]]
    frames = [make_frame(n, i, ("a", "b")[: n % 3]) for n, i in enumerate(ids)]
    cache = open_cache(write(tmp_path / "A", frames))
    for stored, frame in zip(cache, frames, strict=True):
        assert stored.id.tolist() == frame.id.tolist()
        assert stored.position.tobytes() == frame.position.tobytes()
        for name, values in frame.attributes.items():
            assert stored.attributes[name].tobytes() == values.tobytes()
    arrays = np.load(tmp_path / "A" / "bake_1" / "frames_0_3" / "velocity.npy")
    assert arrays.shape == (13, 3)


def test_a_crowd_that_grows_makes_shorter_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "MOST_ROWS", 40)
    frames = [make_frame(n, range(3 * n)) for n in range(1, 14)]
    uncut = files(write(tmp_path / "uncut", frames))
    chunks = open_cache(tmp_path / "uncut").manifest.chunks
    assert [c.last for c in chunks] == [4, 7, 8, 10, 12, 13]
    for cut in range(1, 13):
        folder = write(tmp_path / str(cut), frames[:cut], end=13, stop=True)
        with CacheWriter.resume(folder) as writer:
            add(writer, frames)
            writer.finish()
        assert files(folder) == uncut


def test_a_bake_that_was_cut_goes_on_to_the_same_folder(tmp_path):
    uncut = files(write(tmp_path / "uncut", FRAMES))
    folder = write(tmp_path / "cut", FRAMES[:6], end=11, stop=True)
    cache = open_cache(folder)
    assert not cache.complete and cache.frames == range(-3, 3)
    writer = CacheWriter.resume(folder)
    assert writer.next_frame == 3 and equal_agents(writer.states["Crowd"], make_state(FRAMES[5]))
    add(writer, FRAMES[:13])
    # a process that ends here leaves whole chunks only
    writer.close()
    assert open_cache(folder).frames == range(-3, 9)
    with CacheWriter.resume(folder) as writer:
        assert writer.next_frame == 9
        add(writer, FRAMES)
        writer.finish()
    assert files(folder) == uncut


def test_a_damaged_last_chunk_is_baked_again(tmp_path):
    uncut = files(write(tmp_path / "uncut", FRAMES))
    folder = write(tmp_path / "cut", FRAMES[:12], end=11, stop=True)
    path = folder / "bake_1" / "frames_5_8" / "state_0.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with CacheWriter.resume(folder) as writer:
        assert writer.next_frame == 5
        add(writer, FRAMES)
        writer.finish()
    assert files(folder) == uncut


@pytest.mark.parametrize("first", [-3, 1])
def test_a_whole_cache_that_was_cut_is_baked_again_from_there_on(tmp_path, first):
    uncut = files(folder := write(tmp_path / "A", FRAMES))
    (folder / "bake_1" / f"frames_{first}_{first + 3}" / "position.npy").write_bytes(b"")
    with CacheWriter.resume(folder) as writer:
        assert writer.next_frame == first
        add(writer, FRAMES)
        writer.finish()
    assert files(folder) == uncut


def test_the_old_bake_stays_until_the_new_one_is_complete(tmp_path):
    folder = write(tmp_path / "A", FRAMES)
    old = files(folder)
    write(folder, FRAMES[:9], end=11, stop=True)
    assert {k: v for k, v in files(folder).items() if "bake_2" not in k and k != NEXT} == old
    assert open_cache(folder, NEXT).frames == range(-3, 6)
    with CacheWriter.resume(folder) as writer:
        add(writer, FRAMES)
        writer.finish()
    assert open_cache(folder).header.generation == 2
    assert sorted(p.name for p in folder.iterdir()) == ["bake_2", MANIFEST]


def test_frames_have_to_come_in_order(tmp_path):
    with CacheWriter(tmp_path / "A", CacheHeader("Crowd", 24.0, 1, 2)) as writer:
        with pytest.raises(CacheError, match="1 is next"):
            writer.add(make_frame(2))
        writer.add(make_frame(1))
        with pytest.raises(CacheError, match="lacks frames from 2 on"):
            writer.finish()


def test_a_frame_or_state_that_is_not_there(tmp_path):
    cache = open_cache(write(tmp_path / "A", FRAMES))
    for call in (lambda: cache.frame(12), lambda: cache.state(5), lambda: cache.states(5)):
        with pytest.raises(CacheError):
            call()
    with pytest.raises(CacheError, match="holds no cache"):
        open_cache(tmp_path)


def test_a_newer_format_is_told(tmp_path):
    folder = write(tmp_path / "A", FRAMES)
    path = folder / MANIFEST
    path.write_bytes(path.read_bytes().replace(b'"version": 1,', b'"version": 2,', 1))
    with pytest.raises(CacheError, match="format version 2, this Steer reads version 1"):
        open_cache(folder)


def test_only_one_process_writes(tmp_path):
    code = (
        "import sys\n"
        "from steer_addon.core.cache import *\n"
        "w = CacheWriter(sys.argv[1], CacheHeader('Crowd', 24.0, 1, 2))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=os.getcwd(),
    ) as other:
        assert other.stdout.readline() == b"ready\n"
        for call in (
            lambda: CacheWriter(tmp_path, CacheHeader("Crowd", 24.0, 1, 2)),
            lambda: delete_cache(tmp_path),
        ):
            with pytest.raises(OutputError, match=rf"\(process {other.pid}\) is writing to"):
                call()
        # however it ends, the folder is free again
        other.kill()
    CacheWriter(tmp_path, CacheHeader("Crowd", 24.0, 1, 2)).close()


def test_a_generator_that_is_closed_keeps_what_is_done(tmp_path):
    def steps(number=-3, fail=100):
        yield None
        for frame in FRAMES[number + 3 :]:
            if frame.number == fail:
                raise SceneError("something is wrong")
            yield frame, {"Crowd": make_state(frame)}

    folder, header = tmp_path / "A", CacheHeader("Crowd", 24.0, -3, 11, chunk_frames=4)
    clock = iter(range(1000)).__next__
    baking = bake(steps(), CacheWriter(folder, header), clock)
    told = [next(baking) for _ in range(7)]
    assert [p.done for p in told] == [0, 1, 2, 3, 4, 5, 6] and told[-1].total == 15
    assert told[1].remaining == 0.0 < told[-1].remaining < told[2].remaining
    baking.close()
    assert open_cache(folder).frames == range(-3, 3)
    with pytest.raises(SceneError, match="something is wrong"):
        list(bake(steps(3, fail=6), CacheWriter.resume(folder), clock))
    assert open_cache(folder).frames == range(-3, 6)
    assert list(bake(steps(6), CacheWriter.resume(folder), clock))[-1].done == 15
    assert files(folder) == files(write(tmp_path / "uncut", FRAMES))


def make_foreign(folder):
    """Files of another program among those of a cache, with names like those of a cache."""
    (folder / "bake_1" / "frames_7_9").mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    (folder / "bake_1" / "keep.txt").write_text("mine")
    (folder / "bake_1" / "frames_7_9" / "mine.txt").write_text("mine")
    (folder / "bake_7" / "frames_1_2").mkdir(parents=True)
    (folder / "bake_7" / "frames_1_2" / "position.npy").write_text("mine")
    (folder / "bake_8").symlink_to(folder / "bake_7")


def test_deleting_leaves_what_is_not_its_own(tmp_path):
    folder = write(tmp_path / "A", FRAMES)
    before = files(folder)
    (folder / "crowd.usdc").write_text("made of it")
    record_played(folder / "crowd.usdc")
    (folder / "bake_1" / "frames_-3_0" / "mine.txt").write_text("mine")
    make_foreign(folder)
    foreign = {name: data for name, data in files(folder).items() if data == b"mine"}
    assert len(foreign) == 5 and before
    delete_cache(folder)
    assert files(folder) == foreign
    assert (folder / "bake_8").is_symlink()


def test_an_own_folder_is_gone_in_whole(tmp_path):
    gone = write(tmp_path / "B", FRAMES)
    delete_cache(gone)
    assert not gone.exists()
    delete_cache(gone)


@pytest.mark.parametrize("name", ["manifest.json", "manifest.next.json", "crowd.usdc", "crowd.pc2"])
@pytest.mark.parametrize("text", ['{"name": "my web app"}', ""])
def test_files_of_others_refuse_a_bake_and_its_deletion(tmp_path, name, text):
    folder = tmp_path / "A"
    folder.mkdir()
    (folder / name).write_text(text)
    make_foreign(folder)
    before = files(folder)
    for call in (lambda: write(folder, FRAMES), lambda: delete_cache(folder)):
        with pytest.raises(OutputError, match=f"holds {name}, which Steer did not write"):
            call()
    assert files(folder) == before and not (folder / ".lock").exists()


def test_a_bake_beside_folders_of_others_takes_a_free_number(tmp_path):
    folder = tmp_path / "A"
    make_foreign(folder)
    foreign = files(folder)
    write(folder, FRAMES)
    write(folder, FRAMES)
    assert open_cache(folder).header.generation > 8
    assert foreign.items() <= files(folder).items()
    delete_cache(folder)
    assert files(folder) == foreign


def test_what_plays_an_older_bake_stays_its_own(tmp_path):
    """Manifests of older versions list no files that play them."""
    folder = write(tmp_path / "A", FRAMES)
    manifest = read_manifest(folder)
    write_manifest(folder / MANIFEST, replace(manifest, played=None))
    (folder / "crowd.usdc").write_text("made of it")
    write(folder, FRAMES)
    assert (folder / "crowd.usdc").exists() and read_manifest(folder).played is None
    record_played(folder / "crowd.usdc")
    assert set(read_manifest(folder).played) == {"crowd.usdc"}
    delete_cache(folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["Crowd", "Crowd.001", "../../etc", "a/b", "a\\b", "CON", "nul.txt", "", ".", "x" * 300,
             "Menschen ä", "trailing. ", "line\nbreak", "\0"]
)  # fmt: skip
def test_names_of_crowds_are_names_of_folders(name):
    folder = folder_name(name)
    assert folder and not set('/\\:*?"<>|\0\n') & set(folder)
    assert folder.strip(" .") == folder and folder.upper() not in ("CON", "NUL.TXT", "..")
    assert len(folder) <= 120
    assert folder == name or folder_name(name + "!") != folder


def test_a_resigned_manifest_is_read(tmp_path):
    """Basis of the tests of bad data: with the right checksum the body is checked."""
    folder = write(tmp_path / "A", FRAMES)
    raw = (folder / MANIFEST).read_bytes()
    body = raw.partition(b"\n")[2][:-3].replace(b'"fps":24.0', b'"fps":25.0')
    (folder / MANIFEST).write_bytes(resign(raw, body))
    assert open_cache(folder).header.fps == 25.0


def test_a_file_of_the_user_in_place_of_the_played_one_stays(tmp_path):
    folder = write(tmp_path / "A", FRAMES)
    (folder / "crowd.usdc").write_text("made of it")
    record_played(folder / "crowd.usdc", hashlib.sha256(b"made of it").hexdigest())
    write(folder, FRAMES)
    (folder / "crowd.usdc").write_text("mine")
    for call in (lambda: write(folder, FRAMES), lambda: delete_cache(folder)):
        with pytest.raises(OutputError, match="crowd.usdc, which Steer did not write, or which"):
            call()
    assert (folder / "crowd.usdc").read_text() == "mine"


MARKS = {"crowd.usdc": b"PXR-USDC", "crowd.pc2": b"POINTCACHE2\0"}


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("kept", [0, 5, 8, 12, 20, 400])
def test_what_is_left_of_the_played_file_is_replaced(tmp_path, name, kept):
    folder = write(tmp_path / "A", FRAMES)
    played = folder / name
    whole = MARKS[name] + bytes(range(1, 251)) * 4
    played.write_bytes(whole)
    record_played(played, hashlib.sha256(whole).hexdigest())
    played.write_bytes(whole[:kept])
    # with frames that are there, and none
    write(folder, FRAMES)
    delete_cache(folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", MARKS)
def test_what_is_left_of_a_file_that_no_manifest_lists_stays(tmp_path, name):
    folder = write(tmp_path / "A", FRAMES)
    for left in (b"", MARKS[name] + b"cut"):
        (folder / name).write_bytes(left)
        for call in (lambda: write(folder, FRAMES), lambda: delete_cache(folder)):
            with pytest.raises(OutputError, match=f"{name}, which Steer did not write"):
                call()
        assert (folder / name).read_bytes() == left


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_is_no_file_is_not_the_played_one(tmp_path, name, kind):
    folder = write(tmp_path / "A", FRAMES)
    played = folder / name
    # it was being written
    record_played(played)
    if kind == "link":
        (tmp_path / "mine").write_text("mine")
        played.symlink_to(tmp_path / "mine")
    else:
        os.mkfifo(played) if kind == "pipe" else played.mkdir()
    for call in (lambda: write(folder, FRAMES), lambda: delete_cache(folder)):
        with pytest.raises(OutputError, match=f"{name}, which Steer did not write"):
            call()
    assert os.path.lexists(played)


def test_going_on_replaces_no_manifest_of_others(tmp_path):
    folder = write(tmp_path / "A", FRAMES)
    write(folder, FRAMES[:9], end=11, stop=True)
    (folder / MANIFEST).write_text("mine")
    with pytest.raises(OutputError, match="manifest.json, which Steer did not write"):
        CacheWriter.resume(folder)
    assert (folder / MANIFEST).read_text() == "mine"
