"""Unchanging: inside of a handler no crowd changes, so what many ask for is worked out once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Value = TypeVar("Value")


class _Block(threading.local):
    """The block that this thread is in: rendering calls handlers from a thread of its own."""

    known: dict[Hashable, Any] | None = None


_block = _Block()


@contextmanager
def unchanging() -> Iterator[None]:
    """A block in which crowds, their settings and their inputs stay as they are; may be nested."""
    if _block.known is not None:
        yield
        return
    _block.known = {}
    try:
        yield
    finally:
        _block.known = None


def once(key: Hashable, make: Callable[[], Value]) -> Value:
    """A value that is worked out once in a block, and each time outside of one.

    Args:
        key: What it is; all that it depends on, but for what does not change.
        make: Works it out.
    """
    known = _block.known
    if known is None:
        return make()
    if key not in known:
        known[key] = make()
    value: Value = known[key]
    return value
