"""Targets: points that behaviors steer by, with motion and axes, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents, Rows
from ..bounds import bounded, lengths
from ..compiled.jit import kernel, parallel_for
from ..errors import WorldError
from ..geometry import bvh
from ..geometry.bvh_points import nearest_other
from ..numeric.vec import cross, load, store, sub
from ..sensing.declare import Behavior
from ..sensing.targeting import side_axis
from ..views import AxesView, BvhView, TargetView

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

NEAREST = 0
BY_ID = 1

STATELESS = ("NEAREST", "BY_ID")
"""Choices that need no memory; agents remember all others, see `step.choosing`."""

_SAME = np.zeros(0, np.int64)
_STRAIGHT = np.zeros((0, 3), np.float32)

FEW = 32
"""Up to this number, targets are compared one by one; among more, a tree finds the nearest."""


@dataclass(frozen=True, eq=False, repr=False)
class Targets:
    """Points that behaviors steer by."""

    position: FloatArray
    """Positions [m], shape (target_count, 3)."""
    velocity: FloatArray
    """Velocities [m/s], shape (target_count, 3)."""
    heading: FloatArray
    """Unit headings, shape (target_count, 3)."""
    up: FloatArray
    """Unit vectors to the head, shape (target_count, 3)."""
    own: bool = False
    """Whether these are the very agents that steer, row by row: then none is its own target."""
    row_of: IntArray | None = None
    """The row that stands for each number that agents ask for, shape (number_count,), where some
    targets are left out; None where number and row are the same."""
    weight: FloatArray | None = None
    """How often agents draw each target ≥ 0, shape (target_count,); None for all alike."""

    @property
    def count(self) -> int:
        """Number of targets."""
        return len(self.position)

    @property
    def weights(self) -> FloatArray:
        """How often agents draw each target, shape (target_count,)."""
        return np.ones(self.count, np.float32) if self.weight is None else self.weight

    @cached_property
    def tree(self) -> BvhView:
        """Tree of the points; empty when they are few."""
        if self.count <= FEW:
            return bvh.empty()
        return bvh.build(np.repeat(self.position[:, None], 3, axis=1))

    @cached_property
    def axes(self) -> AxesView:
        """What kernels read of the axes: `up` is turned square to the heading."""
        right, above = np.empty_like(self.heading), np.empty_like(self.heading)
        if self.count:
            parallel_for(_square, self.count, self.heading, self.up, right, above)
        return AxesView(self.heading, right, above)

    def living(self, alive: NDArray[np.uint8]) -> Targets:
        """These targets without the dead; a number that stood for a dead one leads to the next.

        Args:
            alive: 0 for the dead, shape (target_count,).
        """
        rows = np.flatnonzero(alive)
        if len(rows) == self.count:
            return self
        row_of = np.searchsorted(rows, np.arange(self.count)) % max(1, len(rows))
        return Targets(
            self.position[rows],
            self.velocity[rows],
            self.heading[rows],
            self.up[rows],
            self.own,
            row_of,
            None if self.weight is None else self.weight[rows],
        )

    def view(self, row: IntArray) -> TargetView:
        """What kernels read.

        Args:
            row: Each agent's target, shape (agent_count,); see `choose`.
        """
        return TargetView(self.position, self.velocity, row, _STRAIGHT, _STRAIGHT[:, 0])

    def chosen(self, entry: Behavior, agents: Agents) -> IntArray:
        """Each agent's target as a behavior has it choose; see `choose`.

        Args:
            entry: The behavior.
            agents: Agents that choose.
        """
        how = getattr(entry, "target_choice", "NEAREST")
        if how in STATELESS or target_memory(entry) not in agents.memory:
            return self.choose(agents, BY_ID if how == "BY_ID" else NEAREST)
        index = remembered_target(entry, agents)
        index = np.where(agents.target_index >= 0, agents.target_index, index)
        row = self.choose(replace(agents, target_index=index), NEAREST)
        found: IntArray = np.where(index >= 0, row, -1)
        return found

    def choose(self, agents: Agents, how: int) -> IntArray:
        """Each agent's target.

        Args:
            agents: Agents that choose.
            how: NEAREST or BY_ID; an agent's `target_index` wins over both.

        Returns:
            Rows of targets, shape (agent_count,); -1 where there is none.
        """
        row = np.full(agents.count, -1, np.int64)
        if self.count:
            parallel_for(
                _choose,
                agents.count,
                agents.position,
                agents.id,
                agents.target_index,
                self.position,
                self.tree,
                self.own,
                _SAME if self.row_of is None else self.row_of,
                int(how),
                row,
            )
        return row


class Choices:
    """Each agent's targets as behaviors have them chosen: found once for a crowd in a step."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Targets, IntArray]] = {}

    def of(self, targets: Targets, entry: Behavior, agents: Agents) -> IntArray:
        """Rows of the targets, shape (agent_count,); see `Targets.choose`."""
        how = getattr(entry, "target_choice", "NEAREST")
        # what agents remember they do so separately for each behavior
        key = (id(targets), how if how in STATELESS else entry.key)
        if key not in self._known:
            # the key holds the targets too, so that no others get their number
            self._known[key] = (targets, targets.chosen(entry, agents))
        return self._known[key][1]

    def taken(self, rows: Rows) -> Choices:
        """The same of some agents, whose choices do not depend on others."""
        found = Choices()
        found._known = {key: (targets, of[rows]) for key, (targets, of) in self._known.items()}
        return found


