"""Reading a cache: frames by number, each checked against its checksum before it is used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..agents import Agents
from ..errors import CacheError
from ..files.plain import is_file
from ..results.frames import Frame
from .chunks import frame_of, read_chunk, read_state
from .layout import MANIFEST, Chunk
from .manifest import Manifest, read_manifest

_KEPT = 2
"""Chunks that are kept in memory."""


class Cache:
    """A cache as it is on the disk now. No file stays open; all methods may run in any thread.

    Attributes:
        header: The crowd and frames that it holds.
        frames: The existing frames.
        complete: Whether all frames exist.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.header, self.frames = manifest.header, manifest.frames
        self.complete = manifest.complete
        self._lock = threading.Lock()
        self._loaded: OrderedDict[int, Mapping[str, Any]] = OrderedDict()

    @property
    def state_frames(self) -> list[int]:
        """The frames from which a simulation can continue."""
        return [chunk.last for chunk in self.manifest.chunks if chunk.states]

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.frames)

    def __iter__(self) -> Iterator[Frame]:
        """All frames that are there, in order."""
        return (self.frame(number) for number in self.frames)

    def frame(self, number: int) -> Frame:
        """One frame of `frames`; its arrays are read-only views.

        Raises:
            CacheError: The frame is not there, or damaged.
        """
        chunk = self._chunk(number)
        with self._lock:
            arrays = self._loaded.get(chunk.first)
            if arrays is None:
                arrays = read_chunk(self._folder(chunk), chunk)
                for array in arrays.values():
                    array.flags.writeable = False
                while len(self._loaded) >= _KEPT:
                    self._loaded.popitem(last=False)
            self._loaded[chunk.first] = arrays
            self._loaded.move_to_end(chunk.first)
        return frame_of(chunk, arrays, number)

    def state(self, number: int) -> Agents:
        """The agents of the crowd after one of `state_frames`, with all their memory.

        Raises:
            CacheError: There is no such state, or it is damaged.
        """
        chunk, name = self._state_chunk(number), self.header.name
        for place, entry in enumerate(chunk.states):
            if entry.crowd == name:
                return read_state(self._folder(chunk), chunk, place)
        raise CacheError(f"{self.folder} holds no state of crowd {name!r} at frame {number}")

    def states(self, number: int) -> dict[str, Agents]:
        """The agents of all crowds that were simulated together, after a frame, by their names.

        Raises:
            CacheError: There are no states at that frame, or they are damaged.
        """
        chunk = self._state_chunk(number)
        folder = self._folder(chunk)
        return {e.crowd: read_state(folder, chunk, place) for place, e in enumerate(chunk.states)}

    def verify(self) -> Iterator[Chunk]:
        """Read everything, and yield each undamaged chunk.

        Raises:
            CacheError: A file is damaged.
        """
        for chunk in self.manifest.chunks:
            read_chunk(self._folder(chunk), chunk)
            for place in range(len(chunk.states)):
                read_state(self._folder(chunk), chunk, place)
            yield chunk

    def has_files(self, chunk: Chunk) -> bool:
        """Whether all files of a chunk are there, in their sizes; none of them is read."""
        try:
            folder = self._folder(chunk)
            return all(
                is_file(path := folder / f"{name}.npy")
                and path.stat().st_size == len(header) + size
                for name, (header, size) in chunk.files().items()
            )
        except (CacheError, OSError):
            return False

    def _folder(self, chunk: Chunk) -> Path:
        above = self.folder / self.header.folder
        for folder in (above, above / chunk.folder):
            if folder.is_symlink():
                raise CacheError(f"{folder} is a link out of the cache: bake again")
        return above / chunk.folder

    def _state_chunk(self, number: int) -> Chunk:
        if number not in self.state_frames:
            known = ", ".join(map(str, self.state_frames[-5:])) or "none"
            raise CacheError(
                f"{self.folder} holds no state after frame {number}: there are {known}"
            )
        return self._chunk(number)

    def _chunk(self, number: int) -> Chunk:
        frames, header = self.frames, self.header
        if number not in frames:
            held = f"frames {frames[0]} to {frames[-1]}" if len(frames) else "no frames"
            raise CacheError(f"Frame {number} is not in cache {self.folder}: it holds {held}")
        # all chunks but the last are of one size, unless a bake was cut short and lengthened
        guess = (number - header.frame_start) // header.chunk_frames
        chunks = self.manifest.chunks
        if guess < len(chunks) and chunks[guess].first <= number <= chunks[guess].last:
            return chunks[guess]
        return next(chunk for chunk in chunks if chunk.first <= number <= chunk.last)


def open_cache(folder: Path | str, name: str = MANIFEST) -> Cache:
    """Open a cache to read; the manifest NEXT describes a bake that will replace another one.

    Raises:
        CacheError: There is no manifest, or it is damaged or of a newer format.
    """
    path = Path(folder)
    return Cache(path, read_manifest(path, name))
