"""Digests of what goes into a simulation: equal ones mean equal bits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..agents import Agents
from ..inputs.world import World
from ..views import BvhView

_SIZE = 8
"""Bytes of a digest: enough to compare; they do not protect from attempts to forge one."""

_DERIVED = {"velocity", "row_of"}
"""Fields of targets that are left out: velocities come from the frame before, which a check does
not read."""
_ADDED: dict[str, Any] = {
    "weight": None, "names": None, "rounds": (), "turn": 0.0, "leaving": (), "lifts": (),
    "rolling": (), "upright": (), "begins_twice": False, "landing": (),
    "parting": (), "last_steps": False, "leaning": (), "lasts": (), "reach": 0.0,
}  # fmt: skip
"""Fields of targets, of casts and of rows of poses that came with later versions, each with what it
is where nothing is known of it."""


def digest(value: Any) -> str:
    """A digest of arrays, numbers, texts, and collections of them, in hexadecimal digits.

    Trees are digested as their triangles, whatever order they were built in.
    """
    found = hashlib.blake2b(digest_size=_SIZE)
    for part in _parts(value):
        found.update(part)
    return found.hexdigest()


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, BvhView):
        value = value.triangles
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    elif isinstance(value, bytes):
        yield b"bytes %d:" % len(value) + value
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__.encode()
        for entry in fields(value):
            left_out = entry.name.startswith("_") or entry.name in _DERIVED
            # what has no value was not there in earlier versions
            if entry.name in _ADDED:
                held, none = getattr(value, entry.name), _ADDED[entry.name]
                left_out |= type(held) is type(none) and held == none
            if not left_out:
                yield from _parts((entry.name, getattr(value, entry.name)))
    elif isinstance(value, Mapping):
        yield b"{%d" % len(value)
        for key in sorted(value):
            yield from _parts((key, value[key]))
    elif isinstance(value, (tuple, list)):
        yield b"(%d" % len(value)
        for item in value:
            yield from _parts(item)
    else:
        yield f"{type(value).__name__} {value!r};".encode()


WorldPart = tuple[str, str]
"""A part of a world: one of the fields of `World`, and a name there."""


def world_parts(world: World) -> dict[WorldPart, Any]:
    """The parts of a world that a user can tell apart, each with what can be digested of it."""
    found: dict[WorldPart, Any] = {}
    for role in ("targets", "second_targets", "paths", "fields", "containers"):
        for name, value in getattr(world, role).items():
            found[role, name] = value
    for role, known in (("colliders", world.colliders), ("exits", world.exits)):
        if known is not None:
            for number, name in enumerate(known.names):
                start, stop = known.first[number], known.first[number + 1]
                found[role, name] = known.bvh.triangles[start:stop]
    if world.emitters is not None:
        found["births", ""] = world.emitters
    if world.spheres is not None:
        found["spheres", ""] = world.spheres
    if world.ground is not None:
        found["ground", ""] = world.ground
    if world.areas is not None:
        found |= {("areas", area.name): area for area in world.areas.areas}
        found |= {("portals", each.name): each for each in world.areas.portals}
        if world.areas.paint is not None:
            found["paint", ""] = world.areas.paint
    return found


def points_digest(agents: Agents) -> str:
    """A digest of agents as they are read, without what settings give to those without a value."""
    own = (agents.id, agents.position, agents.velocity, agents.heading)
    return digest((*own, agents.target_index, agents.alive, agents.attributes))


def bodies_digest(agents: Agents) -> str:
    """A digest of what settings give to agents, or points in their place."""
    return digest((agents.radius, agents.mass, agents.max_speed, agents.max_force))
