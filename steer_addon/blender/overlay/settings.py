"""`Scene.steer_overlay`: settings of the overlay, saved with the scene."""

import re
from collections.abc import Callable
from typing import Any

import bpy

from ..crowd.crowds import is_crowd

PARTS = (
    ("ARROWS", "Arrows", "The proposal of each behavior: the wished or added velocity", 1),
    ("NAMES", "Names", "The behaviors' names at the arrows of the chosen agents", 2),
    ("RAYS", "Rays", "Feelers and rays of the chosen agents, red as far as they met something", 4),
    ("PERCEPTION", "Perception", "How far and how wide the chosen agents see others", 8),
    ("NEIGHBORS", "Neighbors", "Which others the chosen agents steer by", 16),
    ("GOALS", "Goals", "Targets, wanted places, paths with the next waypoint, wander circles", 32),
    ("REGIONS", "Regions", "Containers of the chosen agents, and spheres that they avoid", 64),
    ("WAYS", "Ways", "The chosen agents' ways round corners to their goals, with the lengths", 128),
    ("SURFACE", "Walkable Surface", "Where bodies have room to walk; each island has a color", 256),
)
FIRST_HIDDEN = "SURFACE"
"""The part that is not drawn until it is asked for: it covers the ground."""
_ID = re.compile(r"-?[0-9]{1,18}")
MOST_CHOSEN = 16
"""Above this number, chosen agents are shown with arrows only."""


def parse_ids(text: str) -> list[int]:
    """Ids in a text, in order and without repetitions; other words are skipped."""
    words = text.replace(",", " ").replace(";", " ").split()
    return list(dict.fromkeys(int(word) for word in words if _ID.fullmatch(word)))


_watchers: list[Callable[[], None]] = []
"""Called when a setting was changed."""


def _changed(self: Any, context: bpy.types.Context) -> None:
    for call in _watchers:
        call()


def _is_crowd(self: Any, obj: bpy.types.Object) -> bool:
    return is_crowd(obj)


class SteerOverlay(bpy.types.PropertyGroup):
    """Settings of the overlay"""

    show: bpy.props.BoolProperty(
        name="Overlay",
        description="Draw in 3D views the proposals of each behavior, and what the agents perceive",
        update=_changed,
    )
    crowd: bpy.props.PointerProperty(
        name="Crowd",
        description="Crowd whose agents are explained; empty takes the active object",
        type=bpy.types.Object,
        poll=_is_crowd,
        update=_changed,
    )
    agents: bpy.props.StringProperty(
        name="Agents",
        description="Ids of the chosen agents, such as 412, 17; the table explains the last one",
        update=_changed,
    )
    extent: bpy.props.EnumProperty(
        name="Arrows for",
        description="Which agents have arrows",
        items=(
            ("CHOSEN", "Chosen", "The chosen agents"),
            ("IN_VIEW", "In View", "All agents in view, the nearest first, up to the limit"),
        ),
        default="CHOSEN",
        update=_changed,
    )
    limit: bpy.props.IntProperty(
        name="Limit",
        description="Most agents in view that have arrows; more is slower and harder to read",
        default=200,
        min=1,
        max=100_000,
        soft_max=2000,
        update=_changed,
    )
    parts: bpy.props.EnumProperty(
        name="Show",
        description="Parts of the overlay that are drawn",
        items=PARTS,
        options={"ENUM_FLAG"},
        default={part[0] for part in PARTS} - {FIRST_HIDDEN},
        update=_changed,
    )
    scale: bpy.props.FloatProperty(
        name="Arrow Length",
        description="Length of an arrow for a speed of 1 m/s; more makes small wishes visible",
        default=1.0,
        min=0.01,
        soft_max=10.0,
        unit="LENGTH",
        update=_changed,
    )
    legend: bpy.props.BoolProperty(
        name="Legend",
        description="Show the meaning of the colors in a corner of the view",
        default=True,
        update=_changed,
    )


def register(changed: Callable[[], None]) -> None:
    """Add `Scene.steer_overlay`.

    Args:
        changed: Called when a setting was changed.
    """
    _watchers.append(changed)
    bpy.utils.register_class(SteerOverlay)
    bpy.types.Scene.steer_overlay = bpy.props.PointerProperty(type=SteerOverlay)


def unregister() -> None:
    """Undo `register`."""
    del bpy.types.Scene.steer_overlay
    bpy.utils.unregister_class(SteerOverlay)
    _watchers.clear()
