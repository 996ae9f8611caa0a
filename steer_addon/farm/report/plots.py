"""Pictures of a report, as PNG in text, so that one file holds them all. Needs matplotlib."""

from __future__ import annotations

import base64
import importlib
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import FileError, OutputError
from ...core.files.plain import read_file
from . import figures
from .figures import Extent
from .gather import Outcome

MOST_BYTES = 50_000_000
"""Of a picture that is read."""
_COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888")
"""Of crowds; told apart by eyes that see few colors. Source: Tol 2021, "Colour Schemes"."""
_WIDE, _HIGH = 4.2, 3.0
_LEFT, _BELOW, _AROUND, _BAR = 0.6, 0.45, 0.12, 0.8
"""Room beside and below axes for numbers and names, on the other sides, and for a bar of colors
[inch]. Set here: to let matplotlib find it takes as long as to draw."""
_DPI = 100
_TICKS = 4
"""Numbers along an axis, at most."""


def _drawing(name: str) -> Any:
    """A module of matplotlib, which is loaded for reports only."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError:
        raise OutputError(
            "The report's pictures need matplotlib: pip install steer[farm] brings it"
        ) from None


def _new(wide: float, high: float, right: float = _AROUND) -> tuple[Any, Any]:
    """A figure of this size [inch] with axes, and the room on their right."""
    # without pyplot: no window, and nothing kept
    figure = _drawing("figure").Figure(figsize=(wide, high), dpi=_DPI)
    inside = (wide - _LEFT - right) / wide, (high - _BELOW - _AROUND) / high
    return figure, figure.add_axes((_LEFT / wide, _BELOW / high, *inside))


def _encoded(figure: Any) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return as_source(buffer.getvalue(), "png")


def as_source(data: bytes, kind: str) -> str:
    """A picture as the source of an image of a page."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def color_of(index: int) -> str:
    """Color of a crowd."""
    return _COLORS[index % len(_COLORS)]