def target_memory(entry: Behavior) -> str:
    """Name under which agents remember the target that they take for a behavior."""
    return f"{entry.key}.target"


def remembered_target(entry: Behavior, agents: Agents) -> IntArray:
    """Rows of the targets that agents took for a behavior, -1 for none, shape (agent_count,)."""
    memory = agents.memory.get(target_memory(entry))
    if memory is None or len(memory) != agents.count:
        return np.full(agents.count, -1, np.int64)
    # negative on the way back through targets in order
    rows: IntArray = np.abs(memory[:, 0]).astype(np.int64) - 1
    return rows


@kernel
def _square(start, stop, heading, up, right, above):
    """Write the axes beside and above the headings."""
    for j in range(start, stop):
        ahead = load(heading, j)
        side = side_axis(ahead, load(up, j))
        store(right, j, side)
        store(above, j, cross(side, ahead))


@kernel
def _nearest(p, positions, skip):
    """Row of the nearest point but `skip`, the first of equally near ones; -1 if there is none."""
    best = -1
    best_square = np.inf
    for j in range(len(positions)):
        d = sub(load(positions, j), p)
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        if square < best_square and j != skip:
            best = j
            best_square = square
    return best


@kernel
def _choose(start, stop, position, ids, target_index, positions, tree, own, row_of, how, row):
    """Write each agent's target to `row`."""
    count = len(positions)
    numbers = len(row_of)
    for i in range(start, stop):
        skip = i if own else -1
        if target_index[i] >= 0 or how == BY_ID:
            wanted = target_index[i] if target_index[i] >= 0 else ids[i]
            row[i] = row_of[wanted % numbers] if numbers > 0 else wanted % count
            if row[i] == skip:
                row[i] = (row[i] + 1) % count if count > 1 else -1
        elif len(tree.triangles) > 0:
            row[i] = nearest_other(tree, load(position, i), np.inf, skip)[0]
        else:
            row[i] = _nearest(load(position, i), positions, skip)


def make_targets(
    position: Any,
    velocity: Any = None,
    heading: Any = None,
    up: Any = None,
    *,
    own: bool = False,
    weight: Any = None,
) -> Targets:
    """Make targets from points.

    Args:
        position: Positions [m], shape (target_count, 3).
        velocity: Velocities [m/s], same shape, or None for rest.
        heading: Headings of those at rest, same shape, or None for -Y; others head where they go.
        up: Vectors to the head, same shape, or None for +Z.
        own: Whether these are the very agents that steer.
        weight: How often agents draw each one, shape (target_count,), or None for all alike;
            values below 0, and those that are not finite, count as 0.

    Raises:
        WorldError: Shapes differ or a position or velocity is not finite.
    """
    points = _vectors("positions", position)
    speed = _rows("velocities", velocity, np.zeros(3), points)
    if not (np.isfinite(points).all() and np.isfinite(speed).all()):
        raise WorldError("A target is not at a finite place: move it back into the scene")
    ahead = _rows("headings", heading, np.array([0.0, -1.0, 0.0]), points)
    moving = lengths(speed)[:, None] >= 1.0e-6
    ahead = _unit(np.where(moving, speed, ahead), np.array([0.0, -1.0, 0.0]))
    upright = _unit(_rows("up vectors", up, np.array([0.0, 0.0, 1.0]), points), np.eye(3)[2])
    weights = None if weight is None else _weights(weight, len(points))
    return Targets(points, speed, ahead, upright, own, weight=weights)


def _weights(value: Any, count: int) -> FloatArray:
    try:
        weights = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        raise WorldError("Target weights are no numbers: give numbers of shape (n,)") from None
    if weights.shape != (count,):
        raise WorldError(f"Target weights have shape {weights.shape}: give ({count},)")
    return np.where(np.isfinite(weights) & (weights > 0.0), weights, np.float32(0.0))


def _rows(what: str, value: Any, default: Any, points: FloatArray) -> FloatArray:
    if value is None:
        return np.tile(np.asarray(default, np.float32), (len(points), 1))
    rows = _vectors(what, value)
    if rows.shape != points.shape:
        raise WorldError(f"Target {what} have shape {rows.shape}: give {points.shape}")
    return rows


def _vectors(what: str, value: Any) -> FloatArray:
    try:
        return bounded(np.reshape(value, (-1, 3)))
    except (TypeError, ValueError):
        raise WorldError(f"Target {what} are no vectors: give numbers of shape (n, 3)") from None


def _unit(rows: Any, fallback: Any) -> FloatArray:
    wide = np.asarray(rows, np.float64)
    size = lengths(wide)[:, None]
    good = np.isfinite(size) & (size >= 1.0e-6)
    return np.where(good, wide / np.where(good, size, 1.0), fallback).astype(np.float32)


NO_TARGETS = make_targets(np.zeros((0, 3), np.float32))
