"""Cost of each behavior: choosing its inputs, packing its parameters, running its kernels.

All variants of all behaviors alternate with seek, on one core, in one world of 10,000 walkers that
move from frame to frame. The measured time is the processor time of the thread, without waiting.
Run as a script, this file counts the rays that they cast, with uncompiled kernels.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ["STEER_JIT"] = "0"
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from scripts.bench.crowds import DT, ball, balls, place
from scripts.bench.table import Row, medians
from steer_addon.core.agents import Agents
from steer_addon.core.behaviors import REGISTRY, Behavior, own_parameters
from steer_addon.core.behaviors.flock import Alignment, Cohesion, Separation
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.fields import make_field
from steer_addon.core.inputs.others import agent_view
from steer_addon.core.inputs.paths import Path as Line
from steer_addon.core.inputs.world import World, make_targets, make_world
from steer_addon.core.sensing.declare import NEIGHBORS
from steer_addon.core.step.crowd_step import world_view
from steer_addon.core.step.proposals import Perception, propose
from steer_addon.core.step.solver import Solver

COUNT = 10_000
COUNTED = 200
"""Agents whose rays are counted."""
ROUNDS, WARM_UPS = 25, 50
"""Frames that agents walk while they are measured, and before: the memory between frames
then helps exactly as much as in a run."""
TIMES_SEEK, MICROSECONDS_PER_RAY = 3.0, 0.3


def variants(cls: type[Behavior]) -> list[Behavior]:
    """A behavior with each combination of the choices that change its computation."""
    infos = [i for i in own_parameters(cls).values() if i.kind == "choice"]
    infos = [i for i in infos if i.name != "target_choice"]
    found = {}
    for values in itertools.product(*(i.choices for i in infos)):
        entry = cls(**dict(zip((i.name for i in infos), values, strict=True)))
        idle = {i.name: i.default for i in infos if not i.counts(entry)}
        words = [value for i, value in zip(infos, values, strict=True) if i.counts(entry)]
        found[replace(entry, **idle)] = " ".join([cls.definition.type, *words])
    return [replace(entry, name=name) for entry, name in found.items()]


def everywhere(every: int = 1) -> tuple[Agents, World]:
    """Each n-th of 10,000 walkers, 1 per 2 m², and all inputs that behaviors can request."""
    extent = float(np.sqrt(2.0 * COUNT))
    rng = np.random.default_rng(7)

    def strewn(count: int) -> Any:
        points = rng.uniform(-0.48 * extent, 0.48 * extent, (count, 3))
        points[:, 2] = 0.0
        return points.astype(np.float32)

    agents = place(CrowdSettings(), strewn(COUNT)[::every])
    angle = np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), 0 * angle], 1) for r in (20, 40, 60)]
    room = ball(np.zeros(3, np.float32), 0.7 * extent)
    world = make_world(
        targets=make_targets(strewn(8), rng.normal(0.0, 1.0, (8, 3)) * [1, 1, 0]),
        second_targets=make_targets(strewn(8)),
        colliders=balls(extent, flat=True),
        paths=[Line(ring, cyclic=True) for ring in rings],
        fields=make_field(strewn(2_000), rng.normal(0.0, 1.0, (2_000, 3))),
        containers=make_container((0.0, 0.0, 0.0), 0.5 * extent, mesh=Mesh("Room", room)),
    )
    return agents, world


class Asking:
    """A call that does the work of a step for some behaviors, from inputs to corrections."""

    def __init__(self, entries: Sequence[Behavior], agents: Agents, world: World) -> None:
        self._entries, self._agents, self._world = entries, agents, world
        self._solver = Solver(CrowdSettings(behaviors=(Seek(name="go"), *entries)))
        self._number = 0
        # its memory, and the desired velocities that some pushes read, exist as in a run
        self.walk_on()
        self.walk_on()

    def walk_on(self) -> None:
        """Advance the crowd to its next frame, which calls then see."""
        step = self._solver.step(self._agents, self._world, DT, number=self._number)
        self._agents = step.agents
        self._ends = (step.agents.position + step.agents.velocity * DT).astype(np.float32)
        self._number += 1
        self._view = agent_view(step.agents, step.proposals[0].value)
        self._sees = world_view(self._solver.settings, self._world, DT, self._number, 0)

    def __call__(self) -> None:
        """The work of the behaviors in the current frame."""
        agents, sees = self._agents, self._sees
        perception = Perception(agents, self._world, self._entries)
        for entry in self._entries:
            local, params = perception.local(entry, sees), perception.params(entry)
            value = np.zeros((agents.count, 3), np.float32)
            active = np.zeros(agents.count, np.uint8)
            known = _Forgotten(agents)
            propose(entry, agents, known, self._view, local, params, value, active)
            if entry.definition.constraint is not None:
                # corrections of the step count too: some methods do nothing else
                memory = known.memory.get(entry.key, np.zeros((agents.count, 0), np.float32))
                ends, velocity = self._ends.copy(), agents.velocity.copy()
                jit.parallel_for(
                    entry.definition.constraint, agents.count,
                    self._view, local, params, memory, ends, velocity,
                )  # fmt: skip


class _Forgotten:
    """Copies the memory of behaviors, accepts additions, and discards them."""

    def __init__(self, agents: Agents) -> None:
        self.count = agents.count
        self.memory = {key: columns.copy() for key, columns in agents.memory.items()}


def behaviors() -> Iterator[Row]:
    """The cost per agent of every behavior: relative to seek, per ray, or relative to the flock."""
    rays = json.loads(
        subprocess.run(
            [sys.executable, __file__], check=True, capture_output=True, text=True
        ).stdout.splitlines()[-1]
    )
    agents, world = everywhere()
    entries = [entry for cls in REGISTRY.values() for entry in variants(cls)]
    calls = {entry.key: Asking([entry], agents, world) for entry in entries}
    flock = Asking([Separation(), Cohesion(), Alignment()], agents, world)
    seek = calls["seek"]
    threads = jit.set_threads(1)
    try:
        costs = {
            entry.key: medians(
                [calls[entry.key], seek, flock],
                ROUNDS,
                warm_ups=WARM_UPS,
                between=calls[entry.key].walk_on,
                clock=time.thread_time,
            )
            for entry in entries
        }
    finally:
        jit.set_threads(threads)
    for entry in sorted(entries, key=lambda entry: entry.key):
        own, of_seek, of_flock = costs[entry.key]
        each = f"{own / COUNT * 1e9:.0f} ns an agent"
        name = f"behavior {entry.key.replace('_', ' ')}"
        if rays[entry.key] > 0.0:
            # behaviors that cast rays may cost as much as others in addition
            per_ray = (own - TIMES_SEEK * of_seek) / COUNT / rays[entry.key] * 1e6
            per_ray = max(per_ray, 0.0)
            note = f"{each}, {rays[entry.key]:.2f} rays each; one core, beyond 3 times seek"
            yield Row(name, per_ray, "µs/ray", MICROSECONDS_PER_RAY, note=note)
        elif NEIGHBORS in entry.definition.uses:
            note = f"{each}; its time in that of separation, cohesion and alignment together"
            yield Row(name, own / of_flock, "×", 1.0, note=note)
        else:
            note = f"{each}; its time in that of seek"
            yield Row(name, own / of_seek, "×", TIMES_SEEK, note=note)


def count_rays() -> dict[str, float]:
    """Rays per agent and step of every variant."""
    agents, world = everywhere(COUNT // COUNTED)
    cast = [0]

    def counted(*arguments: Any) -> Any:
        cast[0] += 1
        return bvh.ray_cast.function(*arguments)

    counts = {}
    for cls in REGISTRY.values():
        for entry in variants(cls):
            call = Asking([entry], agents, world)
            bvh.ray_cast._target = counted
            cast[0] = 0
            call()
            bvh.ray_cast._target = None
            counts[entry.key] = cast[0] / agents.count
    return counts


if __name__ == "__main__":
    print(json.dumps(count_rays()))
