"""The pipeline of all commands that run the crowds of a .blend file, or of a stored world.

The file is opened, its crowds are found, and the settings of all are changed for this run, before
any is run: crowds that meet depend on one another. Of the rows that come of it a report is made.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..blender.checks import advice
from ..blender.crowd import links, properties
from ..blender.headless import batch
from ..blender.live import played, simulate
from ..blender.writing import files
from ..core.compiled import jit
from ..core.crowd.meets import Relation
from ..core.crowd.settings import CrowdSettings
from ..core.diagnoses import Diagnosis, add_new, diagnose
from ..core.errors import ParameterError, UncompiledError
from ..core.results.metric_crowds import Bodies
from ..core.ways.ahead.progress import watch
from .output import ProgressLine, Result, WaysLine

if TYPE_CHECKING:
    import bpy

Row = dict[str, Any]
"""Report of one crowd."""
T = TypeVar("T")


class Job(NamedTuple):
    """A crowd that is ready to run.

    Attributes:
        crowd: The crowd, with what the options change about it.
        settings: Its settings.
        frames: Frames to write.
        progress: Where to report.
    """

    crowd: bpy.types.Object
    settings: CrowdSettings
    frames: range
    progress: ProgressLine


def check_compiled(required: bool) -> list[Diagnosis]:
    """Why kernels run uncompiled, and simulations a hundred times slower; empty where they do not.

    Raises:
        UncompiledError: They do, and must not.
    """
    found = jit.status().diagnosis
    if found is None:
        return []
    if required:
        raise UncompiledError(diagnose("COMPILED_REQUIRED", found=found))
    return [found]


class Pipeline:
    """A .blend file that a command has opened.

    Attributes:
        options: Arguments of the command.
        scene: The scene of the file.
        crowds: The crowds to run.
        warnings: Filled with what the user may want to change.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        """Open the file and find the crowds.

        Args:
            options: As `arguments` declares them: file, crowd, frames, set, seed; save where the
                command saves a .blend file.

        Raises:
            SteerError: The file cannot be opened, has no such crowd, or nothing can be saved; or
                kernels cannot be compiled, and have to be.
        """
        self._start = time.perf_counter()
        self.options = options
        save = getattr(options, "save", None)
        if save is not None:
            batch.check_new_file(save, ".blend")
        self._open(options)
        if save is not None:
            files.check_no_input(save, files.files_read())
        watch(WaysLine(options.quiet))
        # after Blender, which needs its memory more
        self.warnings = check_compiled(options.require_compiled)

    def _open(self, options: argparse.Namespace) -> None:
        self.scene = batch.open_file(options.file)
        self.crowds: list[Any] = batch.find_crowds(self.scene, options.crowd)

    def jobs(self, doing: str) -> Iterator[Job]:
        """Get all crowds ready, and then pass them on one by one.

        Args:
            doing: The verb of the progress, such as "Baking".

        Raises:
            SteerError: A crowd has no such settings or frames.
        """
        ready = [(crowd, self._settings(crowd), self._frames(crowd)) for crowd in self.crowds]
        for crowd in self.crowds:
            add_new(self.warnings, self._advice(crowd))
        # progress begins with the work
        return (Job(*row, self.progress(f"{doing} {row[0].name}")) for row in ready)

    def _advice(self, crowd: bpy.types.Object) -> Iterable[Diagnosis]:
        """What a user may want to change about the points of a crowd, and its clips."""
        return advice.of_run(crowd)

    def progress(self, what: str) -> ProgressLine:
        """Where to report; `what` says what is done."""
        return ProgressLine(what, self.options.quiet)

    def _frames(self, crowd: bpy.types.Object) -> range:
        return batch.frames_of(crowd, self.options.frames)

    def _settings(self, crowd: bpy.types.Object) -> CrowdSettings:
        try:
            return self._override(crowd)
        except ParameterError as error:
            if len(self.crowds) == 1:
                raise
            raise ParameterError(
                f"Crowd {crowd.name!r}: {error}; --crowd chooses the crowds to change"
            ) from None

    def _override(self, crowd: bpy.types.Object) -> CrowdSettings:
        options = self.options
        return batch.override(crowd, options.set, options.seed, options.preset, self.scene)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return simulate.fps_of(self.scene)

    def run_together(self, wanted: Sequence[tuple[Any, range]], **options: Any) -> Any:
        """Simulate crowds; see `live.simulate.run_together`."""
        return simulate.run_together(wanted, self.scene, **options)

    def members(self, root: Any) -> list[Any]:
        """A crowd, first, and all that it depends on."""
        return links.linked_crowds(root)

    def touches(self, members: Sequence[Any]) -> Relation:
        """Which of some crowds touch which."""
        return links.relations_of(members)[1]

    def played(self, crowd: Any) -> Callable[[int], Bodies] | None:
        """The bodies of a crowd that plays a bake, by the frame; None for one that does not."""
        bake = played.played(crowd)
        if bake is None:
            return None
        height = properties.settings_of(crowd).body_height

        def bodies(number: int) -> Bodies:
            frame = bake.frame(number)
            return Bodies(frame.position, frame.radius, frame.alive, height)

        return bodies

    def report(
        self,
        head: Row,
        rows: list[Row],
        line: Callable[[Row], str],
        outputs: list[str],
        *,
        totals: tuple[str, ...] = ("agents",),
    ) -> Result:
        """Save the file, where the command does, and make the report of all crowds.

        Args:
            head: First entries of the JSON object.
            rows: A row for each crowd.
            line: Tells a row to people.
            outputs: Files that were written, without the saved .blend.
            totals: Columns of the rows that are added up.

        Raises:
            OutputError: The file cannot be saved.
        """
        save = getattr(self.options, "save", None)
        if save is not None:
            batch.save_file(save)
            outputs = [*outputs, str(save)]
        first = rows[0]
        data = head | {key: sum(row[key] for row in rows) for key in totals}
        data |= {key: first[key] for key in ("frames", "frame_start", "frame_end")}
        data["seconds"] = round(time.perf_counter() - self._start, 3)
        if "seconds_per_step" in first:
            data["seconds_per_step"] = first["seconds_per_step"]
        data |= {"crowds": rows, "warnings": self.warnings, "outputs": outputs}
        return Result(data, [*self.warnings, *map(line, rows)])


class StepClock:
    """Measures how long steps take to come, without what is done with them."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._last = time.perf_counter()

    def tick(self) -> None:
        """Note that a step has come."""
        now = time.perf_counter()
        self.times.append(now - self._last)
        self._last = now

    def timed(self, steps: Iterable[T]) -> Iterator[T]:
        """Pass steps on."""
        for step in steps:
            self.tick()
            yield step
            self._last = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time of all steps [s], reading the scene and compiling included."""
        return sum(self.times)

    @property
    def seconds_per_step(self) -> float:
        """Median time of a step [s]: compiling in the first one does not count."""
        return round(statistics.median(self.times[1:] or self.times or [0.0]), 9)
