"""Extract what crowds read from a scene into a stored world, which simulates without Blender."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis, add_new
from ...core.errors import SceneError, SteerError
from ...core.runs.points import agents_of
from ...core.worlds import recorder
from ...core.worlds.arrays import ArrayWriter
from ...core.worlds.recorder import CrowdRecorder, Read
from ...version import __version__
from ..checks import advice
from ..crowd import casting, links
from ..crowd.crowds import crowds
from ..crowd.properties import settings_of
from ..crowd.state import plays_back
from ..live import simulate
from ..reading.scene import WorldReader
from ..reading.scene_agents import read_points
from ..reading.scene_inputs import needs_frames
from ..unchanging import unchanging


@dataclass(eq=False)
class _Extracted:
    """A crowd with what is recorded of it.

    Attributes:
        crowd: The crowd.
        recorder: What is recorded.
        last: The last frame that is recorded.
        base: Number of the settings that other crowds see.
        names: Names of its characters.
        keyed: Whether others see its settings as they are keyed.
    """

    crowd: bpy.types.Object
    recorder: CrowdRecorder
    last: int
    names: tuple[str, ...]
    keyed: bool
    base: int = 0
    _named: tuple[CrowdSettings | None, CrowdSettings | None] = (None, None)

    def read(
        self, number: int, settings: CrowdSettings, world: Any, warnings: Sequence[Diagnosis]
    ) -> Read:
        """What it reads at a frame; the settings get the names of all characters."""
        if settings is not self._named[0]:
            self._named = settings, self.named(settings)
        named = self._named[1]
        assert named is not None
        return Read(number, named, world, warnings)

    def named(self, settings: CrowdSettings) -> CrowdSettings:
        """Settings with the names of all characters, which a group may ask for in a run."""
        if settings.cast is None:
            return settings
        return replace(settings, cast=replace(settings.cast, names=self.names))


class Extraction:
    """Crowds of a scene on their way into a stored world.

    Attributes:
        warnings: Diagnoses of what was read.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        wanted: Sequence[tuple[bpy.types.Object, range]],
        arrays: ArrayWriter,
    ) -> None:
        """Begin.

        Args:
            scene: The scene.
            wanted: The crowds, each with the frames that are written where none are asked for.
            arrays: Where their numbers go.
        """
        self.warnings: list[Diagnosis] = []
        self._scene, self._arrays = scene, arrays
        self._ranges = {crowd.session_uid: frames for crowd, frames in wanted}
        self._found: dict[int, _Extracted] = {}
        runs = simulate.runs_for(crowd for crowd, _ in wanted)
        lasts = [max(self._ranges[c.session_uid][-1] for c in given) for _, given in runs]
        # a crowd that is met in several runs is recorded in the longest
        self._runs = sorted(zip(runs, lasts, strict=True), key=lambda run: -run[1])

    @property
    def total(self) -> int:
        """Number of frames of all runs."""
        starts = [
            min(member.steer.frame_start for member in links.linked_crowds(root))
            for (root, _), _ in self._runs
        ]
        return sum(last - start + 1 for start, (_, last) in zip(starts, self._runs, strict=True))

    def steps(self) -> Generator[int, None, None]:
        """Read all frames; yields the number of each.

        Raises:
            SteerError: A crowd cannot be simulated, or plays a bake.
        """
        for (root, given), last in self._runs:
            with closing(self._run(root, given, last)) as numbers:
                yield from numbers

    def _run(
        self, root: bpy.types.Object, given: list[bpy.types.Object], last: int
    ) -> Generator[int, None, None]:
        with unchanging():
            group = simulate.SceneGroup([root, *given], self._scene)
            _check_bakes(group)
            moving = needs_frames(root)
            own = [crowd for crowd in group.members if crowd.session_uid not in self._found]
            for crowd in own:
                self._begin(crowd, group, last)
        starts = {crowd.steer.frame_start for crowd in group.members}
        readers: dict[int, WorldReader] = {}
        try:
            for number in range(min(starts), last + 1):
                if group.depsgraph is None or moving or number in starts:
                    group.depsgraph = group.stage.at(number)
                with unchanging():
                    for crowd in list(group.members):
                        self._advance(
                            group, crowd, number, starts, readers, moving and crowd in own
                        )
                yield number
        finally:
            group.stage.close()

    def _begin(self, crowd: bpy.types.Object, group: simulate.SceneGroup, last: int) -> None:
        found = self._found[crowd.session_uid] = _Extracted(
            crowd,
            CrowdRecorder(self._arrays),
            max(crowd.steer.frame_start, min(crowd.steer.frame_end, last)),
            tuple(casting.character_names(crowd)),
            group.stage.stand_ins is None,
        )
        found.base = found.recorder.settings(found.named(settings_of(crowd)))

    def _advance(
        self,
        group: simulate.SceneGroup,
        crowd: bpy.types.Object,
        number: int,
        starts: set[int],
        readers: dict[int, WorldReader],
        read: bool,
    ) -> None:
        """Record what a crowd reads at a frame."""
        found, start = self._found[crowd.session_uid], crowd.steer.frame_start
        if number in starts and number <= start:
            try:
                reader = self._start(group, found, number)
            except SteerError:
                if crowd.session_uid in group.needed:
                    raise
                # the others do without it
                group.members.remove(crowd)
                if not found.recorder.begun(start):
                    del self._found[crowd.session_uid]
                return
            if number == start:
                readers[crowd.session_uid] = reader
                group.started(crowd)
        elif read and start < number <= found.last:
            settings = group.settings_at(crowd)
            reader = readers[crowd.session_uid]
            world = reader.read(
                crowd, group.depsgraph, group.fps, group.stage.stand_ins, _with_areas(settings)
            )
            add_new(self.warnings, reader.warnings)
            found.recorder.frame(found.read(number, settings, world, reader.warnings))

    def _start(self, group: simulate.SceneGroup, found: _Extracted, number: int) -> WorldReader:
        """Record the points of a crowd at its first frame, or where others see it before."""
        crowd, settings = found.crowd, group.settings_at(found.crowd)
        points = read_points(crowd, group.depsgraph, settings, evaluated=group.evaluated(crowd))
        agents_of(points, settings, crowd.name)
        reader = WorldReader()
        world = reader.read(
            crowd, group.depsgraph, group.fps, group.stage.stand_ins, _with_areas(settings)
        )
        if not found.recorder.begun(number):
            seen = [*advice.of_run(crowd), *reader.warnings]
            add_new(self.warnings, seen)
            read = found.read(number, settings, world, seen)
            found.recorder.begin(read, points, starts=number == crowd.steer.frame_start)
        return reader

    def to_dict(self, file: str) -> dict[str, Any]:
        """What the manifest says of all; the numbers are complete then.

        Args:
            file: Name of the file that the scene is of.
        """
        # in the order in which they are asked for, which is that of reports
        asked = [self._found[uid] for uid in self._ranges]
        found = [*asked, *(one for one in self._found.values() if one not in asked)]
        numbers = {one.crowd.session_uid: k for k, one in enumerate(found)}
        scenes = {scene: k for k, one in enumerate(found) for scene in one.crowd.users_scene}
        beside = {crowd.session_uid for scene in scenes for crowd in crowds(scene)}
        order = {scene: k for k, scene in enumerate(scenes)}
        rows = [self._row(one, numbers, order) for one in found]
        return {
            "steer": __version__,
            "file": file,
            "scene": self._scene.name,
            "fps": simulate.fps_of(self._scene),
            "complete": beside <= numbers.keys(),
            "arrays": self._arrays.finish(),
            "crowds": rows,
        }

    def _row(
        self, found: _Extracted, numbers: Mapping[int, int], scenes: Mapping[Any, int]
    ) -> dict[str, Any]:
        crowd = found.crowd
        met = crowd.steer.meets_collection
        inside = () if met is None else [o.session_uid for o in met.all_objects]
        own = range(crowd.steer.frame_start, found.last + 1)
        frames = self._ranges.get(crowd.session_uid, own)
        return {
            "name": crowd.name,
            "name_full": crowd.name_full,
            "chosen": crowd.session_uid in self._ranges,
            "baked": plays_back(crowd),
            "driving": _drives(crowd),
            "keyed": found.keyed,
            "first": own[0],
            "last": own[-1],
            "default": [frames[0], frames[-1]],
            "scenes": sorted(scenes[scene] for scene in crowd.users_scene),
            "met": sorted(numbers[uid] for uid in set(inside) & numbers.keys()),
            "steers_by": [
                [*key, numbers[other.session_uid]]
                for key, other in links.crowd_slots(crowd).items()
                if other.session_uid in numbers
            ],
            "base": found.base,
            **found.recorder.to_dict(),
        }


