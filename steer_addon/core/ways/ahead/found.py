"""Large surfaces, found before the step that needs them.

With a window nobody should stand still for seconds: where kernels may wait, a surface of many cells
raises instead of being found, and a thread finds it, with all that the step was about to look up on
it. The step is made again then, maybe by another run of the same scene, as bakes do: so what was
found is known by a digest of all that it follows from, and whoever needs it first takes it.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import numpy as np

from ...compiled import jit
from ..surface import Bounds, Shape, lattice_of

if TYPE_CHECKING:
    from ..known import Blocks, Known

LONG = 1 << 19
"""Columns from which on finding a surface takes long: half a second, or so."""


class _Found:
    """What is found, and waits to be taken."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: dict[bytes, Known] = {}
        self.failed: set[bytes] = set()


_found = _Found()


def takes_long(shape: Shape, bounds: Bounds) -> bool:
    """Whether it takes long to find a surface."""
    nx, ny = lattice_of(shape, bounds)[2]
    return nx * ny >= LONG


def key_of(shape: Shape, blocks: Blocks, bounds: Bounds) -> bytes:
    """A digest of all that a surface follows from."""
    digest = hashlib.blake2b(repr((shape, blocks.level)).encode(), digest_size=32)
    for part in (bounds, blocks.ground, blocks.colliders):
        for value in part:
            array = np.ascontiguousarray(value)
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(array.data)
    return digest.digest()


def may_wait(key: bytes) -> bool:
    """Whether a step may wait for a surface, which could be found before."""
    return jit.is_deferring() and key not in _found.failed


def give(key: bytes, known: Known) -> None:
    """Keep what was found until it is taken; what nobody took before is dropped."""
    with _found.lock:
        _found.known.clear()
        _found.known[key] = known


def fail(key: bytes) -> None:
    """Remember that it cannot be found ahead: the step itself meets the error then."""
    _found.failed.add(key)


def holds_any() -> bool:
    """Whether anything waits to be taken."""
    return bool(_found.known)


def take(key: bytes) -> Known | None:
    """What was found, for one only; None where nothing was."""
    with _found.lock:
        return _found.known.pop(key, None)
