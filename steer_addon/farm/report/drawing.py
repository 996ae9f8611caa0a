"""Pictures of the variations of a report, drawn by several processes where there are many.

What all pictures depend on is worked out once; then this process divides into several, each of
which draws its part. They write no file, so one that is ended leaves nothing; what it had to draw
is drawn here.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

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


class _Scales(NamedTuple):
    """What all variations are drawn by.

    Attributes:
        view: What of the ground is seen.
        most: The largest density, flow and speed of all variations.
    """

    view: figures.Extent
    most: list[float]


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
    ready, scales = _prepared(shown)
    count = max(1, min(processes, len(ready) // _FEWEST)) if _divides() else 1
    found: list[Pictures] = [{}] * len(ready)

    def part(number: int) -> list[Pictures]:
        return [_draw(each, scales) for each in ready[number::count]]

    with _others(part, count) as others:
        found[::count] = part(0)
        for number in range(1, count):
            told = _told(others.get(number), len(ready[number::count]))
            found[number::count] = part(number) if told is None else told
    return found


def _prepared(shown: Sequence[Outcome]) -> tuple[list[_Ready], _Scales]:
    view, most = figures.view_of(shown), [0.0, 0.0, 0.0]
    ready = []
    for one in shown:
        # frames are read here once for maps and once for speeds
        maps, speeds = figures.maps(one.tracks, view), figures.speeds(one.tracks)
        each = (maps.density, abs(maps.flow), speeds.high)
        most = [max(a, _largest(b)) for a, b in zip(most, each, strict=True)]
        ready.append(_Ready(one, maps, speeds))
    return ready, _Scales(view, [value or 1.0 for value in most])


def _largest(values: figures.F64) -> float:
    """The largest number of an array; 0 where there is none."""
    there = values[values == values]
    return float(there.max()) if len(there) else 0.0


def _draw(ready: _Ready, scales: _Scales) -> Pictures:
    one, view, most = ready.one, *scales
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


class _Process(NamedTuple):
    """A process that draws, and the end of a pipe on which it says what it has drawn."""

    number: int
    pipe: int


@contextmanager
def _others(part: Callable[[int], list[Pictures]], count: int) -> Iterator[dict[int, _Process]]:
    """Processes for all parts but the first, by their numbers; none is left at the end."""
    found: dict[int, _Process] = {}
    try:
        for number in range(1, count):
            # what cannot be started draws nothing
            with suppress(OSError):
                found[number] = _divided(partial(part, number))
        yield found
    finally:
        for process in found.values():
            os.close(process.pipe)
            os.kill(process.number, signal.SIGKILL)
            os.waitpid(process.number, 0)


def _divided(work: Callable[[], list[Pictures]]) -> _Process:
    """Start a process that does some work, says what came of it, and ends."""
    pipe, told = os.pipe()
    try:
        number = os.fork()
    except OSError:
        os.close(pipe)
        os.close(told)
        raise
    if number:
        os.close(told)
        return _Process(number, pipe)
    # whatever happens, nothing that the first process has begun is ended here
    try:
        os.close(pipe)
        # the first process ends this one; Ctrl-C in a terminal reaches both
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with os.fdopen(told, "wb") as file:
            file.write(json.dumps(work()).encode())
    finally:
        os._exit(0)


def _told(process: _Process | None, count: int) -> list[Pictures] | None:
    """The pictures that a process says it has drawn; None where it did not."""
    if process is None:
        return None
    with suppress(OSError, ValueError), os.fdopen(os.dup(process.pipe), "rb") as file:
        told: Any = json.loads(file.read())
        return told if isinstance(told, list) and len(told) == count else None
    return None