def _with_areas(settings: CrowdSettings) -> CrowdSettings:
    """Settings with which areas are read: a run may find ways where the crowd did not."""
    if settings.ways.ways != "NONE":
        return settings
    return replace(settings, ways=replace(settings.ways, ways="AROUND"))


def _drives(crowd: bpy.types.Object) -> bool:
    """Whether a driver anywhere reads settings of a crowd, so that these may change the scene."""
    users = bpy.data.user_map(subset={crowd})[crowd] | {crowd}
    found = [getattr(user, "animation_data", None) for user in users]
    drivers = [curve.driver for data in found if data is not None for curve in data.drivers]
    return any(
        target.id == crowd and target.data_path.startswith("steer.")
        for driver in drivers
        for variable in driver.variables
        for target in variable.targets
    )


def _check_bakes(group: simulate.SceneGroup) -> None:
    """Refuse crowds that a run meets as their bake has them.

    Raises:
        SceneError: There is one.
    """
    for crowd in group.members:
        if crowd.session_uid in group.bakes:
            raise SceneError(
                f"Crowd {crowd.name!r} plays a bake, which a world cannot hold: extract it too, so "
                "that it is simulated, or unlink its bake"
            )


def extract(
    scene: bpy.types.Scene,
    wanted: Sequence[tuple[bpy.types.Object, range]],
    path: Path,
    file: str,
    passed: Callable[[Generator[int, None, None], int], Any],
) -> list[Diagnosis]:
    """Write what crowds read to a stored world, which is there as a whole at the end or not at all.

    Args:
        scene: The scene of the crowds.
        wanted: The crowds, each with its frames.
        path: The folder of the world; an earlier world there is replaced.
        file: Name of the file that the scene is of.
        passed: Goes through the frames, whose count follows, and reports progress.

    Returns:
        Diagnoses of what was read.

    Raises:
        SteerError: A crowd cannot be extracted, or the world cannot be written.
    """
    with recorder.new_world(path) as folder:
        arrays = ArrayWriter(folder)
        try:
            extraction = Extraction(scene, wanted, arrays)
            with closing(extraction.steps()) as steps:
                passed(steps, extraction.total)
            recorder.write_manifest(folder, extraction.to_dict(file))
        finally:
            arrays.close()
    return extraction.warnings
