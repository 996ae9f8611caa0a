"""Names and headers of written files; an old file stays until the new one is complete."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.errors import OutputError
from ...core.files import staging
from ...core.files.plain import is_same
from ...core.files.staging import as_output_errors
from ...core.files.whole import why_not_whole

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


def files_read() -> list[Path]:
    """Files that the open one reads: those that it links from, caches, images and others."""
    paths = bpy.utils.blend_paths(absolute=True, packed=False, local=False)
    return [Path(os.path.abspath(path)) for path in paths]


def check_no_input(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read for what is written, by whatever path.

    Raises:
        OutputError: It is one of the inputs.
    """
    if any(is_same(path, other) for other in inputs):
        raise OutputError(f"{path} is read for this, and would be lost: give another name")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write beside a path, which takes its place if it is whole, see `core.files`.

    Raises:
        OutputError: The file cannot be written; an earlier one is as it was.
    """
    with as_output_errors(path), staging.replacing(path, why_not_whole) as partial:
        yield partial


def reason_of(error: Exception) -> str:
    """The reason that an operator of Blender gives, on one line; add-ons give a whole traceback.

    Raises:
        KeyboardInterrupt: That was it: Blender makes an error like all others of it.
    """
    text = str(error)
    if re.search(r"^KeyboardInterrupt\b", text, re.MULTILINE):
        raise KeyboardInterrupt
    if "Traceback (most recent call last)" in text:
        found = re.search(r"^\w+(?:Error|Exception): (?:\[.*?\] )?(.*)$", text, re.MULTILINE)
        text = "Blender gives no reason" if found is None else found[1]
    return " ".join(text.removeprefix("Error: ").split())
