"""Bakes of a crowd, to a cache or to keyed objects: make, continue, check, relink, delete."""

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...core import cache as caches
from ...core.diagnoses import Diagnosis
from ...core.errors import SceneError
from ...core.files import lock
from .. import playback
from ..bake import cached, checking, keyed_crowds, places, status
from ..crowd import bake_owner, crowds
from ..crowd.state import plays_back
from ..live import live
from ..variations import showing
from .baking import NOT_BUSY, BakeOperator
from .common import (
    PolledOperator,
    Returned,
    SteerOperator,
    ask_first,
    counted,
    pointer_progress,
    why_no_editable_crowd,
)

if TYPE_CHECKING:
    from ..bake.cached import CacheBake


def why_baked(context: bpy.types.Context) -> str:
    """Why the crowd cannot get a first bake; empty when it has none."""
    obj = context.object
    if places.own_folder(obj) is not None:
        return f"{obj.name!r} is baked already: use Bake Again or Delete Bake"
    return ""


def why_no_new_bake(context: bpy.types.Context) -> str:
    """Why the crowd cannot get a bake; empty when it can."""
    return why_baked(context) or places.why_no_folder(context.object)


def why_no_own_bake(context: bpy.types.Context) -> str:
    """Why there is no bake to change or delete; empty when there is one."""
    obj = context.object
    if places.own_folder(obj) is not None:
        return ""
    known = places.known_folder(obj)
    if known is not None:
        return f"The bake of {obj.name!r} belongs to {bake_owner.other_file(known)}"
    other = ": the crowd that it was duplicated from has the bake"
    return f"{obj.name!r} is not baked" + (other if obj.steer.cache_folder else "")


def why_no_borrowed_bake(context: bpy.types.Context) -> str:
    """Why a crowd does not play the bake of another one; empty when it does."""
    obj = context.object
    if not plays_back(obj):
        return f"{obj.name!r} plays no bake"
    if places.own_folder(obj) is not None:
        return f"{obj.name!r} has its own bake: use Delete Bake"
    return ""


def why_no_bake(context: bpy.types.Context) -> str:
    """Why there is no bake to replace; empty when there is one."""
    reason = why_no_own_bake(context)
    return reason and f"{reason}: use Bake"


def why_not_continued(context: bpy.types.Context) -> str:
    """Why the bake cannot be continued; empty when it can."""
    found = status.status(context.object, context.scene)
    if found is None or found.other_file is not None:
        return why_no_bake(context)
    if found.problem is not None:
        return found.problem.sentence
    if found.unfinished is None and found.out_of_date is not None:
        return found.out_of_date.sentence
    return "" if found.can_continue else "The bake is complete"


def why_no_known_bake(context: bpy.types.Context) -> str:
    """Why there is no bake to check; empty when there is one."""
    known = places.known_folder(context.object)
    return why_no_own_bake(context) if known is None else ""


def folder_of(context: bpy.types.Context) -> Path:
    """Folder of the bake of the active crowd, which has one."""
    folder = places.own_folder(context.object)
    assert folder is not None  # the poll has asked
    return folder


class OBJECT_OT_steer_cache_bake(BakeOperator, bpy.types.Operator):
    """Simulate the crowd and keep all frames in files that play without Steer"""

    bl_idname = "object.steer_cache_bake"
    bl_label = "Bake"
    needs = (*NOT_BUSY, why_no_new_bake)

    def begin(self, context: bpy.types.Context) -> "CacheBake":
        """Begin in a folder that holds no bake."""
        obj = context.object
        folder = places.new_folder(obj)
        if (folder / "manifest.json").exists() or (folder / caches.NEXT).exists():
            if obj.steer.variation and showing.own_bake(obj) == folder:
                raise SceneError(
                    f"{folder} holds the bake that {obj.name!r} had before it showed variation "
                    f"{obj.steer.variation}: use Keep This One to replace it, or Own to go back"
                )
            raise SceneError(
                f"{folder} holds a bake of another crowd or an earlier file: choose another "
                "Folder under Cache, or use Relink Bake to let this crowd play it"
            )
        return cached.begin(obj, context.scene, folder)


