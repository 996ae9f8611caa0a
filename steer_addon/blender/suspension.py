"""Muting of the live handler, so that a bake or a scratch scene never sets it off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_depth = 0


@contextmanager
def suspended() -> Iterator[None]:
    """Mute the live handler inside the block; blocks may be nested."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def is_suspended() -> bool:
    """Whether the live handler is muted."""
    return _depth > 0
