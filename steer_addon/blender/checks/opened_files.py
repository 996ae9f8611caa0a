"""Files that Blender opens with a .blend file, found before it does.

Blender waits for a pipe until somebody writes to it, and nothing but the end of the process ends
that. So the paths of libraries and of caches are read from the file first: a tenth of the time that
Blender takes to open it.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

# a module of Blender, which knows how it compresses
from blend_render_info import RawBlendFileReader

from ...core.errors import SceneError
from ...core.files.plain import why_no_file

_LIBRARY, _CACHE, _END = b"LI\0\0", b"CF\0\0", b"ENDB"
"""Codes of blocks of a file."""
_PATH = re.compile(rb"(?:[/\\]|[A-Za-z]:)[^\0]+")
_PIECE = 1 << 20
"""Bytes that are read at once; blocks with paths are far shorter."""


def check_opened(path: Path) -> None:
    """Refuse a .blend file with which Blender would open a pipe or a device, libraries included.

    Raises:
        SceneError: It is one.
    """
    left, known = [path], {path}
    while left:
        file = left.pop()
        for code, found in _named(file):
            if found in known or os.path.isdir(found) or not os.path.exists(found):
                continue
            known.add(found)
            if fault := why_no_file(found):
                raise SceneError(
                    f"{found}, which {file.name} reads, {fault}: move it away, or bring back the "
                    "file that was there"
                )
            if code == _LIBRARY:
                left.append(found)


def _named(path: Path) -> Iterator[tuple[bytes, Path]]:
    """The paths that a file names, by the code of their block; of a damaged file as far as it goes.

    Whatever begins like a path counts: pointers may do so, too, and lead nowhere.
    """
    above, reader = path.resolve().parent, cast(Any, RawBlendFileReader)
    try:
        with reader(path) as file:
            for code, data in _blocks(file):
                for name in map(os.fsdecode, _PATH.findall(data)):
                    yield code, above / name[2:] if name.startswith("//") else Path(name)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, Blender says
        return


def _blocks(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The blocks with paths: code and contents."""
    start = file.read(12)
    # "BLENDER-v405", and since Blender 5 "BLENDER17-01v0500"
    is_new = start[7:9] == b"17"
    file.read(5 if is_new else 0)
    head = struct.Struct("<4s12xq8x" if is_new else "<4si16x")
    while True:
        code, length = head.unpack(file.read(head.size))
        if code == _END or length < 0:
            return
        if code in (_LIBRARY, _CACHE) and length < _PIECE:
            yield code, file.read(length)
            continue
        while length > 0:
            length -= len(file.read(min(length, _PIECE))) or length
