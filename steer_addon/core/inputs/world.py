"""World: all that agents perceive in one step, as plain arrays in SI units and world space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..geometry import bvh
from ..geometry.meshes import Mesh, bounding_sphere, hangs
from ..geometry.tops import find_tops
from ..views import BvhView
from ..ways.areas.declared import Areas
from ..ways.ways import Ways
from .containers import NO_CONTAINER, Container
from .emitters import Emitters
from .fields import NO_FIELD, Field
from .others import Others
from .paths import NO_PATHS, Path, Paths, make_paths
from .spheres import NO_SPHERES, Spheres
from .targets import NO_TARGETS
from .targets import Targets as Targets
from .targets import make_targets as make_targets

FloatArray = NDArray[np.float32]
InputT = TypeVar("InputT")


class Footing(NamedTuple):
    """What walkers stand on, and what it was found from."""

    ground: BvhView
    bvh: BvhView
    """All colliders."""
    trees: tuple[BvhView, ...]
    """Those of the still ones."""
    tree: BvhView


@dataclass(frozen=True, eq=False, repr=False)
class Colliders:
    """Meshes that block and that rays see."""

    bvh: BvhView
    center: FloatArray
    """Centers of the bounding spheres [m], shape (collider_count, 3)."""
    radius: FloatArray
    """Radii of the bounding spheres [m], shape (collider_count,)."""
    first: NDArray[np.int32]
    """Collider c has the triangles first[c] to first[c + 1] - 1, shape (collider_count + 1,)."""
    names: tuple[str, ...] = ()
    trees: tuple[BvhView, ...] = ()
    """Each collider's own tree; the same instance as long as it does not move."""
    still: tuple[bool, ...] = ()
    """Whether each collider's mesh stays as it is."""
    footings: dict[tuple[float, float], Footing] = field(default_factory=dict)
    """What walkers stand on, by step height and slope."""
    _known: dict[tuple[float, float], bool] = field(default_factory=dict)

    def hangs(self, low: float, high: float) -> bool:
        """Whether bodies meet another plan of the colliders higher up than at their lower ends.

        Args:
            low: Height of the lowest lower end [m].
            high: Height of the highest head [m].
        """
        found = self._known.get((low, high))
        if found is None:
            found = hangs(self.bvh.triangles, low, high)
            self._known.clear()
            self._known[low, high] = found
        return found

    def footing(self, ground: BvhView, step_height: float, max_slope: float) -> BvhView:
        """What walkers stand on: the terrain, and tops of still colliders that they step onto.

        Args:
            ground: The terrain; it is returned where there is no such top.
            step_height: Highest step [m].
            max_slope: Steepest slope [deg].
        """
        known = self.footings.get((step_height, max_slope))
        if known is not None and known.ground is ground and known.bvh is self.bvh:
            return known.tree
        trees = tuple(t for t, still in zip(self.trees, self.still, strict=True) if still)
        if known is not None and known.ground is ground and _same(known.trees, trees):
            tree = known.tree
        else:
            tops = find_tops(ground, self.bvh, self.first, self.still, step_height, max_slope)
            tree = bvh.join([ground, bvh.build(tops)]) if len(tops) else ground
        self.footings[step_height, max_slope] = Footing(ground, self.bvh, trees, tree)
        return tree


@dataclass(eq=False, repr=False)
class CollidersBuilder:
    """Keeps the trees of meshes from frame to frame: static ones are read and built once."""

    _trees: dict[str, BvhView] = field(default_factory=dict)
    _static: dict[str, Mesh] = field(default_factory=dict)
    _joined: Colliders | None = None
    _footings: dict[tuple[float, float], Footing] = field(default_factory=dict)

    def build(self, meshes: Sequence[Mesh]) -> Colliders:
        """Colliders for this frame; a tree is refitted when only its vertices moved."""
        used = _by_name(mesh for mesh in meshes if len(mesh.triangles))
        unchanged = len(used) == len(self._static) and all(
            self._static.get(name) is mesh for name, mesh in used.items()
        )
        if self._joined is not None and unchanged:
            return self._joined
        trees = {name: self._tree(name, mesh) for name, mesh in used.items()}
        self._trees, self._static = trees, used
        spheres = [bounding_sphere(mesh) for mesh in used.values()]
        center = np.array([s[0] for s in spheres], np.float32).reshape(-1, 3)
        radius = np.array([s[1] for s in spheres], np.float32)
        joined = bvh.join(list(trees.values()))
        sizes = [0, *(len(mesh.triangles) for mesh in used.values())]
        first = np.cumsum(sizes).astype(np.int32)
        still = tuple(not mesh.moving for mesh in used.values())
        each = tuple(used), tuple(trees.values()), still
        self._joined = Colliders(joined, center, radius, first, *each, self._footings)
        return self._joined

    def _tree(self, name: str, mesh: Mesh) -> BvhView:
        old = self._trees.get(name)
        if old is None or len(old.triangles) != len(mesh.triangles):
            return bvh.build(mesh.triangles)
        if self._static[name] is mesh:
            return old
        return bvh.refit(old, mesh.triangles)


