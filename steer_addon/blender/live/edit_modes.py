"""Meshes that enter or leave Edit Mode: Blender reports that as an edit, though none was made."""

from __future__ import annotations

from collections.abc import Container

import bpy

from ..reading.scene_agents import mesh_digest

_EDITED = b""


class EditModes:
    """The meshes of a crowd and of its inputs that are in Edit Mode."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        """Digest of each mesh as it entered, by its session uid; _EDITED after an edit."""

    def edited(self, depsgraph: bpy.types.Depsgraph, mine: Container[int]) -> set[int]:
        """Session uids of the objects and data that were reshaped.

        Args:
            depsgraph: The depsgraph that reports its updates.
            mine: Session uids of the objects and data to look at.
        """
        parts = [u.id.original for u in depsgraph.updates if u.is_updated_geometry]
        parts = [part for part in parts if part.session_uid in mine]
        meshes = [part for part in parts if isinstance(part, bpy.types.Mesh)]
        same = {mesh.session_uid for mesh in meshes if self._is_as_before(mesh)}
        users = [o for o in parts if isinstance(o, bpy.types.Object) and o.type == "MESH"]
        same |= {o.session_uid for o in users if o.data.session_uid in same}
        return {part.session_uid for part in parts} - same

    def _is_as_before(self, mesh: bpy.types.Mesh) -> bool:
        uid, is_edited = mesh.session_uid, mesh.is_editmode
        before = self._known.pop(uid, None)
        if is_edited:
            self._known[uid] = mesh_digest(mesh) if before is None else _EDITED
            return before is None
        return before is not None and before == mesh_digest(mesh)
