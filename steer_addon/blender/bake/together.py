"""Bakes to caches of several crowds: those that are simulated together are made in one run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.agents import Agents
from ...core.cache import MANIFEST, NEXT
from ...core.errors import SteerError
from ...core.step.simulation import Progress
from ..crowd.links import linked_crowds
from ..live.played import played
from ..live.shared_run import SharedRun
from ..live.simulate import Moment, Resume, runs_for
from . import cached, inputs
from .cached import CacheBake


class Task(NamedTuple):
    """A bake to make.

    Attributes:
        crowd: The crowd.
        folder: Folder of the cache.
        frames: Frames to keep; None keeps all frames of the crowd.
        go_on: Whether a bake in the folder is continued, up to the last one of these frames.
    """

    crowd: bpy.types.Object
    folder: Path
    frames: range | None = None
    go_on: bool = False

    @property
    def continues(self) -> bool:
        """Whether there is a bake to continue."""
        return self.go_on and any((self.folder / name).exists() for name in (MANIFEST, NEXT))


def open_bakes(
    tasks: Sequence[Task], scene: bpy.types.Scene, file: Path | None = None
) -> list[CacheBake]:
    """Begin bakes, or continue them, before any crowd is simulated.

    Args:
        tasks: The bakes.
        scene: The scene of the crowds.
        file: The .blend file that the bakes belong to; None for the open one.

    Raises:
        SteerError: A crowd cannot be simulated, or a folder cannot be written; then no bake is
            begun.
    """
    found: list[CacheBake] = []
    try:
        for task in tasks:
            found.append(_open(task, scene, file))
    except BaseException:
        for bake in found:
            with suppress(SteerError):
                bake.close() if bake.kept else bake.discard()
        raise
    return found


def _open(task: Task, scene: bpy.types.Scene, file: Path | None) -> CacheBake:
    if task.continues:
        last = None if task.frames is None else task.frames[-1]
        return cached.resume(task.crowd, scene, task.folder, last, file)
    return cached.begin(task.crowd, scene, task.folder, task.frames, file)


class BakeGroup:
    """Bakes that are made in one run: iterate over `steps`, then `close` it.

    Attributes:
        bakes: The bakes.
        steps: Yields the progress of the bake with the most frames left, after each step of all.
    """

    def __init__(self, bakes: Sequence[CacheBake], scene: bpy.types.Scene) -> None:
        """Prepare the run.

        Args:
            bakes: The bakes; a run of one of their crowds gives all of them.
            scene: The scene of the crowds.
        """
        self.bakes = list(bakes)
        self._shared: SharedRun | None = None
        self._root = self.bakes[0].crowd
        if len(self.bakes) > 1:
            ((root, given),) = runs_for(bake.crowd for bake in self.bakes)
            last = max(bake.frames[-1] for bake in self.bakes)
            self._shared = SharedRun(root, scene, last, given, _resume(self.bakes, root))
            self._root = root
        for bake in self.bakes:
            bake.shared = self._shared
        self.steps = self._go_on()

    def watch(self, see: Callable[[bpy.types.Object, Moment], None]) -> None:
        """Call a function at every frame with the crowd of the run and all its crowds."""
        runs = self.bakes if self._shared is None else [self._shared]
        for run in runs:
            run.watch = lambda moment: see(self._root, moment)

    def _go_on(self) -> Generator[Progress, None, None]:
        left = self.bakes
        while left:
            found = [(bake, next(bake.steps, None)) for bake in left]
            steps = [(bake, step) for bake, step in found if step is not None]
            if steps:
                yield max((step for _, step in steps), key=lambda step: step.total - step.done)
            left = [bake for bake, step in steps if step.done < step.total]
        for bake in self.bakes:
            # takes the place of an earlier bake once all of the run are there
            next(bake.steps, None)

    def close(self) -> None:
        """Stop the bakes; written frames are kept. After the end this does nothing.

        Raises:
            OutputError: The frames cannot be written.
        """
        failed: SteerError | None = None
        for bake in self.bakes:
            try:
                bake.close()
            except SteerError as error:
                failed = error
        if self._shared is not None:
            self._shared.close()
        if failed is not None:
            raise failed


def reopened(bakes: Sequence[CacheBake], scene: bpy.types.Scene) -> list[CacheBake]:
    """Bakes of a group that was closed in between, to go on after the frames that they have.

    Raises:
        SteerError: A crowd cannot be simulated, or a folder cannot be written.
    """
    rows = [(bake, bake.writer.next_frame > bake.frames[0]) for bake in bakes]
    tasks = [Task(bake.crowd, bake.folder, bake.frames, begun) for bake, begun in rows]
    left = [task for task, bake in zip(tasks, bakes, strict=True) if not bake.writer.complete]
    again = {bake.crowd: bake for bake in open_bakes(left, scene)}
    return [again.get(bake.crowd, bake) for bake in bakes]


def groups_of(bakes: Sequence[CacheBake], scene: bpy.types.Scene) -> list[BakeGroup]:
    """The fewest runs in which bakes can be made.

    A bake that is continued, and in which other crowds went as their bakes had them go, has a run
    of its own where these crowds are simulated now.
    """
    shared, alone = list(bakes), list[CacheBake]()
    while odd := [bake for bake in shared if not _goes_with(bake, shared)]:
        shared = [bake for bake in shared if bake not in odd]
        alone += odd
    by_crowd = {bake.crowd: bake for bake in shared}
    groups = [[by_crowd[crowd] for crowd in given] for _, given in runs_for(by_crowd)]
    return [BakeGroup(group, scene) for group in (*groups, *([bake] for bake in alone))]


def _is_done(bake: CacheBake) -> bool:
    return bake.writer.next_frame > bake.frames[-1]


def _goes_with(bake: CacheBake, others: Sequence[CacheBake]) -> bool:
    """Whether the crowds that were simulated for the kept frames of a bake are those now."""
    if not bake.kept or _is_done(bake):
        return True
    simulated = {other.crowd.session_uid for other in others}
    return all(
        (crowd.session_uid in simulated) == (crowd.name_full in bake.writer.states)
        for crowd in linked_crowds(bake.crowd)[1:]
        if crowd.steer.frame_start < bake.writer.next_frame and played(crowd) is not None
    )


def _resume(bakes: Sequence[CacheBake], root: bpy.types.Object) -> Resume | None:
    """Point from which bakes can be continued in one run; None for the start.

    Args:
        bakes: The bakes.
        root: A crowd of them that depends on all others.
    """
    left = [bake for bake in bakes if not _is_done(bake)]
    if not all(bake.kept for bake in left):
        return None
    first = min((bake.writer.next_frame for bake in left), default=0)
    states: dict[str, Agents] = {}
    for bake in left:
        if bake.writer.next_frame == first:
            states |= inputs.renamed(bake.writer.states, bake.name, bake.crowd.name_full)
    given = {bake.crowd for bake in bakes}
    simulated = [c for c in linked_crowds(root) if c in given or played(c) is None]
    begun = [crowd for crowd in simulated if crowd.steer.frame_start < first]
    if not begun or any(crowd.name_full not in states for crowd in begun):
        # readers pass over the frames that they have
        return None
    return Resume(first - 1, states)
