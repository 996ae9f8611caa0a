"""Bake All: the crowds of a scene are simulated together, and each is baked to a cache."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import bpy

from ...core.compiled import jit
from ...core.errors import NotReadyError, SceneError, SteerError
from .. import playback
from ..bake import heroes, places, status, together
from ..crowd import baked_file, crowds
from ..crowd.state import plays_back
from ..live import compiling, live
from .baking import why_busy
from .common import counted
from .stepping import SteppedOperator

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..bake.cached import CacheBake
    from ..bake.together import BakeGroup


def _editable(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The crowds of a scene that can be baked here."""
    return [obj for obj in crowds.crowds(scene) if not crowds.why_not_editable(obj)]


def why_no_crowds(context: bpy.types.Context) -> str:
    """Why there is no crowd to bake; empty when there is one."""
    found = crowds.crowds(context.scene)
    if not found:
        return "The scene has no crowd: use Add > Crowd"
    return "" if _editable(context.scene) else crowds.why_not_editable(found[0])


def why_no_folders(context: bpy.types.Context) -> str:
    """Why a crowd has no folder for a bake; empty when all have one."""
    bare = [obj for obj in _editable(context.scene) if places.own_folder(obj) is None]
    return next(filter(None, map(places.why_no_folder, bare)), "")


def keeps_bake(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether a crowd has a bake that Bake All leaves: keyframes, or a cache that is up to date."""
    if obj.steer.hidden_by_bake:
        return True
    status.refresh(obj)
    found = status.status(obj, scene)
    if found is None or not plays_back(obj) or baked_file.problem(obj) is not None:
        return False
    whole = found.complete and found.unfinished is None and found.problem is None
    changed = found.out_of_date is not None or found.edited or found.other_file is not None
    return whole and not changed


class BakeAllOperator(SteppedOperator):
    """What the operator does."""

    needs = (why_busy, why_no_crowds, why_no_folders)
    _made = 0
    """How many bakes are complete, and played."""

    def kept(self) -> str:
        """The bakes that were complete by then."""
        return f"only {counted(self._made, 'crowd')} baked" if self._made else ""

    def work(self, context: bpy.types.Context) -> Generator[float, None, str]:
        """Bake; each bake that is not complete at the end is removed."""
        scene = context.scene
        self._made = 0
        found = _editable(scene)
        wanted = [obj for obj in found if not keeps_bake(obj, scene)]
        stayed = len(found) - len(wanted)
        if not wanted:
            return f"Nothing to bake: {counted(stayed, 'crowd')} baked already"
        self.doing = f"Baking {counted(len(wanted), 'crowd')}"
        folders = [places.folder_to_replace(obj) or places.new_folder(obj) for obj in wanted]
        tasks = [together.Task(*pair) for pair in zip(wanted, folders, strict=True)]
        self._bakes = together.open_bakes(tasks, scene)
        status.busy.append(self._bakes)
        try:
            yield from self._bake(scene, waits=self.in_steps(context) and compiling.can_wait())
        finally:
            status.busy.pop()
            self._put_away()
        for bake in self._bakes:
            self.warn(bake.warnings)
        more = f"; {counted(stayed, 'crowd')} baked already" if stayed else ""
        return f"Baked {counted(self._made, 'crowd')}{more}"

    def _bake(self, scene: bpy.types.Scene, waits: bool) -> Generator[float, None, None]:
        """Make the bakes, and give the share of the frames that is done."""
        total, done = sum(len(bake.frames) for bake in self._bakes), 0
        groups = together.groups_of(self._bakes, scene)
        for group in groups:
            size = sum(len(bake.frames) for bake in group.bakes)
            for share in self._make(group, scene, waits):
                yield (done + share * size) / total
            done += size

    def _make(
        self, group: BakeGroup, scene: bpy.types.Scene, waits: bool
    ) -> Generator[float, None, None]:
        """Make the bakes of one run; where kernels are missing, it waits for them."""
        doing, share = self.doing, 0.0
        try:
            while True:
                members = [bake.crowd for bake in group.bakes]
                if waits and any(map(live.must_wait, members)):
                    self.doing = compiling.text()
                    yield share
                    continue
                try:
                    with jit.deferring() if waits else nullcontext():
                        progress = next(group.steps, None)
                except NotReadyError as error:
                    live.hold(members[0], error)
                    group = self._again(group, scene)
                    continue
                if progress is None:
                    return
                share = progress.share
                left = f", {progress.time_left} left" if progress.remaining > 0.0 else ""
                self.doing = doing + left
                yield share
        finally:
            self.doing = doing
            # after another file was opened there is no crowd
            with suppress(ReferenceError):
                compiling.let_go(group.bakes[0].crowd)
            # what is not complete is removed, and not kept
            for bake in group.bakes:
                bake.writer.close()
            group.close()

    def _again(self, group: BakeGroup, scene: bpy.types.Scene) -> BakeGroup:
        """The same bakes, which go on after the frames that they have."""
        group.close()
        again = together.reopened(group.bakes, scene)
        by_folder = {bake.folder: bake for bake in again}
        self._bakes = [by_folder.get(bake.folder, bake) for bake in self._bakes]
        return together.BakeGroup(again, scene)

    def _put_away(self) -> None:
        """Let crowds play the bakes that are complete, and remove all others."""
        for bake in self._bakes:
            if bake.writer.complete:
                # after another file was opened there is no crowd
                with suppress(ReferenceError):
                    self._play(bake)
            else:
                try:
                    bake.discard()
                except SteerError as error:
                    self.report({"WARNING"}, str(error))

    def _play(self, bake: CacheBake) -> None:
        obj = bake.crowd
        places.set_folder(obj, bake.folder)
        status.baked(obj)
        self._made += 1
        try:
            playback.attach(obj, bake.folder)
            heroes.follow_bake(obj, bpy.context.scene)
        except SteerError as error:
            told = SceneError(f"The bake of {obj.name!r} is complete, but is not played: {error}")
            self.report({"WARNING"}, str(told))


class OBJECT_OT_steer_cache_bake_all(BakeAllOperator, bpy.types.Operator):
    """Bake all crowds of the scene, but for those whose bakes, or keyframe bakes, are up to date"""

    bl_idname = "object.steer_cache_bake_all"
    bl_label = "Bake All"


classes = (OBJECT_OT_steer_cache_bake_all,)
