"""World: all that agents perceive in one step, as plain arrays in SI units and world space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bvh
from .errors import WorldError
from .meshes import Mesh, bounding_sphere
from .views import BvhView, TargetView

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Targets:
    """Points that behaviors steer by."""

    position: FloatArray
    """Positions [m], shape (target_count, 3)."""
    velocity: FloatArray
    """Velocities [m/s], shape (target_count, 3)."""

    def view(self) -> TargetView:
        """What kernels read."""
        return TargetView(self.position, self.velocity)


def make_targets(position: Any, velocity: Any = None) -> Targets:
    """Make targets from points.

    Args:
        position: Positions [m], shape (target_count, 3).
        velocity: Velocities [m/s], same shape, or None for rest.

    Raises:
        WorldError: Shapes differ or a value is not finite.
    """
    points = np.ascontiguousarray(np.reshape(position, (-1, 3)), dtype=np.float32)
    speed = np.zeros_like(points)
    if velocity is not None:
        speed = np.ascontiguousarray(np.reshape(velocity, (-1, 3)), dtype=np.float32)
    if speed.shape != points.shape:
        raise WorldError(f"Target velocities have shape {speed.shape}: give {points.shape}")
    if not (np.isfinite(points).all() and np.isfinite(speed).all()):
        raise WorldError("A target is not at a finite place: move it back into the scene")
    return Targets(points, speed)


NO_TARGETS = make_targets(np.zeros((0, 3), np.float32))


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


@dataclass(eq=False, repr=False)
class CollidersBuilder:
    """Keeps the trees of meshes from frame to frame: static ones are read and built once."""

    _trees: dict[str, BvhView] = field(default_factory=dict)
    _static: dict[str, Mesh] = field(default_factory=dict)
    _joined: Colliders | None = None

    def build(self, meshes: Sequence[Mesh]) -> Colliders:
        """Colliders for this frame; a tree is refitted when only its vertices moved."""
        used = [mesh for mesh in meshes if len(mesh.triangles)]
        unchanged = len(used) == len(self._static) and all(
            self._static.get(mesh.name) is mesh for mesh in used
        )
        if self._joined is not None and unchanged:
            return self._joined
        trees: dict[str, BvhView] = {}
        for mesh in used:
            trees[mesh.name] = self._tree(mesh)
        self._trees = trees
        self._static = {mesh.name: mesh for mesh in used}
        spheres = [bounding_sphere(mesh) for mesh in used]
        center = np.array([s[0] for s in spheres], np.float32).reshape(-1, 3)
        radius = np.array([s[1] for s in spheres], np.float32)
        joined = bvh.join([trees[mesh.name] for mesh in used])
        sizes = [0, *(len(mesh.triangles) for mesh in used)]
        first = np.cumsum(sizes).astype(np.int32)
        self._joined = Colliders(joined, center, radius, first, tuple(m.name for m in used))
        return self._joined

    def _tree(self, mesh: Mesh) -> BvhView:
        old = self._trees.get(mesh.name)
        if old is None or len(old.triangles) != len(mesh.triangles):
            return bvh.build(mesh.triangles)
        if self._static[mesh.name] is mesh:
            return old
        return bvh.refit(old, mesh.triangles)


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """The world of one frame."""

    targets: Mapping[str, Targets] = field(default_factory=dict)
    """Targets by name; "" are the crowd's own, used by behaviors that name none."""
    colliders: Colliders | None = None
    ground: BvhView | None = None
    """Terrain that GROUND agents walk on."""

    def targets_of(self, name: str) -> Targets:
        """Targets by name; none at all when there is no such name."""
        return self.targets.get(name, NO_TARGETS)


def make_world(
    *,
    targets: Any = None,
    colliders: Sequence[Mesh] = (),
    ground: Mesh | None = None,
) -> World:
    """Make a world for a single step or a still scene.

    Args:
        targets: Positions [m], shape (target_count, 3), Targets, or a mapping of names to them.
        colliders: Meshes that block.
        ground: Terrain mesh.
    """
    named: dict[str, Targets] = {}
    if isinstance(targets, Mapping):
        named = {k: v if isinstance(v, Targets) else make_targets(v) for k, v in targets.items()}
    elif targets is not None:
        named = {"": targets if isinstance(targets, Targets) else make_targets(targets)}
    return World(
        targets=named,
        colliders=CollidersBuilder().build(colliders) if colliders else None,
        ground=bvh.build(ground.triangles) if ground is not None else None,
    )
