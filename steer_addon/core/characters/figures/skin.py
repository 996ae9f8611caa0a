"""A skin under construction: rings of vertices, joined by faces, that follow bones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..figure import Surface

Floats = NDArray[np.float64]
Ring = list[int]
Follows = tuple[str, str, float]
"""A joint, the child of it that takes a share, and that share from 0 to 1."""


def around(count: int, start: float = 0.0) -> Floats:
    """Angles of a ring [rad], from the front on to the figure's left, its back and its right."""
    return start + np.arange(count) * (2.0 * np.pi / count)


def bulged(value: Floats, power: float) -> Floats:
    """A sine or cosine, made fuller by a power below 1: a ring between an ellipse and a box."""
    result: Floats = np.sign(value) * np.abs(value) ** power
    return result


@dataclass
class Skin:
    """Vertices, faces and what they follow.

    Attributes:
        joints: Names of the joints that vertices follow.
        points: Vertices [m].
        follows: What each vertex follows.
        faces: Vertex numbers of each face, counterclockwise from outside.
        materials: Number of each face's slot.
        smooth: Whether each face is shaded smooth.
    """

    joints: tuple[str, ...]
    points: list[Floats] = field(default_factory=list)
    follows: list[Follows] = field(default_factory=list)
    faces: list[tuple[int, ...]] = field(default_factory=list)
    materials: list[int] = field(default_factory=list)
    smooth: list[bool] = field(default_factory=list)

    def ring(self, points: Floats, follows: Follows | Sequence[Follows]) -> Ring:
        """Add vertices, shape (n, 3), that all follow the same, or one each; give their numbers."""
        first = len(self.points)
        same = isinstance(follows, tuple) and isinstance(follows[0], str)
        self.points += list(np.asarray(points, float))
        self.follows += [follows] * len(points) if same else list(follows)  # type: ignore[list-item,arg-type]
        return list(range(first, len(self.points)))

    def face(self, vertices: Sequence[int], material: int, smooth: bool = True) -> None:
        """Add a face."""
        self.faces.append(tuple(vertices))
        self.materials.append(material)
        self.smooth.append(smooth)

    def band(self, upper: Ring, lower: Ring, material: int, flip: bool = False,
             smooth: bool = True) -> None:  # fmt: skip
        """Join two rings, which run counterclockwise seen from the upper one's side."""
        n = len(upper)
        for i in range(n):
            j = (i + 1) % n
            face = (upper[i], lower[i], lower[j], upper[j])
            self.face(face[::-1] if flip else face, material, smooth)

    def cap(self, ring: Ring, material: int, flip: bool = False, smooth: bool = True) -> None:
        """Close a ring that runs counterclockwise seen from outside."""
        self.face(ring[::-1] if flip else ring, material, smooth)

    def fan(self, ring: Ring, tip: int, material: int, flip: bool = False) -> None:
        """Join a ring that runs counterclockwise seen from outside with a tip."""
        for i in range(len(ring)):
            face = (ring[i], ring[(i + 1) % len(ring)], tip)
            self.face(face[::-1] if flip else face, material)

    def tube(self, rings: Sequence[Ring], material: int, flip: bool = False) -> None:
        """Join rings from the top on and close both ends."""
        for upper, lower in zip(rings, rings[1:], strict=False):
            self.band(upper, lower, material, flip)
        self.cap(rings[0], material, flip)
        self.cap(rings[-1], material, not flip)

    def path(self, rows: Sequence[Sequence[float]], follows: Sequence[Follows], material: int,
             count: int = 8, side: float = 1.0) -> list[Ring]:  # fmt: skip
        """Add a closed tube along a path that goes on in a plane across x.

        Args:
            rows: Center x, y, z, half width along x, half depth of each ring [m].
            follows: What each ring follows.
            material: Number of the slot.
            count: Vertices of a ring.
            side: -1 mirrors it.

        Returns:
            The rings.
        """
        table = np.array(rows, float)
        centers = table[:, :3]
        way = np.gradient(centers, axis=0) * [0.0, 1.0, 1.0]
        way /= np.linalg.norm(way, axis=-1, keepdims=True)
        front = np.cross(way, [1.0, 0.0, 0.0])
        angle = around(count)
        rings = []
        for center, ahead, (width, depth), what in zip(
            centers, front, table[:, 3:], follows, strict=True
        ):
            points = center + np.outer(depth * np.cos(angle), ahead)
            points[:, 0] += width * np.sin(angle)
            rings.append(self.ring(points * [side, 1.0, 1.0], what))
        self.tube(rings, material, side < 0.0)
        return rings

    def ball(self, center: Floats, size: Floats, follows: Follows, material: int) -> None:
        """Add an octahedron with half axes `size`."""
        x, y, z = np.diag(size)
        ring = self.ring(center + np.stack([-y, x, y, -x]), follows)
        top, bottom = self.ring(center + np.stack([z, -z]), follows)
        self.fan(ring, top, material)
        self.fan(ring[::-1], bottom, material)

    def surface(self) -> Surface:
        """All faces."""
        return Surface(
            vertices=np.fromiter((v for face in self.faces for v in face), np.int32),
            sizes=np.array([len(face) for face in self.faces], np.int32),
            materials=np.array(self.materials, np.int32),
            smooth=np.array(self.smooth, bool),
        )

    def bones(self) -> NDArray[np.int32]:
        """The two joints that each vertex follows, shape (vertex_count, 2)."""
        number = {name: i for i, name in enumerate(self.joints)}
        return np.array([(number[a], number[b]) for a, b, _ in self.follows], np.int32)

    def shares(self) -> Floats:
        """Share of the second joint, shape (vertex_count,)."""
        return np.array([share for _, _, share in self.follows])
