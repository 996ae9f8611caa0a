"""Targets of a scenario's agents: goals, places to touch, and gates on the way there.

A via stage is a gate: a line across the way, from the middle to both sides as far as the stage
reaches. It is passed by crossing that line, at whatever place, and not by coming near its middle:
people round a corner side by side, and no agent turns back for a missed point. The line
halves the angle between the ways before and after it, unless the stage gives a direction, as
doors do. Each agent heads for where its own lane, parallel to the way there, meets the gate; when
it is near, for a place beyond, so that it does not brake in the gate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scenario import F64, Scenario, Stage

I64 = NDArray[np.int64]

SPACING = 0.5
"""Gates are headed for at places at most this far apart [m]."""
BEYOND = 1.5
"""Distance to a gate within which agents head for a place that far behind it, to brake later."""
STEEPEST = 0.2
"""Least cosine between lanes and the way through a gate: lanes meet it not too far away."""


class Ways:
    """All targets of a scenario, and which of them each agent heads for.

    Attributes:
        points: The targets [m], shape (target_count, 3).
        stage: Number of stages that each agent has completed, shape (n,).
        taken: Which of a stage's places each agent heads for, -1 for not chosen yet, shape (n,).
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        n = scenario.count
        self.stage: I64 = np.zeros(n, np.int64)
        self.taken: I64 = np.full(n, -1, np.int64)
        self._points: list[F64] = []
        self._rows: dict[str, list[Any]] = {
            name: []
            for name in ("middle", "through", "across", "lane", "reach", "gate", "first", "slots")
        }
        self._entry_place: list[int] = []
        self._entry_choices: list[int] = []
        self._entry_speed: list[float] = []
        begin = []
        for number, route in enumerate(scenario.routes):
            begin.append(len(self._entry_place))
            members = scenario.position[scenario.route == number]
            here = members.mean(axis=0) if len(members) else route[0].points[0]
            for stage, after in zip(route, (*route[1:], None), strict=True):
                here = self._plan(stage, after, here)
        self.points: F64 = np.concatenate(self._points)
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
        return row.astype(np.int64)

    def proceed(self, rows: I64, position: F64) -> tuple[NDArray[np.bool_], NDArray[np.bool_], F64]:
        """Let agents that passed a gate or reached a place continue to their next stage.

        Args:
            rows: Rows of the present agents.
            position: Their positions [m], shape (len(rows), 3).

        Returns:
            Agents at the last stage's place; agents that continued; distances to the middles [m].
        """
        place = self._place(rows)
        offset = position - self._middle[place]
        away = np.linalg.norm(offset, axis=1)
        crossed = _dot(offset, self._through[place]) >= 0.0
        there = np.where(self._gate[place], crossed, away <= self._reach[place])
        last = self.stage[rows] >= self._stages[rows] - 1
        on = there & ~last
        self.stage[rows[on]] += 1
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
