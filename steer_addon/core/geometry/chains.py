"""Edges in any order become lines: the longest runs of edges between ends and crossings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..views import I64


def chains(edges: Any) -> list[tuple[I64, bool]]:
    """Lines through edges, each edge in exactly one of them.

    A line ends where a point has one edge, or more than two. It starts at the end with the lower
    number; a loop starts at its lowest number and goes to the lower one of the two next to it. So
    points that were drawn one after the other give a line in the direction of drawing.

    Args:
        edges: Numbers of the points at both ends, shape (edge_count, 2); equal ends are passed
            over, and an edge that is there twice counts once: that is a defect of a mesh, and no
            wish to go to and fro.

    Returns:
        Numbers of the points of each line, and whether it is closed: first the lines with an end
        or a crossing, then free loops, both by the numbers of their first two points.
    """
    rows = np.asarray(edges, np.int64).reshape(-1, 2)
    rows = np.unique(np.sort(rows[rows[:, 0] != rows[:, 1]], axis=1), axis=0)
    near: dict[int, list[int]] = {}
    for a, b in rows.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    for neighbors in near.values():
        neighbors.sort()
    used: set[tuple[int, int]] = set()
    found = []
    for start in sorted(point for point, neighbors in near.items() if len(neighbors) != 2):
        for following in near[start]:
            if _key(start, following) not in used:
                line = _walk(start, following, near, used)
                # a run that comes back to its crossing is closed, without the point twice
                closed = line[0] == line[-1]
                found.append((np.array(line[:-1] if closed else line, np.int64), closed))
    for start in sorted(near):
        if _key(start, near[start][0]) not in used and len(near[start]) == 2:
            line = _walk(start, near[start][0], near, used)
            found.append((np.array(line[:-1], np.int64), True))
    return found


def _key(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _walk(
    start: int, following: int, near: dict[int, list[int]], used: set[tuple[int, int]]
) -> list[int]:
    """The points from a start on, until an end, a crossing, or the start itself."""
    line = [start, following]
    used.add(_key(start, following))
    while len(near[line[-1]]) == 2 and line[-1] != start:
        first, second = near[line[-1]]
        line.append(second if first == line[-2] else first)
        used.add(_key(line[-2], line[-1]))
    return line
