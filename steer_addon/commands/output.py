"""Results of commands, and a clean stdout for them, which Blender also writes to."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ..core.errors import printable
from ..core.step.simulation import Progress
from ..process import stop_if_asked, tell


@dataclass
class Result:
    """Result of a command.

    Attributes:
        data: The JSON object; the diagnoses in its "warnings" are written as sentences there, and
            as data beside them.
        lines: The same for people.
        code: Exit code; 1 where a part of the result is not there.
    """

    data: dict[str, Any]
    lines: Sequence[object] = ()
    code: int = 0

    def __post_init__(self) -> None:
        """Write diagnoses as text and as plain data."""
        self.data = with_sentences(self.data)
        self.lines = [printable(str(line)) for line in self.lines]


def with_sentences(data: dict[str, Any]) -> dict[str, Any]:
    """A JSON object whose "warnings" are sentences, with the same as data in "diagnoses"."""
    if "warnings" not in data:
        return data
    found = data["warnings"]
    texts = {"warnings": [d.sentence for d in found], "diagnoses": [d.to_dict() for d in found]}
    return {**data, **texts}


@contextmanager
def quiet_stdout(*, debug: bool, keep: bool) -> Iterator[Callable[[str], None]]:
    """Keep everything but the result off stdout, also what C code prints.

    Args:
        debug: Show on stderr what Blender prints, instead of dropping it.
        keep: Keep it so until the process ends, since Blender prints to stdout as it quits.

    Yields:
        Writes a text to the true stdout.
    """
    if sys.stdout is None:
        # closed, or a program without a console
        with _redirected(debug, keep=False):
            yield _refuse
        return
    if not _is_stdout(1):
        # stdout was replaced, by a test or an embedding program: descriptor 1 is not the way out
        true_stdout = sys.stdout
        with _redirected(debug, keep=False):
            yield lambda text: (
                true_stdout.write(_encoded(text).decode("utf-8")),
                true_stdout.flush(),
                None,
            )[2]
        return
    with _redirected(debug, keep) as saved:
        yield lambda text: _write_all(saved, _encoded(text))


def _refuse(text: str) -> None:
    raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _encoded(text: str) -> bytes:
    """A text as UTF-8; bytes of a file's name that are none are written as JSON and Python do."""
    with suppress(UnicodeError):
        # a name that Python read as ASCII, since the locale said so
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return text.encode("utf-8", "backslashreplace")


def _is_stdout(descriptor: int) -> bool:
    try:
        return sys.stdout.fileno() == descriptor
    except (AttributeError, OSError, io.UnsupportedOperation):
        return False


@contextmanager
def _redirected(debug: bool, keep: bool) -> Iterator[int]:
    _flush()
    try:
        saved = os.dup(1)
    except OSError:
        # no stdout at all, as under a Windows GUI program: nothing to protect
        yield 1
        return
    target = os.dup(2) if debug else os.open(os.devnull, os.O_WRONLY)
    os.dup2(target, 1)
    os.close(target)
    try:
        yield saved
    finally:
        _flush()
        if not keep:
            os.dup2(saved, 1)
            os.close(saved)


def _flush() -> None:
    if sys.stdout is not None:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
    # what C code printed waits in a buffer of its own
    runtime = ctypes.cdll.ucrtbase if sys.platform == "win32" else ctypes.CDLL(None)
    runtime.fflush(None)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


class _Line:
    """One changing line on a terminal, a line now and then in a log; on stderr."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.terminal = quiet, sys.stderr is not None and sys.stderr.isatty()
        self.interval = 0.2 if self.terminal else 5.0
        self.begin()

    def begin(self) -> None:
        """Begin to measure the time."""
        self.start = self.last = time.perf_counter()

    def write(self, text: str, end: str = "") -> None:
        """Write a text in place of the one before on a terminal, with this behind it, or a line."""
        tell(f"\r\033[K{text}", end=end) if self.terminal else tell(text)


class WaysLine(_Line):
    """Reports on stderr how far the walkable surface, and then ways on it, are found.

    Only what takes more than a moment is reported.
    """

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet)
        self.found = 0.0

    def __call__(self, share: float) -> None:
        """Report the share of the surface, 0 to 1, or 1 and the share of the ways.

        Raises:
            KeyboardInterrupt: The run is cancelled.
        """
        stop_if_asked()
        now = time.perf_counter()
        if share < self.found:
            self.start = now
        self.found = share
        if self.quiet or now - self.start < 1.0 or now - self.last < self.interval:
            return
        self.last = now
        text, done = "Finding the walkable surface", share
        if share >= 1.0:
            text, done = "Finding the ways on it", share - 1.0
        self.write(f"{text}: {done:.0%}")


class ProgressLine(_Line):
    """Reports progress on stderr: one changing line on a terminal, a line now and then in a log."""

    def __init__(self, what: str, quiet: bool) -> None:
        super().__init__(quiet)
        self.what = what

    def __call__(self, progress: Progress) -> bool:
        """Report; returns True, since Ctrl+C is how a run is cancelled.

        Raises:
            KeyboardInterrupt: The run is cancelled.
        """
        stop_if_asked()
        finished = progress.done >= progress.total
        now = time.perf_counter()
        if self.quiet or (now - self.last < self.interval and not finished):
            return True
        self.last = now
        text = f"{self.what}: {progress.done}/{progress.total} ({progress.share:.0%})"
        if finished:
            text += f", {progress.seconds:.1f} s"
        elif progress.done:
            # before there is one percent of a share, the time that is left is a wild guess
            text += f", {progress.time_left} left"
        self.write(text, "\n" if finished else "")
        return True

    def share(self, share: float) -> None:
        """Report a share done, 0 to 1."""
        spent = time.perf_counter() - self.start
        left = spent / share * (1.0 - share) if share > 0.0 else 0.0
        self(Progress(round(100 * share), 100, spent, left))
