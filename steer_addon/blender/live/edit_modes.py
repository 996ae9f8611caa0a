"""Meshes that enter or leave Edit Mode: Blender reports that as an edit, though none was made."""

from __future__ import annotations

from collections.abc import Container

import bpy

from ..reading.scene_agents import mesh_digest
from .edits import Edit

_EDITED = b""


def digest_once(edit: Edit, mesh: bpy.types.Mesh, *, weights: bool = False) -> bytes:
    """Digest of a mesh at an update; see `mesh_digest`."""
    key = mesh.session_uid, weights
    if key not in edit.digests:
        edit.digests[key] = mesh_digest(mesh, weights=weights)
    return edit.digests[key]


class EditModes:
    """The meshes of a crowd and of its inputs that are in Edit Mode."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        """Digest of each mesh as it entered, by its session uid; _EDITED after an edit."""

    def edited(self, edit: Edit, mine: Container[int]) -> set[int]:
        """Session uids of the objects and data that were reshaped.

        Args:
            edit: The update.
            mine: Session uids of the objects and data to look at.
        """
        parts = [part for part in edit.reshaped if part.session_uid in mine]
        meshes = [part for part in parts if isinstance(part, bpy.types.Mesh)]
        same = {mesh.session_uid for mesh in meshes if self._is_as_before(edit, mesh)}
        users = [o for o in parts if isinstance(o, bpy.types.Object) and o.type == "MESH"]
        same |= {o.session_uid for o in users if o.data.session_uid in same}
        return {part.session_uid for part in parts} - same

    def _is_as_before(self, edit: Edit, mesh: bpy.types.Mesh) -> bool:
        uid, is_edited = mesh.session_uid, mesh.is_editmode
        before = self._known.pop(uid, None)
        if is_edited:
            self._known[uid] = digest_once(edit, mesh) if before is None else _EDITED
            return before is None
        return before is not None and before == digest_once(edit, mesh)
