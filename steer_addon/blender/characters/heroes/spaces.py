"""Constraints of heroes whose bones follow bones: in a space that is not sheared as the body is.

A hero is sheared on slopes and where it leans. In the space of the world constraints take lengths
and angles of sheared bones, and put them elsewhere than in the poses of the character.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import bpy

_KINDS = {
    "COPY_TRANSFORMS", "COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE", "STRETCH_TO", "DAMPED_TRACK",
}  # fmt: skip
"""Types of constraints that do the same in the space of a rig, but for shear."""
_WHOLE = {
    **dict.fromkeys(("use_x", "use_y", "use_z"), True),
    **dict.fromkeys(("invert_x", "invert_y", "invert_z", "use_offset"), False),
    "mix_mode": "REPLACE", "power": 1.0,
}  # fmt: skip
"""Settings with which they do: single axes are others in the space of a rig that is turned."""


def without_shear(copies: Collection[bpy.types.Object]) -> None:
    """Let bones of copies follow one another in the space of the rig that they follow."""
    for obj in copies:
        for bone in () if obj.pose is None else obj.pose.bones:
            for constraint in filter(_is_alike, bone.constraints):
                rig: Any = constraint.target  # type: ignore[attr-defined]
                if rig == obj:
                    constraint.owner_space = constraint.target_space = "POSE"
                elif rig in copies and rig.type == "ARMATURE":
                    constraint.space_object = rig
                    constraint.owner_space = constraint.target_space = "CUSTOM"


def _is_alike(constraint: Any) -> bool:
    """Whether a constraint does the same in the space of a rig."""
    return (
        constraint.type in _KINDS
        and constraint.owner_space == constraint.target_space == "WORLD"
        and all(getattr(constraint, name, value) == value for name, value in _WHOLE.items())
    )
