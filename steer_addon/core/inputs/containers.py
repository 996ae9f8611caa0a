"""Containers: regions that agents stay in, as a box, a sphere, or a closed mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bounds import bounded
from ..errors import WorldError
from ..geometry import bvh
from ..geometry.meshes import Mesh
from ..views import F32, BvhView, ContainerView


@dataclass(frozen=True, eq=False, repr=False)
class Container:
    """A region. A behavior's choice says which of its three shapes counts."""

    center: F32
    """Middle of box and sphere [m], shape (3,)."""
    axes: F32
    """The box's own X, Y and Z as unit rows, shape (3, 3)."""
    half: F32
    """Half the size of the box along its axes [m], shape (3,)."""
    radius: float
    """Radius of the sphere [m]; 0 is no container at all."""
    tree: BvhView
    """The mesh; without triangles where there is none."""

    def view(self) -> ContainerView:
        """The kernels' view of it."""
        radius = np.array([self.radius], np.float32)
        return ContainerView(self.center[None], self.axes, self.half, radius, self.tree)


def make_container(
    center: Any, half: Any, *, axes: Any = None, radius: float | None = None, mesh: Any = None
) -> Container:
    """Make a container.

    Args:
        center: Middle of box and sphere [m], shape (3,).
        half: Half the size of the box along its axes [m], shape (3,), or one number for a cube.
        axes: Its axes as unit rows, shape (3, 3), or None for those of the world.
        radius: Radius of the sphere [m]; None takes the box's largest half size.
        mesh: A closed Mesh, a BvhView, or None for the box's own surface.

    Raises:
        WorldError: A number is not finite.
    """
    middle = bounded(center).reshape(3)
    size = np.abs(bounded(np.broadcast_to(half, (3,))))
    rows = np.eye(3, dtype=np.float32) if axes is None else bounded(axes)
    reach = float(size.max()) if radius is None else float(bounded(radius)[0])
    if not all(np.isfinite(part).all() for part in (middle, size, rows, reach)):
        raise WorldError(
            f"A container with the center {tuple(middle.tolist())}, the half size "
            f"{tuple(size.tolist())} and the radius {reach:g} is not at a finite place: "
            "clear its transforms and place it again"
        )
    rows = np.ascontiguousarray(rows.reshape(3, 3))
    tree = bvh.build(mesh.triangles) if isinstance(mesh, Mesh) else mesh
    if tree is None:
        tree = bvh.build(_box(middle, rows, size))
    return Container(middle, rows, size, reach, tree)


_QUADS = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def _box(center: F32, axes: F32, half: F32) -> F32:
    """Triangles of a box, normals outward, shape (12, 3, 3)."""
    signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], np.float32)
    corners = center + (signs * half) @ axes
    faces = [t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))]
    return np.ascontiguousarray(corners[np.array(faces)], dtype=np.float32)


NO_CONTAINER = Container(
    np.zeros(3, np.float32),
    np.eye(3, dtype=np.float32),
    np.zeros(3, np.float32),
    0.0,
    bvh.empty(),
)
