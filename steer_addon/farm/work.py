"""The work on one task: its command in a process of its own, and what became of it.

Every engine does it this way, on whatever machine. What the command writes to stderr is its log;
its last line on stdout is its result.
"""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..core.errors import FileError, OutputError, SteerError, printable, shortened
from ..core.files.plain import create, read_file, reason
from .results import check_inside, place_for, publish
from .starter import Starter
from .tasks import Task

_PROGRESS = re.compile(rb"(\d+)/(\d+) \(")
_HEAD = "steer task "
LOGS = "logs"
"""Folder of the logs of a variation, below its own."""
_MOST_RESULT = 100_000_000
_TAIL = 2000
"""Bytes at the end of a log that are read for a message or for progress."""
_FULL = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT))
"""What a command says whose disk is full, or whose user has no more room on it."""
_GRACE = 10.0
"""Time that a command has to end when it is stopped [s]."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Attributes:
        task: Its name.
        seconds: How long it took [s].
        fault: Why it failed, in one sentence; empty when it is done.
        log: Its log, for failures.
        passing: Whether it may do better another time, or on another machine.
    """

    task: str
    seconds: float
    fault: str = ""
    log: str = ""
    passing: bool = False


class Work:
    """A task that is being worked on: ask `outcome` until there is one, or `stop` it."""

    def __init__(
        self, task: Task, out: Path, starter: Starter, variables: Mapping[str, str]
    ) -> None:
        """Start it.

        Args:
            task: The task.
            out: Folder of the batch.
            starter: How to start commands.
            variables: More of the environment.

        Raises:
            SteerError: It cannot be started, or has no place for its results.
        """
        self.task, self._out = task, out
        self._first = not out.exists()
        self._start = time.perf_counter()
        with ExitStack() as stack:
            self._place = stack.enter_context(place_for(task, out))
            self.log = out / task.folder.partition("/")[0] / LOGS
            self._errors = stack.enter_context(self._open_log())
            answer = create(self._place.with_suffix(".json"))
            stack.callback(os.close, answer)
            words = task.command(out, self._place)
            try:
                self._process = starter.open(words, variables, stdout=answer, stderr=self._errors)
            except OSError as error:
                raise OutputError(
                    f"{starter.prefix[0]} cannot be started: {reason(error)}"
                ) from None
            self._stack = stack.pop_all()

    def _open_log(self) -> IO[bytes]:
        """A new log, in place of an earlier one of the task."""
        check_inside(self._out, self.log)
        self.log.mkdir(parents=True, exist_ok=True)
        self.log /= f"{self.task.name.rpartition('/')[2]}.log"
        head = f"{_HEAD}{self.task.name}\n".encode()
        if os.path.lexists(self.log):
            if not is_log(self.log):
                raise OutputError(f"{self.log} is there and no batch wrote it: move it away")
            os.unlink(self.log)
        file = os.fdopen(create(self.log), "wb", 0)
        file.write(head)
        return file

    def share(self) -> float:
        """The share that is done, 0 to 1, as far as its command says so."""
        found = _PROGRESS.findall(_tail(self.log))
        return int(found[-1][0]) / max(1, int(found[-1][1])) if found else 0.0

    def outcome(self) -> Outcome | None:
        """What became of it; None while it runs."""
        code = self._process.poll()
        return None if code is None else self._end(code)

    def _end(self, code: int) -> Outcome:
        fault = self._fault(code)
        # another machine may have room
        passing = code < 0 or any(why in fault for why in _FULL)
        seconds = time.perf_counter() - self._start
        if not fault:
            try:
                publish(self.task, self._out, self._place, self._answer(), seconds)
            except SteerError as error:
                fault, passing = str(error), isinstance(error, OutputError)
        self._close()
        return Outcome(self.task.name, seconds, fault, str(self.log) if fault else "", passing)

    def _fault(self, code: int) -> str:
        if not code:
            return ""
        if code < 0:
            return f"its process was ended by signal {-code}"
        lines = _tail(self.log).decode("utf-8", "replace").splitlines()
        said = [line for line in lines if line.startswith("steer: ")]
        last = said[-1].removeprefix("steer: ") if said else (lines[-1] if lines[1:] else "")
        return printable(shortened(last)) or f"its process ended with {code} and said nothing"

    def _answer(self) -> dict[str, Any]:
        with suppress(FileError, ValueError, IndexError, RecursionError):
            text = read_file(self._place.with_suffix(".json"), most=_MOST_RESULT).tobytes()
            found = json.loads(text.splitlines()[-1])
            return found if isinstance(found, dict) else {}
        return {}

    @property
    def place(self) -> Path:
        """The folder that its command writes to until it is done."""
        return self._place

    @property
    def runs(self) -> bool:
        """Whether its command has not ended yet."""
        return self._process.poll() is None

    def drop(self) -> None:
        """End its process, and leave nothing of it, its log neither."""
        self.stop()
        with suppress(OSError):
            os.unlink(self.log)
            # ends at what is not empty: logs, the folder above them, and that of the batch
            for folder in self.log.parents[: 3 if self._first else 2]:
                folder.rmdir()

    def stop(self) -> None:
        """End its process, and leave nothing of it but its log."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._close()

    def _close(self) -> None:
        with suppress(OSError):
            self._process.stdin.close()
        self._stack.close()


def is_log(path: Path) -> bool:
    """Whether a file is the log of a task."""
    return _tail(path, whole=True).startswith(_HEAD.encode())


def tail_of(log: str, lines: int) -> list[str]:
    """The last lines of a log, as a terminal can show them."""
    text = _tail(Path(log)).decode("utf-8", "replace")
    found = [line for line in text.splitlines() if line.strip() and not line.startswith(_HEAD)]
    return [printable(line) for line in found[-lines:]]


def _tail(path: Path, whole: bool = False) -> bytes:
    """The end of a log, or its beginning."""
    try:
        with path.open("rb") as file:
            if not whole:
                file.seek(max(0, file.seek(0, 2) - _TAIL))
            return file.read(_TAIL)
    except OSError:
        return b""
