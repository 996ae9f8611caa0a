"""What a task leaves: results appear whole, with a stamp by which a later run knows them.

A stamp lies in the folder of the results and comes with it by one rename. It names every file: a
folder that holds anything else is not replaced, since Steer did not write that.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.errors import FileError, OutputError
from ..core.files import lock
from ..core.files.marks import is_marked
from ..core.files.plain import is_folder, read_file, reason, rename, sync_folder
from ..core.files.staging import beside, replace_file, stage
from .errors import JobError
from .tasks import KERNELS, Task

STAMP = "task.json"
_FORMAT = "steer-task"
ABOUT_FORMAT = "steer-scene"
"""Of what `steer extract --about` writes."""
_MOST = 100_000_000
_TRIES, _PAUSE = 600, 0.05
"""Attempts to hold a folder that another process holds for the time of a few renames [s]."""


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, in place of one of the same format only.

    Raises:
        OutputError: It cannot be written, or another program's file has its name.
    """
    if os.path.lexists(path) and read_json(path, data["format"]) is None:
        raise OutputError(f"{path} is there and Steer did not write it: move it away")
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    with _as_output_errors(path):
        replace_file(path, [text.encode("utf-8", "surrogateescape")])


def read_json(path: Path, form: str) -> dict[str, Any] | None:
    """A JSON object of a format; None where there is none."""
    try:
        data = json.loads(read_file(path, most=_MOST).tobytes())
    except (FileError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and data.get("format") == form else None


def is_done(task: Task, out: Path) -> bool:
    """Whether the results of a task are there, whole and up to date."""
    stamp = _stamp(task, out / task.folder)
    if stamp is None or stamp.get("digest") != task.digest:
        return False
    return all(_size(out / task.folder / name) == size for name, size in stamp["files"].items())


def result_of(task: Task, out: Path) -> dict[str, Any]:
    """What a task that is done said of its results, as its command did with `--json`."""
    stamp = _stamp(task, out / task.folder)
    return {} if stamp is None else dict(stamp.get("result", {}))


def _stamp(task: Task, folder: Path) -> dict[str, Any] | None:
    return _stamp_in(folder / _stamp_name(task))


def _stamp_in(path: Path) -> dict[str, Any] | None:
    stamp = read_json(path, _FORMAT)
    files = None if stamp is None else stamp.get("files")
    ours = isinstance(files, dict) and all(_is_inside(name) for name in files)
    return stamp if ours else None


def _is_inside(name: str) -> bool:
    """Whether a name of a stamp, which may be anybody's, stays in its folder."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _stamp_name(task: Task) -> str:
    return f"{task.name.rpartition('/')[2]}.json" if task.shares else STAMP


def _size(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1


@contextmanager
def place_for(task: Task, out: Path) -> Iterator[Path]:
    """A new, empty folder beside the goal of a task; what is in it at the end is removed.

    Raises:
        OutputError: It cannot be made, or leads out of the folder of the batch.
    """
    above = (out / task.folder).parent
    with _as_output_errors(above):
        check_inside(out, above)
        with stage(above) as folder:
            # as deep as the goal: a .blend file refers to others by relative paths
            place = beside(folder, ".new")
            place.mkdir()
            yield place


def check_inside(out: Path, folder: Path) -> None:
    """Refuse a folder of a batch that is a link: it may lead anywhere.

    Raises:
        OutputError: It is one, or a file.
    """
    out.mkdir(parents=True, exist_ok=True)
    for path in (folder, *folder.parents):
        if path == out:
            return
        if os.path.lexists(path) and not is_folder(path):
            raise OutputError(f"{path} is no folder of its own: move it away")


def publish(task: Task, out: Path, place: Path, result: Mapping[str, Any], seconds: float) -> None:
    """Give results their names, in place of earlier results of the task.

    Args:
        task: The task.
        out: Folder of the batch.
        place: Folder with the results, from `place_for`.
        result: What its command said.
        seconds: How long it took [s].

    Raises:
        OutputError: They cannot be written, or would replace what Steer did not write.
        JobError: The command said that all is well, and left nothing.
    """
    found = {str(p.relative_to(place).as_posix()): _size(p) for p in _files(place)}
    if not found and task.kind != KERNELS:
        raise JobError(f"{task.name} has left no file: run it by hand")
    stamp = {
        "format": _FORMAT,
        "task": task.name,
        "digest": task.digest,
        "files": found,
        "seconds": round(seconds, 3),
        "result": {key: value for key, value in result.items() if key != "outputs"},
    }
    goal = out / task.folder
    with _as_output_errors(goal), _held(goal.parent):
        if is_done(task, out):
            # another one was faster, and what it left may be read by now
            return
        if task.shares:
            _publish_pictures(task, goal, place, stamp)
        else:
            _publish_folder(task, goal, place, stamp)
    sync_folder(goal.parent)


def _publish_folder(task: Task, goal: Path, place: Path, stamp: Mapping[str, Any]) -> None:
    write_json(place / STAMP, stamp)
    if os.path.lexists(goal):
        _check_ours(task, goal)
        # nobody sees half of the old results: they go to the stage, which is removed as a whole
        rename(goal, place.with_suffix(".old"))
    rename(place, goal)


def remove(folder: Path) -> bool:
    """Remove the results of a task from their folder, and the folder if nothing else is in it.

    Returns:
        Whether they are gone; a folder without a stamp stays as it is.

    Raises:
        OSError: A file cannot be removed.
    """
    stamp = _stamp_in(folder / STAMP) if is_folder(folder) else None
    if stamp is None:
        return False
    # the stamp goes last: cut short, the rest can still be removed
    for path in (folder / name for name in (*stamp["files"], STAMP)):
        # a folder that is a link leads to what is not ours
        own = path.parents[: len(path.relative_to(folder).parts)]
        with suppress(FileNotFoundError):
            if all(map(is_folder, own)):
                os.unlink(path)
    remove_empty(folder)
    return True


def remove_empty(folder: Path) -> None:
    """Remove a folder and those below it, as far as no file is in them."""
    for above, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(above)


def _check_ours(task: Task, goal: Path) -> None:
    if not is_folder(goal):
        raise OutputError(f"{goal} is no folder: move it away")
    stamp = _stamp(task, goal)
    known = {STAMP, *(stamp["files"] if stamp else ())}
    others = sorted(str(p.relative_to(goal)) for p in _files(goal))
    others = [name for name in others if Path(name).as_posix() not in known]
    if others:
        raise OutputError(f"{goal} holds {others[0]}, which no batch wrote: move it away")


def _publish_pictures(task: Task, goal: Path, place: Path, stamp: Mapping[str, Any]) -> None:
    goal.mkdir(exist_ok=True)
    for name in stamp["files"]:
        if os.path.lexists(goal / name) and not is_marked(goal / name):
            raise OutputError(f"{goal / name} is there and Steer did not make it: move it away")
    for name in stamp["files"]:
        rename(place / name, goal / name)
    write_json(goal / _stamp_name(task), stamp)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder for a moment: two machines may finish the same task at once."""
    for left in reversed(range(_TRIES)):
        try:
            held = lock.FolderLock(folder)
            break
        except OutputError:
            if not left:
                raise
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        held.release(remove=True)


def _files(folder: Path) -> list[Path]:
    """All files below a folder, those of locks left out; links are files."""
    found = []
    for above, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]
        found += [Path(above, name) for name in (*names, *links) if name != lock.NAME]
    return sorted(found)


@contextmanager
def _as_output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {reason(error)}; make room, or choose another folder"
        ) from None
