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


def _ray(origin: Any, direction: Any, reach: float, hit: bool, distance: float) -> None:
    length = distance if hit else reach
    if np.isfinite(length):
        start = np.array(origin)
        ends = np.stack([start, start + length * np.array(direction)])
        _seen.append(Line(HIT if hit else RAY, ends))
        if hit:
            _seen.append(Cross(HIT, ends[1], 0.06))


def _first_hit(world: Any, origin: Any, direction: Any, reach: float) -> Any:
    found = sight.first_hit(world, origin, direction, reach)
    _ray(origin, direction, reach, found[0] >= 0, found[1])
    return found


def _ray_cast(tree: Any, origin: Any, direction: Any, reach: float) -> Any:
    found = ray_cast(tree, origin, direction, reach)
    _ray(origin, direction, reach, found[0] >= 0, found[1])
    return found


def _target_offset(i: int, agents: Any, world: Any) -> Any:
    row, offset = targeting.target_offset(i, agents, world)
    if row >= 0:
        ends = np.stack([_from[0], world.targets.position[row].astype(np.float64)])
        _seen.append(Line(TARGET, ends))
    return row, offset


def _place(offset: Any) -> None:
    _seen.append(Cross(PLACE, _from[0] + np.array(offset)))


def _arrive_velocity(offset: Any, max_speed: float, slow: float, stop: float) -> Any:
    _place(offset)
    return approach.arrive_velocity(offset, max_speed, slow, stop)


def _meeting_offset(offset: Any, velocity: Any, max_speed: float) -> Any:
    found = approach.meeting_offset(offset, velocity, max_speed)
    _place(found)
    return found


def _moved_along(point: Any, line: Any, k: int, place: Any, way: float) -> Any:
    found = path_places.moved_ahead(point, line, k, place, way)
    _seen.append(Cross(PLACE, np.array(found)))
    return found


_SPIES: dict[Kernel, Callable[..., Any]] = {
    sight.first_hit: _first_hit,
    ray_cast: _ray_cast,
    targeting.target_offset: _target_offset,
    approach.arrive_velocity: _arrive_velocity,
    approach.meeting_offset: _meeting_offset,
    path_places.moved_ahead: _moved_along,
}
"""The helpers by which behaviors read the world, each with its spy."""


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
    if kernel in _SPIES:
        return _SPIES[kernel]
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
