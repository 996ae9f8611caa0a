"""Compile kernels in processes of their own, so that a window stays alive meanwhile.

A crowd whose kernels did not come with the package compiles tens of them, for half a minute. Numba
keeps Python's lock for most of that, so a thread would make a window stutter, and could not be
stopped when Blender quits. Processes leave what they compiled in the folder of `jit`, from where
it is loaded in a third of a second.

The job of a process comes from its parent, on stdin, and nowhere else: the settings of a crowd, and
the kernels that were found missing. The process makes a dry run with a tiny crowd, uncompiled, to
learn which kernels there are, and then compiles its share of them, one line on stdout for each.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .. import own_behaviors
from ..compiled import jit
from ..doors import load
from ..errors import KernelsMissingError
from . import dry_run, everything

log = logging.getLogger(__name__)

MOST_PROCESSES = 4
"""Kernels share helpers, which each process compiles for itself: more would not be faster."""

# A package inside of an extension cannot be imported by its name in another Python, so its parents
# are made there first; what they hold is not run.
_BOOT = """
import sys, json, types, importlib, importlib.util
job = json.loads(sys.stdin.read())
sys.path[:] = job["path"]
*parents, (root, folders) = job["packages"]
for name, paths in parents:
    made = types.ModuleType(name)
    made.__path__ = paths
    sys.modules[name] = made
spec = importlib.util.spec_from_file_location(
    root, folders[0] + "/__init__.py", submodule_search_locations=folders
)
sys.modules[root] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[root])
importlib.import_module(root + ".core.warmup.processes").compile_share(job)
"""


@dataclass(frozen=True)
class Need:
    """Kernels that have to be compiled.

    Attributes:
        told: Settings of a crowd as plain values; None for no crowd at all.
        colliders: Whether it has meshes that block.
        ground: Whether it has terrain.
        looks: Whether the overlay shows why its agents turn.
        missing: Other kernels that were found missing.
        into: The only folder that kernels are read from and kept in; None for the usual ones.
    """

    told: dict[str, Any] | None
    colliders: bool = False
    ground: bool = False
    looks: bool = False
    missing: tuple[KernelsMissingError, ...] = ()
    into: Path | None = None

    def to_job(self) -> dict[str, Any]:
        """As plain values."""
        # the types of a kernel's arguments are numba's own objects; they go to our own child only
        named = [
            [*error.kernel, base64.b64encode(pickle.dumps(error.signature)).decode("ascii")]
            for error in self.missing
        ]
        return {
            "told": self.told,
            "colliders": self.colliders,
            "ground": self.ground,
            "looks": self.looks,
            "missing": named,
            "into": None if self.into is None else str(self.into),
        }


@dataclass(frozen=True)
class State:
    """Progress of compiling.

    Attributes:
        done: Kernels that are compiled.
        total: Kernels in all; 0 while that is not known.
        running: Whether any process is at work.
        failure: Why it could not be done; empty when all is well.
    """

    done: int
    total: int
    running: bool
    failure: str = ""

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1; 0 while it is not known."""
        return self.done / self.total if self.total else 0.0


