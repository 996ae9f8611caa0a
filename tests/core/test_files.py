"""The one way in which files are written: beside their goal, whole, and never over another's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from steer_addon.core.errors import FileError, OutputError
from steer_addon.core.files.lock import FolderLock
from steer_addon.core.files.plain import digest_if_there, digest_of, read_file, write_file
from steer_addon.core.files.staging import as_output_errors, replace_file, replacing, stage, sweep


def test_a_file_is_there_in_whole_or_as_it_was(tmp_path):
    goal = tmp_path / "deep" / "a.bin"
    replace_file(goal, [b"one", b"two"])
    assert goal.read_bytes() == b"onetwo"
    with pytest.raises(ZeroDivisionError), replacing(goal) as partial:
        partial.write_bytes(b"half")
        raise ZeroDivisionError
    with (
        pytest.raises(OSError, match="it is cut"),
        replacing(goal, lambda path: "it is cut") as new,
    ):
        new.write_bytes(b"half")
    # nothing was written at all
    with pytest.raises(FileNotFoundError), replacing(goal):
        pass
    assert goal.read_bytes() == b"onetwo"
    assert os.listdir(goal.parent) == ["a.bin"]


def test_long_names_and_endings(tmp_path):
    goal = tmp_path / ("x" * 250 + ".usdc")
    with replacing(goal) as partial:
        assert partial.suffix == ".usdc"
        partial.write_bytes(b"1")
    assert os.listdir(tmp_path) == [goal.name]


def test_a_new_file_follows_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = tmp_path / "a.bin"
    link.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_file(link, [b"ours"])
    replace_file(link, [b"ours"])
    assert victim.read_text() == "mine" and link.read_bytes() == b"ours" and not link.is_symlink()


def test_what_is_no_plain_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, told in (("pipe", "no plain"), ("zero", "no plain"), ("gone", "No such file")):
        with pytest.raises(FileError, match=told):
            read_file(tmp_path / name, most=100)


KILLED = """
import sys, time
from pathlib import Path
from steer_addon.core.files.staging import beside, stage
with stage(Path(sys.argv[1])) as folder:
    (folder / "new.bin").write_bytes(b"half")
    beside(folder, ".blend@").write_bytes(b"half")
    print("ready", flush=True)
    time.sleep(100)
"""


def test_what_is_no_plain_file_has_no_digest(tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe")
    for held in (False, True):
        # somebody who writes to it, and never ends
        writer = os.open(pipe, os.O_RDWR | os.O_NONBLOCK) if held else None
        with pytest.raises(OSError, match="no plain file"):
            digest_of(pipe)
        assert digest_if_there(pipe) == ""
        if writer is not None:
            os.close(writer)
    with pytest.raises(OSError):
        digest_of(tmp_path)


def test_what_a_killed_process_left_is_swept_and_what_lives_is_not(tmp_path):
    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, cwd=os.getcwd()
        )
        assert process.stdout.readline() == b"ready\n"
        return process

    killed, alive = start(), start()
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        mine = tmp_path / ".steer-0123456789abcdef.partial"
        mine.mkdir()
        (mine / "thesis.txt").write_text("mine")
        (tmp_path / ".a.123.partial.usdc").write_text("mine")
        assert len(os.listdir(tmp_path)) == 6
        sweep(tmp_path)
        left = sorted(os.listdir(tmp_path))
        assert len(left) == 4 and mine.name in left
        assert (mine / "thesis.txt").read_text() == "mine"
    finally:
        for process in (killed, alive):
            process.kill()
            process.wait()
            process.stdout.close()
    with stage(tmp_path):
        pass
    assert sorted(os.listdir(tmp_path)) == [".a.123.partial.usdc", mine.name]


def test_a_stage_that_was_never_locked_goes_when_it_is_old(tmp_path):
    young, old = (tmp_path / f".steer-{digit * 16}.partial" for digit in "01")
    young.mkdir()
    old.mkdir()
    long_ago = time.time() - 90_000
    os.utime(old, (long_ago, long_ago))
    sweep(tmp_path)
    assert os.listdir(tmp_path) == [young.name]


def test_a_stage_of_another_machine_goes_when_nothing_in_it_changed_for_a_week(tmp_path):
    """Its lock is not seen here, and a container of a farm never comes back under its name."""
    young, old = (tmp_path / f".steer-{digit * 16}.partial" for digit in "01")
    long_ago = time.time() - 700_000
    for folder in (young, old):
        made = folder.with_name(f"{folder.name}.new")
        made.mkdir()
        folder.mkdir()
        (folder / ".steer.lock").write_text("12 farm7\n")
        (made / "half.npy").write_text("half")
        for path in (made / "half.npy", made, folder / ".steer.lock", folder):
            os.utime(path, (long_ago, long_ago))
    os.utime(young.with_name(f"{young.name}.new") / "half.npy")
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [young.name, f"{young.name}.new"]


def test_a_lock_goes_with_its_file(tmp_path):
    lock = FolderLock(tmp_path)
    with pytest.raises(OutputError, match=r"Another Blender \(process \d+\) is writing to"):
        FolderLock(tmp_path)
    lock.release(remove=True)
    assert os.listdir(tmp_path) == []
    again = FolderLock(tmp_path)
    again.release()
    assert os.listdir(tmp_path) == [".steer.lock"]


def test_a_lock_of_others_is_not_taken(tmp_path):
    lock = tmp_path / ".steer.lock"
    for text in ("mine", "12 a b\n", "x\n"):
        lock.write_text(text)
        with pytest.raises(OutputError, match="is no lock of Steer"):
            FolderLock(tmp_path)
        assert lock.read_text() == text
    lock.unlink()
    (tmp_path / "victim").write_text("12 host\n")
    os.link(tmp_path / "victim", lock)
    with pytest.raises(OutputError, match="is no lock of Steer"):
        FolderLock(tmp_path)
    assert (tmp_path / "victim").read_text() == "12 host\n"


def test_many_processes_write_into_one_folder(tmp_path):
    """None sweeps a stage that another one makes just then."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from steer_addon.core.files.staging import replace_file\n"
        "for k in range(60):\n"
        "    replace_file(Path(sys.argv[1]) / f'{sys.argv[2]}_{k}', [b'1'])\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)], cwd=os.getcwd())
        for n in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(os.listdir(tmp_path)) == 180


def test_a_lock_is_no_link(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / ".steer.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OutputError, match="cannot be written"):
        FolderLock(tmp_path)
    assert (tmp_path / "victim").read_text() == "mine"


def test_an_error_of_the_system_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")
    goal = tmp_path / "file" / "a.bin"
    with pytest.raises(OutputError, match=r"a\.bin cannot be written: .*; choose another"):
        with as_output_errors(goal):
            replace_file(goal, [b"1"])
