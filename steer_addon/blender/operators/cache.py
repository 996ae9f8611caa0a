"""Bake a crowd to a cache, continue, bake again, check, relink, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core import cache as caches
from ...core.diagnoses import Diagnosis
from ...core.errors import SceneError
from .. import playback
from ..bake import cached, checking, places, status
from ..crowd.state import plays_back
from .baking import BakeOperator, status_of, why_busy
from .common import Returned, SteerOperator, why_no_editable_crowd

if TYPE_CHECKING:
    from ..bake.cached import CacheBake


class OBJECT_OT_steer_cache_bake(BakeOperator, bpy.types.Operator):
    """Simulate the crowd and keep all frames in files that play without Steer"""

    bl_idname = "object.steer_cache_bake"
    bl_label = "Bake"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """There is a place for it, and no bake yet."""
        obj = context.object
        if places.own_folder(obj) is not None:
            return f"{obj.name!r} is baked already: use Bake Again or Delete Bake"
        return places.why_no_folder(obj)

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin in a folder that holds no bake."""
        folder = places.new_folder(context.object)
        if (folder / "manifest.json").exists() or (folder / caches.NEXT).exists():
            raise SceneError(
                f"{folder} holds a bake already, which this crowd does not know of: let the "
                "crowd play it with Relink, or choose another folder"
            )
        return cached.begin(context.object, context.scene, folder)


class OBJECT_OT_steer_cache_anew(BakeOperator, bpy.types.Operator):
    """Bake the crowd again from its first frame; the bake that is there stays until then"""

    bl_idname = "object.steer_cache_anew"
    bl_label = "Bake Again"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """There is a bake."""
        obj = context.object
        return "" if places.own_folder(obj) is not None else f"{obj.name!r} is not baked: use Bake"

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin in the folder of the bake."""
        folder = places.own_folder(context.object)
        assert folder is not None
        return cached.begin(context.object, context.scene, folder)


class OBJECT_OT_steer_cache_continue(BakeOperator, bpy.types.Operator):
    """Go on with a bake that was cut short, from its last frame or up to a new last frame"""

    bl_idname = "object.steer_cache_continue"
    bl_label = "Continue Bake"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """Frames are missing, and the settings are those of the bake."""
        found = status_of(context)
        if found is None:
            return f"{context.object.name!r} is not baked: use Bake"
        if found.problem is not None:
            return found.problem.sentence
        if found.unfinished is None and found.out_of_date is not None:
            return found.out_of_date.sentence
        return "" if found.can_continue else "The bake is complete"

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Go on."""
        folder = places.own_folder(context.object)
        assert folder is not None
        return cached.resume(context.object, context.scene, folder)


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
        obj = context.object
        folder = places.own_folder(obj)
        assert folder is not None
        playback.detach(obj)
        caches.delete_cache(folder, playback.FILES)
        places.forget_folder(obj)
        status.baked(obj)
        return f"Removed the bake in {folder}"


class OBJECT_OT_steer_cache_check(_OnBake, bpy.types.Operator):
    """See whether anything that the crowd was baked from has changed, and what"""

    bl_idname = "object.steer_cache_check"
    bl_label = "Check Bake"
    bl_options = {"REGISTER"}

    def run(self, context: bpy.types.Context) -> str:
        """Check it."""
        obj = context.object
        folder = places.own_folder(obj)
        assert folder is not None
        cache = caches.open_cache(folder)
        for _ in cache.verify():
            pass
        steps = checking.check(obj, context.scene, cache)
        try:
            while True:
                next(steps)
        except StopIteration as done:
            changes: list[Diagnosis] = done.value
        status.checked(obj, changes)
        if changes:
            self.report({"WARNING"}, caches.changes.out_of_date(changes).sentence)
            return ""
        return f"The bake is up to date, and its {len(cache)} frames are undamaged"


class OBJECT_OT_steer_cache_relink(SteerOperator, bpy.types.Operator):
    """Choose the folder that holds the bake of this crowd, such as one that was moved"""

    bl_idname = "object.steer_cache_relink"
    bl_label = "Relink Bake"

    directory: bpy.props.StringProperty(
        name="Folder", description="Folder with the manifest of the bake", subtype="DIR_PATH"
    )
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Not while something is baked."""
        return why_no_editable_crowd(context) or why_busy()

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Take the bake over, of whatever version of Steer it is; or only the played file."""
        obj = context.object
        if not self.directory:
            raise SceneError("No folder is chosen: choose the one that holds manifest.json")
        folder = places.absolute(self.directory)
        if plays_back(obj) and not (folder / caches.MANIFEST).exists():
            return f"{obj.name!r} plays {playback.relink(obj, folder)}"
        cache = caches.open_cache(folder)
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
    OBJECT_OT_steer_cache_bake,
    OBJECT_OT_steer_cache_anew,
    OBJECT_OT_steer_cache_continue,
    OBJECT_OT_steer_cache_delete,
    OBJECT_OT_steer_cache_check,
    OBJECT_OT_steer_cache_relink,
)
