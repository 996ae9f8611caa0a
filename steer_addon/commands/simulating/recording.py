"""Simulated frames as plain files: one .npy array each for what a frame holds.

Frames are appended as they come, to files in a stage (see `core.files.staging`), which get their
names at the end. When a run fails, the frames until then are kept as well, and the report says that
they are not all. One process at a time writes into a folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from ...core.cache.layout import npy_header
from ...core.errors import FileError, OutputError
from ...core.files.lock import FolderLock
from ...core.files.plain import create, read_file, reason, rename, sync_file, sync_folder
from ...core.files.staging import replace_file, stage
from ...core.results.frames import Frame
from ..output import with_sentences

ARRAYS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "positions": ("position", "<f4", (3,)),
    "velocities": ("velocity", "<f4", (3,)),
    "rotations": ("rotation", "<f4", (4,)),
    "alive": ("alive", "|u1", ()),
}
"""Files by name: the field of a frame, its type, and its shape behind (frames, agents)."""

REPORT = "report.json"
FILES = (*(f"{name}.npy" for name in (*ARRAYS, "ids", "frames")), REPORT)
_HEADER = 256
"""Bytes before the data: room for any shape, so that it can be filled in at the end."""
_FORMAT = "steer-simulation"
_UNFINISHED = "cut short while renaming"
_MOST_REPORT = 100_000_000


class _Folder:
    """A folder with a report, held for one run; used in a `with` statement."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Begin.

        Raises:
            OutputError: The folder cannot be written, another process writes to it, or it holds
                files of these names that no simulation left.
        """
        with self._stack, self._as_output_errors():
            self._check_own()
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(self.folder)
            self._stack.callback(lock.release, remove=True)
            self._check_own()
            self._begin()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what was not kept, and release the folder."""
        self._stack.close()

    def _begin(self) -> None:
        """Make what is filled until the end."""

    @property
    def has_complete(self) -> bool:
        """Whether a complete earlier run is in the folder, which a cut one must not replace."""
        report = _read_report(self.folder / REPORT)
        return report is not None and report.get("complete") is True

    def _check_own(self) -> None:
        """Refuse a folder with files of our names that are not ours."""
        there = [name for name in FILES if os.path.lexists(self.folder / name)]
        if there and _read_report(self.folder / REPORT) is None:
            raise OutputError(
                f"{self.folder} holds {' and '.join(there)}, which `steer simulate` did not "
                "write: choose another folder with --out, or move it away"
            )

    def _write_report(self, report: dict[str, Any]) -> None:
        data = {"format": _FORMAT, **with_sentences(report)}
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.folder / REPORT, [text.encode("utf-8", "surrogateescape")])

    @contextmanager
    def _as_output_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"Folder {self.folder} cannot be written: {reason(error)}; choose another one with "
                "--out, or make room"
            ) from None


class Recorder(_Folder):
    """Writes the frames of one crowd into a folder; use it in a `with` statement."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.numbers: list[int] = []
        self.agent_count = 0
        self._ids: list[Any] = []
        self._files: dict[str, IO[bytes]] = {}

    def _begin(self) -> None:
        self._stage = self._stack.enter_context(stage(self.folder))
        for name in ARRAYS:
            handle = create(self._stage / f"{name}.npy")
            self._files[name] = file = os.fdopen(handle, "wb")
            self._stack.callback(_close, file)

    def add(self, frame: Frame) -> None:
        """Write a frame.

        Raises:
            OutputError: The disk is full or gone.
        """
        if not self.numbers:
            self.agent_count = len(frame.id)
        same = bool(self._ids) and np.array_equal(self._ids[-1], frame.id)
        self._ids.append(self._ids[-1] if same else frame.id.copy())
        with self._as_output_errors():
            for name, (field, kind, _) in ARRAYS.items():
                file = self._files[name]
                if not self.numbers:
                    file.write(b"\0" * _HEADER)
                file.write(np.ascontiguousarray(getattr(frame, field), kind).tobytes())
                file.flush()
        self.numbers.append(frame.number)

    def keep(self, report: dict[str, Any]) -> list[Path]:
        """Give the files their names; returns them, the report last.

        Raises:
            OutputError: They cannot be written.
        """
        with self._as_output_errors():
            for name, (_, kind, rest) in ARRAYS.items():
                shape = (len(self.numbers), self.agent_count, *rest)
                self._end_array(name, shape, kind)
            for name, values in (
                ("ids", self._all_ids()),
                ("frames", np.array(self.numbers, "<i8")),
            ):
                with os.fdopen(create(self._stage / f"{name}.npy"), "wb") as file:
                    np.save(file, np.asarray(values, "<i8"), allow_pickle=False)
                sync_file(self._stage / f"{name}.npy")
            # until the last array has its name, the report says that they do not belong together
            self._write_report({**report, "complete": False, "error": _UNFINISHED})
            for name in FILES[:-1]:
                rename(self._stage / name, self.folder / name)
            sync_folder(self.folder)
            self._write_report(report)
        return [self.folder / name for name in FILES]

    def _all_ids(self) -> Any:
        """Ids of the rows, shape (agents,); where births change them, (frames, agents)."""
        first = self._ids[0]
        return first if all(ids is first for ids in self._ids) else np.stack(self._ids)

    def _end_array(self, name: str, shape: tuple[int, ...], kind: str) -> None:
        file = self._files.pop(name)
        try:
            # a frame that was cut short by a full disk is none
            file.truncate(_HEADER + np.dtype(kind).itemsize * int(np.prod(shape)))
            file.seek(0)
            file.write(npy_header(shape, kind, _HEADER))
        finally:
            file.close()
        sync_file(self._stage / f"{name}.npy")


class Summary(_Folder):
    """Writes a report of several crowds, beside their folders; use it in a `with` statement."""

    def begin(self) -> None:
        """Say that the folders of the crowds do not belong together yet.

        Raises:
            OutputError: The folder cannot be written.
        """
        with self._as_output_errors():
            self._write_report({"command": "simulate", "complete": False, "error": _UNFINISHED})
            # those of an earlier run with one crowd are not those of the report any more
            for name in FILES[:-1]:
                (self.folder / name).unlink(missing_ok=True)

    def keep(self, report: dict[str, Any]) -> Path:
        """Write the report.

        Raises:
            OutputError: It cannot be written.
        """
        with self._as_output_errors():
            self._write_report(report)
        return self.folder / REPORT


def _close(file: IO[bytes]) -> None:
    """Close a file that is not kept: a full disk refuses its last bytes once more."""
    with suppress(OSError):
        file.close()


def _read_report(path: Path) -> dict[str, Any] | None:
    """The report of a simulation of this version or an earlier one; None if a file is none."""
    try:
        data = json.loads(read_file(path, most=_MOST_REPORT).tobytes())
    except (FileError, ValueError, RecursionError):
        return None
    ours = isinstance(data, dict) and data.get("command") == "simulate"
    return data if ours and data.get("format", _FORMAT) == _FORMAT else None
