"""All formats that a crowd is exported to, and what the operator and the command line share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ...core import cache as caches
from ...core.diagnoses import Diagnosis, diagnose
from ...core.results import roster
from ..bake import status
from ..crowd import baked_file
from ..crowd.properties import bake_settings_of
from ..display import display
from ..live import sessions, simulate
from ..writing import files, mesh_cache, usd_points
from . import alembic, keyed, trajectories, usd_instancer
from .names import FORMATS, Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.results.frames import Frame

__all__ = ["FORMATS", "Format", "Job", "Result", "default_name", "export_crowd"]

Progress = Callable[[float], None]


class Result(NamedTuple):
    """Result of an export.

    Attributes:
        path: The file.
        frames: Frames in it.
        agents: Agents in it.
        seconds: Time that it took, simulation included.
        size: Its size [bytes].
    """

    path: Path
    frames: int
    agents: int
    seconds: float
    size: int


class Job:
    """A crowd with the frames to export: from its bake where that holds them, or simulated now."""

    def __init__(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        numbers: range,
        progress: Progress,
        warnings: list[Diagnosis],
        *,
        anew: bool = False,
    ) -> None:
        """Begin.

        Args:
            obj: The crowd.
            scene: Its scene.
            numbers: Frames to export.
            progress: Is told the share done, 0 to 1.
            warnings: Filled with what the user may want to change.
            anew: Simulate even where there is a bake.
        """
        self.obj, self.scene, self.numbers = obj, scene, numbers
        self._progress, self._warnings = progress, warnings
        self.header = files.Header(obj.name, sessions.fps_of(scene), numbers[0], numbers[-1])
        self.cache = None if anew else _cache_of(obj, numbers)
        self.agents = 0
        """The most agents that a frame had."""
        self._sources: list[Any] = []

    def close(self) -> None:
        """End a simulation that was not run to its end."""
        for source in self._sources:
            source.close()

    def frames(self) -> Iterator[Frame]:
        """The frames, one by one."""
        source = self._source()
        self._sources.append(source)
        for done, frame in enumerate(source, 1):
            self.agents = max(self.agents, len(frame.id))
            yield frame
            self._progress(done / len(self.numbers))

    def _source(self) -> Any:
        if self.cache is not None:
            cache = self.cache
            return (cache.frame(number) for number in self.numbers)

        return simulate.run(self.obj, self.scene, self.numbers, warnings=self._warnings)

    def ids(self) -> NDArray[np.int64] | None:
        """All identities, where the frames are at hand; None while they are simulated."""
        if self.cache is None:
            return None
        return roster.everybody(self.cache.frame(number) for number in self.numbers)


def _cache_of(obj: bpy.types.Object, numbers: range) -> Any:
    """The cache that a crowd plays, where it holds these frames; None otherwise."""
    played = baked_file.file_of(obj)
    if played is None or not (played.parent / caches.MANIFEST).is_file():
        return None
    cache = caches.open_cache(played.parent)
    held = cache.frames
    return cache if numbers[0] in held and numbers[-1] in held else None


def _age(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[Diagnosis]:
    """Diagnoses of a bake that is exported."""
    found = status.status(obj, scene)
    if found is None or found.out_of_date is None:
        return []
    return [diagnose("EXPORT_OUT_OF_DATE", **found.out_of_date.values)]


def _points(job: Job, path: Path) -> int:
    return usd_points.write_points(job.frames(), path, job.header)


def _instancer(job: Job, path: Path) -> int:
    frames = job.frames()
    ids, start = job.ids(), []
    if ids is None:
        start = [next(frames)]
        ids = start[0].id
    coming = chain(start, frames)
    return usd_instancer.write_instancer(coming, path, job.header, job.obj, job.scene, ids)


def _alembic(job: Job, path: Path) -> int:
    return alembic.write_alembic(job.frames(), path, job.header, job.scene)


def _mdd(job: Job, path: Path) -> int:
    return mesh_cache.write_mdd(job.frames(), path, job.header, ids=job.ids())


def _pc2(job: Job, path: Path) -> int:
    return mesh_cache.write_pc2(job.frames(), path, job.header, ids=job.ids())


def _trajectories(job: Job, path: Path) -> int:
    return trajectories.write_trajectories(job.frames(), path, job.header)


def _keyed(job: Job) -> dict[str, Any]:
    """The source that every agent copies, and the keys it gets, as in a keyframe bake."""
    steer, modifier = job.obj.steer, display.require_modifier(job.obj)
    shown = display.get_input(modifier, "Display")
    named = display.get_input(modifier, shown) if shown in ("Object", "Collection") else None
    return {
        "source": steer.bake_source_object or steer.bake_source_collection or named,
        "scale": display.get_input(modifier, "Scale"),
        "settings": bake_settings_of(job.obj),
    }


def _objects(job: Job, path: Path) -> int:
    return keyed.write_keyed(list(job.frames()), path, job.header, job.scene, **_keyed(job))


_WRITERS: dict[str, Callable[[Job, Path], int]] = {
    "usd": _points,
    "pointinstancer": _instancer,
    "alembic": _alembic,
    "mdd": _mdd,
    "pc2": _pc2,
    "csv": _trajectories,
    "glb": _objects,
    "fbx": _objects,
}
"""Writers by format; each returns the number of frames."""


def default_name(obj: bpy.types.Object, chosen: Format) -> str:
    """File name of an export: that of the .blend file, the crowd's, and the ending.

    The two kinds of USD and the crowds of a file do not get in each other's way.
    """
    parts = [files.safe_name(obj.name)]
    if bpy.data.filepath:
        parts.insert(0, files.safe_name(Path(bpy.data.filepath).stem))
    if chosen.name == "pointinstancer":
        parts.append("instances")
    return "_".join(parts) + chosen.suffix


def export_crowd(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    chosen: Format,
    path: Path,
    *,
    numbers: range,
    progress: Progress = lambda share: None,
    warnings: list[Diagnosis] | None = None,
    anew: bool = False,
) -> Result:
    """Export a crowd.

    Args:
        obj: The crowd.
        scene: Its scene, which stays as it is.
        chosen: The format.
        path: File to write; an earlier one is replaced only by a complete one.
        numbers: Frames to export.
        progress: Is told the share done, 0 to 1.
        warnings: Filled with what the user may want to change.
        anew: Simulate even where there is a bake.

    Raises:
        SteerError: The crowd cannot be simulated, or the file not be written.
    """
    start = time.perf_counter()
    told = [] if warnings is None else warnings
    job = Job(obj, scene, numbers, progress, told, anew=anew)
    if job.cache is not None:
        told += _age(obj, scene)
    with closing(job):
        count = _WRITERS[chosen.name](job, path)
    seconds = time.perf_counter() - start
    return Result(path, count, job.agents, seconds, path.stat().st_size)
