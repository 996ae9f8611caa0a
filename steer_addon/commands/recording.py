"""Simulated frames as plain files: one .npy array each for what a frame holds.

Frames are appended as they come, to files of temporary names that are renamed at the end. When a
run fails, the frames until then are kept as well, and the report says that they are not all.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.cache.layout import npy_header
from ..core.errors import OutputError
from ..core.results.frames import Frame
from .output import with_sentences

ARRAYS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "positions": ("position", "<f4", (3,)),
    "velocities": ("velocity", "<f4", (3,)),
    "rotations": ("rotation", "<f4", (4,)),
    "alive": ("alive", "|u1", ()),
}
"""Files by name: the field of a frame, its type, and its shape behind (frames, agents)."""

REPORT = "report.json"
_HEADER = 256
"""Bytes before the data: room for any shape, so that it can be filled in at the end."""


class Recorder:
    """Writes the frames of one run into a folder; use it in a `with` statement."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers: list[int] = []
        self.agent_count = 0
        self._ids: Any = None
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Recorder:
        """Begin."""
        try:
            for name in ARRAYS:
                self._files[name] = self._partial(name).open("wb")
        except OSError as error:
            self.__exit__()
            raise self._cannot(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files, and drop what was not kept."""
        for name, file in self._files.items():
            file.close()
            self._partial(name).unlink(missing_ok=True)
        self._files = {}

    def add(self, frame: Frame) -> None:
        """Write a frame.

        Raises:
            OutputError: The disk is full or gone.
        """
        if not self.numbers:
            self._ids = frame.id.copy()
            self.agent_count = len(frame.id)
        try:
            for name, (field, kind, _) in ARRAYS.items():
                file = self._files[name]
                if not self.numbers:
                    file.write(b"\0" * _HEADER)
                file.write(np.ascontiguousarray(getattr(frame, field), kind).tobytes())
                file.flush()
        except OSError as error:
            raise self._cannot(error) from None
        self.numbers.append(frame.number)

    def keep(self, report: dict[str, Any]) -> list[Path]:
        """Give the files their names; returns them, the report last.

        Raises:
            OutputError: They cannot be written.
        """
        made = []
        try:
            for name, (_, kind, rest) in ARRAYS.items():
                shape = (len(self.numbers), self.agent_count, *rest)
                made.append(self._keep_array(name, shape, kind))
            for name, values in (("ids", self._ids), ("frames", np.array(self.numbers, "<i8"))):
                with self._partial(name).open("wb") as file:
                    np.save(file, np.asarray(values, "<i8"), allow_pickle=False)
                made.append(self._rename(name))
            partial = self.folder / f".{REPORT}.partial"
            partial.write_text(
                json.dumps(with_sentences(report), indent=2, ensure_ascii=False) + "\n", "utf-8"
            )
            os.replace(partial, self.folder / REPORT)
        except OSError as error:
            raise self._cannot(error) from None
        return [*made, self.folder / REPORT]

    def _keep_array(self, name: str, shape: tuple[int, ...], kind: str) -> Path:
        file = self._files.pop(name)
        try:
            # a frame that was cut short by a full disk is none
            file.truncate(_HEADER + np.dtype(kind).itemsize * int(np.prod(shape)))
            file.seek(0)
            file.write(npy_header(shape, kind, _HEADER))
        finally:
            file.close()
        return self._rename(name)

    def _rename(self, name: str) -> Path:
        path = self.folder / f"{name}.npy"
        os.replace(self._partial(name), path)
        return path

    def _partial(self, name: str) -> Path:
        return self.folder / f".{name}.npy.partial"

    def _cannot(self, error: OSError) -> OutputError:
        return OutputError(
            f"Folder {self.folder} cannot be written: {error.strerror}; choose another one with "
            "--out, or make room"
        )
