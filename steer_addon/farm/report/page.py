"""The report of a batch: a page on which somebody picks by looking, and its figures as data."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from ...core.errors import OutputError
from ...core.files.staging import as_output_errors, replace_file
from ...version import __version__
from ..results import read_json, write_json
from . import figures, plots
from .drawing import Pictures, pictures_of
from .gather import Outcome, outcomes

JSON, CSV, HTML = "report.json", "report.csv", "report.html"
FORMAT = "steer-batch-report"
_MARK = "<!-- written by `steer report` -->\n"
_CAPTIONS = {
    "ways": "Ways from above",
    "density": "Density, mean over time",
    "flow": "Flow, mean over time",
    "speed": "Speed: mean, and the middle half",
    "arrivals": "Arrivals",
}
"""What the pictures of a variation show, in order."""


def write_report(out: Path, processes: int = 1) -> list[Path]:
    """Write the report of a batch into its folder.

    Args:
        out: The folder.
        processes: How many may draw its pictures at once.

    Returns:
        The files.

    Raises:
        JobError: No batch wrote there.
        OutputError: Files cannot be written, would replace what Steer did not write, or matplotlib
            is not installed.
    """
    found = outcomes(out)
    rows = [_row(one) for one in found]
    _check_own(out)
    # first, since it shows whether anything can be drawn
    shown = _MARK + _page(out, found, processes)
    write_json(out / JSON, {"format": FORMAT, "steer": __version__, "variations": rows})
    _write(out / CSV, _as_csv(rows))
    _write(out / HTML, shown)
    return [out / name for name in (HTML, JSON, CSV)]


def _check_own(out: Path) -> None:
    """Refuse to replace a page or table where there is no report of ours beside it."""
    there = [name for name in (HTML, CSV) if (out / name).exists() or (out / name).is_symlink()]
    if there and read_json(out / JSON, FORMAT) is None:
        raise OutputError(f"{out / there[0]} is there and Steer did not write it: move it away")


def _write(path: Path, text: str) -> None:
    with as_output_errors(path):
        replace_file(path, [text.encode("utf-8", "surrogateescape")])


def _row(one: Outcome) -> dict[str, Any]:
    return {
        "number": one.number,
        "name": one.name,
        "differs": dict(one.differs),
        "crowds": [track.name for track in one.tracks],
        "figures": figures.row_of(one.metrics),
        "fault": one.fault,
    }


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    differs = list(dict.fromkeys(key for row in rows for key in row["differs"]))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["number", "name", *differs, *figures.COLUMNS, "fault"])
    for row in rows:
        told = [row["differs"].get(key, "") for key in differs]
        values = ["" if v is None else v for v in row["figures"].values()]
        cells = [row["number"], row["name"], *told, *values, row["fault"]]
        writer.writerow([_plain(cell) for cell in cells])
    return file.getvalue()


def _plain(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@") else cell


def _page(out: Path, found: Sequence[Outcome], processes: int) -> str:
    name = html.escape(out.resolve().name)
    shown = [one for one in found if one.tracks]
    drawn = pictures_of(shown, processes)
    each = {one.number: pictures for one, pictures in zip(shown, drawn, strict=True)}
    template = Template(Path(__file__).with_name("page.html").read_text("utf-8"))
    failed = len(found) - len(shown)
    summary = f"{len(found)} variations" + (f", {failed} of them failed" if failed else "")
    return template.substitute(
        title=name,
        summary=f"{summary}. Take one with <code>steer pick {name} NUMBER "
        "--save shot.blend</code>.",
        sheet="\n".join(_tile(one, each.get(one.number)) for one in found),
        table=_table(found),
        together=_together(found),
        details="\n".join(_details(one, each[one.number]) for one in shown),
    )


def _told(one: Outcome) -> str:
    return ", ".join(f"{key} {value}" for key, value in one.differs.items()) or one.name


def _tile(one: Outcome, pictures: Pictures | None) -> str:
    """A variation on the contact sheet: rendered, or else its ways from above."""
    if pictures is not None:
        source = pictures["rendered"] or pictures["ways"]
        inside = f'<img alt="Variation {one.number}" src="{source}">'
    else:
        inside = f'<div class="fault">{html.escape(one.fault)}</div>'
    arrived = figures.arrived_in_words(figures.row_of(one.metrics))
    told = "<br>".join(filter(None, (html.escape(_told(one)), arrived)))
    told = f"<div><b>{one.number}</b> {told}</div>"
    return f'<a href="#v{one.number}">{inside}{told}</a>'


def _table(found: Sequence[Outcome]) -> str:
    differs = list(dict.fromkeys(key for one in found for key in one.differs))
    head = ["variation", *differs, *figures.COLUMNS.values()]
    lines = ["<thead><tr>" + "".join(f"<th>{html.escape(t)}</th>" for t in head) + "</tr></thead>"]
    for one in found:
        link = f'<a href="#v{one.number}">{one.number}</a> {html.escape(one.name)}'
        told = [html.escape(str(one.differs.get(key, ""))) for key in differs]
        values = [_number(value) for value in figures.row_of(one.metrics).values()]
        cells = "".join(f"<td>{cell}</td>" for cell in (link, *told, *values))
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join(lines)


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _together(found: Sequence[Outcome]) -> str:
    drawn = plots.all_arrivals([one for one in found if one.tracks])
    if drawn is None:
        return ""
    return f"<h2>Arrivals</h2>\n{_figure(drawn, 'Share that has arrived, by variation')}"


def _details(one: Outcome, pictures: Pictures) -> str:
    drawn = [(pictures[name], told) for name, told in _CAPTIONS.items()]
    shown = "\n".join(_figure(source, told) for source, told in drawn if source is not None)
    title = f"{one.number} · {html.escape(_told(one))}"
    return f'<h2 id="v{one.number}">{title}</h2>\n<div class="plots">\n{shown}\n</div>'


def _figure(source: str, told: str) -> str:
    return f'<figure><img alt="{told}" src="{source}"><figcaption>{told}</figcaption></figure>'
