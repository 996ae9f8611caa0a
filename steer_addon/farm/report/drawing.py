"""Pictures of the variations of a report, drawn by several processes at once where there are many.

The others are `steer report DIR --part 2/3`, and so on: each finds the scales of all variations,
draws its part of them, and says the pictures on stdout. They write no file, so one that is stopped
leaves nothing; what it had to draw is drawn here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..starter import Starter
from . import figures, plots
from .gather import Outcome

Pictures = Mapping[str, str | None]
"""Sources of the pictures of a variation, see `_draw`; None for one that cannot be drawn."""
_FEWEST = 4
"""Variations for which a process is started: its start takes as long as to draw two."""


class Drawers(NamedTuple):
    """Processes that may draw at once, this one included, and how the others are started."""

    processes: int
    starter: Starter


ALONE = Drawers(1, Starter(()))
"""This process, and no other."""


class Part(NamedTuple):
    """Pictures of a part of the variations, which are as many apart as there are parts.

    Attributes:
        scales: Bounds of the view, and the largest density, flow and speed of all variations.
        pictures: Pictures of each variation of the part, in order.
    """

    scales: list[float]
    pictures: list[Pictures]


def pictures_of(out: Path, shown: Sequence[Outcome], drawers: Drawers) -> list[Pictures]:
    """Draw variations.

    Args:
        out: Folder of the batch.
        shown: All its variations that were simulated.
        drawers: Who may draw.

    Returns:
        The pictures of each, in order.
    """
    count = max(1, min(drawers.processes, len(shown) // _FEWEST))
    found: list[Pictures] = [{}] * len(shown)
    with _others(out, count, drawers.starter) as others:
        own = part_of(shown, 0, count)
        found[::count] = own.pictures
        for number in range(1, count):
            wanted = len(shown[number::count])
            told = _told(others.get(number))
            if told is None or told.scales != own.scales or len(told.pictures) != wanted:
                told = part_of(shown, number, count)
            found[number::count] = told.pictures
    return found


def part_of(shown: Sequence[Outcome], number: int, count: int) -> Part:
    """Draw a part of the variations by the scales of all.

    Args:
        shown: All variations.
        number: Number of the part, from 0.
        count: How many parts there are.
    """
    view = figures.view_of(shown)
    most, kept = [0.0, 0.0, 0.0], []
    for k, one in enumerate(shown):
        # frames are read here once for maps and once for speeds
        maps, speeds = figures.maps(one.tracks, view), figures.speeds(one.tracks)
        each = (maps.density, abs(maps.flow), speeds.high)
        most = [max(a, _largest(b)) for a, b in zip(most, each, strict=True)]
        if k % count == number:
            kept.append((one, maps, speeds))
    most = [value or 1.0 for value in most]
    pictures = [_draw(one, view, maps, speeds, most) for one, maps, speeds in kept]
    return Part([*view.low.tolist(), *view.high.tolist(), *most], pictures)


def _largest(values: figures.F64) -> float:
    """The largest number of an array; 0 where there is none."""
    there = values[values == values]
    return float(there.max()) if len(there) else 0.0


def _draw(
    one: Outcome,
    view: figures.Extent,
    maps: figures.Maps,
    speeds: figures.Curve,
    most: Sequence[float],
) -> Pictures:
    return {
        "rendered": plots.rendered(one.picture) if one.picture is not None else None,
        "ways": plots.trajectories(one, view),
        "density": plots.density(maps, view, most[0]),
        "flow": plots.flow(maps, view, most[1]),
        "speed": plots.speed(speeds, most[2]),
        "arrivals": plots.arrivals(one),
    }


@contextmanager
def _others(out: Path, count: int, starter: Starter) -> Iterator[dict[int, Any]]:
    """Processes for all parts but the first, by their numbers; none is left at the end."""
    found: dict[int, Any] = {}
    try:
        for number in range(1, count):
            words = ["report", str(out), f"--part={number + 1}/{count}", "--json"]
            # what cannot be started draws nothing
            with suppress(OSError):
                found[number] = starter.open(
                    words, {}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
        yield found
    finally:
        for process in found.values():
            process.kill()
            process.wait()
            process.stdout.close()
            with suppress(OSError):
                process.stdin.close()


def _told(process: Any) -> Part | None:
    """The pictures that a process says it has drawn; None where it did not."""
    if process is None:
        return None
    with suppress(ValueError, IndexError, KeyError, TypeError):
        told = json.loads(process.stdout.read().splitlines()[-1])
        return Part(told["scales"], told["pictures"])
    return None
