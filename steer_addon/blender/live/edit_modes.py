"""Meshes that enter or leave Edit Mode: Blender reports that as an edit, though none was made."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..reading.scene_agents import mesh_digest

_EDITED = b""


class EditModes:
    """The meshes of a crowd and of its inputs that are in Edit Mode."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        """Digest of each mesh as it entered, by its session uid; _EDITED after an edit."""

    def entered_or_left(self, updated: Iterable[bpy.types.ID]) -> set[int]:
        """Session uids of meshes, and of their objects, of which nothing was edited.

        Args:
            updated: Objects and data that Blender reports as reshaped.
        """
        known = list(updated)
        meshes = [part for part in known if isinstance(part, bpy.types.Mesh)]
        found = {mesh.session_uid for mesh in meshes if self._is_as_before(mesh)}
        users = [o for o in known if isinstance(o, bpy.types.Object) and o.type == "MESH"]
        return found | {o.session_uid for o in users if o.data.session_uid in found}

    def _is_as_before(self, mesh: bpy.types.Mesh) -> bool:
        uid, is_edited = mesh.session_uid, mesh.is_editmode
        before = self._known.pop(uid, None)
        if is_edited:
            self._known[uid] = mesh_digest(mesh) if before is None else _EDITED
            return before is None
        return before is not None and before == mesh_digest(mesh)