@dataclass(eq=False)
class Compilation:
    """Processes that compile what is needed; `state` may be asked at any time, `stop` too."""

    need: Need
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _outputs: list[Path] = field(default_factory=list)

    def start(self, python: list[str] | None = None, processes: int | None = None) -> None:
        """Start the processes.

        Args:
            python: The command that runs Python code given as its last argument; None finds one.
            processes: How many; None goes by the number of cores.

        Raises:
            OSError: None of them can be started.
        """
        command = python or python_command()
        count = processes or min(MOST_PROCESSES, jit.threads())
        for number in range(count):
            job = {**self.need.to_job(), "share": [number, count], **_surroundings()}
            handle, name = tempfile.mkstemp(prefix="steer-compiling-")
            self._outputs.append(Path(name))
            with os.fdopen(handle, "wb") as output:
                process = subprocess.Popen(
                    [*command, _BOOT],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    env=_environment(),
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            self._processes.append(process)
            _tell(process, job)

    def state(self) -> State:
        """The progress now."""
        codes = [process.poll() for process in self._processes]
        done = total = 0
        for path in self._outputs:
            lines = _lines(path)
            done += len([line for line in lines if "kernel" in line])
            total += sum(line.get("share", 0) for line in lines)
        known = sum(any("share" in line for line in _lines(path)) for path in self._outputs)
        running = any(code is None for code in codes)
        failed = [code for code in codes if code]
        failure = f"a process ended with {failed[0]}" if failed and not running else ""
        return State(done, total if known == len(self._outputs) else 0, running, failure)

    def stop(self) -> None:
        """End all processes and remove their files; safe at any time, and more than once."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for path in self._outputs:
            path.unlink(missing_ok=True)
        self._processes, self._outputs = [], []


def _tell(process: subprocess.Popen[bytes], job: dict[str, Any]) -> None:
    stdin: IO[bytes] | None = process.stdin
    if stdin is not None:
        # one that ended at once says so by its code
        with contextlib.suppress(OSError), stdin:
            stdin.write(json.dumps(job).encode("utf-8"))


def _lines(path: Path) -> list[dict[str, Any]]:
    """The lines that a process has written; a last one that is not complete is left out."""
    found = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                found.append(value)
    return found


def python_command() -> list[str]:
    """A command that runs code with a Python like this one.

    Raises:
        OSError: There is none.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = (f"python{version}", "python3", "python", "python.exe")
    beside = [Path(sys.base_prefix) / folder / name for name in names for folder in ("bin", "")]
    for path in (Path(sys.executable or ""), *beside):
        # in a program that has Python inside, sys.executable may be that program
        if path.is_file() and path.stem.startswith("python"):
            return [str(path), "-c"]
    raise OSError(f"no Python {version} was found beside this program")


def _surroundings() -> dict[str, Any]:
    """Where the child finds the same modules under the same names."""
    root = __name__.rpartition(".core.")[0]
    names = [root]
    while "." in names[0]:
        names.insert(0, names[0].rpartition(".")[0])
    packages = [[name, _folders(name)] for name in names]
    return {"packages": packages, "path": [path for path in sys.path if path]}


def _folders(package: str) -> list[str]:
    return [str(path) for path in getattr(sys.modules.get(package), "__path__", ())]


def _environment() -> dict[str, str]:
    root = jit.cache_root()
    kept = {} if root is None else {"STEER_CACHE_DIR": str(root)}
    if folders := own_behaviors.loaded_folders():
        kept[own_behaviors.VARIABLE] = os.pathsep.join(folders)
    # numba would read the user's own settings for a run, which need not be those of this process
    return {**os.environ, **kept, "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(eq=False)
class _Recorder:
    """Notes which kernels are called, and runs them as plain Python."""

    calls: dict[tuple[Any, Any], None] = field(default_factory=dict)
    _depth: int = 0

    def __call__(self, kernel: jit.Kernel, *args: Any) -> Any:
        """Run a kernel; what it calls itself is compiled with it."""
        if self._depth == 0:
            self.calls[kernel, jit.types_of(kernel, args)] = None
        self._depth += 1
        try:
            return kernel.function(*args)
        finally:
            self._depth -= 1


def needed(job: dict[str, Any]) -> list[tuple[jit.Kernel, tuple[Any, ...]]]:
    """The kernels of a job, each with the types of its arguments, in the order of their calls."""
    # with it come the behaviors of users, whose kernels are found by the names of their modules
    load(dry_run)
    recorder = _Recorder()
    for module, name, packed in job["missing"]:
        kernel = getattr(importlib.import_module(module), name)
        recorder.calls[kernel, pickle.loads(base64.b64decode(packed))] = None
    if job["told"] is not None:
        with jit.recording(recorder):
            try:
                dry_run.run_tiny(job["told"], job["colliders"], job["ground"])
                if job["looks"]:
                    everything.look(job["told"])
            except Exception as error:  # noqa: BLE001
                # a crowd that needs more kernels than were noted asks for them later
                log.warning("Dry run ended early: %s: %s", type(error).__name__, error)
    return list(recorder.calls)


def noted(run: Callable[[], None]) -> list[tuple[jit.Kernel, tuple[Any, ...]]]:
    """The kernels that a function calls, each with the types of its arguments; nothing compiles.

    Only for a process in which no kernel ran before.
    """
    jit.status()
    recorder = _Recorder()
    with jit.recording(recorder):
        run()
    return list(recorder.calls)


def compile_share(job: dict[str, Any]) -> None:
    """The work of a child: compile its share, with a line on stdout for each kernel."""
    if not jit.status().compiled:
        raise SystemExit(3)
    if job["into"] is not None:
        jit.keep_in(Path(job["into"]))
    number, count = job["share"]
    mine = needed(job)[number::count]
    _say(share=len(mine))
    for kernel, types in mine:
        kernel.target().compile(types)  # type: ignore[attr-defined]
        _say(kernel=kernel.__name__)


def _say(**values: Any) -> None:
    print(json.dumps(values), flush=True)