def rendered(path: Path) -> str | None:
    """A rendered picture, made small; None where it cannot be read."""
    image = _drawing("image")
    try:
        data = read_file(path, most=MOST_BYTES).tobytes()
        pixels = image.imread(io.BytesIO(data), format=path.suffix[1:])
    except (FileError, OSError, ValueError, SyntaxError):
        return None
    step = max(1, round(pixels.shape[1] / (_WIDE * _DPI)))
    high, wide = pixels.shape[0] // step * step, pixels.shape[1] // step * step
    small = pixels[:high, :wide].reshape(high // step, step, wide // step, step, -1).mean((1, 3))
    if pixels.dtype == np.uint8:
        small = small / 255.0
    buffer = io.BytesIO()
    image.imsave(buffer, np.clip(small, 0.0, 1.0).squeeze(), format="png")
    return as_source(buffer.getvalue(), "png")


def _above(view: Extent, right: float = _AROUND) -> tuple[Any, Any]:
    """Axes seen from above, as wide or high as the view."""
    extent = view.high - view.low
    high = (_WIDE - _LEFT - right) * float(extent[1] / extent[0])
    figure, axis = _new(_WIDE, min(max(high, 1.0), 6.0) + _BELOW + _AROUND, right)
    axis.set_anchor("W")
    axis.set_xlim(view.low[0], view.high[0])
    axis.set_ylim(view.low[1], view.high[1])
    axis.set_aspect("equal")
    _number(axis)
    return figure, axis


def _number(axis: Any) -> None:
    """Few and small numbers along axes."""
    axis.tick_params(labelsize=7)
    axis.locator_params(nbins=_TICKS)


def trajectories(outcome: Outcome, view: Extent) -> str:
    """Ways from above, a color for each crowd; dots are starts."""
    figure, axis = _above(view)
    for k, track in enumerate(outcome.tracks):
        ways = figures.paths(track)
        look = {"colors": color_of(k), "linewidths": 0.6, "alpha": 0.5}
        axis.add_collection(_drawing("collections").LineCollection(list(ways), **look))
        axis.scatter(*ways[:, 0].T, s=3.0, color=color_of(k), label=track.name)
    if len(outcome.tracks) > 1:
        axis.legend(fontsize=7, loc="upper right")
    return _encoded(figure)


def _colored(
    axis: Any, view: Extent, values: figures.F64, most: float, look: str, what: str
) -> None:
    """A map of cells in colors, which a bar explains."""
    shown = axis.pcolormesh(*view.edges, values, cmap=look, vmin=0.0, vmax=most)
    # as in the picture of the ways beside it: numbers take most of the time to draw
    axis.tick_params(labelbottom=False, labelleft=False)
    axis.apply_aspect()
    beside = axis.get_position()
    wide = axis.figure.get_figwidth()
    bar = axis.figure.add_axes((beside.x1 + 0.1 / wide, beside.y0, 0.12 / wide, beside.height))
    axis.figure.colorbar(shown, cax=bar).set_label(what, fontsize=7)
    _number(bar)


def density(found: figures.Maps, view: Extent, most: float) -> str:
    """Map of the mean density; the darkest is the same in all variations."""
    figure, axis = _above(view, _BAR)
    _colored(axis, view, found.density, most, "magma_r", "people per m²")
    return _encoded(figure)


def flow(found: figures.Maps, view: Extent, most: float) -> str:
    """Map of the mean flow: how many pass a meter in a second, and where to."""
    figure, axis = _above(view, _BAR)
    x, y = view.edges
    size = np.linalg.norm(found.flow, axis=2)
    _colored(axis, view, size, most, "Blues", "people per m and s")
    each = max(1, math.ceil(max(size.shape) / 24))
    at = np.meshgrid(0.5 * (x[1:] + x[:-1])[::each], 0.5 * (y[1:] + y[:-1])[::each])
    arrows, long = found.flow[::each, ::each], size[::each, ::each]
    there = long > 0.02 * most
    unit = arrows[there] / long[there][:, None]
    axis.quiver(at[0][there], at[1][there], *unit.T, color="#223344", scale=34.0, width=0.004)
    return _encoded(figure)


def speed(curve: figures.Curve, most: float) -> str:
    """Mean speed over time, and between which half of the agents are."""
    figure, axis = _new(_WIDE, _HIGH)
    axis.fill_between(curve.time, curve.low, curve.high, color=color_of(0), alpha=0.25, lw=0.0)
    axis.plot(curve.time, curve.mean, color=color_of(0), lw=1.4)
    return _curves(figure, axis, "speed [m/s]", most)


def arrivals(outcome: Outcome) -> str | None:
    """How many have arrived, over time; None where it was not counted."""
    rows = [(track, figures.arrivals(track)) for track in outcome.tracks]
    if not any(row is not None for _track, row in rows):
        return None
    figure, axis = _new(_WIDE, _HIGH)
    for k, (track, row) in enumerate(rows):
        if row is not None:
            axis.step(*row, where="post", color=color_of(k), lw=1.4, label=track.name)
    if len(rows) > 1:
        axis.legend(fontsize=7)
    return _curves(figure, axis, "arrived", max(_agents(outcome), 1))


def _agents(outcome: Outcome) -> int:
    return max(track.positions.shape[1] for track in outcome.tracks)


def _curves(figure: Any, axis: Any, what: str, most: float) -> str:
    axis.set_ylim(0.0, 1.05 * most)
    axis.set_xlabel("time [s]", fontsize=8)
    axis.set_ylabel(what, fontsize=8)
    _number(axis)
    axis.grid(alpha=0.3)
    return _encoded(figure)


def all_arrivals(outcomes: Sequence[Outcome]) -> str | None:
    """Shares that have arrived over time, a line for each variation; None where nobody counted."""
    figure, axis = _new(2.0 * _WIDE, _HIGH)
    drawn = False
    for k, one in enumerate(outcomes):
        rows = [row for row in map(figures.arrivals, one.tracks) if row is not None]
        if not rows:
            continue
        longest = max(rows, key=lambda row: len(row[0]))[0]
        total = np.sum([np.interp(longest, *row) for row in rows], axis=0)
        count = sum(track.positions.shape[1] for track in one.tracks)
        shade = k / max(len(outcomes) - 1, 1)
        axis.plot(longest, 100.0 * total / count, lw=1.0, color=(0.2, 0.3 + 0.5 * shade, 0.8, 0.8))
        axis.annotate(str(one.number), (longest[-1], 100.0 * total[-1] / count), fontsize=7)
        drawn = True
    return _curves(figure, axis, "arrived [%]", 100.0) if drawn else None
