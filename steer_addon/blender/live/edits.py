"""An update of a depsgraph, looked at once for all crowds; no reader has to be loaded for it."""

from __future__ import annotations

import bpy


class Edit:
    """An update of a depsgraph.

    Attributes:
        depsgraph: The depsgraph.
        there: Session uids of the scene's objects, if objects may have come or gone; else None.
        reshaped: The objects and data with updated geometry.
        digests: Digests of meshes by session uid, made once for all crowds that read them.
    """

    def __init__(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        self.depsgraph = depsgraph
        updates = [(u.id.original, u.is_updated_geometry) for u in depsgraph.updates]
        changed = any(isinstance(part, bpy.types.Collection) for part, _ in updates)
        self.there = object_uids(scene) if changed else None
        self.reshaped = [part for part, is_reshaped in updates if is_reshaped]
        self.digests: dict[int, bytes] = {}


def object_uids(scene: bpy.types.Scene) -> frozenset[int]:
    """Session uids of the objects of a scene."""
    return frozenset(o.session_uid for o in scene.objects)
