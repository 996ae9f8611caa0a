"""Walls in `metrics`: agents inside of one, and agents that passed one, standing or moving."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..geometry import bvh
from ..geometry.meshes import Mesh, is_closed
from ..inputs.world import Colliders
from ..views import F32, BvhView
from .metric_kernels import carried_kernel, wall_kernel

Flags = NDArray[np.bool_]

_ROUNDING = 5.0e-7
"""A center nearer to a face than this share of its coordinates is on neither side of it."""


class _Motion(NamedTuple):
    """How a collider moved in a step: a place p goes to after + turn·(p - before)."""

    tree: BvhView
    turn: F32
    before: F32
    after: F32


class Walls:
    """Where agents are and were, held against colliders.

    Colliders that move are taken for rigid: a start is carried along before it is compared.
    """

    def __init__(
        self, position: F32, radius: F32, eye_height: float, colliders: Colliders | None
    ) -> None:
        """Start at the first moment.

        Args:
            position: Positions [m], shape (n, 3).
            radius: Radii [m], shape (n,).
            eye_height: Height of the centers above the positions [m].
            colliders: The walls; None where there are none yet.
        """
        self._up: F32 = np.array([0.0, 0.0, eye_height], np.float32)
        self.anchor: F32 = position + self._up
        """Last centers that were clear of every face [m], shape (n, 3)."""
        self.pressed: F32 = np.zeros(len(position), np.float32)
        """Largest share of each radius that was ever inside a wall, shape (n,)."""
        self._radius = radius
        self._colliders: Colliders | None = None
        self._parts: list[F32] = []
        if colliders is not None:
            self._learn(colliders)

    def _learn(self, colliders: Colliders) -> None:
        """Take over colliders of which nothing is known yet."""
        first = colliders.first
        triangles = colliders.bvh.triangles
        self._parts = [triangles[a:b] for a, b in zip(first[:-1], first[1:], strict=True)]
        self._closed = np.array([is_closed(Mesh("", part)) for part in self._parts], bool)
        self._moves: Flags = np.zeros(len(self._parts), bool)
        self._standing = colliders.bvh
        self._bound(colliders)

    def _bound(self, colliders: Colliders) -> None:
        self._colliders = colliders
        points = [part.reshape(-1, 3) for part in self._parts]
        self._low = np.array([p.min(axis=0) for p in points], np.float32).reshape(-1, 3)
        self._high = np.array([p.max(axis=0) for p in points], np.float32).reshape(-1, 3)

    def _follow(self, colliders: Colliders) -> list[_Motion]:
        """Take over colliders after a step; tells how those moved that did."""
        known = self._colliders
        if known is None or not np.array_equal(known.first, colliders.first):
            self._learn(colliders)
            return []
        first, triangles = colliders.first, colliders.bvh.triangles
        parts = [triangles[a:b] for a, b in zip(first[:-1], first[1:], strict=True)]
        moved = [not np.array_equal(a, b) for a, b in zip(self._parts, parts, strict=True)]
        motions = [
            _motion(old, new)
            for old, new, moves in zip(self._parts, parts, moved, strict=True)
            if moves
        ]
        self._parts = parts
        self._bound(colliders)
        if not (np.array(moved) <= self._moves).all():
            self._moves = self._moves | np.array(moved)
            still = [part for part, moves in zip(parts, self._moves, strict=True) if not moves]
            self._standing = bvh.build(np.concatenate(still)) if still else bvh.empty()
        resting = self._moves & ~np.array(moved)
        return motions + [_motion(parts[c], parts[c]) for c in np.flatnonzero(resting)]

    def begin(self, place: F32, born: Flags) -> None:
        """Begin with agents that were not there before.

        Args:
            place: Positions [m], shape (n, 3).
            born: Which agents these are, shape (n,).
        """
        self.anchor = np.where(born[:, None], place + self._up, self.anchor)

    def check(self, place: F32, alive: Flags, colliders: Colliders | None) -> NDArray[np.uint8]:
        """Find the agents that are inside a wall after this step, or passed one.

        Args:
            place: Positions after the step [m], shape (n, 3).
            alive: Whether each agent counts, shape (n,).
            colliders: The walls after the step; None when they are as before.

        Returns:
            1 or 0, shape (n,).
        """
        n = len(place)
        hits = np.zeros(n, np.uint8)
        if colliders is not None and colliders is not self._colliders:
            motions = self._follow(colliders)
        else:
            motions = [_motion(self._parts[c], self._parts[c]) for c in self._moving()]
        if self._colliders is None or not self._parts:
            self.anchor = np.where(alive[:, None], place + self._up, self.anchor)
            return hits
        center: F32 = np.ascontiguousarray(place + self._up)
        largest = float(np.abs(center[alive]).max(initial=0.0))
        tolerance = _ROUNDING * max(largest, 1.0)
        for motion in motions:
            parallel_for(carried_kernel, n, *motion, self.anchor, center, alive, tolerance, hits)
        tree = self._colliders.bvh
        scene = (tree, self._standing, self._colliders.first, self._closed, self._low, self._high)
        parallel_for(
            wall_kernel,
            n,
            scene,
            self.anchor,
            center,
            self._radius,
            alive,
            tolerance,
            hits,
            self.pressed,
        )
        return hits

    def _moving(self) -> NDArray[np.int64]:
        """Colliders that have moved before: they are in no tree of standing ones."""
        return np.flatnonzero(self._moves) if self._parts else np.zeros(0, np.int64)


def _motion(old: F32, new: F32) -> _Motion:
    """The rigid motion that carries a mesh from one place to another best (Kabsch 1976)."""
    before, after = old.reshape(-1, 3).astype(np.float64), new.reshape(-1, 3).astype(np.float64)
    from_here, to_there = before.mean(axis=0), after.mean(axis=0)
    u, _sizes, v = np.linalg.svd((before - from_here).T @ (after - to_there))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(v.T @ u.T)) or 1.0])
    turn = v.T @ flip @ u.T if old is not new else np.eye(3)
    return _Motion(
        bvh.build(new),
        turn.astype(np.float32),
        from_here[None].astype(np.float32),
        to_there[None].astype(np.float32),
    )
