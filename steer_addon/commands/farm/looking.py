"""What a batch has to know of scenes before it is planned."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ...core.errors import OutputError, SteerError
from ...core.files.plain import digest_if_there, digest_of, reason
from ...farm.errors import JobError
from ...farm.results import ABOUT_FORMAT, read_json
from ...farm.starter import Starter
from ...farm.tasks import ABOUT, Task
from ...farm.variations import Scene
from ...farm.work import Work

_PAUSE = 0.02
"""Time between two looks at processes [s]."""


class Look:
    """Looks at scenes, by `steer info` in processes of their own, or by tasks that read them.

    Attributes:
        said: What `steer info` says of each scene, by `key_of` it.
        faults: Why scenes cannot be used.
        begun: Tasks that go on once it is known what their scene is.
    """

    def __init__(self, paths: Sequence[Path], known: Mapping[str, Any]) -> None:
        """Find what is known.

        Args:
            paths: Files of scenes.
            known: What was said before, likewise.
        """
        self.faults: dict[Path, str] = {}
        self.begun: list[Work] = []
        self._digests: dict[Path, str] = {}
        for path in paths:
            try:
                self._digests[path] = digest_of(Path(os.path.realpath(path)))
            except OSError as error:
                self.faults[path] = f"{path} cannot be read: {reason(error)}"
        self._keys = {path: key_of(path, digest) for path, digest in self._digests.items()}
        found = self._keys.values()
        # scenes share characters and their textures
        once = cache(digest_if_there)
        self.said = {k: known[k] for k in found if k in known and _is_as_before(known[k], once)}

    @property
    def unknown(self) -> dict[Path, str]:
        """Scenes that have to be looked at, with their digests."""
        return {path: d for path, d in self._digests.items() if self._keys[path] not in self.said}

    def run(
        self,
        starter: Starter,
        at_once: int,
        read: Callable[[Path], Work | None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[Scene]:
        """Look at what is unknown; returns the scenes that can be used.

        Args:
            starter: How to start commands.
            at_once: How many processes run at once, and how many tasks begin.
            read: Begins with the task that reads a scene; gives None where there is none.
            meanwhile: Done once while the first processes start.
        """
        waiting, running = list(self.unknown), dict[Path, Any]()
        try:
            while waiting or running:
                going = sum(work.runs for work in self.begun)
                while waiting and len(running) + going < at_once:
                    path = waiting.pop(0)
                    works = [one for one in running.values() if isinstance(one, Work)]
                    # each holds files open until the batch runs
                    full = len(works) + len(self.begun) >= at_once
                    work = None if read is None or full else read(path)
                    running[path] = work or _start(path, starter)
                if meanwhile is not None:
                    meanwhile()
                    meanwhile = None
                for path, process in list(running.items()):
                    if isinstance(process, Work):
                        self._follow(path, process, running, starter)
                    elif process.poll() is not None:
                        del running[path]
                        _hear(path, process, self._keys[path], self.said, self.faults)
                time.sleep(_PAUSE)
        finally:
            for process in running.values():
                if isinstance(process, Work):
                    process.drop()
                else:
                    process.kill()
                    process.communicate()
        return self._scenes()

    def _follow(self, path: Path, work: Work, running: dict[Path, Any], starter: Starter) -> None:
        """See what a task says of its scene; one that fails says less than `steer info` does."""
        ended = not work.runs
        told = read_json(work.place / ABOUT, ABOUT_FORMAT)
        if told is not None:
            del running[path]
            self.said[self._keys[path]] = told
            self.begun.append(work)
        elif ended:
            work.drop()
            running[path] = _start(path, starter)

    def _scenes(self) -> list[Scene]:
        found = []
        for path, digest in self._digests.items():
            if path not in self.faults:
                try:
                    found.append(Scene.from_info(path, digest, self.said[self._keys[path]]))
                except SteerError as error:
                    self.faults[path] = str(error)
        return found

    def given(self, tasks: Mapping[str, Task]) -> Iterator[Work]:
        """Hand over what has begun, where it is one of these tasks.

        The files that a scene links from, which count for the digest, are known only now: the
        command that has begun said itself which they are.
        """
        for work in list(self.begun):
            task = tasks.get(work.task.name)
            if task is not None and task == replace(work.task, digest=task.digest):
                work.task = task
                self.begun.remove(work)
                yield work

    def close(self) -> None:
        """End what has begun and was not handed over, and leave nothing of it."""
        while self.begun:
            self.begun.pop().drop()


def key_of(path: Path, digest: str) -> str:
    """What a scene is known by: a copy in another folder may read other files."""
    return f"{digest} {path.absolute().parent}"


def _is_as_before(told: Any, digest: Callable[[Path], str]) -> bool:
    """Whether the files that a scene reads are as they were when it was looked at."""
    try:
        files = {**told["linked"], **told["images"]}
        return all(digest(Path(path)) == was for path, was in files.items())
    except (AttributeError, KeyError, TypeError):
        return False


def _start(path: Path, starter: Starter) -> Any:
    try:
        return starter.open(
            ["info", str(path), "--json"], {}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise OutputError(f"{starter.prefix[0]} cannot be started: {reason(error)}") from None


def _hear(
    path: Path, process: Any, key: str, said: dict[str, Any], faults: dict[Path, str]
) -> None:
    text = process.stdout.read()
    process.stdout.close()
    process.stdin.close()
    try:
        answer = json.loads(text.splitlines()[-1])
        if process.returncode:
            raise JobError(answer["error"])
        said[key] = answer
    except JobError as error:
        faults[path] = str(error)
    except (ValueError, IndexError, KeyError, TypeError):
        faults[path] = f"{path} cannot be looked at: `steer info` ended with {process.returncode}"
