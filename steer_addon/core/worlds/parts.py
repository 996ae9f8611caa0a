"""The inputs of a World as arrays, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..bounds import lengths
from ..errors import WorldError
from ..geometry import bvh
from ..geometry.meshes import Mesh
from ..inputs.containers import Container
from ..inputs.emitters import Emitters
from ..inputs.fields import Field
from ..inputs.paths import Path, Paths, make_paths
from ..inputs.spheres import make_spheres
from ..inputs.targets import Targets
from ..inputs.world import Colliders, World
from ..ways.areas.declared import Area, make_area, make_areas
from ..ways.areas.kinds import KINDS as AREA_KINDS
from ..ways.portals.declared import Portal, make_portal
from .layout import AREAS, COLLIDERS, EXITS, GROUND, KINDS, MOST_TEXT, PAINT, PORTALS

Found = dict[str, Any]
"""Arrays by the names that KINDS has; None for one that is not there."""
_NAMED = ("targets", "second_targets", "paths", "fields", "containers")
"""Kinds that a World has by name."""
_SAME = 1.0e-3
"""How far the length of a unit vector may be from 1."""


class Part(NamedTuple):
    """One input of a World.

    Attributes:
        kind: One of KINDS.
        name: Its name there; empty for what has none.
        value: The very object: as long as it is the same, nothing of it has changed.
        arrays: Its arrays, in the order of KINDS.
    """

    kind: str
    name: str
    value: Any
    arrays: tuple[Any, ...]


def parts_of(world: World) -> Iterator[Part]:
    """All inputs of a world as a scene has it, without other crowds."""
    for kind in _NAMED:
        for name, value in getattr(world, kind).items():
            yield Part(kind, name, value, tuple(_ARRAYS[kind](value)))
    for kind, shapes in ((COLLIDERS, world.colliders), (EXITS, world.exits)):
        if shapes is not None:
            yield from _shapes(kind, shapes)
    if world.ground is not None:
        yield Part(GROUND, "", world.ground, (world.ground.triangles,))
    if world.spheres is not None:
        value = world.spheres
        yield Part("spheres", "", value, (value.center, value.radius))
    if world.emitters is not None:
        yield Part("emitters", "", world.emitters, tuple(vars(world.emitters).values()))
    if world.areas is not None:
        for area in world.areas.areas:
            yield Part(AREAS, area.name, area, _of_area(area))
        for portal in world.areas.portals:
            yield Part(PORTALS, portal.name, portal, _of_portal(portal))
        if world.areas.paint is not None:
            yield Part(PAINT, "", world.areas.paint, (world.areas.paint,))


def _shapes(kind: str, shapes: Colliders) -> Iterator[Part]:
    for name, tree in zip(shapes.names, shapes.trees, strict=True):
        yield Part(kind, name, tree, (tree.triangles,))
    if not shapes.trees:
        # meshes without faces: there are colliders, though none that blocks
        yield Part(kind, "", shapes.bvh, (shapes.bvh.triangles,))


def _of_targets(value: Targets) -> tuple[Any, ...]:
    return value.position, value.velocity, value.heading, value.up, value.weight


def _of_container(value: Container) -> tuple[Any, ...]:
    radius = np.array([value.radius], np.float32)
    return value.center, value.axes, value.half, radius, value.tree.triangles


def _of_area(value: Area) -> tuple[Any, ...]:
    rule = np.array([AREA_KINDS.index(value.kind), value.cost, *value.heading])
    return value.tree.triangles, rule, _of_text(value.group)


def _of_portal(value: Portal) -> tuple[Any, ...]:
    rule = np.array([value.seconds, float(value.both_ways)])
    return value.points, rule, _of_text(value.group)


def _of_text(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)


_ARRAYS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "targets": _of_targets,
    "second_targets": _of_targets,
    "paths": lambda value: (value.point, value.first, value.cyclic),
    "fields": lambda value: (value.tree.triangles, value.vector),
    "containers": _of_container,
}


def made(kind: str, name: str, found: Found) -> Any:
    """An input from its arrays; colliders and exits as a Mesh.

    Raises:
        WorldError: The arrays do not fit one another.
    """
    missing = [key for key, _, _ in KINDS[kind] if found[key] is None and key != "weight"]
    if missing:
        raise WorldError(f"The {kind} {name!r} of the world lack {missing[0]}: extract it again")
    return _MAKERS[kind](found, name)


def _require(fits: Any, what: str) -> None:
    if not fits:
        raise WorldError(f"The world has {what}: extract it again")


def _alike(found: Found, kind: str) -> None:
    sizes = {len(array) for array in found.values() if array is not None}
    _require(len(sizes) == 1, f"{kind} whose arrays have {sorted(sizes)} rows in place of as many")


def _units(rows: NDArray[Any], what: str) -> None:
    off = np.abs(lengths(rows) - 1.0)
    _require(not len(off) or off.max() <= _SAME, f"{what} that are not of length 1")


def _targets(found: Found, name: str) -> Targets:
    _alike(found, "targets")
    weight = found.pop("weight")
    _require(weight is None or (weight >= 0.0).all(), "targets with a weight below 0")
    _units(found["heading"], "headings of targets")
    _units(found["up"], "upper sides of targets")
    return Targets(**found, weight=weight)


def _paths(found: Found, name: str) -> Paths:
    point, first, cyclic = found["point"], found["first"], found["cyclic"]
    fits = len(first) == len(cyclic) + 1 and not first[0] and first[-1] == len(point)
    fits = fits and (np.diff(first) >= 2).all() and (cyclic <= 1).all()
    _require(fits, "paths whose points do not fit their ends")
    lines = [
        Path(point[low:high], cyclic=bool(closed), name=name)
        for (low, high), closed in zip(pairwise(first.tolist()), cyclic, strict=True)
    ]
    paths = make_paths(lines)
    _require(np.array_equal(paths.first, first), "paths with the same point twice in a row")
    return paths


def _field(found: Found, name: str) -> Field:
    _alike(found, "fields")
    return Field(bvh.build(found["triangles"]), found["vector"])


def _container(found: Found, name: str) -> Container:
    sizes = [len(found[key]) for key in ("center", "axes", "half", "radius")]
    _require(sizes == [3, 3, 3, 1], "a container that is none")
    radius = float(found["radius"][0])
    _require(radius >= 0.0 and (found["half"] >= 0.0).all(), "a container of negative size")
    tree = bvh.build(found["triangles"])
    return Container(found["center"], found["axes"], found["half"], radius, tree)


def _emitters(found: Found, name: str) -> Emitters:
    _alike(found, "sources of births")
    share = found["share"]
    fits = len(share) and share[0] >= 0.0 and share[-1] == 1.0 and (np.diff(share) >= 0.0).all()
    _require(fits, "sources of births whose shares do not rise to 1")
    for key in ("ahead", "normal", "along"):
        _units(found[key], "directions of sources of births")
    return Emitters(**found)


def _area(found: Found, name: str) -> Area:
    rule, group = found["rule"], found["group"]
    _require(len(rule) == 4 and len(group) <= MOST_TEXT, "an area that is none")
    number, cost, *heading = (float(value) for value in rule)
    _require(number in range(len(AREA_KINDS)), "an area of no known kind")
    kind = AREA_KINDS[int(number)]
    return make_area(_mesh(found, name), kind, cost=cost, heading=heading, group=_text(group))


def _portal(found: Found, name: str) -> Portal:
    rule, group = found["rule"], found["group"]
    _require(len(rule) == 2 and len(group) <= MOST_TEXT, "a portal that is none")
    seconds, both = (float(value) for value in rule)
    ways, who = both != 0.0, _text(group)
    return make_portal(found["point"], name, seconds=seconds, both_ways=ways, group=who)


def _text(rows: NDArray[np.uint8]) -> str:
    return rows.tobytes().decode("utf-8", "surrogateescape")


def _paint(found: Found, name: str) -> NDArray[np.float32]:
    areas = make_areas(paint=found["cost"])
    _require(areas is not None and areas.paint is not None, "paint without costs")
    cost: NDArray[np.float32] = found["cost"]
    return cost


def _mesh(found: Found, name: str) -> Mesh:
    return Mesh(name, found["triangles"])


_MAKERS: Mapping[str, Callable[[Found, str], Any]] = {
    "targets": _targets,
    "second_targets": _targets,
    "paths": _paths,
    "fields": _field,
    "containers": _container,
    "spheres": lambda found, name: make_spheres(found["center"], found["radius"]),
    "emitters": _emitters,
    COLLIDERS: _mesh,
    EXITS: _mesh,
    AREAS: _area,
    PORTALS: _portal,
    PAINT: _paint,
    GROUND: lambda found, name: bvh.build(found["triangles"]),
}
