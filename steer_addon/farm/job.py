"""Job files: what a batch makes, as a TOML file that is checked before anything runs.

A job file is data from anywhere: nothing in it is executed, its results stay below its own folder
unless the command line says otherwise, and it is counted before it is expanded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

from .. import words
from ..core.crowd import presets
from ..core.doors import tomllib
from ..core.errors import FileError, PresetError, short
from ..core.files.plain import read_file
from .errors import JobError
from .schema import as_typed, key, list_of, one_of, read_table, text, whole

MAX_BYTES = 1_000_000
MOST_VARIATIONS = 10_000
"""Nobody picks from more by looking; a mistake in a range of seeds is likelier."""
MOST_TASKS = 100_000
MAKES = ("cache", "usd", "keyframes", "csv", "render")
"""What can be made of a simulation, in the order of its tasks."""
_MOST_ENTRIES = 1000
_DEEPEST = 4
"""Names with dots are tables in tables: behavior, parameter, and what a behavior's name holds."""
_FORBIDDEN = re.compile(r"[;|&$`<>\"\\*?{}\x00-\x1f\x7f]")
"""What a shell or the format of a farm's templates may take for more than a letter of a name."""
_SEEDS = re.compile(r"(-?\d{1,20})(?:-(-?\d{1,20}))?")


def plain_name(name: str, value: Any) -> str:
    """A name or path that means the same in every shell and farm."""
    given = text(name, value)
    found = _FORBIDDEN.search(given)
    if found is not None:
        raise JobError(
            f"{name} is {short(given)}: {short(found[0])} is not allowed in names, since a shell "
            "or a farm may take it for a command; rename it"
        )
    return given


def seed_ranges(name: str, value: Any) -> tuple[range, ...]:
    """Seeds from a list of numbers and ranges, or a text like "1-8,12"; nothing is expanded."""
    given = value if isinstance(value, list) else str(value).split(",") if value != "" else []
    if len(given) > MOST_VARIATIONS:
        raise JobError(f"{name} has {len(given)} entries: give at most {MOST_VARIATIONS}")
    if not given or isinstance(value, (dict, bool, float)):
        raise JobError(f'{name} is {short(value)}: give seeds such as [1, 2, 5] or "1-8,12"')
    return tuple(_seeds(name, one) for one in given)


def _seeds(name: str, value: Any) -> range:
    match = _SEEDS.fullmatch(str(value).strip())
    if match is None or isinstance(value, (bool, float)):
        raise JobError(f'{name} holds {short(value)}: give a number or a range such as "1-8"')
    first, last = int(match[1]), int(match[1] if match[2] is None else match[2])
    if last < first:
        raise JobError(f"{name} holds {short(value)}: give A-B with A <= B")
    if not -(2**31) <= first <= last < 2**31:
        raise JobError(f"{name} holds {short(value)}: give whole numbers of 32 bits")
    return range(first, last + 1)


def overrides(name: str, value: Any) -> tuple[str, ...]:
    """Changes of settings in the words of `--set`; tables in the table are names with dots."""
    return tuple(f"{path}={_as_text(f'{name}.{path}', v)}" for path, v in _flat(name, value, 1))


def _flat(name: str, value: Any, depth: int) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise JobError(f"{name} is {short(value)}: give a table, such as [{name}]")
    if depth > _DEEPEST:
        raise JobError(f"{name} is nested too deep: write names such as separation.weight = 2")
    found: list[tuple[str, Any]] = []
    for given, entry in value.items():
        path = plain_name(name, given)
        inner = _flat(f"{name}.{path}", entry, depth + 1) if isinstance(entry, Mapping) else []
        found += [(f"{path}.{rest}", v) for rest, v in inner]
        found += [] if isinstance(entry, Mapping) else [(path, entry)]
    if len(found) > _MOST_ENTRIES:
        raise JobError(f"{name} has {len(found)} entries: give at most {_MOST_ENTRIES}")
    return found


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return plain_name(name, value)


@dataclass(frozen=True)
class RenderSettings:
    """How pictures are made."""

    engine: str = key("CYCLES", one_of(words.ENGINES, str.upper), "CYCLES, WORKBENCH or EEVEE")
    samples: int = key(16, whole(1, words.MOST_SAMPLES), "samples per pixel")
    size: str = key(
        "640x360",
        as_typed(words.picture_size, keep_text=True),
        "width and height in pixels, or a share such as 50% of the file's own size",
    )
    chunk: int = key(50, whole(1, words.LAST_FRAME), "frames that one task renders")


@dataclass(frozen=True)
class Job:
    """A job file. Paths are relative to its folder."""

    scenes: tuple[str, ...] = key(
        MISSING, list_of(plain_name, _MOST_ENTRIES), ".blend files with crowds"
    )
    crowds: tuple[str, ...] = key(
        (), list_of(plain_name, _MOST_ENTRIES), "names of crowds; all crowds of a file by default"
    )
    presets: tuple[str, ...] = key(
        (),
        list_of(plain_name, _MOST_ENTRIES),
        "presets to try, by name or as .json files; without it crowds are as their file has them",
    )
    seeds: tuple[range, ...] = key(
        (), seed_ranges, 'seeds to try, such as [1, 2, 5] or "1-8,12"; a crowd\'s own by default'
    )
    frames: range | None = key(
        None, as_typed(words.frame_range), 'frames such as "1-250"; a crowd\'s range by default'
    )
    make: tuple[str, ...] = key(
        (),
        list_of(one_of(MAKES), len(MAKES)),
        "what to make of each simulation: " + ", ".join(MAKES),
    )
    out: str = key(
        "batch", plain_name, "folder for it all, below that of the job file; --out goes anywhere"
    )
    set: tuple[str, ...] = key(
        (), overrides, "settings to change, in the words of --set, such as separation.weight = 2"
    )
    render: RenderSettings = key(
        RenderSettings(),
        lambda name, value: read_table(RenderSettings, value, name),
        "how pictures are made",
    )

    @property
    def seed_count(self) -> int:
        """Number of seeds, of which some may be named twice; 1 for a crowd's own."""
        return sum(map(len, self.seeds)) or 1


@dataclass(frozen=True)
class Batch:
    """A job with its paths.

    Attributes:
        job: What the file says.
        scenes: The scenes, whole paths.
        presets: Names of presets, or whole paths of files.
        out: Folder of the results, a whole path.
    """

    job: Job
    scenes: tuple[Path, ...]
    presets: tuple[str, ...]
    out: Path


def read_job(path: Path, out: Path | None = None) -> Batch:
    """Read and check a job file; nothing is opened but presets.

    Args:
        path: The file.
        out: A folder for the results in place of the one that the file names.

    Raises:
        JobError: It cannot be used as it is.
    """
    job = read_table(Job, _loaded(path), "")
    if not job.scenes:
        raise JobError("scenes is empty: give .blend files")
    count = len(job.scenes) * max(1, len(job.presets)) * job.seed_count
    if count > MOST_VARIATIONS:
        raise JobError(
            f"the job has {short(count)} variations: give scenes, presets and seeds that make at "
            f"most {MOST_VARIATIONS}"
        )
    folder = Path(os.path.realpath(path)).parent
    return Batch(
        job,
        tuple(Path(os.path.normpath(folder / scene)) for scene in job.scenes),
        tuple(_preset(name, folder) for name in job.presets),
        _out_folder(job, folder) if out is None else Path(os.path.realpath(out)),
    )


def _loaded(path: Path) -> Any:
    try:
        data = bytes(read_file(Path(os.path.realpath(path)), most=MAX_BYTES))
        return tomllib.loads(data.decode("utf-8"))
    except FileError as error:
        raise JobError(f"Job file {error}: give a TOML file, as docs/batches.md has one") from None
    except RecursionError:
        raise JobError(
            f"{path.name} is nested too deep: no key of a job takes such lists"
        ) from None
    except ValueError as error:
        raise JobError(f"{path.name} is no TOML: {error}") from None


def _preset(name: str, folder: Path) -> str:
    found = os.path.normpath(folder / name) if name.endswith(".json") else name
    try:
        presets.load_preset(found)
    except PresetError as error:
        raise JobError(f"presets: {error}") from None
    return found


def _out_folder(job: Job, folder: Path) -> Path:
    """The folder that a job names, links in it followed: a stranger's file stays in its folder."""
    found = Path(os.path.realpath(folder / job.out))
    if folder not in found.parents:
        raise JobError(
            f"out is {short(job.out)}, which leads out of {folder}, the folder of the job file: "
            "give a folder below it, or any folder with --out"
        )
    return found
