"""Obstacles as spheres: drawn as empties, or around the colliders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bounds import bounded
from ..errors import WorldError
from ..views import F32, SphereView


@dataclass(frozen=True, eq=False, repr=False)
class Spheres:
    """Spheres to steer around."""

    center: F32
    """Centers [m], shape (sphere_count, 3)."""
    radius: F32
    """Radii [m], shape (sphere_count,)."""

    def view(self) -> SphereView:
        """The kernels' view of it."""
        return SphereView(self.center, self.radius)

    def joined(self, center: F32, radius: F32) -> Spheres:
        """These spheres together with others."""
        return Spheres(np.concatenate([self.center, center]), np.concatenate([self.radius, radius]))


def make_spheres(center: Any, radius: Any) -> Spheres:
    """Make spheres.

    Args:
        center: Centers [m], shape (sphere_count, 3).
        radius: Radii [m] ≥ 0, shape (sphere_count,), or one for all.

    Raises:
        WorldError: Shapes do not fit, a number is not finite or a radius negative.
    """
    try:
        points = bounded(np.reshape(center, (-1, 3)))
        sizes = bounded(np.broadcast_to(radius, (len(points),)))
    except ValueError:
        shapes = f"centers of shape {np.shape(center)} and radii of shape {np.shape(radius)}"
        raise WorldError(f"Spheres have {shapes}: give (n, 3) and (n,), or one radius") from None
    bad = ~(np.isfinite(points).all(axis=1) & np.isfinite(sizes) & (sizes >= 0.0))
    if bad.any():
        row = int(bad.argmax())
        x, y, z = points[row].tolist()
        raise WorldError(
            f"Sphere {row} has its center at ({x:g}, {y:g}, {z:g}) and the radius {sizes[row]:g}: "
            "give finite numbers, the radius from 0 up"
        )
    return Spheres(points, sizes)


NO_SPHERES = make_spheres(np.zeros((0, 3)), 0.0)
