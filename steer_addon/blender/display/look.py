"""How a crowd shows its bodies: what the inputs of its modifier say of their size and rotation.

The nodes show bodies in the viewport. Heroes, keyframe bakes and exports read the same inputs here,
so that bodies are as large everywhere, and look the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import display
from .crowd_group import VERSION, VERSION_KEY, former_values

F64 = NDArray[np.float64]

_ANGLES = {"NEG_Y": 0.0, "POS_X": 0.5 * math.pi, "POS_Y": math.pi, "NEG_X": -0.5 * math.pi}
"""Turn about Z from -Y to each forward axis, as in the node group [rad]."""
_BY_RADIUS = ("Cones", "Discs")
"""Items of *Display* that are as wide as the bodies of their agents: they are made for radius 1."""


@dataclass(frozen=True)
class Look:
    """Size and rotation of the bodies of a crowd.

    Attributes:
        scale: Size of all bodies.
        full_radius: Body radius of agents whose bodies have that size [m]; 0 where all have it.
        axis: Forward axis of the crowd.
        aligned: Whether bodies turn to where their agents head.
        upright: Share of the slope by which characters are not tilted, 0 to 1.
    """

    scale: float = 1.0
    full_radius: float = 0.0
    axis: str = "NEG_Y"
    aligned: bool = True
    upright: float = 1.0

    @property
    def angle(self) -> float:
        """Turn about Z of characters, which face -Y, to the forward axis [rad]; 0 unaligned."""
        return _ANGLES[self.axis] if self.aligned else 0.0

    def sizes(self, radius: NDArray[Any]) -> F64:
        """Sizes of bodies, of the shape of the radii.

        Args:
            radius: Body radii of their agents [m].
        """
        if self.full_radius > 0.0:
            return self.scale * radius.astype(np.float64) / self.full_radius
        return np.full(radius.shape, self.scale)

    def rotations(self, rotation: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rotations of bodies, other than characters on slopes.

        Args:
            rotation: Rotations of their agents, quaternions (w, x, y, z), shape (..., 4).

        Returns:
            Quaternions, shape (..., 4).
        """
        if self.aligned:
            return rotation
        level = np.zeros_like(rotation)
        level[..., 0] = 1.0
        return level


PLAIN = Look()
"""Bodies of one size that turn to where their agents head."""


def look_of(modifier: bpy.types.NodesModifier, item: str | None = None) -> Look:
    """How a Crowd modifier shows bodies.

    Args:
        modifier: The modifier.
        item: Item of *Display* that bodies count as, where they are not those that it shows.

    Raises:
        SceneError: Its node group was changed.
    """
    if (item or _input(modifier, "Display")) in _BY_RADIUS:
        full_radius = 1.0
    else:
        sized = bool(_input(modifier, "Size by Radius"))
        full_radius = float(_input(modifier, "Radius")) if sized else 0.0
    axis = _input(modifier, "Forward Axis")
    return Look(
        scale=float(_input(modifier, "Scale")),
        full_radius=full_radius,
        # the nodes take the first one where the number of a menu's item is unknown
        axis=axis if axis in _ANGLES else "NEG_Y",
        aligned=bool(_input(modifier, "Align to Heading")),
        upright=float(_input(modifier, "Upright")),
    )


def _input(modifier: bpy.types.NodesModifier, name: str) -> Any:
    """An input; where a group is linked from an older file that lacks it, what it does instead."""
    group = modifier.node_group
    is_old = group is not None and group.get(VERSION_KEY, VERSION) < VERSION
    if is_old and name not in display.input_names(modifier):
        return former_values()[name]
    return display.get_input(modifier, name)
