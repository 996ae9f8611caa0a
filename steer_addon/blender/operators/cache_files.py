"""What is done with a bake that is there: check, relink, delete."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import SceneError
from .. import playback
from ..bake import places, status
from ..state import plays_back
from .cache import why_busy
from .common import SteerOperator, why_no_editable_crowd


class _OnBake(SteerOperator):
    """Base of what is done with a bake that is there."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Only while there is one."""
        reason = why_no_editable_crowd(context) or why_busy()
        if not reason and places.own_folder(context.object) is None:
            other = context.object.steer.cache_folder
            reason = f"{context.object.name!r} is not baked" + (
                ": the bake is that of the crowd that it was duplicated from" if other else ""
            )
        return reason


class OBJECT_OT_steer_cache_delete(_OnBake, bpy.types.Operator):
    """Remove the files of the bake, and simulate the crowd live again"""

    bl_idname = "object.steer_cache_delete"
    bl_label = "Delete Bake"

    def run(self, context: bpy.types.Context) -> str:
        """Delete it."""
        from ...core.cache import delete_cache

        obj = context.object
        folder = places.own_folder(obj)
        assert folder is not None
        playback.detach(obj)
        delete_cache(folder, playback.FILES)
        places.forget_folder(obj)
        status.baked(obj)
        return f"Removed the bake in {folder}"


class OBJECT_OT_steer_cache_check(_OnBake, bpy.types.Operator):
    """See whether anything that the crowd was baked from has changed, and what"""

    bl_idname = "object.steer_cache_check"
    bl_label = "Check Bake"
    bl_options = {"REGISTER"}

    def run(self: Any, context: bpy.types.Context) -> str:
        """Check it."""
        from ...core.cache import open_cache
        from ...core.cache.changes import sentence
        from ..bake.checking import check

        obj = context.object
        folder = places.own_folder(obj)
        assert folder is not None
        cache = open_cache(folder)
        for _ in cache.verify():
            pass
        steps = check(obj, context.scene, cache)
        try:
            while True:
                next(steps)
        except StopIteration as done:
            changes: list[str] = done.value
        status.checked(obj, changes)
        if changes:
            self.report({"WARNING"}, f"Out of date: {sentence(changes)}")
            return ""
        return f"The bake is up to date, and its {len(cache)} frames are undamaged"


class OBJECT_OT_steer_cache_relink(SteerOperator, bpy.types.Operator):
    """Choose the folder that holds the bake of this crowd, such as one that was moved"""

    bl_idname = "object.steer_cache_relink"
    bl_label = "Relink Bake"

    directory: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Folder", description="Folder with the manifest of the bake", subtype="DIR_PATH"
    )
    filter_folder: bpy.props.BoolProperty(  # type: ignore[valid-type]
        default=True, options={"HIDDEN"}
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Not while something is baked."""
        return why_no_editable_crowd(context) or why_busy()

    def invoke(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self: Any, context: bpy.types.Context) -> str:
        """Take the bake over, of whatever version of Steer it is; or only the played file."""
        from ...core.cache import MANIFEST, open_cache

        obj = context.object
        if not self.directory:
            raise SceneError("No folder is chosen: choose the one that holds manifest.json")
        folder = places.absolute(self.directory)
        if plays_back(obj) and not (folder / MANIFEST).exists():
            return f"{obj.name!r} plays {playback.relink(obj, folder)}"
        cache = open_cache(folder)
        owner = places.owner_of(folder)
        if owner is not None and owner != obj:
            raise SceneError(
                f"{folder} holds the bake of crowd {owner.name!r}: choose another folder, or "
                "bake this crowd"
            )
        playback.attach(obj, folder)
        places.set_folder(obj, folder)
        status.baked(obj)
        return f"{obj.name!r} has the bake of {cache.header.name!r}, {len(cache)} frames"


classes = (
    OBJECT_OT_steer_cache_delete,
    OBJECT_OT_steer_cache_check,
    OBJECT_OT_steer_cache_relink,
)
