"""Export of a crowd to any format, for the operator and the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ...core import cache as caches
from ...core.diagnoses import Diagnosis, diagnose
from ...core.results import roster
from ..bake import copies, keyed_crowds, status
from ..crowd import baked_file, casting
from ..crowd.properties import bake_settings_of, settings_of
from ..display import display
from ..live import simulate
from ..scene_units import meters_per_unit
from ..writing import files, mesh_cache, usd_points
from . import alembic, keyed, prototypes, textures, trajectories, usd_instancer, usd_poses
from .names import FORMATS, Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.cache import Cache
    from ...core.results.frames import Frame

__all__ = ["FORMATS", "Format", "Job", "Result", "default_name", "export_crowd", "plays"]

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
    """A crowd with the frames to export.

    Attributes:
        obj: The crowd.
        scene: Its scene.
        header: Header of the file.
        numbers: Numbers of the frames.
        frames: The frames, one by one.
        cache: The bake that they come from; None while they are simulated.
        warnings: Filled with what the user may want to act on.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        header: files.Header,
        numbers: range,
        frames: Iterator[Frame],
        cache: Cache | None,
        warnings: list[Diagnosis],
    ) -> None:
        self.obj, self.scene, self.header = obj, scene, header
        self.numbers, self.frames, self.cache = numbers, frames, cache
        self.warnings = warnings

    def ids(self) -> NDArray[np.int64] | None:
        """All identities, if the frames are baked; None while they are simulated."""
        if self.cache is None:
            return None
        return roster.everybody(self.cache.frame(number) for number in self.numbers)

    def positions(self) -> mesh_cache.Points:
        """The positions of all agents in each frame."""
        return mesh_cache.positions(self.frames, self.ids())


def plays(obj: bpy.types.Object, numbers: range) -> bool:
    """Whether a crowd plays a bake that holds these frames, so that they are not simulated."""
    return _cache_of(obj, numbers) is not None


def _cache_of(obj: bpy.types.Object, numbers: range) -> Cache | None:
    """The cache that a crowd plays, where it holds these frames; None otherwise."""
    played = baked_file.file_of(obj)
    if played is None or not os.path.lexists(played.parent / caches.MANIFEST):
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


def _instancer(job: Job, path: Path) -> int:
    shown = usd_poses.shown_by(job.obj)
    if shown is not None:
        return usd_poses.write_poses(job.frames, path, job.header, shown, job.scene, job.warnings)
    ids, frames = job.ids(), job.frames
    draws = not prototypes.choice_of(display.require_modifier(job.obj)).count
    if ids is None and draws and settings_of(job.obj).births.emits:
        # agents that are born later draw what they are shown as, too
        simulated = list(frames)
        ids, frames = roster.everybody(simulated), iter(simulated)
    elif ids is None:
        first = next(job.frames)
        ids, frames = first.id, chain([first], job.frames)
    return usd_instancer.write_instancer(
        frames, path, job.header, job.obj, job.scene, ids, job.warnings
    )


def _objects(job: Job, path: Path) -> int:
    """One keyed object per agent, with the source and the keys of a keyframe bake."""
    return keyed.write_keyed(
        list(job.frames),
        path,
        job.header,
        job.scene,
        source=keyed_crowds.source_of(job.obj),
        look=keyed_crowds.copies_look(job.obj),
        settings=bake_settings_of(job.obj),
    )


_WRITERS: dict[str, Callable[[Job, Path], int]] = {
    "usd": lambda job, path: usd_points.write_points(job.frames, path, job.header, job.warnings),
    "pointinstancer": _instancer,
    "alembic": lambda job, path: alembic.write_alembic(job.frames, path, job.header, job.scene),
    "mdd": lambda job, path: mesh_cache.write_mdd(job.positions(), path, job.header),
    "pc2": lambda job, path: mesh_cache.write_pc2(job.positions(), path, job.header),
    "csv": lambda job, path: trajectories.write_trajectories(
        job.frames, path, job.header, meters_per_unit(job.scene)
    ),
    "glb": _objects,
    "fbx": _objects,
}
"""Writers by format; each returns the number of frames."""
_STILL = ("glb", "fbx")
"""Formats that show agents as what *Display* shows, each as an object that has one shape."""
_POINTS = ("usd", "alembic", "mdd", "pc2")
"""Formats that hold agents as points, where users may look for their bodies."""


def _left_out(obj: bpy.types.Object, chosen: Format) -> list[Diagnosis]:
    """Diagnosis of characters that are not in a file of points."""
    if not casting.shown_characters(obj):
        return []
    return [diagnose("CHARACTERS_LEFT_OUT", obj.name, format=chosen.label)]


def default_name(obj: bpy.types.Object, chosen: Format) -> str:
    """File name of an export: that of the .blend file, the crowd's, and the ending.

    The two kinds of USD and the crowds of a file have names of their own.
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
    ignore_bake: bool = False,
    simulated: Iterable[Frame] | None = None,
) -> Result:
    """Export a crowd.

    Args:
        obj: The crowd.
        scene: Its scene, which stays as it is.
        chosen: The format.
        path: File to write; an earlier one is replaced only by a complete one.
        numbers: Frames to export.
        progress: Called with the completed share, 0 to 1.
        warnings: Filled with diagnoses of the scene that the user may want to act on.
        ignore_bake: Simulate even if there is a bake.
        simulated: The frames, where they were simulated with other crowds.

    Raises:
        SteerError: The crowd cannot be simulated, or the file not be written.
    """
    files.check_no_input(path, files.files_read())
    start, agents = time.perf_counter(), 0
    found = [] if warnings is None else warnings
    cache = None if ignore_bake or simulated is not None else _cache_of(obj, numbers)
    played = None if ignore_bake or cache is not None else baked_file.file_of(obj)
    if played is not None:
        given = {"first": numbers[0], "last": numbers[-1], "folder": str(played.parent)}
        found.append(diagnose("EXPORT_SIMULATED", obj.name, **given))
    source: Any
    if simulated is not None:
        source = (frame for frame in simulated)
    elif cache is None:
        source = simulate.run(obj, scene, numbers, warnings=found)
    else:
        found += _age(obj, scene)
        source = (cache.frame(number) for number in numbers)

    if chosen.name in _STILL:
        found += keyed_crowds.standing_characters(obj)
        found += textures.missing(copies.objects_in(keyed_crowds.source_of(obj)))
    elif chosen.name == "pointinstancer":
        found += usd_poses.parts_at_all(obj)
    elif chosen.name in _POINTS:
        found += _left_out(obj, chosen)

    def frames() -> Iterator[Frame]:
        nonlocal agents
        for done, frame in enumerate(source, 1):
            agents = max(agents, len(frame.id))
            yield frame
            progress(done / len(numbers))

    header = files.Header(obj.name, simulate.fps_of(scene), numbers[0], numbers[-1])
    job = Job(obj, scene, header, numbers, frames(), cache, found)
    with closing(source):
        count = _WRITERS[chosen.name](job, path)
    seconds = time.perf_counter() - start
    return Result(path, count, agents, seconds, path.stat().st_size)
