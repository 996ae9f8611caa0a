"""Targets of a scenario's agents: goals, places to touch, and gates on the way there.

A via stage is a gate: a line across the way, from the middle to both sides as far as the stage
reaches. It is passed by crossing that line, at whatever place, and not by coming near its middle:
people round a corner side by side, and no agent turns back for a missed point. The line
halves the angle between the ways before and after it, unless the stage gives a direction, as
doors do. Each agent heads for where its own lane, parallel to the way there, meets the gate; when
it is near, for a place beyond, so that it does not brake in the gate.

Goals without a fixed place (`Moves`) are put ahead of each agent, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scenario import F64, Moves, Scenario, Stage

I64 = NDArray[np.int64]

SPACING = 0.5
"""Gates are headed for at places at most this far apart [m]."""
BEYOND = 1.5
"""Distance to a gate within which agents head for a place that far behind it, to brake later."""
_NOWHERE = (np.inf, np.inf, -np.inf, -np.inf)
STEEPEST = 0.2
"""Least cosine between lanes and the way through a gate: lanes meet it not too far away."""
AHEAD = 10.0
"""Agents that flee, or flow in a direction, head for a place this far away [m]."""
NEARBY = 5.0
"""Agents that flow with others look at those within this distance [m]."""


class Ways:
    """All targets of a scenario, and which of them each agent heads for.

    Attributes:
        points: The targets [m], shape (target_count, 3).
        stage: Number of stages that each agent has completed, shape (n,).
        taken: Which of a stage's places each agent heads for, -1 for not chosen yet, shape (n,).
        since: When each agent began its stage [s], shape (n,).
        home: Where it was then [m], shape (n, 3).
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        n = scenario.count
        self.stage: I64 = np.zeros(n, np.int64)
        self.taken: I64 = np.full(n, -1, np.int64)
        self.since: F64 = np.zeros(n)
        self.home: F64 = scenario.position.copy()
        self._points: list[F64] = []
        self._rows: dict[str, list[Any]] = {
            name: [] for name in "middle through across lane reach gate first slots box".split()
        }
        self._entry_place: list[int] = []
        self._entry_choices: list[int] = []
        self._entry_speed: list[float] = []
        self._moves: list[Moves | None] = []
        entry_lasts: list[float] = []
        begin = []
        for number, route in enumerate(scenario.routes):
            begin.append(len(self._entry_place))
            members = scenario.position[scenario.route == number]
            here = members.mean(axis=0) if len(members) else route[0].points[0]
            for stage, after in zip(route, (*route[1:], None), strict=True):
                here = self._plan(stage, after, here)
                self._moves.append(stage.moves)
                entry_lasts.append(stage.lasts)
        own = np.array([moves is not None for moves in self._moves])
        if own.any():
            # each agent has a place of its own behind all others
            self._points.append(scenario.position)
        self.points: F64 = np.concatenate(self._points)
        self._own, self._lasts = own, np.array(entry_lasts)
        self._begin = np.array(begin)[scenario.route]
        self._stages = np.array([len(route) for route in scenario.routes])[scenario.route]
        self._place_of = np.array(self._entry_place)
        self._choices = np.array(self._entry_choices)
        self._speed = np.array(self._entry_speed)
        places = {name: np.array(values) for name, values in self._rows.items()}
        self._middle, self._through = places["middle"], places["through"]
        self._across, self._lane = places["across"], places["lane"]
        self._reach, self._gate = places["reach"], places["gate"]
        self._first, self._slots = places["first"], places["slots"]
        self._box = places["box"]

    def _plan(self, stage: Stage, after: Stage | None, here: F64) -> F64:
        """Add a stage; returns the start of the way to the next one."""
        self._entry_place.append(len(self._rows["first"]))
        self._entry_choices.append(len(stage.points))
        self._entry_speed.append(np.nan if stage.speed is None else stage.speed)
        for number, middle in enumerate(stage.points):
            lane = through = across = np.zeros(3)
            places = middle[None]
            gate = stage.via and after is not None
            if gate and after is not None:
                lane, through, on = _directions(stage, after, number, here)
                across = np.array([-through[1], through[0], 0.0])
                steps = int(np.ceil(stage.reach / SPACING))
                aside = np.linspace(-stage.reach, stage.reach, 2 * steps + 1)
                line = middle + aside[:, None] * across
                places = np.concatenate([line, line + BEYOND * on])
            row = {
                "middle": middle,
                "through": through,
                "across": across,
                "lane": lane,
                "reach": stage.reach,
                "gate": gate,
                "first": sum(map(len, self._points)),
                "slots": len(places) // 2 if gate else 1,
                "box": stage.box or _NOWHERE,
            }
            for name, value in row.items():
                self._rows[name].append(value)
            self._points.append(places)
        away = np.linalg.norm(stage.points - here, axis=1)
        return np.asarray(stage.points[away.argmin()], float)

    def _entry(self, rows: I64) -> I64:
        """The stages that agents are at, numbered through all routes."""
        found: I64 = self._begin[rows] + np.minimum(self.stage[rows], self._stages[rows] - 1)
        return found

    def _place(self, rows: I64) -> I64:
        """The places that agents head for, numbered through all stages."""
        found: I64 = self._place_of[self._entry(rows)] + np.maximum(self.taken[rows], 0)
        return found

    def speeds(self) -> F64:
        """Wished speeds [m/s] on the present stages, shape (n,)."""
        own = self._speed[self._entry(np.arange(len(self.stage)))]
        return np.where(np.isnan(own), self._scenario.speed, own)

    def choose(self, rows: I64, pick: Callable[[F64, I64, I64], I64]) -> None:
        """Let agents choose where a stage has several places.

        Args:
            rows: Rows of the present agents.
            pick: Given places (m, 3) [m], the agents before them and the current choice of each
                (-1 for none), returns the new choices.
        """
        entry = self._entry(rows)
        for number in np.flatnonzero(self._choices > 1):
            there = rows[entry == number]
            if len(there):
                first = self._place_of[number]
                options = self._middle[first : first + self._choices[number]]
                self.taken[there] = pick(options, there, self.taken[there])

    def targets(self, rows: I64, position: F64) -> I64:
        """Rows of `points` that agents at positions [m] head for, shape (len(rows),)."""
        place = self._place(rows)
        offset = position - self._middle[place]
        cosine = np.maximum(_dot(self._lane[place], self._through[place]), STEEPEST)
        ahead = -_dot(offset, self._through[place]) / cosine
        aside = _dot(offset + ahead[:, None] * self._lane[place], self._across[place])
        reach, slots = self._reach[place], self._slots[place]
        aside = np.clip(aside, -reach, reach)
        slot = np.rint((aside / np.maximum(reach, 1.0e-9) + 1.0) / 2.0 * (slots - 1))
        heads_for = aside[:, None] * self._across[place]
        near = np.linalg.norm(offset - heads_for, axis=1) < BEYOND
        row = self._first[place] + np.where(self._gate[place], slot + slots * near, 0)
        own = len(self.points) - len(self.stage) + rows
        return np.where(self._own[self._entry(rows)], own, row).astype(np.int64)

    @property
    def moving(self) -> bool:
        """Whether there are goals without a fixed place."""
        return bool(self._own.any())

    def move(self, rows: I64, position: F64, velocity: F64) -> None:
        """Put the goals without a fixed place where they are now.

        Args:
            rows: Rows of the present agents.
            position: Positions of all agents [m], of those that are gone the last ones, (n, 3).
            velocity: Velocities of the present agents [m/s], shape (len(rows), 3).
        """
        own = len(self.points) - len(self.stage)
        for k, entry in enumerate(self._entry(rows)):
            moves, row = self._moves[entry], rows[k]
            if moves is None:
                continue
            here = position[row]
            if moves.kind == "STAY":
                aim = self.home[row]
            elif moves.kind == "SEEK":
                aim = position[moves.agent]
            elif moves.kind == "FLEE":
                threat = position[moves.agent] if moves.agent is not None else [*moves.to, 0.0]  # type: ignore[misc]
                aim = here + AHEAD * _unit(here - threat)
            elif moves.to is not None:
                aim = here + AHEAD * _unit(np.array([*moves.to, 0.0]))
            else:
                near = np.linalg.norm(position[rows] - here, axis=1) <= NEARBY
                near[k] = False
                aim = here + AHEAD * _unit(velocity[near].sum(axis=0))
            self.points[own + row] = aim

    def proceed(
        self, rows: I64, position: F64, now: float = 0.0
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], F64]:
        """Let agents that passed a gate or reached a place continue to their next stage.

        Args:
            rows: Rows of the present agents.
            position: Their positions [m], shape (len(rows), 3).
            now: Time since the start [s].

        Returns:
            Agents at the last stage's place; agents that continued; distances to the middles [m],
            or the time left [s] where a stage lasts for a time.
        """
        place, entry = self._place(rows), self._entry(rows)
        middle = self._middle[place].copy()
        moved = self._own[entry]
        middle[moved] = self.points[(len(self.points) - len(self.stage) + rows)[moved]]
        offset = position - middle
        left = self._lasts[entry] - (now - self.since[rows])
        timed = np.isfinite(left)
        away = np.where(timed, left, np.linalg.norm(offset, axis=1))
        crossed = _dot(offset, self._through[place]) >= 0.0
        low, high = self._box[place, :2], self._box[place, 2:]
        inside = ((position[:, :2] >= low) & (position[:, :2] <= high)).all(axis=1)
        reached = inside | (away <= np.where(timed, 1.0e-9, self._reach[place]))
        there = np.where(self._gate[place], crossed, reached)
        last = self.stage[rows] >= self._stages[rows] - 1
        on = there & ~last
        self.stage[rows[on]] += 1
        self.since[rows[on]] = now
        self.home[rows[on]] = position[on]
        return there & last, on, away

    def chosen(self, rows: I64) -> NDArray[np.bool_]:
        """Whether agents are at a stage with several places."""
        several: NDArray[np.bool_] = self._choices[self._entry(rows)] > 1
        return several


def _directions(stage: Stage, after: Stage, number: int, here: F64) -> tuple[F64, F64, F64]:
    """Unit directions on the floor: of lanes to a gate, through it, and on."""
    middle = stage.points[number]
    to_next = after.points - middle
    on = _unit(to_next[np.linalg.norm(to_next, axis=1).argmin()])
    if stage.ahead is not None:
        ahead = _unit(stage.ahead[number])
        return ahead, ahead, on
    lane = _unit(middle - here)
    through = _unit(lane + on)
    return (lane, through, on) if through.any() else (lane, lane, on)


def _unit(vector: F64) -> F64:
    flat = np.array([vector[0], vector[1], 0.0])
    size = float(np.linalg.norm(flat))
    return flat / size if size > 1.0e-9 else np.zeros(3)


def _dot(a: F64, b: F64) -> F64:
    found: F64 = np.einsum("ij,ij->i", a, b)
    return found
