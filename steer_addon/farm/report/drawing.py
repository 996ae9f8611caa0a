"""Pictures of the variations of a report, drawn by several processes where there are many.

This process divides into several, each of which draws its part by scales that they agree on. They
write no file, so one that is ended leaves nothing; what it had to draw is drawn here.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, NoReturn

from . import figures, plots
from .gather import Outcome

Pictures = Mapping[str, str | None]
"""Sources of the pictures of a variation, see `_draw`; None for one that cannot be drawn."""
_FEWEST = 4
"""Variations for which a process is started: what it draws by itself takes longer than its start.
"""


class _Ready(NamedTuple):
    """A variation that is ready to be drawn."""

    one: Outcome
    maps: figures.Maps
    speeds: figures.Curve


class _Part:
    """Variations that one process draws.

    Attributes:
        most: The largest density, flow and speed of them.
    """

    def __init__(self, shown: Sequence[Outcome], view: figures.Extent) -> None:
        """Get them ready to be drawn, as this view has them."""
        self._view, self._ready, self.most = view, list[_Ready](), [0.0, 0.0, 0.0]
        for one in shown:
            # frames are read here once for maps and once for speeds
            maps, speeds = figures.maps(one.tracks, view), figures.speeds(one.tracks)
            each = (maps.density, abs(maps.flow), speeds.high)
            self.most = _most([self.most, [_largest(values) for values in each]])
            self._ready.append(_Ready(one, maps, speeds))

    def draw(self, most: Sequence[float]) -> list[Pictures]:
        """Draw them by the largest density, flow and speed of all variations."""
        scales = [value or 1.0 for value in most]
        return [_draw(each, self._view, scales) for each in self._ready]


def pictures_of(shown: Sequence[Outcome], processes: int = 1) -> list[Pictures]:
    """Draw variations.

    Args:
        shown: All variations of a batch that were simulated.
        processes: How many may draw at once, this one included.

    Returns:
        The pictures of each, in order.

    Raises:
        OutputError: matplotlib is not installed.
    """
    if not shown:
        return []
    plots.load()
    view = figures.view_of(shown)
    count = max(1, min(processes, len(shown) // _FEWEST)) if _divides() else 1

    def part(number: int) -> _Part:
        return _Part(shown[number::count], view)

    found: list[Pictures] = [{}] * len(shown)
    with _others(part, count) as others:
        own = {0: part(0)}
        largest = {number: other.largest() for number, other in others.items()}
        for number in range(1, count):
            if largest.get(number) is None:
                own[number] = part(number)
        most = _most([*(one.most for one in own.values()), *filter(None, largest.values())])
        for other in others.values():
            other.tell(most)
        for number in range(count):
            told = None if number in own else others[number].pictures(len(found[number::count]))
            if told is None:
                told = (own.get(number) or part(number)).draw(most)
            found[number::count] = told
    return found


def _most(rows: Sequence[Sequence[float]]) -> list[float]:
    return [max(values) for values in zip(*rows, strict=True)]


def _largest(values: figures.F64) -> float:
    """The largest number of an array; 0 where there is none."""
    there = values[values == values]
    return float(there.max()) if len(there) else 0.0


def _draw(ready: _Ready, view: figures.Extent, most: Sequence[float]) -> Pictures:
    one = ready.one
    return {
        "rendered": plots.rendered(one.picture) if one.picture is not None else None,
        "ways": plots.trajectories(one, view),
        "density": plots.density(ready.maps, view, most[0]),
        "flow": plots.flow(ready.maps, view, most[1]),
        "speed": plots.speed(ready.speeds, most[2]),
        "arrivals": plots.arrivals(one),
    }


def _divides() -> bool:
    """Whether this process may divide: another thread might hold what the new one waits for."""
    alone = "bpy" not in sys.modules and threading.active_count() == 1
    # elsewhere libraries of the system forbid it
    return sys.platform == "linux" and alone


class _Other:
    """A process that draws a part.

    It says the largest density, flow and speed of its part, hears those of all, and says its
    pictures: a line of JSON each.
    """

    def __init__(self, work: Callable[[], _Part]) -> None:
        """Start it.

        Raises:
            OSError: It cannot be started.
        """
        here, there = socket.socketpair()
        with there:
            try:
                self._number = os.fork()
            except OSError:
                here.close()
                raise
            if not self._number:
                here.close()
                _work(work, there)
        self._socket, self._lines = here, here.makefile("rb")

    def _said(self) -> Any:
        """What it says next; None where it does not."""
        with suppress(OSError, ValueError):
            return json.loads(self._lines.readline())
        return None

    def largest(self) -> list[float] | None:
        """The largest values of its part; None where it has failed."""
        told = self._said()
        return told if isinstance(told, list) and len(told) == 3 else None

    def tell(self, most: Sequence[float]) -> None:
        """Tell it the largest values of all."""
        # one that has failed hears nothing
        with suppress(OSError):
            self._socket.sendall(_line(most))

    def pictures(self, count: int) -> list[Pictures] | None:
        """Its pictures, of that many variations; None where it has failed."""
        told = self._said()
        return told if isinstance(told, list) and len(told) == count else None

    def end(self) -> None:
        """End it."""
        self._lines.close()
        self._socket.close()
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)


def _line(data: Any) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _work(work: Callable[[], _Part], there: socket.socket) -> NoReturn:
    """What another process does, from its start to its end."""
    # whatever happens, nothing that the first process has begun is ended here
    try:
        # the first process ends this one; Ctrl-C in a terminal reaches both
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        part = work()
        there.sendall(_line(part.most))
        with there.makefile("rb") as lines:
            there.sendall(_line(part.draw(json.loads(lines.readline()))))
    finally:
        os._exit(0)


@contextmanager
def _others(part: Callable[[int], _Part], count: int) -> Iterator[dict[int, _Other]]:
    """Processes for all parts but the first, by their numbers; none is left at the end."""
    found: dict[int, _Other] = {}
    try:
        for number in range(1, count):
            # what cannot be started draws nothing
            with suppress(OSError):
                found[number] = _Other(partial(part, number))
        yield found
    finally:
        for other in found.values():
            other.end()
