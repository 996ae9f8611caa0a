"""A figure: a mesh with skeleton and skin, and all its poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .pose_space import PoseSpace

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton:
    """Joints, each with the bone that begins there; in the rest pose no bone is turned.

    Attributes:
        names: Names of the joints; parents come before their children.
        parents: Number of each joint's parent, -1 for the root, shape (joint_count,).
        rest: Places in the rest pose [m], shape (joint_count, 3).
    """

    names: tuple[str, ...]
    parents: I32
    rest: F32


@dataclass(frozen=True)
class Slot:
    """A material of a figure.

    Attributes:
        name: Name that users see, such as "Trousers".
        colors: Codes like #RRGGBB that agents vary by; a single one is fixed.
    """

    name: str
    colors: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """Faces of a figure.

    Attributes:
        vertices: Vertex numbers of all faces, one face after another.
        sizes: Number of vertices of each face, shape (face_count,).
        materials: Number of each face's slot, shape (face_count,).
        smooth: Whether each face is shaded smooth, shape (face_count,).
    """

    vertices: I32
    sizes: I32
    materials: I32
    smooth: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """A character that is made by rules.

    Attributes:
        name: Name that users see.
        height: Height in the rest pose [m].
        radius: Body radius that fits it [m].
        slots: Its materials.
        surface: Its faces.
        rest: Vertices in the rest pose [m], shape (vertex_count, 3).
        bones: The two joints that each vertex follows, shape (vertex_count, 2); the second one is
            a child of the first, or the same.
        shares: Share of the second joint for each vertex, from 0 to 1, shape (vertex_count,).
        skeleton: Its joints.
        places: Places of the joints in each pose [m], shape (pose_count, joint_count, 3).
        turns: Rotations of the joints in each pose as quaternions (w, x, y, z) in the figure's
            space, shape (pose_count, joint_count, 4).
        space: All its poses.
    """

    name: str
    height: float
    radius: float
    slots: tuple[Slot, ...]
    surface: Surface
    rest: F32
    bones: I32
    shares: F32
    skeleton: Skeleton
    places: F32
    turns: F32
    space: PoseSpace
