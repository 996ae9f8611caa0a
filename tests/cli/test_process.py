"""The process of a command: streams that are closed or full, Ctrl-C and SIGTERM at any moment."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from steer_addon import process
from steer_addon.commands import output
from steer_addon.commands.output import ProgressLine, WaysLine
from steer_addon.core.step.simulation import Progress
from tests.often import often

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = int(os.environ.get("STEER_SIGNALS", "3"))
"""How often a run is cancelled with --long, and else once; 20 for the whole proof."""

FAKE_BPY = """
import os, signal, sys
os.kill(os.getpid(), signal.{signal})
sum(range(100_000))
print("loaded", file=sys.stderr)
class app:
    module = False
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the streams are those of POSIX shells")


@pytest.fixture(autouse=True)
def _listening():
    """Processes inherit it when Ctrl-C is ignored, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def shell(words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `steer WORDS` in a shell."""
    return subprocess.run(
        ["sh", "-c", f'"$PYTHON" -m steer_addon {words}'],
        capture_output=True,
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), **environment},
        timeout=120,
        check=False,
    )


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@pytest.mark.parametrize(
    ("words", "stdout", "reason"),
    [
        pytest.param("presets", ">/dev/full", b"No space left on device", marks=needs_full),
        pytest.param("presets --json", ">/dev/full", b"No space left on device", marks=needs_full),
        ("presets panic", ">&-", b"Bad file descriptor"),
    ],
)
def test_a_result_that_cannot_be_written_is_a_failure(words, stdout, reason):
    done = shell(f"{words} {stdout}")
    told = b"steer: the result cannot be written to stdout: " + reason
    assert (done.returncode, done.stderr.splitlines()) == (1, [told])


@pytest.mark.parametrize("stderr", [pytest.param("2>/dev/full", marks=needs_full), "2>&-"])
def test_nobody_who_hears_of_it_is_no_failure(stderr):
    done = shell(f"presets panic --json {stderr}")
    assert (done.returncode, json.loads(done.stdout)["name"]) == (0, "panic")
    done = shell(f"presets martians --json {stderr}")
    assert done.returncode == 1 and "martians" in json.loads(done.stdout)["error"]


@needs_full
def test_progress_that_cannot_be_written_is_no_failure(monkeypatch):
    with open("/dev/full", "w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full)
        assert ProgressLine("Baking", quiet=False)(Progress(5, 5, 1.0, 0.0))
        # what waits in the buffer cannot go anywhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_no_time_is_guessed_before_there_is_one_percent(monkeypatch):
    told = []
    monkeypatch.setattr(output, "tell", lambda text, end="\n": told.append(text))
    line = ProgressLine("Poses", quiet=False)
    line.terminal, line.interval = False, 0.0
    line(Progress(0, 100, 1.0, 75_000.0))
    line(Progress(50, 100, 10.0, 10.0))
    assert told[0] == "Poses: 0/100 (0%)" and told[1].endswith(" left"), told


def test_a_closed_stream_gives_its_descriptor_to_no_file():
    code = (
        "import os, sys; from steer_addon import process; "
        "process.run(lambda: print(os.dup(0), file=sys.stderr) or 0)"
    )
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -c "{code}" <&- >&-'],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert int(done.stderr) > 2


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_blender_is_loaded_whole_before_a_command_is_cancelled(tmp_path, name):
    (tmp_path / "bpy.py").write_text(FAKE_BPY.format(signal=name))
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = shell("simulate x.blend --out o --json", PYTHONPATH=paths)
    assert json.loads(done.stdout) == {"error": "cancelled"}
    assert (done.returncode, done.stderr.splitlines()) == (1, [b"loaded", b"steer: cancelled"])


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_import_is_not_cut_short(tmp_path, name):
    """Python makes another error of what is raised there, and USD prints a traceback."""
    (tmp_path / "slow_module.py").write_text(
        "import os, signal\n"
        "class Field:\n"
        "    def __set_name__(self, owner, name):\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "class Reader:\n"
        "    meshes = Field()\n"
        "print('loaded')\n"
    )
    code = (
        "import time\nfrom steer_addon import process\n"
        "def main():\n    import slow_module\n    time.sleep(30)\n"
        "process.run(main)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"loaded\n", b"steer: cancelled\n")


@pytest.mark.parametrize(("word", "out"), [("--json", '{"error": "cancelled"}\n'), ("--quiet", "")])
def test_a_command_that_is_cancelled_before_it_begins_says_so_in_json(word, out):
    code = (
        "import os, signal, time\nfrom steer_addon import process\n"
        "def main():\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(30)\n"
        "process.run(main)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, word],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, out, "steer: cancelled\n")


def test_a_signal_that_blender_dropped_cancels_at_the_next_step():
    """Blender prints an exception of its handlers, and goes on as if nothing were."""
    process._cancelling.held = True
    try:
        process._cancelling(signal.SIGINT, None)
        with pytest.raises(KeyboardInterrupt):
            ProgressLine("Baking", quiet=True)(Progress(1, 5, 1.0, 0.0))
    finally:
        process._cancelling.held = process._cancelling.asked = False
    assert ProgressLine("Baking", quiet=True)(Progress(1, 5, 1.0, 0.0))


@pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="bpy is not installed")
def test_enabling_works_whatever_the_environment_says():
    code = "import steer_addon; steer_addon.register(); steer_addon.unregister(); print('enabled')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STEER_THREADS": "1e3"}
    del environment["STEER_CACHE_DIR"]
    environment.pop("HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == [b"enabled"] and b"Traceback" not in done.stderr


def handles(started: subprocess.Popen[str], number: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    status = Path(f"/proc/{started.pid}/status").read_text()
    (caught,) = (line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << number - 1)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc")
@pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="bpy is not installed")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("command", "seconds"), [("presets", 0.25), ("simulate", 2.0)])
@pytest.mark.parametrize("moment", often(range(SIGNALS), 0))
def test_a_signal_at_any_moment(request, tmp_path, number, command, seconds, moment):
    """All of the result and 0, or a sentence and 1."""
    words = [command, "--json", "--quiet"]
    if command == "simulate":
        words += [request.getfixturevalue("small_scene"), "--out", tmp_path / "out"]
    started = subprocess.Popen(
        [sys.executable, "-m", "steer_addon", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    # SIGTERM is Python's own until the command begins
    while started.poll() is None and not handles(started, signal.SIGTERM):
        time.sleep(0.001)
    time.sleep(random.Random(f"{int(number)} {moment}").uniform(0.0, seconds))
    started.send_signal(number)
    out, err = started.communicate(timeout=120)
    assert "Traceback" not in err
    if started.returncode == 0:
        assert json.loads(out).get("complete", command == "presets")
    else:
        assert (started.returncode, err.splitlines()[-1:]) == (1, ["steer: cancelled"])


def test_only_ways_that_take_more_than_a_moment_are_reported(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(output, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    line = WaysLine(quiet=False)
    # (time, share): small searches step by step, and then a large surface with its ways
    reports = [(k * 0.4, share) for k in range(20) for share in (1.0, 1.9)]
    reports += [(20.0 + 2.0 * k, 0.1 * k) for k in range(10)]
    reports += [(40.0 + 2.0 * k, 1.0 + 0.25 * k) for k in range(5)]
    for seconds, share in reports:
        now[0] = 100.0 + seconds
        line(share)
        WaysLine(quiet=True)(share)
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "Finding the walkable surface: 10%",
        "Finding the walkable surface: 40%",
        "Finding the walkable surface: 70%",
        "Finding the ways on it: 0%",
        "Finding the ways on it: 75%",
    ]
