"""Commands that are killed at any moment: what is there is whole, and running them again heals it.

Each time one signal at one moment is tried for three commands; with --long every command is killed
by every signal, at as many moments as STEER_KILLS says.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.core.cache import open_cache  # noqa: E402
from steer_addon.core.errors import CacheError  # noqa: E402
from steer_addon.core.files.whole import why_not_whole  # noqa: E402
from tests.cli.conftest import Run  # noqa: E402
from tests.cli.test_full_disk import COMMANDS  # noqa: E402
from tests.cli.trees import tree  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("STEER_KILLS", "20"))
NAMES = ["simulate", "render", "cache", "usd", "alembic", "glb", "keyframes"]
SIGNALS = [signal.SIGINT, signal.SIGTERM]
SIGNALS += [signal.SIGKILL] if hasattr(signal, "SIGKILL") else []
TIMED = (".blend", ".glb", ".fbx", ".mp4", ".json", ".png", ".abc")
"""Endings of files that hold the time or the duration of their making."""


def words_of(small_flock: Path, name: str, out: Path) -> list[str]:
    """A command and what it is given."""
    command, *words = COMMANDS[name]
    file = [] if command == "scene" else [str(small_flock)]
    more = ["--continue"] if name == "cache" else []
    return [command, *file, *(word.format(out) for word in words), *more]


def start(small_flock: Path, name: str, out: Path) -> subprocess.Popen:
    """A command in a process of its own."""
    words = [sys.executable, "-m", "steer_addon", *words_of(small_flock, name, out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def lasting(files: dict[str, bytes]) -> dict[str, bytes | None]:
    """Files with the contents that are the same in each run."""
    return {name: None if name.endswith(TIMED) else data for name, data in files.items()}


def strays(out: Path) -> list[str]:
    """Files of a stage."""
    return [name for name in tree(out) if ".partial" in name or name.startswith(".steer")]


# a folder of files that belong together, one that is continued, and one file
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [*zip(("simulate", "cache", "keyframes"), reversed(SIGNALS), strict=False)]
)
def test_a_command_that_is_killed(run, small_flock, tmp_path, lasts, name, kind):
    kill(run, small_flock, tmp_path, lasts, name, [kind])


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_killed_at_any_moment(run, small_flock, tmp_path, lasts, name):
    kill(run, small_flock, tmp_path, lasts, name, SIGNALS * KILLS)


@pytest.fixture(scope="module")
def lasts(small_flock: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a command takes, most of it to start [s]."""
    begin = time.perf_counter()
    uncut = start(small_flock, "simulate", tmp_path_factory.mktemp("uncut") / "out")
    assert uncut.communicate() and uncut.returncode == 0
    return time.perf_counter() - begin


def kill(run: Callable[..., Run], small_flock: Path, tmp_path: Path, lasts, name, signals) -> None:
    """Run a command, kill it with each signal while it works, and run it again."""
    assert run(*words_of(small_flock, name, tmp_path / "uncut")).code == 0
    wanted = lasting(tree(tmp_path / "uncut"))
    pick = random.Random(name)
    for number, kind in enumerate(signals):
        out = tmp_path / f"{kind.name}_{number}"
        out.mkdir()
        process = start(small_flock, name, out)
        time.sleep(lasts * pick.uniform(0.5, 1.0))
        process.send_signal(kind)
        text = process.communicate()[1]
        assert "Traceback" not in text and "unexpectedly" not in text, text
        done = process.returncode == 0
        if kind == signal.SIGINT:
            assert process.returncode in (0, 1, 130)
            assert not strays(out), (kind, number)
        found = {n: d for n, d in lasting(tree(out)).items() if ".partial" not in n}
        if done:
            assert found == wanted
        elif name == "cache":
            try:
                assert len(list(open_cache(out / "Crowd").verify())) >= 0
            except CacheError as error:
                assert "holds no cache" in str(error)
        else:
            for path in found:
                assert path == ".steer.lock" or not why_not_whole(out / path)
        assert run(*words_of(small_flock, name, out)).code == 0
        assert lasting(tree(out)) == wanted, (kind, number)
