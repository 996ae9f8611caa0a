"""The processes that make the variations of a crowd, while the window stays alive.

They are the tasks that bake in a batch of `steer batch`: what compiles kernels, and a bake for each
seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...core import cache as caches
from ...core.compiled.presence import can_compile
from ...core.doors import logging
from ...core.errors import OutputError, SceneError
from ...core.files import lock
from ...core.files.plain import digest_of, reason
from ...farm import books, local
from ...farm.graph import Graph
from ...farm.job import Batch, Job
from ...farm.progress import Reporter
from ...farm.results import is_done
from ...farm.starter import find_starter
from ...farm.tasks import BAKE, KERNELS, tasks_of
from ...farm.variations import Crowd, Scene, variations_of
from ..crowd.properties import settings_of
from . import current, made

log = logging.getLogger(__name__)


class Run(current.Run):
    """A batch that is being run by a timer."""

    def __init__(self, obj: bpy.types.Object, seeds: Iterable[int]) -> None:
        """Prepare it; the copy of the file is there.

        Args:
            obj: The crowd.
            seeds: A seed for each variation.

        Raises:
            SteerError: The folder cannot be written, or a crowd cannot be simulated.
        """
        self.uid, self.name = obj.session_uid, obj.name
        folder = made.folder_of(obj)
        batch, scene = _batch(obj, folder, seeds)
        starter = find_starter()
        found = variations_of(batch, [scene])
        books.make_folder(batch.out)
        self._held = lock.FolderLock(batch.out)
        try:
            books.write(batch, found, {}, starter.blender)
            tasks = tasks_of(batch, found, starter.blender, compiles=can_compile())
            tasks = [task for task in tasks if task.kind in (KERNELS, BAKE)]
            graph = Graph(tasks, {task.name for task in tasks if is_done(task, batch.out)})
        except BaseException:
            self._held.release(remove=True)
            raise
        # a core is left to the window
        workers = max(1, min(local.worker_count(), local.cores() - (not bpy.app.background)))
        self._engine = local.Engine(graph, batch.out, starter, workers, {})
        self._reporter = Reporter(graph, log.info)
        made.refresh(obj)

    @property
    def left(self) -> int:
        """How many tasks are left."""
        return self._engine.graph.left

    @property
    def fault(self) -> str:
        """Why a variation could not be made; empty while all is well."""
        failed = self._engine.graph.failed
        return failed[0].fault if failed else ""

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1."""
        graph, shares = self._engine.graph, self._engine.shares().values()
        gone = graph.total - graph.left + sum(share for _, share in shares)
        return gone / max(1, graph.total)

    def text(self) -> str:
        """How far it is, in words."""
        graph = self._engine.graph
        bakes = [task for task in graph.tasks if task.kind == BAKE]
        done = sum(task.name in graph.done for task in bakes)
        left = self._reporter.time_left(self._engine.shares())
        return f"{done} of {len(bakes)} made{left}"

    def step(self) -> None:
        """See what has ended, and start what may start."""
        self._engine.step(self._reporter)

    def stop(self) -> None:
        """End all processes; variations that are made stay."""
        self._engine.stop()
        self._held.release(remove=True)


def _batch(obj: bpy.types.Object, folder: Path, seeds: Iterable[int]) -> tuple[Batch, Scene]:
    """The batch of a crowd's variations, and what has to be known of the copy of the file."""
    path, members = folder / made.SCENE, made.members_of(obj)
    crowds = tuple(
        Crowd(
            crowd.name,
            range(crowd.steer.frame_start, crowd.steer.frame_end + 1),
            settings_of(crowd).to_dict(),
        )
        for crowd in members
    )
    try:
        scene = Scene(path, digest_of(path), crowds, camera=False)
    except OSError as error:
        raise SceneError(f"{path} cannot be read: {reason(error)}; make them again") from None
    job = Job(
        scenes=(made.SCENE,),
        crowds=tuple(crowd.name for crowd in members),
        seeds=tuple(range(seed, seed + 1) for seed in seeds),
        make=("cache",),
    )
    return Batch(job, (path,), (), folder / made.OUT), scene


def copy_file(obj: bpy.types.Object) -> None:
    """Save a copy of the open file for a crowd's variations, as it is now.

    Raises:
        SteerError: It cannot be written, or the folder is somebody else's.
    """
    folder = made.folder_of(obj)
    try:
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            caches.make_bake_folder(folder)
        if not caches.is_marked(folder):
            raise SceneError(f"{folder} is there and Steer did not make it: move it away")
        bpy.ops.wm.save_as_mainfile(
            filepath=str(folder / made.SCENE), copy=True, check_existing=False
        )
    except OSError as error:
        raise OutputError(f"Folder {folder} cannot be written: {reason(error)}") from None
    except RuntimeError as error:
        raise OutputError(str(error).removeprefix("Error: ").strip()) from None


def begin(obj: bpy.types.Object, seeds: Iterable[int]) -> Run:
    """Begin to make variations, in place of what is being made.

    Raises:
        SteerError: They cannot be made.
    """
    current.stop()
    run = Run(obj, seeds)
    current.keep(run)
    return run


def finish(run: Run) -> str:
    """Make all variations before anything else; returns why one could not be made."""
    try:
        while run.left:
            run.step()
            local.pause()
    finally:
        current.stop()
    return run.fault
