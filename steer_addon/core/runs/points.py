"""The points of a crowd as they were read, before its settings make agents of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import AGENT_PARAMETERS, HEIGHT, Agents, make_agents
from ..behaviors import REGISTRY, own_parameters
from ..bounds import LARGEST
from ..crowd.births import BIRTH, DEATH
from ..crowd.groups import VERTEX_GROUP
from ..crowd.membership import column_of
from ..crowd.settings import AgentsSettings, CrowdSettings
from ..crowd.spread import spread
from ..errors import AgentError
from ..parameters import parameters
from ..results.frames import forward_vector, turned

F32 = NDArray[np.float32]
BODY_RANGES: dict[str, tuple[float, float]] = {
    name: (info.minimum, info.maximum)
    for name, info in parameters(AgentsSettings).items()
    if name in AGENT_PARAMETERS
} | {HEIGHT: (0.0, LARGEST)}
"""Smallest and largest value of the point attributes that say what bodies are, by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points with what they carry; vectors are those of the object, which `linear` turns."""

    position: F32
    """Positions in world space [m], shape (point_count, 3)."""
    linear: NDArray[np.float64]
    """What turns and scales the object's vectors into world space, shape (3, 3)."""
    velocity: F32 | None = None
    """Velocities [m/s], shape (point_count, 3)."""
    rotation: F32 | None = None
    """Quaternions, shape (point_count, 4); they win over headings."""
    heading: F32 | None = None
    """Vectors to the front, shape (point_count, 3)."""
    ids: NDArray[Any] | None = None
    """Ids, shape (point_count,)."""
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Number of each point by the attribute's name, each of shape (point_count,)."""
    weights: Mapping[str, F32] = field(default_factory=dict)
    """Weights in vertex groups by the group's name, each of shape (point_count,)."""


def attribute_names(settings: CrowdSettings) -> set[str]:
    """Names of the point attributes that count: of parameters, characters, groups and births."""
    names = {*AGENT_PARAMETERS, HEIGHT, "target_index", "alive", BIRTH, DEATH}
    names.update(map(column_of, settings.groups))
    if settings.cast is not None:
        names.update(settings.cast.attributes)
    names.update(settings.carried, [settings.body] if settings.body else [])
    for cls in REGISTRY.values():
        names |= {name for name, info in own_parameters(cls).items() if info.per_agent}
    for entry in settings.behaviors:
        own = [name for name, info in parameters(entry).items() if info.per_agent]
        for prefix in (entry.key, entry.definition.type):
            names |= {f"{prefix}.{name}" for name in own}
    return names


def agents_of(points: Points, settings: CrowdSettings, name: str) -> Agents:
    """The agents that settings make of points.

    Args:
        points: The points.
        settings: Values of agents without point attributes.
        name: Name of the crowd, for messages.

    Raises:
        AgentError: There are no points, or values are not finite.
    """
    told, ids = settings.agents, points.ids
    attributes = _attributes(points, settings)
    own = np.arange(len(points.position)) if ids is None else ids
    drawn = spread(settings, own, attributes)
    try:
        return make_agents(
            points.position,
            radius=told.radius,
            mass=told.mass,
            max_speed=told.max_speed,
            max_force=told.max_force,
            velocity=_velocity(points),
            heading=_heading(points, settings.motion.forward_axis),
            ids=ids,
            attributes={**drawn, **attributes},
            may_be_none=True,
        )
    except AgentError as error:
        raise AgentError(f"Crowd {name!r}: {error}") from None


def _attributes(points: Points, settings: CrowdSettings) -> dict[str, Any]:
    wanted = attribute_names(settings)
    found: dict[str, Any] = {n: c for n, c in points.attributes.items() if n in wanted}
    for group in settings.groups:
        if group.source == VERTEX_GROUP and group.name in points.weights:
            found[column_of(group)] = points.weights[group.name]
    for name, (least, most) in BODY_RANGES.items():
        if name in found:
            found[name] = np.clip(found[name], least, most)
    return found


def _velocity(points: Points) -> Any:
    rows = points.velocity
    return None if rows is None else (rows @ points.linear.T).astype(np.float32)


def _heading(points: Points, forward_axis: str) -> F32:
    """Unit headings from `rotation`, else `heading`, else the object's -Y axis."""
    rows: Any = points.heading
    if points.rotation is not None:
        rows = turned(points.rotation.astype(np.float64), forward_vector(forward_axis))
    elif rows is None:
        rows = np.tile([0.0, -1.0, 0.0], (len(points.position), 1))
    world = rows @ points.linear.T
    size = np.linalg.norm(world, axis=1, keepdims=True)
    # a vector without length has no direction: make_agents uses its own default
    return np.where(size > 0.0, world / np.where(size > 0.0, size, 1.0), world).astype(np.float32)
