"""What a crowd of a file is: its agents, frames and behaviors, whom it meets, and its bake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...core.crowd.membership import joined
from ..bake import status
from ..crowd import links
from ..crowd.properties import settings_of
from ..crowd.state import plays_back
from ..reading.scene_agents import read_agents
from . import batch, files

Contents = dict[str, Any]
"""Plain data, ready for JSON."""


def scene_contents(scene: bpy.types.Scene, file: str, names: Sequence[str] = ()) -> Contents:
    """What a scene is.

    Args:
        scene: The scene.
        file: Name of its file.
        names: Names of the crowds that are told of; all where none is given.

    Raises:
        SteerError: It has no such crowd, or agents cannot be read.
    """
    rows = [contents_of(crowd, scene) for crowd in batch.find_crowds(scene, names)]
    return {
        "file": file,
        "scene": scene.name,
        "frame_start": scene.frame_start,
        "frame_end": scene.frame_end,
        "camera": scene.camera is not None,
        "agents": sum(row["agents"] for row in rows),
        "crowds": rows,
        **files.read(),
    }


def contents_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Contents:
    """What a crowd is.

    Args:
        obj: The crowd.
        scene: Its scene.

    Raises:
        SteerError: Its agents cannot be read.
    """
    settings, steer = settings_of(obj), obj.steer
    depsgraph = scene.view_layers[0].depsgraph
    depsgraph.update()
    agents = joined(read_agents(obj, depsgraph, settings), settings)
    members = {group.name: int(agents.among(group.name).sum()) for group in settings.groups}
    return {
        "crowd": obj.name,
        "agents": agents.count,
        "capacity": settings.births.capacity if settings.births.emits else 0,
        "groups": members,
        "frame_start": steer.frame_start,
        "frame_end": steer.frame_end,
        "seed": settings.seed,
        "settings": settings.to_dict(),
        "behaviors": [entry.key for entry in settings.behaviors if entry.enabled],
        **_met(obj, scene),
        "steers_by": sorted({crowd.name for crowd in links.crowd_slots(obj).values()}),
        "bake": _bake(obj, scene),
    }


def _met(obj: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, list[str]]:
    """Names of the crowds that it sees, that see it, and that it touches."""
    members = links.linked_crowds(obj)
    sees, touches = links.relations_of(members)
    found = {"sees": sees[0], "seen_by": sees[:, 0], "touches": touches[0]}
    return {
        key: sorted(members[k].name for k in np.flatnonzero(row) if k) for key, row in found.items()
    }


def _bake(obj: bpy.types.Object, scene: bpy.types.Scene) -> Contents | None:
    """The bake that shows it; None where it is simulated."""
    collection = obj.steer.bake_collection
    if obj.steer.hidden_by_bake and collection is not None:
        return {"to": "keyframes", "objects": len(collection.all_objects)}
    if not plays_back(obj):
        return None
    found = status.status(obj, scene)
    frames = range(0) if found is None else found.frames
    return {
        "to": "cache",
        "folder": None if found is None else str(found.folder),
        "frame_start": frames[0] if frames else None,
        "frame_end": frames[-1] if frames else None,
        "complete": found is not None and found.complete,
        "diagnoses": [] if found is None else [told.to_dict() for told in found.diagnoses()],
    }
