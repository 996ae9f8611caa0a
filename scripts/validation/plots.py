"""Pictures of runs, and speed against density. Needs matplotlib, which is in the extra `dev`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steer_addon.core.errors import OutputError

from .density import DENSITIES, band, weidmann
from .runner import Outcome


def _axes() -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError:
        raise OutputError(
            'Pictures need matplotlib: install it with pip install -e ".[dev]", or leave --plot out'
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7.0, 7.0), dpi=110)


def check() -> None:
    """Check before long runs whether pictures can be drawn.

    Raises:
        OutputError: matplotlib is not installed.
    """
    figure, _axis = _axes()
    _close(figure)


def _close(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)


def _save(figure: Any, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        _close(figure)
    return path


def trajectories(outcome: Outcome, folder: Path) -> Path:
    """A picture of all agents' paths, seen from above: starts are dots, walls are gray."""
    from matplotlib.collections import LineCollection, PolyCollection

    figure, axis = _axes()
    scenario, tracks = outcome.scenario, outcome.tracks
    assert tracks is not None
    if scenario.period is not None:
        # a jump from one end of the corridor to the other is no path of an agent
        jumps = np.abs(np.diff(tracks[:, :, 0], axis=0)) > scenario.period / 2.0
        tracks = tracks.copy()
        tracks[1:][jumps] = np.nan
    walls = [mesh.triangles[:, :, :2] for mesh in scenario.colliders]
    if walls:
        axis.add_collection(PolyCollection(np.concatenate(walls), color="0.75", zorder=0))
    hues = np.arange(scenario.count) if len(scenario.routes) > 40 else scenario.route
    lines = LineCollection(
        [tracks[:, i, :2] for i in range(scenario.count)],
        array=hues,
        cmap="turbo",
        linewidths=0.6,
        alpha=0.6,
    )
    axis.add_collection(lines)
    axis.scatter(*tracks[0, :, :2].T, s=2.0, color="black", zorder=3)
    low, high = np.nanmin(tracks[:, :, :2], axis=(0, 1)), np.nanmax(tracks[:, :, :2], axis=(0, 1))
    pad = 0.05 * float((high - low).max()) + 1.0
    axis.set_xlim(low[0] - pad, high[0] + pad)
    axis.set_ylim(low[1] - pad, high[1] + pad)
    axis.set_aspect("equal")
    axis.set_title(
        f"{scenario.name}: {outcome.result['arrived']} of {scenario.count} arrived", fontsize=9
    )
    return _save(figure, folder / f"{slug(scenario.name)}.png")


def speed_density(results: Sequence[dict[str, Any]], folder: Path) -> Path | None:
    """Measured speeds over Weidmann's curve and the band of measured crowds."""
    points = [(r["density"], r["area_speed"]) for r in results if r.get("area_speed") is not None]
    points = [(density, speed) for density, speed in points if density is not None]
    if not points:
        return None
    figure, axis = _axes()
    figure.set_size_inches(7.0, 4.5)
    line = np.linspace(0.3, DENSITIES[-1] + 0.2, 200)
    low, high = np.array([band(density) for density in line]).T
    axis.fill_between(line, low, high, color="0.85", label="measured crowds, 0.75 to 1.45 times")
    axis.plot(line, [weidmann(density) for density in line], color="0.4", label="Weidmann 1993")
    axis.plot(*np.array(points).T, "o", color="tab:red", label="pedestrians")
    axis.set_xlabel("density [1/m²]")
    axis.set_ylabel("speed [m/s]")
    axis.legend()
    return _save(figure, folder / "speed_density.png")


def slug(name: str) -> str:
    """A name as a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", name).strip("_")
