"""Commands run inside the test's process, which is quick; a few run in one of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.few_poses import take_few_poses
from tests.one_thread import import_blender

import_blender()

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Run:
    """Result of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON object on the last line of stdout."""
        return json.loads(self.out.splitlines()[-1])

    def failed_with(self, *words: str, code: int = 1) -> None:
        """Assert one plain sentence on stderr that holds these words."""
        assert self.code == code, self.err
        lines = [line for line in self.err.splitlines() if line.strip()]
        sentence = lines[-1]
        assert sentence.startswith("steer"), self.err
        assert "Traceback" not in self.err
        assert "unexpectedly" not in self.err
        for word in words:
            assert word in sentence


@pytest.fixture(scope="session", autouse=True)
def _registered(request: pytest.FixtureRequest) -> None:
    """Commands find Steer registered, as inside Blender; without bpy the listing ones still run."""
    if importlib.util.find_spec("bpy") is not None:
        request.getfixturevalue("steer")


@pytest.fixture(autouse=True)
def _few_poses(_registered: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process; those that a test starts make all."""
    if importlib.util.find_spec("bpy") is not None:
        take_few_poses(monkeypatch)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Run a command in this process."""
    from steer_addon.cli import main

    def call(*words: object) -> Run:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return call


def _start(words: list[object]) -> Run:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def process() -> Callable[..., Run]:
    """Run Python in a process of its own."""
    return lambda *words: _start(list(words))


def quick_pictures(scene: Any) -> None:
    """Leave out of pictures what takes longer than they do.

    To remove noise takes twenty times as long as to draw a tiny picture, and to find out where the
    sky is bright as long as all else.
    """
    scene.cycles.use_denoising = False
    scene.world.cycles.sampling_method = "NONE"


@pytest.fixture(scope="session")
def small_scene(steer: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .blend file with 24 people on a plaza, frames 1 to 20."""
    import bpy

    from steer_addon.cli import main

    path = tmp_path_factory.mktemp("cli") / "small.blend"
    with pytest.MonkeyPatch.context() as patch:
        take_few_poses(patch)
        assert main(["scene", "--agents=24", "--frames=1-20", f"--save={path}", "--quiet"]) == 0
    quick_pictures(bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture(scope="session")
def small_flock(steer: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the same name with 24 birds, for tests that look at files only.

    It is a thirtieth of the size, and most commands take a third of the time.
    """
    import bpy

    from steer_addon.cli import main

    path = tmp_path_factory.mktemp("flock") / "small.blend"
    words = ["scene", "--preset=birds", "--agents=24", "--frames=1-20", f"--save={path}"]
    assert main([*words, "--quiet"]) == 0
    quick_pictures(bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def tasks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches neither look after all kernels, in a process of its own, nor draw a report."""
    from steer_addon.commands.farm import batch

    monkeypatch.setattr(batch, "can_compile", lambda: False)
    monkeypatch.setattr(batch, "_report_on", lambda *given: {})
    monkeypatch.setattr(batch, "_load_plots", lambda: None)


class _Ended:
    """A command that has run in this process, as those see it that wait for one of its own."""

    def __init__(self, words: list[str]) -> None:
        from steer_addon.cli import main

        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
            self.returncode = main(words)
        self.stdout, self.stdin = StringIO(out.getvalue()), StringIO()

    def poll(self) -> int:
        """Its exit code."""
        return self.returncode


def look_here(path: Path, _starter: object) -> _Ended:
    """What a batch waits for that looks at a scene, without a process, which starts Blender."""
    return _Ended(["info", str(path), "--json"])


@pytest.fixture
def looks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches look at scenes in this process."""
    from steer_addon.commands.farm import looking

    monkeypatch.setattr(looking, "_start", look_here)
