"""What a batch has to know of scenes before it is planned."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import OutputError, SteerError
from ...core.files.plain import digest_of, reason
from ...farm.errors import JobError
from ...farm.starter import Starter
from ...farm.variations import Scene

_PAUSE = 0.02
"""Time between two looks at processes [s]."""


def look_at(
    paths: Sequence[Path], starter: Starter, known: Mapping[str, Any], at_once: int
) -> tuple[list[Scene], dict[str, Any], dict[Path, str]]:
    """What has to be known of scenes, by `steer info` in processes of their own.

    Args:
        paths: Their files.
        starter: How to start commands.
        known: What was said before, by the digest of a scene.
        at_once: How many processes run at once.

    Returns:
        The scenes, what was said by digest, and the fault of each scene that cannot be used.
    """
    digests, faults = dict[Path, str](), dict[Path, str]()
    for path in paths:
        try:
            digests[path] = digest_of(path)
        except OSError as error:
            faults[path] = f"{path} cannot be read: {reason(error)}"
    said = {digests[p]: known[digests[p]] for p in digests if digests[p] in known}
    waiting = [path for path in digests if digests[path] not in said]
    running: dict[Path, Any] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                path = waiting.pop(0)
                running[path] = _start(path, starter)
            for path, process in list(running.items()):
                if process.poll() is not None:
                    del running[path]
                    _hear(path, process, digests[path], said, faults)
            time.sleep(_PAUSE)
    finally:
        for process in running.values():
            process.kill()
            process.communicate()
    found = []
    for path in digests:
        if path not in faults:
            try:
                found.append(Scene.from_info(path, digests[path], said[digests[path]]))
            except SteerError as error:
                faults[path] = str(error)
    return found, said, faults


def _start(path: Path, starter: Starter) -> Any:
    try:
        return starter.open(
            ["info", str(path), "--json"], {}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise OutputError(f"{starter.prefix[0]} cannot be started: {reason(error)}") from None


def _hear(
    path: Path, process: Any, digest: str, said: dict[str, Any], faults: dict[Path, str]
) -> None:
    text = process.stdout.read()
    process.stdout.close()
    process.stdin.close()
    try:
        answer = json.loads(text.splitlines()[-1])
        if process.returncode:
            raise JobError(answer["error"])
        said[digest] = answer
    except JobError as error:
        faults[path] = str(error)
    except (ValueError, IndexError, KeyError, TypeError):
        faults[path] = f"{path} cannot be looked at: `steer info` ended with {process.returncode}"
