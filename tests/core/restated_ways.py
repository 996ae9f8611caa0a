"""Shortest ways, computed another way than by cells: graphs of corners in sight.

Obstacles are convex outlines on a plane, each grown by the radius of a body. Its round corners are
those of a regular polygon, which lies inside the circle (the way is too short) or around it (the
way can be gone), so both together bracket the exact length. A way is straight between corners and
touches there, so the graph has the lines that touch two outlines and cross none.

Buildings are sheets, each a plane with its own coordinates (a flight of stairs unfolds to one),
joined along lines. Those are crossed at many places: lengths are too long by the square of their
distance. A helicoid unfolds to no plane; its shortest way has a formula.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

THIN = 1.0e-5
"""Walls without thickness get this much [m]."""
AIR = 1.0e-7
"""Ways may run into outlines by less than this [m], as where they touch."""


def hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull, counterclockwise, shape (m, 2)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    halves = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in sequence:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 1.0e-14:
                    break
                chain.pop()
            chain.append((x, y))
        halves += chain[:-1]
    return np.array(halves)


def grown(outline: np.ndarray, radius: float, sides: int, around: bool) -> np.ndarray:
    """The outline of all places nearer than the radius to a convex outline.

    Args:
        outline: Its corners, two for a thin wall, shape (m, 2).
        radius: The radius [m].
        sides: Number of sides of the polygon that stands for the circle.
        around: Whether that lies around the circle, and not in it.
    """
    wide = max(radius, THIN) / (np.cos(np.pi / sides) if around else 1.0)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circle = wide * np.column_stack([np.cos(angle), np.sin(angle)])
    return hull((np.asarray(outline, float)[:, None] + circle).reshape(-1, 2))


class Plane:
    """A plane with obstacles, for the middles of bodies of one radius."""

    def __init__(
        self,
        outlines: Sequence[np.ndarray],
        radius: float = 0.0,
        *,
        around: bool = True,
        sides: int = 32,
    ) -> None:
        """Find the lines between corners in sight of each other.

        Args:
            outlines: Convex outlines [m], each of shape (m, 2). Those that only touch each other
                leave a gap for a body without size.
            radius: Radius of the body [m].
            around: Whether ways can be gone, and are not too short (see above).
            sides: See `grown`.
        """
        shapes = [grown(outline, radius, sides, around) for outline in outlines]
        self._sides = [_sides_of(shape) for shape in shapes]
        if not shapes:
            self._corners = self._before = self._after = np.zeros((0, 2))
        else:
            self._corners = np.concatenate(shapes)
            self._before = np.concatenate([np.roll(s, 1, axis=0) for s in shapes])
            self._after = np.concatenate([np.roll(s, -1, axis=0) for s in shapes])
            outside = self.is_free(self._corners)
            self._corners, self._before, self._after = (
                rows[outside] for rows in (self._corners, self._before, self._after)
            )
        a, b = np.triu_indices(len(self._corners), 1)
        touch = self._touches(a, self._corners[b]) & self._touches(b, self._corners[a])
        a, b = a[touch], b[touch]
        seen = self.sees(self._corners[a], self._corners[b])
        a, b = a[seen], b[seen]
        size = np.linalg.norm(self._corners[a] - self._corners[b], axis=1)
        self._next: list[list[tuple[int, float]]] = [[] for _corner in self._corners]
        for i, j, far in zip(a.tolist(), b.tolist(), size.tolist(), strict=True):
            self._next[i].append((j, far))
            self._next[j].append((i, far))

    def _touches(self, corner: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Whether lines from corners to places leave their whole outline on one side."""
        at = self._corners[corner]
        sides = []
        for beside in (self._before[corner], self._after[corner]):
            (x, y), (u, v) = (place - at).T, (beside - at).T
            sides.append(x * v - y * u)
        return sides[0] * sides[1] >= -1.0e-12

    def is_free(self, places: np.ndarray) -> np.ndarray:
        """Which places, shape (m, 2), lie outside of all grown outlines."""
        free = np.ones(len(places), bool)
        for normal, offset in self._sides:
            free &= (places @ normal - offset >= -AIR).any(axis=1)
        return free

    def sees(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Whether lines cross no outline; both of shape (m, 2)."""
        seen = np.ones(len(start), bool)
        for normal, offset in self._sides:
            first, last = (ends @ normal - offset + AIR for ends in (start, stop))
            change = last - first
            with np.errstate(divide="ignore", invalid="ignore"):
                at = -first / change
            enter = np.where(change < 0.0, at, np.where((change == 0) & (first >= 0), np.inf, 0.0))
            leave = np.where(change > 0.0, at, 1.0)
            begin, end = np.maximum(enter.max(axis=1), 0.0), np.minimum(leave.min(axis=1), 1.0)
            seen &= begin >= end
        return seen

    def _reached(self, places: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Corners that ways from each place may go to first, and how far they are [m]."""
        number, row = np.indices((len(places), len(self._corners))).reshape(2, -1)
        kept = self._touches(row, places[number])
        number, row = number[kept], row[kept]
        kept = self.sees(places[number], self._corners[row])
        number, row = number[kept], row[kept]
        far = np.linalg.norm(self._corners[row] - places[number], axis=1)
        return [(row[number == k], far[number == k]) for k in range(len(places))]

    def lengths(self, starts: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Lengths of the shortest ways to a goal [m], shape (m,); infinite where there is none.

        Args:
            starts: Places [m], shape (m, 2).
            goal: A place [m], shape (2,).
        """
        return self.matrix(starts, np.reshape(goal, (1, 2)))[:, 0]

    def matrix(self, starts: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Lengths of the shortest ways from places, shape (m, 2), to others: shape (m, n) [m]."""
        starts, goals = (np.asarray(ends, float).reshape(-1, 2) for ends in (starts, goals))
        found = np.full((len(starts), len(goals)), np.inf)
        begin, end = np.flatnonzero(self.is_free(starts)), np.flatnonzero(self.is_free(goals))
        reached = self._reached(starts[begin])
        last = reached if np.array_equal(starts, goals) else self._reached(goals[end])
        row, column = np.indices(found.shape).reshape(2, -1)
        straight = self.sees(starts[row], goals[column]).reshape(found.shape)
        for j, corners in zip(end, last, strict=True):
            away = self._distances(*corners)
            for k, (rows, far) in zip(begin, reached, strict=True):
                if straight[k, j]:
                    found[k, j] = np.linalg.norm(starts[k] - goals[j])
                else:
                    found[k, j] = (away[rows] + far).min(initial=np.inf)
        return found

    def _distances(self, rows: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Least lengths from all corners to a place that some see [m]."""
        away = np.full(len(self._corners), np.inf)
        heap = [(d, i) for d, i in zip(far.tolist(), rows.tolist(), strict=True)]
        heapq.heapify(heap)
        while heap:
            here, i = heapq.heappop(heap)
            if here >= away[i]:
                continue
            away[i] = here
            for j, step in self._next[i]:
                if here + step < away[j]:
                    heapq.heappush(heap, (here + step, j))
        return away


def _sides_of(shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals and offsets: a place is outside of each side by `place @ normals - offsets` [m]."""
    along = np.roll(shape, -1, axis=0) - shape
    normal = np.column_stack([along[:, 1], -along[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return normal.T, (shape * normal).sum(axis=1)


def bracket(
    outlines: Sequence[np.ndarray],
    radius: float,
    starts: np.ndarray,
    goal: np.ndarray,
    sides: int = 32,
) -> tuple[np.ndarray, np.ndarray]:
    """Lengths between which those of the exact ways are [m], each of shape (m,)."""
    low, high = (
        Plane(outlines, radius, around=around, sides=sides).lengths(starts, goal)
        for around in (False, True)
    )
    return low, high


@dataclass(frozen=True)
class Joint:
    """A line that two sheets share: where it lies in each, from the same end."""

    sheets: tuple[str, str]
    lines: tuple[np.ndarray, np.ndarray]
    """Ends [m], each of shape (2, 2)."""


class Building:
    """Sheets that are joined along lines."""

    def __init__(
        self,
        sheets: dict[str, Sequence[np.ndarray]],
        joints: Sequence[Joint],
        radius: float = 0.0,
        places: int = 41,
    ) -> None:
        """Find all ways from joint to joint.

        Args:
            sheets: The outlines of each sheet, see `Plane`.
            joints: Lines along which they are joined.
            radius: Radius of the body [m].
            places: Number of places at which a joint is crossed.
        """
        self._planes = {name: Plane(outlines, radius) for name, outlines in sheets.items()}
        body = max(radius, THIN) / np.cos(np.pi / 32) + 2.0 * AIR
        self._at: dict[str, list[np.ndarray]] = {name: [] for name in sheets}
        self._number: dict[str, list[np.ndarray]] = {name: [] for name in sheets}
        for k, joint in enumerate(joints):
            # as near to its ends, where walls begin, as a body comes
            width = float(np.linalg.norm(np.diff(joint.lines[0], axis=0)))
            inset = min(body / width, 0.5)
            share = np.linspace(inset, 1.0 - inset, places)[:, None]
            for name, (first, last) in zip(joint.sheets, joint.lines, strict=True):
                ends = np.asarray(first, float), np.asarray(last, float)
                self._at[name].append((1.0 - share) * ends[0] + share * ends[1])
                self._number[name].append(k * places + np.arange(places))
        count = len(joints) * places
        self._way = np.full((count, count), np.inf)
        np.fill_diagonal(self._way, 0.0)
        for name, plane in self._planes.items():
            if not self._at[name]:
                continue
            at, number = np.concatenate(self._at[name]), np.concatenate(self._number[name])
            own = np.ix_(number, number)
            self._way[own] = np.minimum(self._way[own], plane.matrix(at, at))
        for k in range(count):
            self._way = np.minimum(self._way, self._way[:, k : k + 1] + self._way[k : k + 1])

    def length(self, start: tuple[str, np.ndarray], goal: tuple[str, np.ndarray]) -> float:
        """Length of the shortest way between two places, each on a sheet [m]."""
        ends = []
        for name, place in (start, goal):
            away = np.full(len(self._way), np.inf)
            if self._at[name]:
                number = np.concatenate(self._number[name])
                away[number] = self._planes[name].lengths(np.concatenate(self._at[name]), place)
            ends.append(away)
        best = float((ends[0][:, None] + self._way + ends[1]).min(initial=np.inf))
        if start[0] == goal[0]:
            best = min(best, float(self._planes[start[0]].lengths(start[1], goal[1])[0]))
        return best


def helicoid(inner: float, rise: float, ends: tuple[float, float], turn: float) -> float:
    """Length of the shortest way on a spiral ramp that hugs its inner edge [m].

    A ramp of height rise·θ at angle θ has the metric ds² = dρ² + (ρ² + rise²) dθ². The way comes
    in on a geodesic that touches the inner edge, follows it, and leaves likewise (Clairaut); with
    ρ = inner·cosh u the integrals along it have no pole.

    Args:
        inner: Least distance of the middle from the axis [m].
        rise: Rise per radian [m].
        ends: Distances of start and goal from the axis, at least `inner` [m].
        turn: Angle from start to goal [rad].

    Raises:
        ValueError: They are so near that the way does not touch the inner edge.
    """
    speed, found = float(np.hypot(inner, rise)), [0.0, 0.0]
    for rho in ends:
        u = np.linspace(0.0, np.arccosh(rho / inner), 2001)
        f = np.hypot(inner * np.cosh(u), rise)
        for sums, value in ((0, f), (1, speed / f)):
            parts = (value[1:] + value[:-1]) / 2.0 * np.diff(u)
            found[sums] += float(parts.sum())
    length, angle = found
    if angle > turn:
        raise ValueError(f"the way of {turn:g} rad does not touch the inner edge")
    return length + speed * (turn - angle)
