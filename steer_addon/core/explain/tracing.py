"""Tracing: what one agent's kernel read, found by running that very kernel with spies in it.

Kernels are plain Python until numba compiles them. For one agent the plain function is run, and
spies replace the helpers that all behaviors share: each calls the compiled helper and records its
arguments and its result. So the display shows what the behavior really did, no formula stands
twice, and a new behavior that reads the world through the same helpers needs no code of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import Kernel
from ..geometry.bvh import ray_cast
from ..sensing import approach, path_places, sight, targeting
from ..sensing.declare import Behavior
from ..views import AgentView, WorldView
from .shapes import HIT, PLACE, RAY, TARGET, Cross, Line, Shape

F32 = NDArray[np.float32]

_seen: list[Shape] = []
"""Record of the spies while a kernel runs; tracing is for one thread, that of the display."""
_from: list[Any] = [np.zeros(3)]
"""Place of the agent [m]."""


def _ray(found: Any, _: Any, origin: Any, direction: Any, reach: float) -> None:
    hit, length = found[0] >= 0, found[1] if found[0] >= 0 else reach
    if np.isfinite(length):
        start = np.array(origin)
        ends = np.stack([start, start + length * np.array(direction)])
        _seen.append(Line(HIT if hit else RAY, ends))
        if hit:
            _seen.append(Cross(HIT, ends[1], 0.06))


def _target(found: Any, i: int, agents: Any, world: Any) -> None:
    row, _ = found
    if row >= 0:
        ends = np.stack([_from[0], world.targets.position[row].astype(np.float64)])
        _seen.append(Line(TARGET, ends))


def _place(offset: Any) -> None:
    _seen.append(Cross(PLACE, _from[0] + np.array(offset)))


_RECORDERS: dict[Kernel, Callable[..., None]] = {
    sight.first_hit: _ray,
    ray_cast: _ray,
    targeting.target_offset: _target,
    approach.arrive_velocity: lambda found, offset, *_: _place(offset),
    approach.meeting_offset: lambda found, *_: _place(found),
    path_places.moved_ahead: lambda found, *_: _seen.append(Cross(PLACE, np.array(found))),
}
"""The helpers by which behaviors read the world, each with what records a call and its result."""


def _spy(helper: Kernel) -> Callable[..., Any]:
    def spy(*values: Any) -> Any:
        found = helper(*values)
        _RECORDERS[helper](found, *values)
        return found

    return spy


def _names(code: CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*(_names(part) for part in inner))


def _helpers(kernel: Kernel) -> dict[str, Kernel]:
    function: Any = kernel.function
    found = {name: function.__globals__.get(name) for name in _names(function.__code__)}
    return {name: value for name, value in found.items() if isinstance(value, Kernel)}


@cache
def _spied(kernel: Kernel) -> Callable[..., Any] | None:
    """The plain function with spies in it; None where there is nothing to spy on."""
    if kernel in _RECORDERS:
        return _spy(kernel)
    helpers = {name: _spied(helper) for name, helper in _helpers(kernel).items()}
    stand_ins = {name: helper for name, helper in helpers.items() if helper is not None}
    if not stand_ins:
        return None
    function: Any = kernel.function
    return FunctionType(
        function.__code__,
        {**function.__globals__, **stand_ins},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def trace(
    entry: Behavior, row: int, agents: AgentView, world: WorldView, p: Any, memory: F32
) -> tuple[list[Shape], F32]:
    """Run a behavior for one agent, and record what it reads.

    Args:
        entry: The behavior.
        row: The agent.
        agents: All agents.
        world: The world as the behavior perceives it.
        p: Its parameters and inputs.
        memory: Its memory, shape (agent_count, width); it is not changed.

    Returns:
        Shapes of what it read, and the proposal [m/s], shape (3,); both empty for a behavior that
        reads nothing.
    """
    function = _spied(entry.kernel)
    if function is None:
        return [], np.zeros(0, np.float32)
    out = np.zeros_like(agents.position)
    active = np.zeros(len(out), np.uint8)
    _seen.clear()
    _from[0] = agents.position[row].astype(np.float64)
    with np.errstate(all="ignore"):
        function(row, row + 1, agents, world, p, memory.copy(), out, active)
    shapes = list(_seen)
    _seen.clear()
    return shapes, out[row]
