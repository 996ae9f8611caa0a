"""The table that validate prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scenario import ALL_ARRIVE, SOLID

Result = dict[str, Any]

COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("scenario", "name", "{}"),
    ("agents", "agents", "{:d}"),
    ("arrived", "arrived", "{:d}"),
    ("all\narrive", "all_arrive", "{}"),
    ("led", "led", "{}"),
    ("pene-\ntrations", "penetrations", "{:d}"),
    ("over-\nlap", "overlap", "{:.3f}"),
    ("stuck", "stuck", "{:d}"),
    ("time\n[s]", "time", "{:.1f}"),
    ("free\n[s]", "free_time", "{:.1f}"),
    ("path\n[m]", "path", "{:.1f}"),
    ("free\n[m]", "free_path", "{:.1f}"),
    ("rever-\nsals", "reversals", "{:.2f}"),
    ("score", "score", "{:.0f}"),
    ("ms a\nstep", "seconds_per_step", "{:.2f}"),
)


def cell(result: Result, key: str, form: str) -> str:
    """One entry of the table; a dash if it was not measured."""
    value = result.get(key)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return form.format(1000.0 * value if key == "seconds_per_step" else value)


OF_ALL = tuple(wanted.figure for wanted in SOLID)
"""Figures required of nearly every scenario, shown only when they fail."""


def verdict(result: Result) -> str:
    """`ok` with the scenario's own figures, or the failed figures with their gaps."""
    if "error" in result:
        return f"ERROR: {result['error']}"
    if result["short"]:
        return "SHORT: " + "; ".join(_measured(result, text) for text in result["short"])
    shown = {key for _title, key, _form in COLUMNS}
    own = [
        text
        for text in result["wanted"]
        if text.split(" ", 1)[0] not in {*OF_ALL, *shown} and text != str(ALL_ARRIVE)
    ]
    return "ok" + (": " + "; ".join(_measured(result, text) for text in own) if own else "")


def _measured(result: Result, text: str) -> str:
    """The required value, with the result in brackets."""
    return f"{text} ({_value(result, text.split(' ', 1)[0])})"


def _value(result: Result, figure: str) -> str:
    value = result.get(figure)
    return f"{value:.4g}" if isinstance(value, (int, float)) else "none"


def as_text(results: Sequence[Result]) -> str:
    """A table for terminals."""
    titles = [title.replace("-\n", "").replace("\n", " ") for title, _key, _form in COLUMNS]
    rows = [[cell(result, key, form) for _title, key, form in COLUMNS] for result in results]
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]

    def line(cells: Sequence[str], last: str) -> str:
        first = cells[0].ljust(widths[0])
        rest = (text.rjust(width) for text, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join([first, *rest, last]).rstrip()

    lines = [line(titles, "wanted")]
    lines += [line(row, verdict(result)) for row, result in zip(rows, results, strict=True)]
    return "\n".join([*lines, "", summary(results)])


def summary(results: Sequence[Result]) -> str:
    """Summary of the number of scenarios that pass."""
    good = sum(not result["short"] for result in results)
    return f"{good} of {len(results)} scenarios as wanted"
