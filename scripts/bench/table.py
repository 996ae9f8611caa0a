"""Figures of a benchmark: measuring them, and their table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Call = Callable[[], object]

OK, SHORT, NO_WISH, SKIPPED, FAILED = "ok", "short", "", "skipped", "failed"
_DIVISORS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "×": 1.0}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    operation: str
    """The measured operation, in a user's words."""
    figure: float | None
    """The measured value, in `unit`; None if it could not be measured."""
    unit: str
    """Unit of the figure; "×" is a ratio of two times measured by turns."""
    wanted: float | None = None
    """Budget, in the same unit; None if there is none."""
    at_least: bool = False
    """Whether more is better."""
    note: str = ""
    """The reference of the figure, or the reason why there is no figure."""
    failed: bool = False
    """Whether the measurement failed."""

    @property
    def ratio(self) -> float | None:
        """Budget relative to the figure; 1 just meets the budget."""
        if self.figure is None or self.wanted is None or not self.figure > 0.0:
            return None
        return self.figure / self.wanted if self.at_least else self.wanted / self.figure

    @property
    def outcome(self) -> str:
        """Whether the budget is met."""
        if self.figure is None:
            return FAILED if self.failed else SKIPPED
        if self.ratio is None:
            return NO_WISH
        return OK if self.ratio >= 1.0 else SHORT

    def cells(self) -> tuple[str, ...]:
        """The texts of the line, in the order of `HEAD`."""
        wanted = "" if self.wanted is None else f"{'≥' if self.at_least else '≤'} "
        wanted += "" if self.wanted is None else quantity(self.wanted, self.unit)
        figure = "" if self.figure is None else quantity(self.figure, self.unit)
        ratio = "" if self.ratio is None else f"{self.ratio:.2g}"
        return self.operation, figure, wanted, ratio, self.outcome, self.note


HEAD = ("operation", "figure", "wanted", "ratio", "", "note")


def quantity(value: float, unit: str) -> str:
    """A number with its unit, in three digits or so."""
    digits = 0 if value >= 100.0 or value == int(value) else 1 if value >= 10.0 else 2
    text = f"{value:,.{digits}f}"
    return f"{text}×" if unit == "×" else f"{text} {unit}"


def skipped(operation: str, why: str) -> Row:
    """A line for a figure that could not be measured here."""
    return Row(operation, None, "", note=why)


def seconds_of(call: Call, clock: Callable[[], float] = time.perf_counter) -> float:
    """Time that one call takes [s], by a clock."""
    start = clock()
    call()
    return clock() - start


def medians(
    calls: Sequence[Call],
    rounds: int,
    warm_ups: int = 2,
    in_a_row: int = 1,
    between: Call | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Median times of some calls [s], taken in turns so that a busy machine slows all alike.

    Args:
        calls: The compared calls.
        rounds: Number of timings of each call.
        warm_ups: Calls beforehand that do not count.
        in_a_row: Calls per turn, for calls that run step by step in practice.
        between: Called before each round, warm-ups included, and not timed.
        clock: Clock function [s].
    """
    times: list[list[float]] = [[] for _ in calls]
    for number in range(-warm_ups, rounds):
        if between is not None:
            between()
        if number < 0:
            for call in calls:
                call()
            continue
        for call, taken in zip(calls, times, strict=True):
            taken.extend(seconds_of(call, clock) for _ in range(in_a_row))
    return [statistics.median(taken) for taken in times]


def median(
    call: Call,
    rounds: int,
    warm_ups: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median time of a call [s]."""
    return medians([call], rounds, warm_ups, clock=clock)[0]


def timed(
    operation: str, seconds: float, unit: str, wanted: float | None = None, note: str = ""
) -> Row:
    """A line for a time given in seconds and shown, like its budget, in `unit`."""
    return Row(operation, seconds / _DIVISORS[unit], unit, wanted, note=note)


def as_text(rows: Iterable[Row]) -> str:
    """The table for a terminal."""
    lines = [HEAD, *(row.cells() for row in rows)]
    width = [max(len(line[k]) for line in lines) for k in range(len(HEAD))]
    shown = []
    for line in lines:
        cells = [
            text.rjust(width[k]) if 0 < k < 4 else text.ljust(width[k])
            for k, text in enumerate(line)
        ]
        shown.append("  ".join(cells).rstrip())
    shown.insert(1, "-" * max(map(len, shown)))
    return "\n".join(shown)


def as_markdown(rows: Iterable[Row]) -> str:
    """The same table for a page."""
    lines = [HEAD, ("---", "---:", "---:", "---:", "---", "---"), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
