"""The built-in characters, made once, and how they are read."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from steer_addon.core.characters.figure import Figure
from steer_addon.core.characters.figures import make_figure
from steer_addon.core.characters.pose_space import PoseSpace, Row


@cache
def made(name: str) -> Figure:
    return make_figure(name)


def poses(figure: Figure, row: Row) -> np.ndarray:
    return figure.space.positions[row.first : row.first + row.count].astype(float)


def row_named(figure: Figure, name: str) -> Row:
    return next(row for row in figure.space.rows if row.name == name)


def without_turning(space: PoseSpace) -> PoseSpace:
    """The poses without what turns bodies about their planted feet on curves."""
    gaits = tuple(replace(row, turning=()) for row in space.gaits)
    return PoseSpace(space.positions, gaits, space.clips)


def partners(figure: Figure) -> list[int]:
    """The vertex on the other side of each one."""
    keys = {tuple(p): i for i, p in enumerate(np.round(figure.rest.astype(float), 4))}
    return [keys[-x, y, z] for x, y, z in keys]


def slips(figure: Figure, speed: float, scale: float) -> tuple[str, np.ndarray]:
    """Ways [mm] that soles on the ground move in a frame of 1/24 s, walking straight ahead."""
    gaits = figure.space.gaits[1:]
    row = min(gaits, key=lambda row: abs(np.log(speed / row.speed / np.sqrt(scale))))
    way = speed / 24.0 * np.arange(73)
    phase = 0.137 + way / (row.stride * scale)
    number = np.floor(phase % 1.0 * row.count + 0.5).astype(int) % row.count
    points = poses(figure, row)[number] * scale
    points[..., 1] -= way[:, None]
    low = points[..., 2] < 0.004 * scale
    moved = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
    return row.name, 1000.0 * moved[low[1:] & low[:-1]]
