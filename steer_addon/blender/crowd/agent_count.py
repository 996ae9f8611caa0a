"""The number of agents as a field of the crowd: that of the vertices of its mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty

from .property_factory import FIXED, OVERRIDABLE


def _get(self: Any) -> int:
    return len(self.id_data.data.vertices) if self.id_data.type == "MESH" else 0


def _set(self: Any, count: int) -> None:
    resize(self.id_data, count)


def _keep_size(obj: bpy.types.Object, count: int) -> None:
    """Nothing makes points yet."""


resize: Callable[[bpy.types.Object, int], None] = _keep_size
"""Gives a crowd a number of points; the room that makes points puts its function here."""


def properties() -> dict[str, Any]:
    """The number, and what makes another number of points out of the first ones."""
    return {
        "agent_count": IntProperty(
            name="Agents",
            description="Number of agents; more are placed as Add > Crowd placed the first ones",
            min=1,
            soft_max=10_000,
            max=1_000_000,
            options={"SKIP_SAVE"},
            get=_get,
            set=_set,
        ),
        "arrangement": StringProperty(
            name="Arrangement",
            description="How Add > Crowd placed the points; empty for points of your own",
            options=FIXED | {"HIDDEN"},
            override=OVERRIDABLE,
        ),
    }
