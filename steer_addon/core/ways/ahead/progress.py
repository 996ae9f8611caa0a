"""Progress of searches on surfaces: reported to those who wait, and ended where nobody does.

A step that may wait has patience for a number of cells. A search among more of them raises, is done
ahead instead, see `found`, and the step is made again. Cells are counted, not seconds: whether a
step waits depends on no clock, and what it finds does not depend on whether it waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..surface import Told

SLICE = 1 << 18
"""Cells that are searched between two reports: a tenth of a second, or so."""
ALL = 1 << 62
"""More cells than there are."""


class TooLongError(Exception):
    """A search takes more cells than the step that waits for it has patience for."""


class _Watch:
    """What is called with the progress of all that is not found ahead; see `watch`."""

    def __init__(self) -> None:
        self.told: Told | None = None


_watch = _Watch()


def watch(told: Told | None) -> None:
    """Let somebody without a window know of what is found, instead of nobody.

    Args:
        told: Called with the share of a surface that is found, 0 to 1, and 1 and the share of the
            ways on it that are; it ends the search by raising an error. None for nobody.
    """
    _watch.told = told


def found_surface(share: float) -> None:
    """Report the share of a surface that is found, 0 to 1."""
    if _watch.told is not None:
        _watch.told(min(share, 0.999))


class Progress:
    """How much of a search is done.

    Attributes:
        told: Called with the share that is done, 0 to 1; it ends the search by raising an error.
            None for those who watch, see `watch`.
        patience: Cells that may still be searched; None for any number.
    """

    def __init__(self, told: Told | None = None) -> None:
        self.told = told
        self.begin(None)

    def begin(self, patience: int | None) -> None:
        """Begin a search, with patience for some cells."""
        self.patience = patience
        self._begin, self._size, self._last = 0.0, 1.0, 0.0

    @property
    def slice(self) -> int:
        """Cells to search before the next report; all where nobody looks at it."""
        watched = self.told is not None or _watch.told is not None or self.patience is not None
        return SLICE if watched else ALL

    @contextmanager
    def part(self, begin: float, end: float) -> Iterator[None]:
        """In this block shares are those of a part of the search, which begins and ends there."""
        before = self._begin, self._size
        self._begin, self._size = before[0] + before[1] * begin, before[1] * (end - begin)
        try:
            yield
        finally:
            self._begin, self._size = before

    def tell(self, share: float) -> None:
        """Report the share that is done, 0 to 1; less than before counts as nothing more."""
        self._last = max(self._last, self._begin + self._size * share)
        if self.told is not None:
            self.told(self._last)
        elif _watch.told is not None:
            _watch.told(1.0 + self._last)

    def searched(self, cells: int, share: float = 0.0) -> None:
        """Count cells that were searched, and report the share that is done.

        Raises:
            TooLongError: They are more than there is patience for.
        """
        if self.patience is not None:
            self.patience -= cells
            if self.patience < 0:
                raise TooLongError
        self.tell(share)
