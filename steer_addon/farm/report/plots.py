"""Pictures of a report, as PNG in text, so that one file holds them all. Needs matplotlib."""

from __future__ import annotations

import base64
import importlib
import io
import math
from collections.abc import Sequence
from functools import lru_cache
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
_SHEETS = 4
"""Sheets of each kind that are kept: all variations of a report share their scales."""
_PARTS = ("backends.backend_agg", "cm", "collections", "colors", "figure", "image")
"""Modules of matplotlib that are used."""
_Pair = tuple[float, float]


def _drawing(name: str) -> Any:
    """A module of matplotlib, which is loaded for reports only."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError:
        raise OutputError(
            "The report's pictures need matplotlib: pip install steer[farm] brings it"
        ) from None


def load() -> None:
    """Load matplotlib, which takes as long as the pictures of some variations.

    Raises:
        OutputError: It is not installed.
    """
    for name in _PARTS:
        _drawing(name)


class _Sheet:
    """A figure with axes, which are drawn once; each picture is drawn into a copy of that.

    Axes with their numbers and names take most of the time, and are the same in many pictures.
    """

    def __init__(self, axis: Any) -> None:
        """Draw the figure of these axes, which holds nothing else yet."""
        self.axis, self._frame = axis, list(axis.spines.values())
        self._canvas = _drawing("backends.backend_agg").FigureCanvasAgg(axis.figure)
        # the frame comes last in each picture, above all that it surrounds
        for line in self._frame:
            line.set_visible(False)
        self._canvas.draw()
        for line in self._frame:
            line.set_visible(True)
        self._empty = self._canvas.copy_from_bbox(axis.figure.bbox)

    def picture(self, artists: Sequence[Any]) -> str:
        """The sheet with these artists of its axes, which are removed then, as a source."""
        self._canvas.restore_region(self._empty)
        for artist in (*artists, *self._frame):
            self.axis.draw_artist(artist)
        for artist in artists:
            artist.remove()
        return _encoded(np.asarray(self._canvas.buffer_rgba()))


def _encoded(pixels: Any) -> str:
    """Pixels as a source."""
    buffer = io.BytesIO()
    # level 6, the usual one, takes twice as long for pages that are no smaller
    _drawing("image").imsave(buffer, pixels, format="png", pil_kwargs={"compress_level": 3})
    return as_source(buffer.getvalue(), "png")


def _new(wide: float, high: float, right: float = _AROUND) -> Any:
    """Axes in a figure of this size [inch], with the room on their right."""
    # without pyplot: no window, and nothing kept
    figure = _drawing("figure").Figure(figsize=(wide, high), dpi=_DPI)
    inside = (wide - _LEFT - right) / wide, (high - _BELOW - _AROUND) / high
    return figure.add_axes((_LEFT / wide, _BELOW / high, *inside))


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
    return _encoded(np.clip(small, 0.0, 1.0).squeeze())


def _above(low: _Pair, high: _Pair, right: float = _AROUND) -> Any:
    """Axes seen from above, as wide or high as the view between these corners [m]."""
    extent = high[0] - low[0], high[1] - low[1]
    tall = (_WIDE - _LEFT - right) * extent[1] / extent[0]
    axis = _new(_WIDE, min(max(tall, 1.0), 6.0) + _BELOW + _AROUND, right)
    axis.set_anchor("W")
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
    axis.set_aspect("equal")
    _number(axis)
    return axis


def _number(axis: Any) -> None:
    """Few and small numbers along axes."""
    axis.tick_params(labelsize=7)
    axis.locator_params(nbins=_TICKS)


def _corners(view: Extent) -> tuple[_Pair, _Pair]:
    (left, below), (right, above) = view.low.tolist(), view.high.tolist()
    return (left, below), (right, above)


@lru_cache(_SHEETS)
def _ways_sheet(low: _Pair, high: _Pair) -> _Sheet:
    return _Sheet(_above(low, high))


@lru_cache(_SHEETS)
def _map_sheet(low: _Pair, high: _Pair, most: float, look: str, what: str) -> _Sheet:
    """A map of cells in colors, which a bar explains."""
    axis = _above(low, high, _BAR)
    # as in the picture of the ways beside it: numbers take most of the time to draw
    axis.tick_params(labelbottom=False, labelleft=False)
    axis.apply_aspect()
    beside = axis.get_position()
    wide = axis.figure.get_figwidth()
    bar = axis.figure.add_axes((beside.x1 + 0.1 / wide, beside.y0, 0.12 / wide, beside.height))
    scale = _drawing("colors").Normalize(0.0, most)
    colors = _drawing("cm").ScalarMappable(scale, look)
    axis.figure.colorbar(colors, cax=bar).set_label(what, fontsize=7)
    _number(bar)
    return _Sheet(axis)


@lru_cache(_SHEETS)
def _curves_sheet(first: float, last: float, most: float, what: str) -> _Sheet:
    """Axes for curves over the time between two moments [s]."""
    return _Sheet(_curves(_new(_WIDE, _HIGH), (first, last), most, what))


def trajectories(outcome: Outcome, view: Extent) -> str:
    """Ways from above, a color for each crowd; dots are starts."""
    sheet = _ways_sheet(*_corners(view))
    axis, lines, dots = sheet.axis, [], []
    for k, track in enumerate(outcome.tracks):
        ways = figures.paths(track)
        look = {"colors": color_of(k), "linewidths": 0.6, "alpha": 0.5}
        lines.append(_drawing("collections").LineCollection(list(ways), **look))
        axis.add_collection(lines[-1], autolim=False)
        dots.append(axis.scatter(*ways[:, 0].T, s=3.0, color=color_of(k), label=track.name))
    named = [axis.legend(fontsize=7, loc="upper right")] if len(outcome.tracks) > 1 else []
    both = zip(lines, dots, strict=True)
    return sheet.picture([*(one for pair in both for one in pair), *named])


def density(found: figures.Maps, view: Extent, most: float) -> str:
    """Map of the mean density; the darkest is the same in all variations."""
    look = "magma_r"
    sheet = _map_sheet(*_corners(view), most, look, "people per m²")
    return sheet.picture([_cells(sheet.axis, view, found.density, most, look)])


def _cells(axis: Any, view: Extent, values: figures.F64, most: float, look: str) -> Any:
    return axis.pcolormesh(*view.edges, values, cmap=look, vmin=0.0, vmax=most)


def flow(found: figures.Maps, view: Extent, most: float) -> str:
    """Map of the mean flow: how many pass a meter in a second, and where to."""
    look = "Blues"
    sheet = _map_sheet(*_corners(view), most, look, "people per m and s")
    x, y = view.edges
    size = np.linalg.norm(found.flow, axis=2)
    each = max(1, math.ceil(max(size.shape) / 24))
    at = np.meshgrid(0.5 * (x[1:] + x[:-1])[::each], 0.5 * (y[1:] + y[:-1])[::each])
    arrows, long = found.flow[::each, ::each], size[::each, ::each]
    there = long > 0.02 * most
    unit = arrows[there] / long[there][:, None]
    looks = {"color": "#223344", "scale": 34.0, "width": 0.004}
    shown = sheet.axis.quiver(at[0][there], at[1][there], *unit.T, **looks)
    return sheet.picture([_cells(sheet.axis, view, size, most, look), shown])


def speed(curve: figures.Curve, most: float) -> str:
    """Mean speed over time, and between which half of the agents are."""
    sheet = _curves_sheet(float(curve.time[0]), float(curve.time[-1]), most, "speed [m/s]")
    look = {"color": color_of(0), "alpha": 0.25, "lw": 0.0}
    band = sheet.axis.fill_between(curve.time, curve.low, curve.high, **look)
    return sheet.picture(
        [band, *sheet.axis.plot(curve.time, curve.mean, color=color_of(0), lw=1.4)]
    )


def arrivals(outcome: Outcome) -> str | None:
    """How many have arrived, over time; None where it was not counted."""
    found = [(track, figures.arrivals(track)) for track in outcome.tracks]
    rows = [(k, track, row) for k, (track, row) in enumerate(found) if row is not None]
    if not rows:
        return None
    first, last = (f(row[0][k] for _, _, row in rows) for f, k in ((min, 0), (max, -1)))
    sheet = _curves_sheet(float(first), float(last), float(max(_agents(outcome), 1)), "arrived")
    artists = []
    for k, track, row in rows:
        look = {"color": color_of(k), "lw": 1.4, "label": track.name}
        artists += sheet.axis.step(*row, where="post", **look)
    if len(found) > 1:
        artists.append(sheet.axis.legend(fontsize=7))
    return sheet.picture(artists)


def _agents(outcome: Outcome) -> int:
    return max(track.positions.shape[1] for track in outcome.tracks)


def _curves(axis: Any, times: _Pair, most: float, what: str) -> Any:
    """Axes for curves over times [s], from 0 up to a little more than the most."""
    around = 0.05 * (times[1] - times[0]) or 0.05
    axis.set_xlim(times[0] - around, times[1] + around)
    axis.set_ylim(0.0, 1.05 * most)
    axis.set_xlabel("time [s]", fontsize=8)
    axis.set_ylabel(what, fontsize=8)
    _number(axis)
    axis.grid(alpha=0.3)
    return axis


def all_arrivals(outcomes: Sequence[Outcome]) -> str | None:
    """Shares that have arrived over time, a line for each variation; None where nobody counted."""
    curves = []
    for k, one in enumerate(outcomes):
        rows = [row for row in map(figures.arrivals, one.tracks) if row is not None]
        if rows:
            longest = max(rows, key=lambda row: len(row[0]))[0]
            total = np.sum([np.interp(longest, *row) for row in rows], axis=0)
            count = sum(track.positions.shape[1] for track in one.tracks)
            shade = k / max(len(outcomes) - 1, 1)
            curves.append((one.number, shade, longest, 100.0 * total / count))
    if not curves:
        return None
    times = (f(curve[2][k] for curve in curves) for f, k in ((min, 0), (max, -1)))
    first, last = map(float, times)
    sheet = _Sheet(_curves(_new(2.0 * _WIDE, _HIGH), (first, last), 100.0, "arrived [%]"))
    artists = []
    for _, shade, time, share in curves:
        artists += sheet.axis.plot(time, share, lw=1.0, color=(0.2, 0.3 + 0.5 * shade, 0.8, 0.8))
    ends = [(number, float(time[-1]), float(share[-1])) for number, _, time, share in curves]
    for name, *end in figures.named_ends(ends, 0.06 * (last - first), 4.0):
        look = {"fontsize": 7, "ha": "right", "va": "bottom"}
        artists.append(sheet.axis.annotate(name, end, **look))
    return sheet.picture(artists)
