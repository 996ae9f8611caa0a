"""Metrics: what a run did to its crowd, in figures. Fed with every step.

arrived: agents that reached their goal. penetrations: agent-steps in which a center is inside a
closed collider, or passed a face, seen from the collider where that moved. overlap: the largest
(r_i + r_j - d)/(r_i + r_j). stuck: agents below 5 % of their wished speed for the last 10 s without
having arrived. score (SteerBench, Singh et al. 2009): 50·collisions + time + Σ kinetic energy
+ Σ|acceleration|, sums over steps, kinetic energy per kg, mean per agent. reversals: motion turns
by more than 90° within half a second.

Rows may go on as other agents, see `Metrics.renew`: figures are of all that ever lived, and times
of arrival count from the birth of each.
Bodies of other crowds count where they touch, see `metric_crowds`.

Bodies that overlap when the run starts cannot be blamed for it: while both do so since then, their
overlap does not count, unless it gets deeper than it was. How many never came apart is `parting`.

A collision begins when two bodies overlap by more than 2 %. An agent moves when it is faster than
5 % of its wished speed; slower ones have no direction. Centers of walkers are where their eyes are.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from ..contacts.near import ALIKE
from ..geometry import neighbors
from ..inputs.world import Colliders
from ..views import F32, I32, I64
from .metric_kernels import PARTNERS, touch_kernel, turn_kernel
from .metric_walls import Walls

F64 = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOUCH = 0.02
"""Bodies may overlap by this share of their radii without it being a collision."""
CRAWL = 0.05
"""Below this share of the wished speed an agent does not move."""
STUCK_TIME = 10.0
"""An agent that does not move for this long [s] without having arrived is stuck."""
TURN_TIME = 0.5
"""A turn of more than 90° within this time [s] is a reversal."""
COLLISION_COST = 50.0
"""Weight of a collision in the SteerBench score."""
_SUMS = (
    "arrived", "arrival", "begun", "ended", "length", "collisions", "reversals", "energy", "effort",
    "wished", "free_path",
)  # fmt: skip
"""What is known of each agent at its end."""


@dataclass(frozen=True)
class Figures:
    """The figures of a run. A mean over nothing is NaN."""

    agents: int
    arrived: int
    penetrations: int
    overlap: float
    """Largest share by which two bodies overlap."""
    stuck: int
    time: float
    """Mean time of the agents that arrived [s]."""
    path: float
    """Mean length of their paths [m]."""
    score: float
    """SteerBench score, mean per agent: fewer is better."""
    free_time: float
    """Mean time of the agents that arrived, had each gone straight at its wished speed [s]."""
    free_path: float
    """Mean length of the straight ways of the agents that arrived [m]."""
    collisions: float
    """Collisions between bodies, mean per agent."""
    reversals: float
    """Turns by more than 90° within half a second, mean per agent."""
    parting: int
    """Agents that overlapped others by more than 2 % at the start, and have done so ever since."""
    wall_overlap: float
    """Largest share of a radius that was inside a wall."""
    fastest: float
    """Largest speed as a share of the wished one."""
    end: float
    """Time of the last arrival [s]."""
    simulated: float
    """Time that was simulated [s]."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: NaN becomes None."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }


class Touched(NamedTuple):
    """Bodies of other crowds that the agents of a crowd touched."""

    overlap: F32  # (n,) largest overlap of each
    collisions: I32  # (n,) collisions of each


