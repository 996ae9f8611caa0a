"""Caches on a disk that is full, or in a folder that cannot be: a sentence tells what is kept."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess

import pytest
from cachetools import add, files, make_frame, same, write

from steer_addon.core.cache import MANIFEST, CacheHeader, CacheWriter, open_cache
from steer_addon.core.errors import OutputError
from steer_addon.core.files import plain as plain_files

pytestmark = pytest.mark.usefixtures("quick_disk")

FRAMES = [make_frame(number) for number in range(-3, 12)]


class FullDisk:
    """Replacement of `os` for the files of a cache, with room for a number of bytes."""

    def __init__(self, room):
        self.room = room

    def __getattr__(self, name):
        return getattr(os, name)

    def write(self, handle, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        # a disk may take less than it is given
        return os.write(handle, data[: max(1, len(data) // 2)])


@pytest.mark.parametrize("room", [0, 500, 3000, 5000, 9000, 12000])
def test_a_full_disk_costs_a_chunk_at_most(tmp_path, monkeypatch, room):
    uncut = files(write(tmp_path / "uncut", FRAMES))
    monkeypatch.setattr(plain_files, "os", FullDisk(room))
    with pytest.raises(OutputError, match="No space left on device; make room") as caught:
        write(tmp_path / "A", FRAMES)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    begun = (tmp_path / "A" / MANIFEST).exists()
    assert caught.value.diagnosis.code == ("CACHE_NOT_WRITTEN" if begun else "CACHE_NOT_BEGUN")
    if begun:
        cache = open_cache(tmp_path / "A")
        assert all(same(a, b) for a, b in zip(cache, FRAMES, strict=False))
        with CacheWriter.resume(tmp_path / "A") as writer:
            add(writer, FRAMES)
            writer.finish()
    else:
        write(tmp_path / "A", FRAMES)
    assert files(tmp_path / "A") == uncut


def test_a_cache_that_cannot_begin_says_that_it_has_no_frames(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError) as caught:
        CacheWriter(tmp_path / "file", CacheHeader("Crowd", 24.0, 1, 2))
    assert caught.value.diagnosis.code == "CACHE_NOT_BEGUN"


def test_a_real_disk_that_fills(tmp_path):
    """On a small disk in memory, where it may be mounted."""
    mount = shutil.which("mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)],
            capture_output=True,
            check=False,
        ).returncode
    ):
        pytest.skip("no right to mount: the fake disk is tested above")
    try:
        frames = [make_frame(number, range(2000)) for number in range(40)]
        with pytest.raises(OutputError, match="No space left on device"):
            write(disk / "A", frames)
        cache = open_cache(disk / "A")
        assert len(cache.frames) >= 8
        assert all(same(a, b) for a, b in zip(cache, frames, strict=False))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