def _same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two sequences hold the same instances."""
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def _by_name(meshes: Iterable[Mesh]) -> dict[str, Mesh]:
    """Meshes in their order; meshes of equal name, as of two linked files, get distinct keys."""
    found: dict[str, Mesh] = {}
    for mesh in meshes:
        name, number = mesh.name, 1
        while name in found:
            number += 1
            name = f"{mesh.name} ({number})"
        found[name] = mesh
    return found


NO_COLLIDERS = CollidersBuilder().build(())


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """The world of one frame.

    An input of one behavior is kept under the name of that behavior in the stack; "" holds for all
    behaviors that have none under their own name.
    """

    targets: Mapping[str, Targets] = field(default_factory=dict)
    """Targets by name; "" are the crowd's own, used by behaviors that name none."""
    colliders: Colliders | None = None
    ground: BvhView | None = None
    """Terrain that GROUND agents walk on."""
    spheres: Spheres | None = None
    """Obstacles in addition to the bounding spheres of the colliders."""
    second_targets: Mapping[str, Targets] = field(default_factory=dict)
    """The other targets of behaviors that stand between two."""
    paths: Mapping[str, Paths] = field(default_factory=dict)
    """Paths that behaviors follow."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """Fields that behaviors flow along."""
    containers: Mapping[str, Container] = field(default_factory=dict)
    """Regions that behaviors stay in."""
    others: Others | None = None
    """Agents of other crowds that are seen as neighbors."""
    emitters: Emitters | None = None
    """Sources at which agents are born."""
    exits: Colliders | None = None
    """Volumes in which agents are gone."""
    areas: Areas | None = None
    """Places that walkers who find their ways may not enter, avoid, prefer, or go one way."""
    ways: Ways | None = None
    """Surfaces and fields that crowds which find their ways share, kept from step to step."""

    def living(self, alive: NDArray[np.uint8]) -> World:
        """The world of the living, where the agents that steer are among its targets.

        Args:
            alive: 0 for the dead of these agents, shape (agent_count,).
        """
        return replace(
            self,
            targets=_living(self.targets, alive),
            second_targets=_living(self.second_targets, alive),
        )

    def targets_of(self, name: str) -> Targets:
        """Targets by name; none at all when there is no such name."""
        return self.targets.get(name, NO_TARGETS)

    def second_targets_of(self, key: str) -> Targets:
        """The other targets of a behavior."""
        return _own(self.second_targets, key, NO_TARGETS)

    def paths_of(self, key: str) -> Paths:
        """The paths of a behavior."""
        return _own(self.paths, key, NO_PATHS)

    def field_of(self, key: str) -> Field:
        """The field of a behavior."""
        return _own(self.fields, key, NO_FIELD)

    def container_of(self, key: str) -> Container:
        """The container of a behavior."""
        return _own(self.containers, key, NO_CONTAINER)

    def all_spheres(self) -> Spheres:
        """Spheres, and the bounding spheres of the colliders."""
        spheres = self.spheres or NO_SPHERES
        if self.colliders is None:
            return spheres
        return spheres.joined(self.colliders.center, self.colliders.radius)


def _living(named: Mapping[str, Targets], alive: NDArray[np.uint8]) -> dict[str, Targets]:
    return {name: found.living(alive) if found.own else found for name, found in named.items()}


def _own(inputs: Mapping[str, InputT], key: str, none: InputT) -> InputT:
    return inputs.get(key, inputs.get("", none))


def make_world(
    *,
    targets: Any = None,
    colliders: Sequence[Mesh] = (),
    ground: Mesh | None = None,
    spheres: Spheres | None = None,
    second_targets: Any = None,
    paths: Any = None,
    fields: Any = None,
    containers: Any = None,
    emitters: Emitters | None = None,
    exits: Sequence[Mesh] = (),
    areas: Areas | None = None,
) -> World:
    """Make a world for a single step or a still scene.

    Args:
        targets: Positions [m], shape (target_count, 3), Targets, or a mapping of names to them.
        colliders: Meshes that block.
        ground: Terrain mesh.
        spheres: Obstacles that are spheres.
        second_targets: As `targets`, by the names of behaviors.
        paths: A Path, several, Paths, or a mapping of behaviors' names to one of these.
        fields: A Field, or a mapping of behaviors' names to them.
        containers: A Container, or a mapping of behaviors' names to them.
        emitters: Sources at which agents are born, see `emitters.joined`.
        exits: Closed meshes in which agents are gone.
        areas: Where walkers may not go or would rather not, see `areas.make_areas`.
    """
    return World(
        targets=_named(targets, _targets),
        colliders=CollidersBuilder().build(colliders) if colliders else None,
        ground=bvh.build(ground.triangles) if ground is not None else None,
        spheres=spheres,
        second_targets=_named(second_targets, _targets),
        paths=_named(paths, _paths),
        fields=_named(fields, lambda given: given),
        containers=_named(containers, lambda given: given),
        emitters=emitters,
        exits=CollidersBuilder().build(exits) if exits else None,
        areas=areas,
    )


def _named(given: Any, make: Callable[[Any], InputT]) -> dict[str, InputT]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {name: make(value) for name, value in given.items()}
    return {"": make(given)}


def _targets(given: Any) -> Targets:
    return given if isinstance(given, Targets) else make_targets(given)


def _paths(given: Any) -> Paths:
    if isinstance(given, Paths):
        return given
    return make_paths([given] if isinstance(given, Path) else given)
