"""Anticipation and contacts against RVO2 and JuPedSim: the same crowd, a step by turns.

Walkers at 0.5 per m², each to a far goal of its own direction. Of each only the step is measured:
handing wishes over to a peer is not. Both peers use one thread, as their packages are built; ours
is measured on one thread too, and on all cores as users have it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bench_crowds import DT, F32
from bench_table import Row, medians, skipped

from steer_addon.core import jit
from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.presets import load_preset
from steer_addon.core.settings import CrowdSettings
from steer_addon.core.solver import Solver
from steer_addon.core.world import make_targets, make_world

COUNT, DENSITY = 10_000, 0.5
SPEED = 1.34
GOALS = 32
"""Directions in which agents go."""
NEIGHBORS = 10
WARM, ROUNDS = 24, 15
"""Steps before measuring, and measured ones."""


def lattice(count: int) -> tuple[F32, Any]:
    """Where agents start [m], shape (count, 3), and the number of each one's goal."""
    rng = np.random.default_rng(11)
    side = math.ceil(math.sqrt(count))
    spacing = 1.0 / math.sqrt(DENSITY)
    row, column = np.divmod(np.arange(count), side)
    points = np.stack([column, row, 0 * row], axis=1) * spacing
    points[:, :2] += rng.uniform(-0.25, 0.25, (count, 2)) * spacing - 0.5 * side * spacing
    return points.astype(np.float32), rng.integers(0, GOALS, count)


def goals(count: int) -> F32:
    """Places of the goals [m], shape (GOALS, 3), well outside of the crowd."""
    angle = 2.0 * np.pi * np.arange(GOALS) / GOALS
    reach = 2.0 * math.sqrt(count / DENSITY)
    return (reach * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)).astype(np.float32)


def ours(count: int) -> tuple[CrowdSettings, Callable[[], object]]:
    """Pedestrians who seek their goals, avoid neighbors and keep out of each other."""
    settings = load_preset("pedestrians").settings
    stack = [b for b in settings.behaviors if isinstance(b, AvoidNeighbors)]
    stack = [replace(b, max_neighbors=NEIGHBORS) for b in stack]
    settings = replace(settings, behaviors=(Seek(), *stack))
    points, chosen = lattice(count)
    body = settings.agents
    agents = make_agents(
        points,
        radius=body.radius,
        mass=body.mass,
        max_speed=SPEED,
        max_force=body.max_force,
        attributes={"target_index": chosen},
    )
    world = make_world(targets=make_targets(goals(count)))
    solver = Solver(settings)
    state = [agents, 0]

    def step() -> None:
        state[0] = solver.step(state[0], world, DT, number=state[1]).agents
        state[1] += 1

    return settings, step


def rvo(radius: float, horizon: float) -> Callable[[], Callable[[], object]]:
    """Steps of RVO2: a call that hands wishes over, and gives back the step."""
    module = importlib.import_module("pyrvo")
    reach = 2.0 * horizon * SPEED
    crowd = module.RVOSimulator(DT, reach, NEIGHBORS, horizon, horizon, radius, SPEED)
    points, chosen = lattice(COUNT)
    ends = goals(COUNT).astype(float)
    for x, y, _z in points.astype(float):
        crowd.add_agent((x, y))

    def ready() -> Callable[[], object]:
        for i, goal in enumerate(chosen):
            at = crowd.get_agent_position(i)
            x, y = ends[goal, 0] - at.x, ends[goal, 1] - at.y
            size = math.hypot(x, y) / SPEED
            crowd.set_agent_pref_velocity(i, (x / size, y / size))
        return crowd.do_step

    return ready


def jupedsim(radius: float) -> Callable[[], object]:
    """A step of JuPedSim's default, the collision free speed model."""
    module = importlib.import_module("jupedsim")
    points, chosen = lattice(COUNT)
    ends = goals(COUNT).astype(float)
    edge = 1.1 * float(np.abs(ends).max())
    crowd = module.Simulation(
        model=module.CollisionFreeSpeedModel(),
        geometry=[(-edge, -edge), (edge, -edge), (edge, edge), (-edge, edge)],
        dt=DT,
    )
    stages = [crowd.add_waypoint_stage((x, y), 1.0) for x, y, _z in ends]
    ways = [crowd.add_journey(module.JourneyDescription([stage])) for stage in stages]
    for (x, y, _z), goal in zip(points.astype(float), chosen, strict=True):
        crowd.add_agent(
            module.CollisionFreeSpeedModelAgentParameters(
                position=(x, y),
                journey_id=ways[goal],
                stage_id=stages[goal],
                radius=radius,
                v0=SPEED,
            )
        )

    def step() -> object:
        return crowd.iterate()

    return step


def bodies() -> Iterator[Row]:
    """How much faster a step is than the peers', and how it grows with the crowd."""
    settings, step = ours(COUNT)
    radius = settings.agents.radius
    horizon = next(b for b in settings.behaviors if isinstance(b, AvoidNeighbors)).anticipation_time
    what = f"avoid neighbors and contacts, {COUNT:,} agents, {DENSITY:g} per m²"
    for _ in range(WARM):
        step()
    yield from _against_rvo(what, step, radius, horizon)
    yield from _against_jupedsim(what, step, radius)
    _settings, more = ours(10 * COUNT)
    for _ in range(WARM):
        more()
    few, many = medians([step, more], ROUNDS)
    note = f"a step {few * 1e3:.1f} and {many * 1e3:.0f} ms, on all cores"
    yield Row(f"{what}: cost of ten times as many", many / few, "×", 12.0, note=note)


def _on_threads(measure: Callable[[], Sequence[float]]) -> Iterator[tuple[str, float, float]]:
    """What is measured on one thread, and on all cores: (where, our time, the other's) [s]."""
    threads = jit.set_threads(1)
    try:
        own, other = measure()
    finally:
        jit.set_threads(threads)
    yield "one thread each", own, other
    own, other = measure()
    yield "we on all cores", own, other


def _against_rvo(
    what: str, step: Callable[[], object], radius: float, horizon: float
) -> Iterator[Row]:
    try:
        ready = rvo(radius, horizon)
    except ImportError:
        yield skipped(f"{what}: RVO2's time in ours", "needs pyrvo, of the extra bench")
        return
    for _ in range(WARM):
        ready()()

    def measure() -> list[float]:
        # wishes are handed over anew before each round, outside of what is timed
        return list(np.median([medians([step, ready()], 1) for _ in range(ROUNDS)], axis=0))

    for where, own, other in _on_threads(measure):
        note = f"a step {own * 1e3:.1f} ms, of RVO2 {other * 1e3:.0f} ms; {NEIGHBORS} neighbors"
        operation = f"{what}: RVO2's time in ours, {where}"
        yield Row(operation, other / own, "×", 2.0, at_least=True, note=note)


def _against_jupedsim(what: str, step: Callable[[], object], radius: float) -> Iterator[Row]:
    try:
        peer = jupedsim(radius)
    except ImportError:
        yield skipped(f"{what}: JuPedSim's time in ours", "needs jupedsim, of the extra bench")
        return
    for where, own, other in _on_threads(lambda: medians([step, peer], ROUNDS)):
        note = f"a step {own * 1e3:.1f} ms, of JuPedSim {other * 1e3:.0f} ms; collision free speed"
        operation = f"{what}: JuPedSim's time in ours, {where}"
        yield Row(operation, other / own, "×", 3.0, at_least=True, note=note)
