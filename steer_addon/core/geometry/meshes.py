"""Triangle meshes that agents perceive: obstacles and ground, and what may be wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bounds import bounded
from ..diagnoses import Diagnosis, diagnose
from ..errors import WorldError
from ..views import F32, I64

_UPRIGHT = 1.0e-4
"""Sine of the tilt up to which a face counts as upright."""


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """A mesh in world space.

    Raises:
        WorldError: The triangles have another shape, or a corner is not finite.
    """

    name: str
    """The user's name for it, used in messages."""
    triangles: F32
    """Corners [m], shape (triangle_count, 3, 3), C-contiguous; no triangles at all are allowed."""
    moving: bool = False
    """Whether it has to be read again every frame."""

    def __post_init__(self) -> None:
        corners: F32 = bounded(self.triangles)
        if corners.size == 0:
            corners = np.zeros((0, 3, 3), np.float32)
        if corners.ndim != 3 or corners.shape[1:] != (3, 3):
            raise WorldError(
                f"Mesh {self.name!r}: triangles have shape {corners.shape}: "
                "give (triangle_count, 3, 3)"
            )
        bad = ~np.isfinite(corners).all(axis=2)
        if bad.any():
            raise WorldError(
                f"Mesh {self.name!r}: {int(bad.any(axis=1).sum())} of {len(corners)} triangles "
                f"have corners that are not finite (first: triangle {int(bad.argmax()) // 3}): "
                "move or delete these vertices, and check the object's scale"
            )
        object.__setattr__(self, "triangles", corners)

    @property
    def triangle_count(self) -> int:
        """Number of triangles."""
        return len(self.triangles)


def bounding_sphere(mesh: Mesh) -> tuple[F32, float]:
    """A sphere around a mesh: the center of its bounding box, and the farthest vertex from there.

    Returns:
        Center [m], shape (3,), and radius [m]; all zero for a mesh without faces.
    """
    if mesh.triangle_count == 0:
        return np.zeros(3, np.float32), 0.0
    points = mesh.triangles.reshape(-1, 3).astype(np.float64)
    center = ((points.min(axis=0) + points.max(axis=0)) / 2).astype(np.float32)
    offset = points - center
    return center, float(np.sqrt(np.einsum("ij,ij->i", offset, offset).max()))


def defects(mesh: Mesh) -> list[Diagnosis]:
    """Faults of a mesh; empty when all is well.

    A mesh without faces does nothing. Open and inside-out ones stay usable: faces are solid from
    both sides.
    """
    if mesh.triangle_count == 0:
        return [diagnose("MESH_WITHOUT_FACES", mesh.name)]
    corner = _welded(mesh.triangles)
    open_edges = _open_edge_count(corner)
    if open_edges:
        return [diagnose("MESH_OPEN", mesh.name, count=open_edges)]
    if signed_volume(mesh) < 0.0:
        return [diagnose("MESH_INSIDE_OUT", mesh.name)]
    return []


def is_closed(mesh: Mesh) -> bool:
    """Whether every edge joins exactly two faces, so that the mesh has an inside."""
    return mesh.triangle_count > 0 and _open_edge_count(_welded(mesh.triangles)) == 0


def signed_volume(mesh: Mesh) -> float:
    """Volume inside a closed mesh [m³]; negative when its normals point inward."""
    if mesh.triangle_count == 0:
        return 0.0
    corners = mesh.triangles.astype(np.float64)
    corners -= corners.reshape(-1, 3).mean(axis=0)
    cross = np.cross(corners[:, 0], corners[:, 1])
    return float(np.einsum("ij,ij->", cross, corners[:, 2]) / 6.0)


def _welded(triangles: F32) -> I64:
    """Numbers of the corners' places, shape (t, 3): equal places have equal numbers."""
    points = triangles.reshape(-1, 3)
    order = np.lexsort(points.T)
    ordered = points[order]
    starts = np.empty(len(points), np.int64)
    starts[0] = 0
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(points), np.int64)
    numbers[order] = np.cumsum(starts)
    return numbers.reshape(-1, 3)


def _open_edge_count(corner: I64) -> int:
    """How many edges are not shared by exactly two triangles.

    Triangles that welding has folded to a line, as at the pole of a sphere, do not count: their
    neighbors meet there.
    """
    a, b, c = corner.T
    corner = corner[(a != b) & (b != c) & (c != a)]
    start, stop = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    key = np.sort(low * (int(corner.max(initial=0)) + 1) + high)
    if not len(key):
        return 0
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    shared = np.diff(np.append(first, len(key)))
    return int((shared != 2).sum())


def hangs(triangles: F32, low: float, high: float) -> bool:
    """Whether a mesh may have another plan somewhere between two heights than at the lower one.

    It has the same one where only upright faces pass from below to above.

    Args:
        triangles: Corners [m], shape (t, 3, 3).
        low: The lower height [m].
        high: The upper height [m].
    """
    z = triangles[:, :, 2]
    if ((z > low) & (z < high)).any():
        return True
    sides = triangles[(z.min(axis=1) <= low) & (z.max(axis=1) >= high)].astype(np.float64)
    normal = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
    return bool((np.abs(normal[:, 2]) > _UPRIGHT * np.linalg.norm(normal, axis=1)).any())
