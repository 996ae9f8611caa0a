"""Names and headers of written files; an old file stays until the new one is complete."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import OutputError

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST = 80


@dataclass(frozen=True)
class Header:
    """Header of a file: the values that all its frames share.

    Attributes:
        name: Name of the crowd.
        fps: Frames per second.
        start: First frame number.
        end: Last frame number.
    """

    name: str
    fps: float
    start: int
    end: int

    @property
    def count(self) -> int:
        """Number of frames."""
        return self.end - self.start + 1


def safe_name(text: str) -> str:
    """A name as a file name that every system accepts; letters of all languages stay."""
    name = _FORBIDDEN.sub("_", text).strip(" .")
    while len(name.encode("utf-8")) > _LONGEST:
        name = name[:-1]
    if not name or _RESERVED.fullmatch(name):
        name = f"_{name}"
    return name


@contextmanager
def as_output_errors(path: Path) -> Iterator[None]:
    """In this block an error of the system becomes the sentence that the file cannot be written.

    Raises:
        OutputError: In place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name to write to, which becomes the file if the block ends without an error.

    The temporary file is in the same folder, with the same suffix: programs know formats by it.
    After an error an earlier file stays as it was.

    Raises:
        OutputError: The file cannot be written.
    """
    partial = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        with as_output_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield partial
            os.replace(partial, path)
    finally:
        try:
            partial.unlink(missing_ok=True)
        except OSError:
            # the folder is gone, and the temporary file with it
            pass


def cannot_write(path: Path, reason: str) -> OutputError:
    """The error for a file that cannot be written."""
    return OutputError(
        f"{path} cannot be written: {reason}; choose another folder or make room. "
        "An earlier file of this name is as it was"
    )


def reason_of(error: Exception) -> str:
    """The reason that an operator of Blender gives, on one line; add-ons give a whole traceback."""
    text = str(error)
    if "Traceback (most recent call last)" in text:
        found = re.search(r"^\w+(?:Error|Exception): (?:\[.*?\] )?(.*)$", text, re.MULTILINE)
        text = "Blender gives no reason" if found is None else found[1]
    return " ".join(text.removeprefix("Error: ").split())
