"""Walkable surfaces on disk: a file that is opened again, or the next of many runs, reads them.

They lie beside the compiled kernels (`compiled.jit_store`), in folders that Steer trusts, and not
beside the frames of bakes: those play without a surface, and may come from strangers, whose cell
numbers would lead kernels anywhere. A file has all arrays of a view by their names, as
`numpy.savez` writes them, and what it was found for. One that is cut, damaged or of anything else
is as good as none. Where they become too large, the file that was used longest ago goes first.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from ...compiled import jit, jit_sources, jit_target
from ...files.plain import is_file, rename
from ...files.staging import stage
from ...views import SurfaceView
from .. import surface as surface_module
from ..surface import Shape, Surface, with_cells

FOLDER = "surfaces"
WORTH = 1.0
"""Surfaces that take this long to find are kept [s]; kept or not, they are the same."""
MOST_BYTES = 1 << 30
"""Bytes of all files at most."""
_NAME = re.compile(r"[0-9a-f]{64}\.npz")
_KEY = "key"
_DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading an archive raises that is cut, damaged, encrypted, or none."""


def read_or_found(key: bytes, shape: Shape, find: Callable[[], Surface]) -> Surface:
    """A surface, which is read from disk or found; one that takes long to find is stored.

    Args:
        key: What it follows from, see `found.key_of`.
        shape: What it is made for.
        find: Finds it.
    """
    root = jit.cache_root()
    if root is None:
        return find()
    whole = hashlib.sha256(key)
    whole.update(jit_sources.digest(surface_module.__name__).encode() + jit_target.name().encode())
    path = root / FOLDER / f"{whole.hexdigest()}.npz"
    view = _read(path)
    if view is not None:
        return Surface(view, with_cells(shape, view.size))
    begin = time.perf_counter()
    surface = find()
    if time.perf_counter() - begin >= WORTH:
        # a full disk, or a folder that lets nobody write: it is found again next time
        with suppress(OSError):
            _write(path, surface.view)
    return surface


def _read(path: Path) -> SurfaceView | None:
    """A view of a file; None where there is none, or anything else."""
    if not is_file(path):
        return None
    try:
        # each array has a checksum, which is compared
        with np.load(path, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in (_KEY, *SurfaceView._fields)}
    except _DAMAGED:
        return None
    # used by now; a folder that many share may let nobody write
    with suppress(OSError):
        os.utime(path)
    if arrays.pop(_KEY).tobytes().decode("ascii", "replace") != path.stem:
        return None
    return SurfaceView(**{n: part if part.ndim else part.item() for n, part in arrays.items()})


def _write(path: Path, view: SurfaceView) -> None:
    """Write a view in whole or not at all, and make room for it.

    Raises:
        OSError: It cannot be written.
    """
    parts = {name: np.asarray(part) for name, part in view._asdict().items()}
    size = sum(part.nbytes for part in parts.values())
    if size > MOST_BYTES:
        return
    with stage(path.parent) as folder:
        _make_room(path.parent, size)
        partial = folder / path.name
        np.savez(partial, **parts, **{_KEY: np.frombuffer(path.stem.encode(), np.uint8)})
        # not synced: a file that a power failure cuts is found again
        rename(partial, path)


def _make_room(folder: Path, size: int) -> None:
    """Remove the files that were used longest ago, until there is room for one of some bytes."""
    there = []
    for name in os.listdir(folder):
        if _NAME.fullmatch(name) and is_file(folder / name):
            status = os.lstat(folder / name)
            there.append((status.st_mtime_ns, status.st_size, name))
    left = MOST_BYTES - size - sum(bytes for _used, bytes, _name in there)
    for _used, bytes, name in sorted(there):
        if left >= 0:
            return
        # another process may read it, or have removed it
        with suppress(OSError):
            os.unlink(folder / name)
            left += bytes
