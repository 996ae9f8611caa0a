"""Memories: the part of a stored frame that is not shown, but explains later why agents turned.

Arrays that did not change since the frame before, or that the frame has itself, are kept once: of a
crowd of walkers on flat ground headings and what behaviors remember are left, 12 bytes an agent and
4 for each number that is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..agents import Agents
from ..characters.cast import remembered
from ..crowd.settings import MotionSettings
from ..geometry import ground
from ..inputs.targets import Targets
from ..inputs.world import World
from .frames import Frame, forward_vector, turned

_IN_FRAMES = ("id", "position", "velocity", "radius", "alive")


@dataclass(frozen=True, eq=False)
class Kept:
    """A crowd at one frame, from which a simulation can continue."""

    agents: Agents
    targets: Mapping[str, Targets]
    """Where targets were and how they moved, which one frame alone cannot tell."""
    second_targets: Mapping[str, Targets]

    def world(self, now: World) -> World:
        """A world read again at this frame, with targets that move as they did."""
        return replace(
            now,
            targets=_moving(now.targets, self.targets),
            second_targets=_moving(now.second_targets, self.second_targets),
        )


def keep(agents: Agents, world: World, frame: Frame, before: Kept | None = None) -> Kept:
    """Keep the memories of a frame.

    Args:
        agents: The crowd at the frame; it must not change afterwards.
        world: The world that it perceived in the step before.
        frame: The frame as it is shown.
        before: The memories of the frame before.
    """
    arrays: dict[str, Any] = {}
    for name, value in vars(agents).items():
        if name in _IN_FRAMES:
            arrays[name] = getattr(frame, name)
        elif isinstance(value, np.ndarray):
            arrays[name] = _shared(value, None if before is None else getattr(before.agents, name))
    old = {} if before is None else before.agents.memory
    memory = {key: _shared(value, old.get(key)) for key, value in agents.memory.items()}
    given = {} if before is None else before.agents.attributes
    attributes = {k: _shared(value, given.get(k)) for k, value in agents.attributes.items()}
    held = replace(agents, **arrays, memory=memory, attributes=attributes)
    return Kept(held, world.targets, world.second_targets)


def stood_up(
    frame: Frame,
    like: Agents,
    motion: MotionSettings,
    world: World | None = None,
    *,
    own_radius: bool = True,
) -> Agents:
    """Agents from what is seen of a frame alone, such as one that was loaded with a file.

    Headings are as the frame shows them, and gaits too; what behaviors remember is not known.

    Args:
        frame: The frame.
        like: The crowd at its start, for masses and the like; agents are matched by their ids.
        motion: How the crowd moves; the frame's rotations were made for its forward axis.
        world: The world around them: walkers have the slope of its ground under their feet.
        own_radius: Whether radii are those of the frame, not those at the start.
    """
    order = np.argsort(like.id)
    rows = order[np.minimum(np.searchsorted(like.id[order], frame.id), like.count - 1)]
    heading = turned(frame.rotation.astype(np.float64), forward_vector(motion.forward_axis))
    names = _IN_FRAMES if own_radius else tuple(n for n in _IN_FRAMES if n != "radius")
    # copies: those of a bake are read-only, and numba compiles kernels anew for such arrays
    shown: dict[str, Any] = {name: np.array(getattr(frame, name)) for name in names}
    if world is not None and world.ground is not None and motion.motion == "GROUND":
        least = ground.min_up(motion.max_slope)
        shown["normal"] = ground.place_many(world.ground, shown["position"], least)[1]
    arrived = frame.attributes.get("arrived", np.zeros(len(rows), np.float32))
    return replace(
        like.taken(rows),
        **shown,
        heading=np.ascontiguousarray(heading, np.float32),
        arrived=arrived.astype(np.uint8),
        memory=remembered(frame.attributes),
    )


def _shared(value: Any, old: Any) -> Any:
    same = old is not None and old.dtype == value.dtype and np.array_equal(old, value)
    return old if old is not None and same else value


def _moving(now: Mapping[str, Targets], then: Mapping[str, Targets]) -> dict[str, Targets]:
    found = dict(now)
    for name, targets in now.items():
        old = then.get(name)
        if old is not None and old.velocity.shape == targets.velocity.shape:
            found[name] = replace(targets, velocity=old.velocity, heading=old.heading)
    return found
