"""Anticipation and contacts against RVO2 and JuPedSim: the same crowd, a few steps by turns.

Walkers at 0.5 per m², each with a far goal in its own direction. Only the step is measured:
passing wished velocities to a peer is not. Both peers use one thread, as they are built; Steer
is measured on one thread too, by the processor's time, and on all cores as users have it.

Each program takes several steps per turn, as in any simulation: after another program's steps
the first one has to fetch its crowd from memory again, and to wake its threads.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from scripts.bench.crowds import DT, F32
from scripts.bench.table import Call, Row, medians, skipped
from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.world import make_targets, make_world
from steer_addon.core.step.solver import Solver

COUNT, DENSITY = 10_000, 0.5
SPEED = 1.34
GOALS = 32
"""Number of directions of the goals."""
NEIGHBORS = 10
WARM, ROUNDS, IN_A_ROW = 24, 15, 5
"""Steps before measuring, turns that are measured, and steps in each of those."""


def lattice(count: int) -> tuple[F32, Any]:
    """Start positions [m], shape (count, 3), and the number of each agent's goal."""
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


def ours(count: int) -> tuple[CrowdSettings, Call]:
    """Pedestrians that seek their goals, avoid neighbors and do not overlap."""
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


def rvo(radius: float, horizon: float) -> tuple[Call, Call]:
    """Passes wished velocities to RVO2, and steps it."""
    module = importlib.import_module("pyrvo")
    reach = 2.0 * horizon * SPEED
    crowd = module.RVOSimulator(DT, reach, NEIGHBORS, horizon, horizon, radius, SPEED)
    points, chosen = lattice(COUNT)
    ends = goals(COUNT).astype(float)
    for x, y, _z in points.astype(float):
        crowd.add_agent((x, y))

    def wish() -> None:
        for i, goal in enumerate(chosen):
            at = crowd.get_agent_position(i)
            x, y = ends[goal, 0] - at.x, ends[goal, 1] - at.y
            size = math.hypot(x, y) / SPEED
            crowd.set_agent_pref_velocity(i, (x / size, y / size))

    return wish, crowd.do_step


def jupedsim(radius: float) -> Call:
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
    """Speed of a step relative to the peers, and its growth with the crowd."""
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


def _compared(
    operation: str, step: Call, peer: Call, wanted: float, note: str, between: Call | None = None
) -> Iterator[Row]:
    """Ratio of a peer's step time to ours: on one thread, and on all cores."""

    def row(where: str, clock: Callable[[], float]) -> Row:
        taken = medians([step, peer], ROUNDS, in_a_row=IN_A_ROW, between=between, clock=clock)
        own, other = taken
        times = f"a step {own * 1e3:.1f} ms, of the peer {other * 1e3:.1f} ms; {note}"
        name = f"{operation}, {where}"
        return Row(name, other / own, "×", wanted, at_least=True, note=times)

    threads = jit.set_threads(1)
    try:
        yield row("both on one thread", time.thread_time)
    finally:
        jit.set_threads(threads)
    yield row("ours on all cores", time.perf_counter)


def _against_rvo(what: str, step: Call, radius: float, horizon: float) -> Iterator[Row]:
    try:
        wish, peer = rvo(radius, horizon)
    except ImportError:
        yield skipped(f"{what}: RVO2's time in ours", "needs pyrvo, of the extra bench")
        return
    for _ in range(WARM):
        wish()
        peer()
    note = f"{NEIGHBORS} neighbors"
    yield from _compared(f"{what}: RVO2's time in ours", step, peer, 2.0, note, wish)


def _against_jupedsim(what: str, step: Call, radius: float) -> Iterator[Row]:
    try:
        peer = jupedsim(radius)
    except ImportError:
        yield skipped(f"{what}: JuPedSim's time in ours", "needs jupedsim, of the extra bench")
        return
    note = "collision free speed"
    yield from _compared(f"{what}: JuPedSim's time in ours", step, peer, 3.0, note)
