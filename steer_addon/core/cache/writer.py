"""Writer of a cache: a chunk is complete on the disk, or it is not there.

A thread of its own writes a full chunk while the simulation continues with the next one.
Its files are made in a folder of a temporary name; that folder is renamed, and only then the
manifest is replaced by one that knows of it. Wherever the process ends in between, the
manifest describes the existing files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..agents import Agents
from ..diagnoses import diagnose
from ..errors import CacheError, OutputError
from ..files.lock import FolderLock
from ..files.plain import is_folder, reason, rename, sync_folder
from ..results.frames import Frame
from .chunks import States, write_chunk
from .cleaning import (
    check_own,
    delete_cache,
    folders_in,
    listed_played,
    make_bake_folder,
    remove_chunk,
    remove_unknown,
)
from .layout import (
    BAKE,
    CHUNK,
    MANIFEST,
    MOST_AGENTS,
    NEXT,
    PARTIAL,
    CacheHeader,
    Chunk,
    chunk_frames,
    ends_chunk,
)
from .manifest import Manifest, check_kept, check_names, read_manifest, write_manifest
from .reader import Cache


class CacheWriter:
    """Writes frames into a folder; use it in a `with` statement, or call `close`.

    An earlier cache in the folder stays, and is found by `open_cache`, until `finish`.
    """

    def __init__(self, folder: Path | str, header: CacheHeader) -> None:
        """Begin a new cache.

        Args:
            folder: Its folder, made if it is not there.
            header: Description of the cache. Its `attributes`, `agent_count`, and a `chunk_frames`
                of 0 are taken from the first frame; `generation` from the folder.

        Raises:
            CacheError: The name of the crowd is no text or too long.
            OutputError: The folder cannot be written to, another process writes to it, or files of
                another program have the names of a cache's.
        """
        check_own(Path(folder))
        check_names("crowds", [header.name], 1)
        self._begin(Path(folder))
        try:
            # another process may have ended in between
            check_own(self.folder)
            with suppress(FileNotFoundError):
                os.unlink(self.folder / NEXT)
            remove_unknown(self.folder)
            used = [
                int(name.partition("_")[2])
                for name in os.listdir(self.folder)
                if BAKE.fullmatch(name)
            ]
            self._name = NEXT if os.path.lexists(self.folder / MANIFEST) else MANIFEST
            header = replace(header, generation=max(used, default=0) + 1)
            self._manifest = Manifest(header, played=listed_played(self.folder))
            self.about.update(header.about)
            self.next_frame = header.frame_start
        except OSError as error:
            self.close()
            raise self._cannot(error, begun=False) from None
        except BaseException:
            self.close()
            raise

    @classmethod
    def resume(cls, folder: Path | str) -> CacheWriter:
        """Continue the bake in a folder that was not finished, else the last one.

        Returns a writer whose `next_frame` and `states` follow the kept frames.

        Raises:
            CacheError: There is no cache, or a part that is needed is damaged.
            OutputError: Another process writes to the folder.
        """
        path = Path(folder)
        if not path.is_dir():
            raise CacheError(f"There is no folder {path}: bake first, or use Relink Bake")
        self = cls.__new__(cls)
        self._begin(path)
        try:
            check_own(path)
            self._name = NEXT if os.path.lexists(path / NEXT) else MANIFEST
            self._take_over(read_manifest(path, self._name))
            remove_unknown(self.folder)
        except OSError as error:
            self.close()
            raise self._cannot(error) from None
        except BaseException:
            self.close()
            raise
        return self

    def _begin(self, folder: Path) -> None:
        self.folder = folder
        self.states: Mapping[str, Agents] = {}
        """The agents after the last kept frame, by crowd; none at the start."""
        self.about: dict[str, Any] = {}
        """Goes into the header's `about` with every chunk."""
        self.next_frame = 0
        """Number of the frame that `add` takes next."""
        self._pending: list[Frame] = []
        self._job: Future[None] | None = None
        self._failed: OutputError | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._lock: FolderLock | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot(error, begun=False) from None
        self._lock = FolderLock(folder)
        self._thread = ThreadPoolExecutor(1, "steer-cache")

    def _take_over(self, manifest: Manifest) -> None:
        cache = Cache(self.folder, manifest)
        chunks = [*takewhile(cache.has_files, manifest.chunks)]
        self.next_frame = manifest.header.frame_start
        while chunks and not self._goes_on_from(cache, chunks[-1]):
            chunks.pop()
        if self._pending:
            chunks.pop()
        self.about.update(manifest.header.about)
        self._manifest = replace(manifest, chunks=tuple(chunks), complete=False)

    def set_owner(self, owner: str) -> None:
        """Say which .blend file the bake belongs to, relative to the cache."""
        self._manifest = replace(self._manifest, header=replace(self.header, owner=owner))

    def set_end(self, frame_end: int) -> None:
        """Set another last frame.

        Raises:
            CacheError: It is before the kept frames.
        """
        if frame_end < max(self.next_frame - 1, self.header.frame_start):
            raise CacheError(
                f"{self.folder} holds frames up to {self.next_frame - 1}: give an end from there on"
            )
        self._manifest = replace(self._manifest, header=replace(self.header, frame_end=frame_end))

    def _goes_on_from(self, cache: Cache, chunk: Chunk) -> bool:
        """Take over the state after a chunk; False if the chunk is damaged."""
        numbers = range(chunk.first, chunk.last + 1)
        try:
            self.states = cache.states(chunk.last) if chunk.states else {}
            done = numbers.stop - cache.header.frame_start
            if not ends_chunk(done, chunk.row_count, cache.header):
                # chunks end where they would have without a break
                self._pending = [cache.frame(number) for number in numbers]
        except CacheError:
            self.states, self.next_frame = {}, chunk.first
            return False
        self.next_frame = numbers.stop
        return True

    def __enter__(self) -> CacheWriter:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @property
    def header(self) -> CacheHeader:
        """Header of the cache; the first frame completes it."""
        return self._manifest.header

    def add(self, frame: Frame, states: States | None = None) -> None:
        """Add the next frame; a full chunk is written by the thread.

        Args:
            frame: The frame with the number `next_frame`.
            states: The agents of all crowds after the frame. They and the frame must stay
                unchanged.

        Raises:
            CacheError: It is another frame than the next, or a name is no text or too long.
            OutputError: The disk is full or gone; the frames written before are kept.
        """
        self._check()
        if frame.number != self.next_frame or frame.number > self.header.frame_end:
            raise CacheError(
                f"Frame {frame.number} cannot be added to cache {self.folder}: "
                f"{self.next_frame} is next, {self.header.frame_end} the last"
            )
        check_kept(frame.attributes, states or {})
        if frame.number == self.header.frame_start:
            self._learn(frame)
        self._pending.append(frame)
        self.next_frame += 1
        self.states = states or {}
        done = frame.number - self.header.frame_start + 1
        if ends_chunk(done, sum(len(f.id) for f in self._pending), self.header):
            self._flush()

    def stop(self) -> None:
        """Write the added frames, for `resume` to continue from, and close.

        Raises:
            OutputError: It cannot be written; the frames written before are kept.
        """
        if self._lock is None:
            return
        if self.next_frame > self.header.frame_end:
            self.finish()
            return
        try:
            self._check()
            if self._pending:
                self._flush()
            self._wait()
        finally:
            self.close()

    def finish(self) -> None:
        """Write the rest, put it in place of the earlier cache, and close.

        Raises:
            CacheError: Frames are missing.
            OutputError: It cannot be written; the frames written before are kept.
        """
        try:
            self._check()
            if self.next_frame <= self.header.frame_end:
                raise CacheError(
                    f"Cache {self.folder} lacks frames from {self.next_frame} on: continue the bake"
                )
            if self._pending:
                self._flush()
            self._wait()
            try:
                self._complete()
            except OSError as error:
                raise self._cannot(error) from None
        finally:
            self.close()

    @property
    def complete(self) -> bool:
        """Whether `finish` has put the cache in its place."""
        return self._manifest.complete

    def discard(self) -> None:
        """Remove the frames of a cache that is not complete, and close; an earlier cache stays.

        Raises:
            OutputError: Another process writes to the folder, or a file cannot be removed.
        """
        self.close()
        if self.complete:
            return
        if self._name == MANIFEST:
            delete_cache(self.folder)
            return
        lock = FolderLock(self.folder)
        try:
            with suppress(FileNotFoundError):
                os.unlink(self.folder / NEXT)
            remove_unknown(self.folder)
        except OSError as error:
            raise self._cannot(error) from None
        finally:
            lock.release(remove=True)

    def close(self) -> None:
        """Release the folder; frames of a chunk that was not full are lost. May be called twice."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None
        if self._lock is not None:
            self._lock.release(remove=True)
            self._lock = None

    def _learn(self, frame: Frame) -> None:
        """Take the parts of the header that the first frame gives."""
        names, count = tuple(frame.attributes), len(frame.id)
        if count > MOST_AGENTS:
            raise CacheError(f"A cache holds at most {MOST_AGENTS} agents: these are {count}")
        size = self.header.chunk_frames or chunk_frames(count, len(names))
        header = replace(self.header, attributes=names, agent_count=count, chunk_frames=size)
        self._manifest = replace(self._manifest, header=header)

    def _flush(self) -> None:
        """Hand the frames to the thread that writes, once it has written the ones before."""
        self._wait()
        assert self._thread is not None
        frames, self._pending = self._pending, []
        # the manifest is the thread's own until it is done
        job = (frames, self.states, dict(self.about))
        self._job = self._thread.submit(self._write, *job)

    def _wait(self) -> None:
        if self._job is not None:
            job, self._job = self._job, None
            try:
                job.result()
            except OSError as error:
                self._failed = self._cannot(error, begun=bool(self._manifest.chunks))
        self._check()

    def _check(self) -> None:
        if self._job is not None and self._job.done():
            self._wait()
        if self._failed is not None:
            raise self._failed
        if self._lock is None:
            raise CacheError(f"Cache {self.folder} is closed: open it again to continue")

    def _write(self, frames: Sequence[Frame], states: States, about: dict[str, Any]) -> None:
        """Write a chunk, and then the manifest that knows of it; runs in the thread."""
        above = self.folder / self.header.folder
        if not is_folder(above):
            make_bake_folder(above)
            sync_folder(self.folder)
        name = f"frames_{frames[0].number}_{frames[-1].number}"
        partial = above / (name + PARTIAL)
        try:
            remove_chunk(partial)
            partial.mkdir()
            chunk = write_chunk(partial, frames, states)
            sync_folder(partial)
            remove_chunk(above / name)
            rename(partial, above / name)
        except OSError:
            with suppress(OSError):
                remove_chunk(partial)
            raise
        sync_folder(above)
        header = replace(self.header, about=about)
        manifest = replace(self._manifest, header=header, chunks=(*self._manifest.chunks, chunk))
        write_manifest(self.folder / self._name, manifest)
        self._manifest = manifest
        for other in folders_in(above, CHUNK):
            # a shorter chunk that this one began with
            if other.startswith(f"frames_{chunk.first}_") and other != name:
                with suppress(OSError):
                    remove_chunk(above / other)

    def _complete(self) -> None:
        header = replace(self.header, about=self.about)
        self._manifest = replace(self._manifest, header=header, complete=True)
        write_manifest(self.folder / self._name, self._manifest)
        if self._name != MANIFEST:
            rename(self.folder / self._name, self.folder / MANIFEST)
            self._name = MANIFEST
            sync_folder(self.folder)
        remove_unknown(self.folder)

    def _cannot(self, error: OSError, begun: bool = True) -> OutputError:
        """The error for a cache that cannot be written; `begun` if there are frames of it."""
        code = "CACHE_NOT_WRITTEN" if begun else "CACHE_NOT_BEGUN"
        return OutputError(diagnose(code, str(self.folder), reason=reason(error)))
