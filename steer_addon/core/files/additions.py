"""Files that are added beside others, which stay as they are, whoever wrote them.

A file gets its name in one step that fails where the name is taken, and never takes the place of
another one. Several runs may add to one folder: each has it for itself from its first file until it
knows whether it fails, so that none uses a file that another one then takes back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import OutputError
from .lock import NAME, FolderLock
from .plain import digest_of, is_file, is_folder, sync_folder, write_file

_PATIENCE = 60.0
"""Time after which a run that has the folder is waited for no longer [s]."""
_NAP = 0.05
_TRIES = 3
"""Attempts to lock a folder without the file of a lock, which may be gone just now."""


class Additions:
    """Files that are added to one folder; either `undo` or `complete` ends it."""

    def __init__(self, above: Path, name: str) -> None:
        """Begin; nothing is made yet.

        Args:
            above: Folder of the folder.
            name: Name of the folder; it gets a number where that is taken by what is no folder.
        """
        self._above, self._name = above, name
        self._folder: Path | None = None
        self._is_new = False
        self._lock: FolderLock | None = None
        self._made: dict[Path, tuple[int, int]] = {}

    def add(self, stem: str, sources: Mapping[str, Path], stage: Path) -> str:
        """Add files that belong together, under one name with different endings.

        Files that are there with the same bytes are used as they are. Where any of the names is
        taken by something else, all get a number.

        Args:
            stem: The name before the endings.
            sources: A file with the bytes of each, by its ending.
            stage: Folder on the disk of the goal, where files are written before they are named.

        Returns:
            The name that was chosen before the endings, with that of the folder.

        Raises:
            OSError: They cannot be written; none of them is left.
        """
        folder = self._open_folder()
        whole = {ending: self._staged(source, stage) for ending, source in sources.items()}
        number = 1
        while True:
            chosen = stem if number == 1 else f"{stem}_{number}"
            before = len(self._made)
            try:
                fits = all(self._put(whole[e], folder / f"{chosen}{e}") for e in whole)
            except BaseException:
                self._take_back(before)
                raise
            if fits:
                sync_folder(folder)
                return f"{folder.name}/{chosen}"
            self._take_back(before)
            number += 1

    def undo(self) -> None:
        """Remove the files that were made, and the folder where nothing else is in it."""
        self._take_back(0)
        self.complete()

    def complete(self) -> None:
        """Let other runs have the folder; one for which nothing could be written goes."""
        if self._lock is not None:
            self._lock.release(remove=True)
        if self._is_new and self._folder is not None:
            with suppress(OSError):
                # it stays where anything is in it
                self._folder.rmdir()
        self._lock = self._folder = None

    def _open_folder(self) -> Path:
        """The folder for this run alone, made where it is not there."""
        end, tries = time.monotonic() + _PATIENCE, _TRIES
        while self._folder is None:
            folder = self._make_folder()
            try:
                self._lock = FolderLock(folder)
            except OutputError:
                # another run has it, or has taken it back just now, or nothing can be written
                tries -= 1
                if (tries > 0 or is_file(folder / NAME)) and time.monotonic() < end:
                    time.sleep(_NAP)
                    continue
            self._folder = folder
        return self._folder

    def _make_folder(self) -> Path:
        """The folder without a lock; a link is none, as it may lead anywhere."""
        number = 1
        while True:
            path = self._above / (self._name if number == 1 else f"{self._name}_{number}")
            try:
                path.mkdir()
            except FileExistsError:
                if is_folder(path):
                    return path
                if not os.path.lexists(path):
                    # another run has taken it back just now
                    continue
            else:
                self._is_new = True
                return path
            number += 1

    def _staged(self, source: Path, stage: Path) -> Path:
        path = stage / f"addition{len(os.listdir(stage))}"
        write_file(path, [source.read_bytes()])
        return path

    def _put(self, source: Path, path: Path) -> bool:
        """Whether a file has these bytes now; False where something else has its name."""
        try:
            try:
                # unlike a renamed file, a link never takes the place of another file
                os.link(source, path)
            except FileExistsError:
                raise
            except OSError:
                # there are file systems without hard links
                _write_new(source, path)
        except FileExistsError:
            return _are_same(source, path)
        self._made[path] = _identity(path)
        return True

    def _take_back(self, first: int) -> None:
        for path in list(self._made)[first:]:
            made = self._made.pop(path)
            with suppress(OSError):
                # somebody may have put another file in its place
                if _identity(path) == made:
                    os.unlink(path)


def _write_new(source: Path, path: Path) -> None:
    try:
        write_file(path, [source.read_bytes()])
    except FileExistsError:
        raise
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def _are_same(one: Path, other: Path) -> bool:
    try:
        return is_file(other) and digest_of(one) == digest_of(other)
    except OSError:
        return False


def _identity(path: Path) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino
