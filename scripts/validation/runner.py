"""Runs a scenario with a preset and measures it."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import BLOCKS, CrowdSettings
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import World, make_world
from steer_addon.core.results.metrics import Metrics
from steer_addon.core.step import quickest
from steer_addon.core.step.arrival import goals_of
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.views import F32

from .density import ECHO
from .scenario import F64, Area, Scenario, free_paths
from .ways import Ways

PRESET = "pedestrians"
SAMPLE = 0.25
"""Time between two places of a trajectory for pictures [s]."""

LAST = 5.0
"""Time at the end over which the remaining energy is averaged [s]."""


@dataclass(eq=False)
class Outcome:
    """Outcome of a run.

    Attributes:
        scenario: The scenario.
        result: One entry of the JSON output.
        tracks: Places for pictures [m], shape (samples, n, 3); NaN where an agent is gone.
    """

    scenario: Scenario
    result: dict[str, Any]
    tracks: F32 | None = None


@dataclass(eq=False)
class _Meter:
    """Mean speed and density in an area."""

    area: Area
    steps: int = 0
    people: int = 0
    speeds: float = 0.0
    most: int = 0

    def add(self, now: float, position: F32, velocity: F64) -> None:
        """Count one step: positions and velocities of the present agents, shape (m, 3)."""
        if not self.area.start <= now <= self.area.stop:
            return
        low, high = np.asarray(self.area.low), np.asarray(self.area.high)
        inside = ((position[:, :2] >= low) & (position[:, :2] < high)).all(axis=1)
        number = int(inside.sum())
        self.steps += 1
        self.people += number
        self.most = max(self.most, number)
        there = velocity[inside]
        speed = there[:, 0] if self.area.along else np.linalg.norm(there, axis=1)
        self.speeds += float(speed.sum())

    def figures(self) -> dict[str, float | None]:
        """Density [1/m²], mean speed [m/s] and their product."""
        (x0, y0), (x1, y1) = self.area.low, self.area.high
        size = (x1 - x0) * (y1 - y0)
        density = self.people / (size * self.steps) if self.steps else None
        speed = self.speeds / self.people if self.people else None
        return {
            f"{self.area.name}_density": density,
            f"{self.area.name}_speed": speed,
            f"{self.area.name}_most": self.most / size,
        }


class _Run:
    """The state of a run between two steps."""

    def __init__(self, scenario: Scenario, settings: CrowdSettings) -> None:
        self.scenario = scenario
        n = scenario.count
        motion = replace(settings.motion, motion="FLY" if scenario.flying else "GROUND")
        self.settings = replace(settings, motion=motion)
        self.alive = np.ones(n, bool)
        self.arrived = np.zeros(n, bool)
        self.steps, self.now = 0, 0.0
        self.ways = Ways(scenario)
        self.world: World = make_world(targets=self.ways.points, colliders=scenario.colliders)
        self._nearest: F64 = np.full(n, np.inf)
        self._hopeful = 0.0
        self.simulation = Simulation(
            self.settings, self._agents(), frame=0, fps=1.0 / scenario.dt, world=self.world
        )
        # agents that start inside a wall are put beside it
        self.position = self.simulation.agents.position.copy()
        self.metrics = Metrics(
            self.position,
            radius=scenario.radius,
            wished_speed=scenario.speed,
            dt=scenario.dt,
            free_path=free_paths(scenario),
            colliders=self.world.colliders,
            eye_height=0.0 if scenario.flying else motion.step_height,
            period=scenario.period,
        )
        self.meters = [_Meter(area) for area in scenario.areas]
        self.first_move: F64 = np.full(n, np.nan)
        self.energy: list[float] = []
        """Kinetic energy of the crowd at each step, per kg [J/kg]."""
        self.choice: NDArray[np.int64] = np.full(n, -1, np.int64)
        """Which of the points of the last stage with several each agent came to."""
        self._aim()

    def _agents(self) -> Agents:
        body, scenario = self.settings.agents, self.scenario
        columns = {"radius": scenario.radius, "max_speed": self._speeds()}
        return make_agents(
            scenario.position,
            radius=body.radius,
            mass=body.mass,
            max_speed=body.max_speed,
            max_force=body.max_force,
            velocity=scenario.velocity,
            heading=scenario.heading,
            attributes=columns,
        )

    def _speeds(self) -> F64:
        """Current wished speeds: those of the stage, and 0 for waiting agents."""
        speed = self.ways.speeds()
        if self.scenario.start_time is not None:
            speed = np.where(self.now >= self.scenario.start_time, speed, 0.0)
        return speed

    def _aim(self) -> None:
        """Give each agent the target of its stage."""
        agents = self.simulation.agents
        rows = agents.id
        self.ways.choose(rows, self._pick)
        if self.ways.moving:
            self.ways.move(rows, self.position.astype(np.float64), agents.velocity)
            self.world = replace(self.world, targets={"": make_targets(self.ways.points)})
        agents.target_index = self.ways.targets(rows, self.position[rows].astype(np.float64))
        agents.max_speed = self._speeds()[rows].astype(np.float32)

    def _pick(self, options: F64, rows: NDArray[np.int64], taken: NDArray[np.int64]) -> Any:
        """Which of some places each of some agents takes, as the preset's goal chooses targets."""
        crowd = self.simulation.agents
        goal = next((entry for entry, _ in goals_of(self.settings.stack, crowd)), None)
        if getattr(goal, "target_choice", "NEAREST") == "QUICKEST":
            crowd = crowd.taken(np.searchsorted(crowd.id, rows))
            crowd.target_index[:] = -1
            flow = np.full(len(rows), goal.target_flow)
            places = make_targets(options)
            return quickest.choose(places, crowd, taken, flow, self.scenario.dt, self.steps)
        return np.linalg.norm(options[None] - self.position[rows][:, None], axis=2).argmin(axis=1)

    def step(self) -> float:
        """Advance by one step; returns the time it took [s]."""
        spent = self._advance()
        self.steps += 1
        self.now = self.steps * self.scenario.dt
        rows = self.simulation.agents.id
        before = self.position[rows]
        self.position[rows] = self.simulation.agents.position
        self._proceed(rows)
        self.metrics.add(self.position, alive=self.alive, arrived=self.arrived)
        velocity = (self.position[rows] - before).astype(np.float64) / self.scenario.dt
        moving = np.linalg.norm(velocity, axis=1) > 0.1 * self.scenario.speed[rows]
        first = moving & np.isnan(self.first_move[rows])
        self.first_move[rows[first]] = self.now
        self.energy.append(0.5 * float(np.einsum("ij,ij->", velocity, velocity)))
        for meter in self.meters:
            meter.add(self.now, self.position[rows], velocity)
        if self.scenario.leave and self.arrived[rows].any():
            self.simulation.agents = keep(self.simulation.agents, ~self.arrived[rows])
        self._wrap()
        self._aim()
        return spent

    def _advance(self) -> float:
        """One step of the simulation; returns the time it took [s]."""
        period = self.scenario.period
        if period is not None:
            count = self.simulation.agents.count
            self.simulation.agents = with_echoes(self.simulation.agents, period)
        start = time.perf_counter()
        self.simulation.advance(self.world)
        spent = time.perf_counter() - start
        if period is not None:
            self.simulation.agents = keep(self.simulation.agents, np.arange(count))
        return spent

    def _wrap(self) -> None:
        """Put agents that left a repeating world back in at its other end."""
        period = self.scenario.period
        if period is None:
            return
        offset = np.zeros_like(self.position)
        offset[:, 0] = -period * np.floor(self.position[:, 0] / period)
        if offset.any():
            self.position += offset
            agents = self.simulation.agents
            agents.position = np.ascontiguousarray(self.position[agents.id])
            self.metrics.shift(offset)

    def _proceed(self, rows: NDArray[np.int64]) -> None:
        """Let agents at their target continue to the next one, or arrive."""
        several, taken = self.ways.chosen(rows), self.ways.taken[rows]
        arrived, on, away = self.ways.proceed(
            rows, self.position[rows].astype(np.float64), self.now
        )
        chose = (arrived | on) & several
        self.choice[rows[chose]] = taken[chose]
        self.arrived[rows] = arrived
        self._nearest[rows[on]] = np.inf
        nearer = (away < self._nearest[rows] - 0.1) & ~on
        self._nearest[rows[nearer]] = away[nearer]
        if nearer.any() or on.any():
            self._hopeful = self.now
        if self.scenario.leave:
            self.alive[rows] = ~self.arrived[rows]

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait for."""
        done = self.now > self.scenario.duration - 0.5 * self.scenario.dt
        return done or bool(self.arrived.all()) or self.now - self._hopeful > self.scenario.patience


def keep(agents: Agents, rows: NDArray[Any]) -> Agents:
    """The agents of some rows, given as numbers or flags, with their memory."""
    arrays = {k: v[rows] for k, v in vars(agents).items() if isinstance(v, np.ndarray)}
    return replace(
        agents,
        **arrays,
        attributes={k: v[rows] for k, v in agents.attributes.items()},
        memory={k: v[rows] for k, v in agents.memory.items()},
    )


def with_echoes(agents: Agents, period: float) -> Agents:
    """A crowd followed by copies of the agents near the ends of a world that repeats along x."""
    x = agents.position[:, 0]
    ahead, behind = np.flatnonzero(x < ECHO), np.flatnonzero(x > period - ECHO)
    more = keep(agents, np.concatenate([np.arange(agents.count), ahead, behind]))
    start, middle = agents.count, agents.count + len(ahead)
    more.position[start:middle, 0] += period
    more.position[middle:, 0] -= period
    more.id[start:] = agents.count + np.arange(more.count - start)
    return more


def as_stated(settings: CrowdSettings, scenario: Scenario) -> CrowdSettings:
    """A preset's settings with what the scenario's page states; what it lacks is left out.

    Raises:
        ParameterError: A stated value does not fit.
    """
    known = {*BLOCKS, *(entry.key for entry in settings.behaviors)}
    for text in scenario.stated:
        if text.partition(".")[0] in known:
            settings = with_override(settings, text)
    return settings


def run(scenario: Scenario, preset: str = PRESET, *, tracks: bool = False) -> Outcome:
    """Run a scenario.

    Args:
        scenario: The scenario.
        preset: Name of the crowd preset, or a path that ends in .json.
        tracks: Whether to keep places for a picture.
    """
    start = time.perf_counter()
    settings = as_stated(load_preset(preset).settings, scenario)
    state = _Run(scenario, settings)
    spent: list[float] = []
    kept = [state.position.copy()]
    while not state.over:
        spent.append(state.step())
        if tracks and state.now >= len(kept) * SAMPLE - 1.0e-9:
            kept.append(np.where(state.alive[:, None], state.position, np.nan))
    result = {"name": scenario.name, **_result(state, spent)}
    result["seconds"] = time.perf_counter() - start
    return Outcome(scenario, result, np.array(kept, np.float32) if tracks else None)


def _result(state: _Run, spent: list[float]) -> dict[str, Any]:
    scenario = state.scenario
    figures = state.metrics.figures().as_dict()
    result: dict[str, Any] = {
        **figures,
        "arrived_share": figures["arrived"] / scenario.count,
        "seconds_per_step": sum(spent[1:]) / max(len(spent) - 1, 1),
        "steps": len(spent),
    }
    for meter in state.meters:
        result.update(meter.figures())
    result.update(_more(state))
    # two runs of one seed that differ in a bit anywhere end with other places
    result["digest"] = hashlib.blake2b(state.position.tobytes(), digest_size=8).hexdigest()
    result.update(scenario.notes)
    if scenario.asks_for_arrivals:
        result["all_arrive"] = bool(state.arrived.all())
    if scenario.led:
        result["led"] = scenario.led
    if scenario.stated:
        result["stated"] = list(scenario.stated)
    result["wanted"] = [str(wanted) for wanted in scenario.wanted]
    result["short"] = [str(wanted) for wanted in scenario.wanted if not wanted.met(result)]
    return result


def _more(state: _Run) -> dict[str, Any]:
    """Figures that only some scenarios request."""
    scenario, metrics = state.scenario, state.metrics
    found: dict[str, Any] = {}
    if not scenario.leave:
        last = state.energy[-max(1, round(LAST / scenario.dt)) :]
        found["energy_left"] = float(np.mean(last)) / max(max(state.energy), 1.0e-9)
    if metrics.arrived.any():
        rows = metrics.arrived
        times = np.sort(metrics.arrival[rows])
        pace = metrics.length[rows] / np.maximum(metrics.arrival[rows], 1.0e-9)
        share = pace / np.maximum(scenario.speed[rows], 1.0e-9)
        found["slowest_pace"], found["quickest_pace"] = float(share.min()), float(share.max())
        # the first and the last tenth are no steady flow
        low, high = np.quantile(times, [0.1, 0.9])
        found["flow"] = 0.8 * len(times) / float(high - low) if high > low else None
    if (state.choice >= 0).any():
        found["second_choice"] = float((state.choice > 0).sum() / (state.choice >= 0).sum())
    if scenario.start_time is not None:
        late = state.first_move - scenario.start_time
        found["latest_start"] = float(late.max()) if np.isfinite(late).all() else None
        found["earliest_start"] = float(late.min()) if np.isfinite(late).all() else None
    return found
