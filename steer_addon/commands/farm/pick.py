"""Save the scene of one variation of a batch, with its settings, to go on with it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...blender.checks import advice
from ...blender.headless import batch
from ...core.diagnoses import Diagnosis, add_new
from ...farm.books import VARIATION
from ...farm.errors import JobError
from ...farm.report.gather import variation
from .. import arguments
from ..output import Result

NAME = "pick"
_MOST = 1_000_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "report",
        metavar="REPORT",
        type=arguments.path,
        help="folder of the results of a batch, or the report in it",
    )
    parser.add_argument(
        "number", type=arguments.whole_number(_MOST), help="number of the variation in the report"
    )
    parser.add_argument(
        "--scene",
        metavar="FILE.blend",
        type=arguments.path,
        help="the scene, where it is not any more where the batch found it",
    )
    parser.add_argument(
        "--save", metavar="FILE.blend", type=arguments.path, required=True, help="file to save"
    )


def run(options: argparse.Namespace) -> Result:
    """Open the scene, change its crowds as the batch did, and save it."""
    start = time.perf_counter()
    out = options.report if options.report.is_dir() else options.report.parent
    row = variation(out, options.number)
    given = _Given(row, out / row["name"] / VARIATION)
    # the batch, which may run again, reads its scene as it is
    found = options.scene or given.scene
    batch.check_new_file(options.save, ".blend", [given.scene, found])
    scene = batch.open_file(found)
    crowds = batch.find_crowds(scene, given.crowds)
    warnings: list[Diagnosis] = []
    for crowd in crowds:
        batch.override(crowd, given.set, given.seed, given.preset, scene)
        batch.frames_of(crowd, given.frames)
        # a scene that was moved may have lost what it links
        add_new(warnings, advice.of_run(crowd))
    scene.frame_start, scene.frame_end = given.frames[0], given.frames[-1]
    batch.save_file(options.save)
    data = {
        "command": "pick",
        "number": options.number,
        "name": row["name"],
        "crowds": [crowd.name for crowd in crowds],
        "seconds": round(time.perf_counter() - start, 3),
        "warnings": warnings,
        "outputs": [str(options.save)],
    }
    return Result(data, [*warnings, f"{options.save}: variation {options.number}, {row['name']}"])


class _Given:
    """What a file says of a variation; it may be anybody's.

    Attributes:
        scene: File of its scene.
        crowds: Names of its crowds.
        preset: Its preset; None for none.
        seed: Its seed; None for that of each crowd.
        set: Changes of settings.
        frames: Its frames.
    """

    def __init__(self, row: Mapping[str, Any], path: Path) -> None:
        """Check it.

        Raises:
            JobError: It says something else than a batch writes.
        """
        self._row, self._path = row, path
        self.scene = Path(self._text("scene"))
        self.crowds = self._texts("crowds")
        self.preset = None if row.get("preset") is None else self._text("preset")
        self.seed = None if row.get("seed") is None else self._whole("seed")
        self.set = self._texts("set")
        self.frames = range(self._whole("frame_start"), self._whole("frame_end") + 1)
        if not self.frames:
            raise self._fault("frame_end")

    def _fault(self, name: str) -> JobError:
        return JobError(f"{self._path} says nothing of {name}: run `steer batch` again")

    def _text(self, name: str) -> str:
        value = self._row.get(name)
        if not isinstance(value, str) or not value or "\0" in value:
            raise self._fault(name)
        return value

    def _texts(self, name: str) -> list[str]:
        value = self._row.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._fault(name)
        return list(value)

    def _whole(self, name: str) -> int:
        value = self._row.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**31:
            raise self._fault(name)
        return value