class Metrics:
    """Collects figures of one run, step by step. Rows are agents and stay the same throughout."""

    def __init__(
        self,
        position: Any,
        *,
        radius: Any,
        wished_speed: Any,
        dt: float,
        free_path: Any = None,
        colliders: Colliders | None = None,
        eye_height: float = 0.0,
        period: float | None = None,
    ) -> None:
        """Start at the first moment of a run.

        Args:
            position: Positions [m], shape (n, 3).
            radius: Radii [m], shape (n,).
            wished_speed: Speeds that agents would go at alone [m/s], shape (n,).
            dt: Time between two calls of `add` [s].
            free_path: Lengths of the straight ways to the goals [m], shape (n,); None for unknown.
            colliders: The walls at the start.
            eye_height: Height of the centers above the positions [m].
            period: The world repeats along x after this length [m]; None where it does not.
        """
        self._period = period
        self.position: F32 = np.array(position, np.float32).reshape(-1, 3)
        n = len(self.position)
        self.radius: F32 = np.array(np.broadcast_to(radius, n), np.float32)
        self.wished: F64 = np.array(np.broadcast_to(wished_speed, n), np.float64)
        self.free_path: F64 = (
            np.full(n, np.nan) if free_path is None else np.array(free_path, float)
        )
        self.dt = float(dt)
        self.now = 0.0
        self.arrived: Flags = np.zeros(n, bool)
        self.arrival: F64 = np.full(n, np.nan)
        self.length: F64 = np.zeros(n)
        self.crawling: F64 = np.zeros(n)
        self.steps_hit = 0
        self.overlap: F32 = np.zeros(n, np.float32)
        self.collisions: I32 = np.zeros(n, np.int32)
        self.reversals: I32 = np.zeros(n, np.int32)
        self.energy: F64 = np.zeros(n)
        self.effort: F64 = np.zeros(n)
        self.fastest = 0.0
        self.begun: F64 = np.zeros(n)
        self.ended: F64 = np.full(n, np.nan)
        self._velocity: F64 = np.zeros((n, 3))
        self._seen: Flags = np.ones(n, bool)
        self._lived: Flags = np.ones(n, bool)
        self._before: list[dict[str, Any]] = []
        self._partners: I32 = np.full((n, PARTNERS), -1, np.int32)
        self._beginning: I32 = np.empty((n, PARTNERS), np.int32)
        self._origin = self.position.copy()
        self._parting: NDArray[np.uint8] = np.ones(n, np.uint8)
        self._pressed: NDArray[np.uint8] = np.zeros(n, np.uint8)
        self._headings: F32 = np.zeros((n, max(2, round(TURN_TIME / dt) + 1), 3), np.float32)
        self._held: I32 = np.zeros(n, np.int32)
        self._steps = 0
        self._walls = Walls(self.position, self.radius, eye_height, colliders)
        self._touch(self.position, self._seen)

    @property
    def count(self) -> int:
        """Number of agents."""
        return len(self.position)

    def shift(self, offset: Any) -> None:
        """Move the places of the last step, for worlds that repeat; no step is counted.

        Args:
            offset: How far each agent was moved [m], shape (n, 3).
        """
        moved = np.asarray(offset, np.float32)
        self.position = self.position + moved
        self._walls.anchor += moved
        self._origin = self._origin + moved

    def unborn(self, rows: Flags) -> None:
        """Say which agents do not live yet, at the first moment of a run.

        Args:
            rows: Which, shape (n,).
        """
        self._lived, self._seen = ~rows, ~rows
        self._parting[rows] = 0
        self._touch(self.position, self._seen)

    def renew(self, rows: I64, position: Any, radius: Any, wished_speed: Any) -> None:
        """Let rows go on as other agents, who are born later; the figures keep those before them.

        Args:
            rows: Which.
            position: Where they wait [m], shape (row_count, 3).
            radius: Radii of the others [m], shape (row_count,).
            wished_speed: Speeds that they would go at alone [m/s], shape (row_count,).
        """
        lived = rows[self._lived[rows]]
        self._before.append({name: getattr(self, name)[lived] for name in _SUMS})
        self.position[rows], self.radius[rows] = position, radius
        self.wished[rows] = wished_speed
        self.free_path[rows] = self.arrival[rows] = self.ended[rows] = np.nan
        flags: list[Any] = [self.arrived, self.collisions, self.reversals, self._held]
        sums = [self.length, self.crawling, self.energy, self.effort, self._velocity]
        for column in (*flags, *sums, self._headings):
            column[rows] = 0
        self._partners[rows] = -1
        self._parting[rows] = self._seen[rows] = self._lived[rows] = 0

    def add(
        self, position: Any, *, alive: Any, arrived: Any, colliders: Colliders | None = None
    ) -> None:
        """Count one step.

        Args:
            position: Positions after it [m], shape (n, 3); rows of agents not alive do not count.
            alive: Whether each agent is still there, shape (n,).
            arrived: Whether each agent is at the goal now, or left there, shape (n,).
            colliders: The walls after the step; None when they are as before.
        """
        place: F32 = np.ascontiguousarray(position, np.float32)
        there: Flags = np.asarray(alive, bool)
        at_goal: Flags = np.asarray(arrived, bool)
        self.now += self.dt
        seen = self._seen.copy()
        self._move(place, seen)
        hits = self._walls.check(place, seen, colliders)
        self.steps_hit += int(hits.sum())
        self._touch(place, there)
        born = there & ~self._lived
        self.begun[born] = self.now
        self._walls.begin(place, born)
        at_goal = at_goal & (self._lived | born)
        self._lived |= born
        new = at_goal & ~self.arrived
        self.arrival[new] = self.now - self.begun[new]
        self.arrived = at_goal.copy()
        self.ended = np.where(there, np.nan, np.where(np.isnan(self.ended), self.now, self.ended))
        self.position = np.where((seen | born)[:, None], place, self.position)
        self._seen = there.copy()

    def _move(self, place: F32, seen: Flags) -> None:
        """Paths, speeds and turns of the agents that were there when the step began."""
        move: F32 = place - self.position
        velocity = np.where(seen[:, None], move.astype(np.float64) / self.dt, 0.0)
        speed = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        change = velocity - self._velocity
        force = np.sqrt(np.einsum("ij,ij->i", change, change)) / self.dt
        underway = seen & ~self.arrived
        self.length[underway] += speed[underway] * self.dt
        self.energy[underway] += 0.5 * speed[underway] ** 2
        self.effort[underway] += force[underway]
        slow = speed < CRAWL * self.wished
        self.crawling = np.where(slow & underway, self.crawling + self.dt, 0.0)
        wishing = seen & (self.wished > 0.0)
        if wishing.any():
            share = float((speed[wishing] / self.wished[wishing]).max())
            self.fastest = max(self.fastest, share)
        slot = self._steps % self._headings.shape[1]
        least = CRAWL * self.dt * self.wished
        parallel_for(
            turn_kernel,
            self.count,
            np.ascontiguousarray(move),
            least,
            underway,
            self._headings,
            slot,
            self._held,
            self.reversals,
        )
        self._steps += 1
        self._velocity = velocity

    def _touch(self, place: F32, alive: Flags) -> None:
        """Overlaps among the living, and which of those from the start are still there."""
        rows: I64 = np.flatnonzero(alive)
        count = len(rows)
        self._pressed[:] = 0
        if count > 1:
            self._find_touching(*self._echoed(place[rows], rows), count)
        self._parting &= self._pressed

    def _find_touching(self, points: F32, rows: I64, count: int) -> None:
        grid = neighbors.build_grid(points, 2.0 * float(self.radius[rows].max()))
        parallel_for(
            touch_kernel,
            count,
            grid,
            points,
            rows,
            self.radius,
            ALIKE,
            0,
            TOUCH,
            self._origin,
            self._parting,
            self._partners,
            self.overlap[:, None],
            self.collisions[:, None],
            self._beginning,
            self._pressed,
        )

    def _echoed(self, points: F32, rows: I64) -> tuple[F32, I64]:
        """Places and rows, with those seen across the ends of a world that repeats."""
        if self._period is None:
            return np.ascontiguousarray(points), rows
        reach = 2.0 * float(self.radius.max())
        places, whose = [points], [rows]
        for shift in (self._period, -self._period):
            x = points[:, 0] + shift
            seen = (x > -reach) & (x < self._period + reach)
            places.append(points[seen] + np.array([shift, 0.0, 0.0], np.float32))
            whose.append(rows[seen])
        return np.ascontiguousarray(np.concatenate(places)), np.concatenate(whose)

    def _all_that_lived(self) -> dict[str, Any]:
        """What is known of all that ever lived, by name, those whose rows went on as others too."""
        now = {name: getattr(self, name)[self._lived] for name in _SUMS}
        return {name: np.concatenate([*(b[name] for b in self._before), now[name]]) for name in now}

    def figures(self, met: Touched | None = None) -> Figures:
        """The figures up to now.

        Args:
            met: What the agents did to bodies of other crowds; None for no others.
        """
        known = self._all_that_lived()
        done, arrival, free_path = known["arrived"], known["arrival"], known["free_path"]
        overlap, collisions = self.overlap, _mean(known["collisions"])
        if met is not None:
            overlap = np.maximum(overlap, met.overlap)
            collisions += float(met.collisions.sum()) / len(done) if len(done) else 0.0
        stuck = ~self.arrived & self._seen & (self.crawling >= STUCK_TIME - 1.0e-6)
        lived = np.where(np.isnan(known["ended"]), self.now, known["ended"]) - known["begun"]
        spent = np.where(done, arrival, lived)
        effort = _mean(spent + known["energy"] + known["effort"])
        free_time = free_path / np.maximum(known["wished"], 1.0e-6)
        ends = (arrival + known["begun"])[done]
        return Figures(
            agents=len(done),
            arrived=int(done.sum()),
            penetrations=self.steps_hit,
            overlap=float(overlap.max(initial=0.0)),
            stuck=int(stuck.sum()),
            time=_mean(arrival[done]),
            path=_mean(known["length"][done]),
            score=COLLISION_COST * collisions + effort,
            free_time=_mean(free_time[done]),
            free_path=_mean(free_path[done]),
            collisions=collisions,
            reversals=_mean(known["reversals"]),
            parting=int(self._parting.sum()),
            wall_overlap=float(self._walls.pressed.max(initial=0.0)),
            fastest=self.fastest,
            end=float(ends.max()) if len(ends) else math.nan,
            simulated=self.now,
        )


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan
