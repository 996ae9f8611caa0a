"""What a batch writes down beside its results: batch.json, and a variation.json in each folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..core.errors import OutputError
from ..core.files.lock import FolderLock
from ..core.files.plain import reason
from ..version import __version__
from .job import Batch
from .results import check_inside, read_json, write_json
from .variations import Variation, chosen_crowds, differing, settings_of

BOOK = "batch.json"
VARIATION = "variation.json"
FORMAT, VARIATION_FORMAT = "steer-batch", "steer-variation"
_VERSION = 1


def known_scenes(batch: Batch, blender: str) -> dict[str, Any]:
    """What an earlier run said of scenes, by digest and folder; nothing where versions differ."""
    book = read_json(batch.out / BOOK, FORMAT) or {}
    same = (book.get("steer"), book.get("blender")) == (__version__, blender)
    found = book.get("scenes") if same else None
    return found if isinstance(found, dict) else {}


def make_folder(out: Path) -> None:
    """Make the folder of a batch, where it is not there.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"Folder {out} cannot be made: {reason(error)}; choose another one with --out"
        ) from None


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the folder of a batch, made where it is not there, for this process alone.

    Raises:
        OutputError: Another process holds it, or it cannot be made.
    """
    make_folder(out)
    lock = FolderLock(out)
    try:
        yield
    finally:
        lock.release(remove=True)


def write(
    batch: Batch, variations: Sequence[Variation], said: Mapping[str, Any], blender: str
) -> None:
    """Write them.

    Args:
        batch: The batch.
        variations: Its variations.
        said: What `steer info` says of each scene, by digest and folder.
        blender: Version of Blender.

    Raises:
        OutputError: They cannot be written.
    """
    differ = differing(variations)
    settings: dict[tuple[str, str, str | None], Any] = {}
    for one in variations:
        told = {}
        for crowd in chosen_crowds(batch, one.scene):
            key = (one.scene.digest, crowd.name, one.preset)
            if key not in settings:
                settings[key] = settings_of(batch, crowd, one.preset).to_dict()
            seed = settings[key]["seed"] if one.seed is None else one.seed
            told[crowd.name] = {**settings[key], "seed": seed}
        row = {**_row(batch, one, differ[one.name]), "settings": told}
        folder = batch.out / one.name
        check_inside(batch.out, folder)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"Folder {folder} cannot be made: {error.strerror}") from None
        _write_if_new(folder / VARIATION, {"format": VARIATION_FORMAT, **row})
    book = {
        "format": FORMAT,
        "version": _VERSION,
        "steer": __version__,
        "blender": blender,
        "make": list(batch.job.make),
        "variations": [_row(batch, one, differ[one.name]) for one in variations],
        "scenes": dict(said),
        "settings": list(settings.values()),
    }
    _write_if_new(batch.out / BOOK, book)


def _write_if_new(path: Any, data: dict[str, Any]) -> None:
    if read_json(path, data["format"]) != data:
        write_json(path, data)


def _row(batch: Batch, one: Variation, differs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number": one.number,
        "name": one.name,
        "scene": str(one.scene.path),
        "preset": one.preset,
        "seed": one.seed,
        "set": list(batch.job.set),
        "crowds": [crowd.name for crowd in chosen_crowds(batch, one.scene)],
        "frame_start": one.frames[0],
        "frame_end": one.frames[-1],
        "make": list(batch.job.make),
        "differs": dict(differs),
    }
