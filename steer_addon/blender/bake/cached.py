"""Bakes to a cache, driven by a modal operator, a background run or the command line.

A scratch scene that holds only the objects the crowd reads is stepped, never the user's scene
(except with physics, which leave no other way). A continued bake reads the frames that it already
has without simulating them, so the inputs are read as in an uninterrupted bake: same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...core.cache import CacheHeader, CacheWriter
from ...core.cache.baking import Step
from ...core.cache.baking import bake as write_steps
from ...core.cache.changes import all_changes, out_of_date
from ...core.diagnoses import Diagnosis, add_new
from ...core.errors import CacheError, SceneError
from ...version import __version__
from ..crowd.bake_owner import other_file, owner_text
from ..crowd.crowds import frame_numbers
from ..crowd.links import linked_crowds
from ..live.shared_run import SharedRun
from ..live.simulate import Moment, Resume, fps_of, moments
from . import inputs, places


class CacheBake:
    """A running bake: iterate over `steps`, then `close` it.

    Attributes:
        crowd: The crowd.
        name: Name of the crowd in the cache.
        folder: Folder of the cache.
        frames: All frames of the complete bake.
        kept: Number of frames that existed before.
        steps: Yields the progress after each step.
        writer: Writer of the cache.
        warnings: Filled with diagnoses of the scene that the user may want to act on.
        watch: Called with each moment of a run of its own.
        shared: A run that gives the frames of several crowds, whose bakes then go on step by step
            together; None for a run of its own.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        writer: CacheWriter,
        before: dict[str, Any],
    ) -> None:
        """Prepare the bake; `before` is the `about` of the frames that existed before."""
        self.shared: SharedRun | None = None
        self.watch: Callable[[Moment], None] = lambda moment: None
        header = writer.header
        self.crowd = obj
        self.name, self.folder = header.name, writer.folder
        self.frames = range(header.frame_start, header.frame_end + 1)
        self.kept = writer.next_frame - header.frame_start
        self.warnings: list[Diagnosis] = []
        self.steps = write_steps(self._steps(obj, scene, writer, before), writer)
        self.writer = writer

    def close(self) -> None:
        """Stop the bake; written frames are kept. After the end this does nothing.

        Raises:
            OutputError: The frames cannot be written.
        """
        try:
            self.steps.close()
        finally:
            # steps that never began have closed nothing
            self.writer.close()

    def discard(self) -> None:
        """Remove the frames of a bake that is not complete; an earlier bake stays as it is.

        Raises:
            OutputError: The frames cannot be removed.
        """
        # closed first, so that the steps keep nothing when they end
        self.writer.close()
        self.close()
        self.writer.discard()

    def _steps(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        writer: CacheWriter,
        before: dict[str, Any],
    ) -> Generator[Step, None, None]:
        header, first = writer.header, writer.next_frame
        if first > header.frame_end:
            # all frames are written; only the final manifest is missing
            return
        starts = {crowd.steer.frame_start for crowd in linked_crowds(obj)}
        wanted = inputs.sample_frames(inputs.span(obj, header)) | starts
        seen = inputs.Inputs(obj, wanted, header.name)
        unchecked, known = first > header.frame_start, None
        if unchecked:
            seen.wanted = {n for n in wanted if n >= first}
            seen.wanted |= inputs.sampled(before.get("inputs"), first)
            states = inputs.renamed(writer.states, header.name, obj.name_full)
            known = Resume(first - 1, states, seen.add_session)
        if self.shared is None:
            run = moments(obj, scene, header.frame_end, known)
        else:
            run = self.shared.moments_of(obj, header.frame_end, seen.add_session)
        with closing(run) as found:
            for moment in found:
                if self.shared is None:
                    self.watch(moment)
                if not moment or moment[0][0] != obj:
                    yield None
                    continue
                _, session, frame = moment[0]
                if unchecked and frame.number >= first:
                    require_same(obj, before, {**before, "inputs": seen.data()}, header.name)
                    unchecked = False
                for crowd, own, _ in moment:
                    seen.add_session(crowd, own)
                add_new(self.warnings, [*session.reader.warnings, *session.simulation.warnings])
                if frame.number < first:
                    yield None
                    continue
                if seen.changed:
                    writer.about["inputs"] = seen.data()
                states = {c.name_full: s.simulation.agents for c, s, _ in moment}
                yield frame, inputs.renamed(states, obj.name_full, header.name)
            add_new(self.warnings, filter(None, [session.simulation.stuck]))


def begin(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    folder: Path,
    frames: range | None = None,
    file: Path | None = None,
) -> CacheBake:
    """Begin a bake; a cache that is in the folder stays until the new one is complete.

    Args:
        obj: The crowd.
        scene: Its scene.
        folder: Folder of the cache.
        frames: Frames to keep; None keeps all frames of the crowd.
        file: The .blend file that the bake belongs to; None for the open one.

    Raises:
        SteerError: The crowd cannot be simulated, or the folder cannot be written.
    """
    places.check_free(obj, folder, file)
    numbers = frame_numbers(obj) if frames is None else frames
    header = CacheHeader(
        name=obj.name_full,
        fps=fps_of(scene),
        frame_start=numbers[0],
        frame_end=numbers[-1],
        forward_axis=obj.steer.motion.forward_axis,
        steer=__version__,
        owner=owner_text(folder, file),
    )
    known = inputs.known_data(obj, scene, header)
    header = replace(header, settings_hash=inputs.settings_hash(known["settings"]), about=known)
    return CacheBake(obj, scene, CacheWriter(folder, header), {})


def resume(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    folder: Path,
    last: int | None = None,
    file: Path | None = None,
) -> CacheBake:
    """Continue an interrupted bake, or extend a bake to a new last frame.

    Args:
        obj: The crowd.
        scene: Its scene.
        folder: Folder of the cache.
        last: The last frame; None takes the crowd's last frame.
        file: The .blend file that takes the bake over if no other has it; None for the open one.

    Raises:
        CacheError: There is no bake, or the bake cannot be continued.
        SceneError: A setting or an input changed since the bake.
    """
    frame_numbers(obj)
    writer = CacheWriter.resume(folder)
    try:
        header = writer.header
        wanted = obj.steer.frame_end if last is None else last
        end = max(wanted, writer.next_frame - 1, header.frame_start)
        if header.steer != __version__:
            raise CacheError(
                f"{folder} was baked with Steer {header.steer or 'of an unknown version'}, this "
                f"is {__version__}: results may differ, so bake again"
            )
        if writer.next_frame > header.frame_start and not writer.states:
            raise CacheError(f"{folder} holds frames, but no state to continue from: bake again")
        known = inputs.known_data(obj, scene, replace(header, frame_end=end))
        before = dict(writer.about)
        old = dict(before)
        if end != header.frame_end:
            # animation digests depend on the frame range; the digests of the inputs cover this case
            old["animation"] = known["animation"]
        require_same(obj, old, known, header.name)
        writer.set_end(end)
        if other_file(folder, file) is None:
            writer.set_owner(owner_text(folder, file) or header.owner)
        writer.about.update(known)
    except BaseException:
        writer.close()
        raise
    return CacheBake(obj, scene, writer, before)


def require_same(obj: bpy.types.Object, old: Any, new: dict[str, Any], name: str) -> None:
    """Refuse to continue a bake that was made from other settings or inputs.

    Raises:
        SceneError: A setting or an input changed.
    """
    changes = all_changes(old, new, name)
    if changes:
        raise SceneError(
            f"The bake of crowd {obj.name!r} cannot be continued, since the scene changed. "
            f"{out_of_date(changes)}"
        )
