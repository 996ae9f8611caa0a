"""An update of a depsgraph, looked at once for all crowds; no reader has to be loaded for it."""

from __future__ import annotations

from functools import cached_property

import bpy


class Edit:
    """An update of a depsgraph.

    Attributes:
        depsgraph: The depsgraph.
        there: Session uids of the scene's objects, if objects may have come or gone; else None.
        digests: Digests of meshes by session uid, and whether weights count; made once for all
            crowds that read them.
    """

    def __init__(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        self.depsgraph = depsgraph
        changed = any(isinstance(update.id, bpy.types.Collection) for update in depsgraph.updates)
        self.there = object_uids(scene) if changed else None
        self.digests: dict[tuple[int, bool], bytes] = {}

    @cached_property
    def reshaped(self) -> list[bpy.types.ID]:
        """The objects and data with updated geometry; a scene without crowds never asks."""
        return [u.id.original for u in self.depsgraph.updates if u.is_updated_geometry]


def object_uids(scene: bpy.types.Scene) -> frozenset[int]:
    """Session uids of the objects of a scene."""
    return frozenset(o.session_uid for o in scene.objects)