class OBJECT_OT_steer_save_and_bake(PolledOperator, bpy.types.Operator):
    """Save the file, since the bake goes beside it, and bake the crowd"""

    bl_idname = "object.steer_save_and_bake"
    bl_label = "Save and Bake"
    bl_options = {"REGISTER"}
    needs = (*NOT_BUSY, why_baked)

    filepath: bpy.props.StringProperty(
        name="File", description="Where the file is saved", subtype="FILE_PATH"
    )
    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})
    filter_glob: bpy.props.StringProperty(default="*.blend", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask for the file."""
        self.filepath = self.filepath or "untitled.blend"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> Returned:
        """Save, then bake as the button beside it does."""
        if not bpy.path.basename(self.filepath).removesuffix(".blend"):
            self.report({"ERROR"}, "No file is named: give a name to save it under")
            return {"CANCELLED"}
        bake = getattr(bpy.ops.object, OBJECT_OT_steer_cache_bake.bl_idname.partition(".")[2])
        try:
            path = bpy.path.ensure_ext(self.filepath, ".blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            result = bake("INVOKE_DEFAULT")
        except RuntimeError as error:
            # the sentence of the operator that failed, without the words before it
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
            return {"CANCELLED"}
        return {"CANCELLED"} if result == {"CANCELLED"} else {"FINISHED"}


class OBJECT_OT_steer_cache_anew(BakeOperator, bpy.types.Operator):
    """Bake the crowd again from its first frame; the bake that is there stays until then"""

    bl_idname = "object.steer_cache_anew"
    bl_label = "Bake Again"
    needs = (*NOT_BUSY, why_no_bake)

    def begin(self, context: bpy.types.Context) -> "CacheBake":
        """Begin in the folder of the bake."""
        folder = places.folder_to_replace(context.object) or folder_of(context)
        return cached.begin(context.object, context.scene, folder)


class OBJECT_OT_steer_cache_continue(BakeOperator, bpy.types.Operator):
    """Continue a bake that was cut short, from its last frame or up to a new last frame"""

    bl_idname = "object.steer_cache_continue"
    bl_label = "Continue Bake"
    needs = (*NOT_BUSY, why_not_continued)

    def begin(self, context: bpy.types.Context) -> "CacheBake":
        """Begin after the last frame that is there."""
        return cached.resume(context.object, context.scene, folder_of(context))


class OBJECT_OT_steer_cache_delete(SteerOperator, bpy.types.Operator):
    """Remove the files of the bake, and simulate the crowd live again"""

    bl_idname = "object.steer_cache_delete"
    bl_label = "Delete Bake"
    needs = (*NOT_BUSY, why_no_own_bake)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask first: files cannot be brought back by undo."""
        folder, found = folder_of(context), status.status(context.object, context.scene)
        frames = range(0) if found is None else found.frames
        shared = "" if bake_owner.owner_of_bake(folder) else ", which other files may play, too"
        what = f"Frames {frames[0]} to {frames[-1]}" if frames else "Its files"
        message = f"{what} in {folder} are deleted{shared}. Undo does not bring them back."
        return ask_first(self, context, event, message, "Delete")

    def run(self, context: bpy.types.Context) -> str:
        """Delete it."""
        obj, folder = context.object, folder_of(context)
        # refused before anything has changed: files of others, or another process
        caches.check_own(folder)
        if folder.is_dir():
            lock.FolderLock(folder).release(remove=True)
        playback.detach(obj)
        caches.delete_cache(folder)
        places.deleted.add(folder)
        places.forget_folder(obj)
        status.baked(obj)
        return f"Removed the bake in {folder}"


class OBJECT_OT_steer_cache_live(SteerOperator, bpy.types.Operator):
    """Simulate this crowd, which plays the bake of another one or of another file; that stays"""

    bl_idname = "object.steer_cache_live"
    bl_label = "Simulate Live"
    needs = (*NOT_BUSY, why_no_borrowed_bake)

    def run(self, context: bpy.types.Context) -> str:
        """Let go of the bake."""
        obj = context.object
        playback.detach(obj)
        places.forget_folder(obj)
        status.baked(obj)
        return f"{obj.name!r} is simulated live"


class OBJECT_OT_steer_cache_check(SteerOperator, bpy.types.Operator):
    """See whether anything that the crowd was baked from has changed, and what"""

    bl_idname = "object.steer_cache_check"
    bl_label = "Check Bake"
    bl_options = {"REGISTER"}
    needs = (*NOT_BUSY, why_no_known_bake)

    def run(self, context: bpy.types.Context) -> str:
        """Check it."""
        obj = context.object
        folder = places.known_folder(obj)
        assert folder is not None  # the poll has asked
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
        return f"The bake is up to date and undamaged: {counted(len(cache), 'frame')}"


class OBJECT_OT_steer_cache_relink(SteerOperator, bpy.types.Operator):
    """Choose the folder that holds the bake of this crowd, such as one that was moved"""

    bl_idname = "object.steer_cache_relink"
    bl_label = "Relink Bake"
    needs = NOT_BUSY

    directory: bpy.props.StringProperty(
        name="Folder", description="Folder with the manifest of the bake", subtype="DIR_PATH"
    )
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

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
        places.deleted.discard(folder)
        status.baked(obj)
        return f"{obj.name!r} has the bake of {cache.header.name!r}, {counted(len(cache), 'frame')}"


class OBJECT_OT_steer_bake_keyframes(SteerOperator, bpy.types.Operator):
    """Simulate and make one object per agent with keys that play without Steer, hidden when gone"""

    bl_idname = "object.steer_bake_keyframes"
    bl_label = "Bake Keyframes"

    def run(self, context: bpy.types.Context) -> str:
        """Bake, with progress at the pointer."""
        obj, warnings = context.object, list[Diagnosis]()
        numbers = crowds.frame_numbers(obj)
        with pointer_progress(context) as progress:
            result = keyed_crowds.bake_crowd(obj, context.scene, progress, warnings, numbers)
        self.warn(warnings)
        return (
            f"Baked {result.agent_count} agents: {result.key_count} keys in {result.seconds:.1f} s"
        )


def why_no_keys(context: bpy.types.Context) -> str:
    """Why there is no keyframe bake to delete; empty when there is one."""
    obj = context.object
    return "" if keyed_crowds.has_bake(obj) else f"{obj.name!r} has no keyframe bake"


class OBJECT_OT_steer_delete_bake(SteerOperator, bpy.types.Operator):
    """Remove the baked objects with their actions and show the crowd again"""

    bl_idname = "object.steer_delete_bake"
    bl_label = "Delete Keyframe Bake"
    needs = (why_no_editable_crowd, why_no_keys)

    def run(self, context: bpy.types.Context) -> str:
        """Take it back."""
        return f"Removed {keyed_crowds.take_back(context.object)} baked objects"


class OBJECT_OT_steer_clear_cache(SteerOperator, bpy.types.Operator):
    """Forget the simulated frames of the crowd; playing from its first frame simulates again"""

    bl_idname = "object.steer_clear_cache"
    bl_label = "Clear Simulated Frames"

    def run(self, context: bpy.types.Context) -> None:
        """Clear it."""
        live.clear(context.object)


classes = (
    OBJECT_OT_steer_cache_bake,
    OBJECT_OT_steer_save_and_bake,
    OBJECT_OT_steer_cache_anew,
    OBJECT_OT_steer_cache_continue,
    OBJECT_OT_steer_cache_delete,
    OBJECT_OT_steer_cache_live,
    OBJECT_OT_steer_cache_check,
    OBJECT_OT_steer_cache_relink,
    OBJECT_OT_steer_bake_keyframes,
    OBJECT_OT_steer_delete_bake,
    OBJECT_OT_steer_clear_cache,
)
