"""The manifest: the contents of a cache, checked in full before any other file is opened.

See `files/signed.py` for how it is written.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CacheError, FileError, short
from ..files.signed import Format, loaded
from ..files.staging import replace_file
from .layout import (
    ARRAYS,
    MANIFEST,
    MOST_AGENTS,
    MOST_ATTRIBUTES,
    MOST_BYTES,
    MOST_FRAMES,
    MOST_STATES,
    PLAYED,
    VERSION,
    CacheHeader,
    Chunk,
    StateEntry,
)

if TYPE_CHECKING:
    from ..agents import Agents

MOST_TEXT = 1000
"""Characters of the longest name."""

_FORMAT = Format("cache", VERSION, 16_000_000, ("baked", "bake again"))
"""The largest manifest has 10,000 chunks and more."""
_SUM = re.compile(r"[0-9a-f]{64}")
_FRAME = 1_100_000
"""Blender's frame numbers stay below this one."""


@dataclass(frozen=True)
class Manifest:
    """The description of a cache.

    Attributes:
        header: The crowd and frames that it holds.
        chunks: The existing frames, without gaps.
        complete: Whether all frames exist.
        played: SHA-256 of the files of `PLAYED` that were made of it, by name; None where an older
            Steer wrote the manifest, which listed none.
    """

    header: CacheHeader
    chunks: tuple[Chunk, ...] = ()
    complete: bool = False
    played: Mapping[str, str] | None = field(default_factory=dict)

    @property
    def frames(self) -> range:
        """The existing frames."""
        start = self.header.frame_start
        return range(start, self.chunks[-1].last + 1 if self.chunks else start)


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest in place of the one before.

    Raises:
        OSError: It cannot be written; the one before is still there.
    """
    header = dict(vars(manifest.header))
    del header["version"]
    data = {
        "header": header,
        "complete": manifest.complete,
        "chunks": [
            {**vars(chunk), "states": [vars(entry) for entry in chunk.states]}
            for chunk in manifest.chunks
        ],
        **({} if manifest.played is None else {"played": dict(manifest.played)}),
    }
    replace_file(path, [_FORMAT.signed(data)])


def check_names(what: str, names: Iterable[Any], most: int) -> None:
    """Refuse names that no reader would take, before frames are kept under them.

    Args:
        what: The things that have these names.
        names: Their names.
        most: The largest number of them.

    Raises:
        CacheError: There are more, or one is no text or too long.
    """
    known = list(names)
    if len(known) > most:
        raise CacheError(f"A cache holds at most {most} {what}: these are {len(known)}")
    for name in known:
        if not isinstance(name, str) or len(name) > MOST_TEXT:
            raise CacheError(
                f"A cache cannot hold {what} with the name {short(name)}: "
                f"give a text of at most {MOST_TEXT} characters"
            )


def check_kept(attributes: Iterable[Any], states: Mapping[str, Agents]) -> None:
    """Refuse a frame with names that no reader would take; see `check_names`.

    Args:
        attributes: Names of the frame's attributes.
        states: The agents of all crowds after the frame.

    Raises:
        CacheError: There are too many names, or one is no text or too long.
    """
    check_names("attributes", attributes, MOST_ATTRIBUTES)
    check_names("crowds", states, MOST_STATES)
    for agents in states.values():
        check_names("attributes", agents.attributes, MOST_ATTRIBUTES)
        check_names("memories", agents.memory, MOST_STATES)


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """Read and check a manifest of a cache; no other file is opened.

    Raises:
        CacheError: There is no manifest, or it is damaged or of a newer format.
    """
    path = folder / name
    if not os.path.lexists(path):
        raise CacheError(f"{folder} holds no cache: choose the folder with its {MANIFEST}")
    try:
        return _manifest(loaded(_FORMAT.body_of(path)))
    except FileError as error:
        raise CacheError(str(error)) from None
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError, AttributeError):
        raise CacheError(f"{path} does not describe a cache: bake again") from None


def is_manifest(path: Path) -> bool:
    """Whether a file begins with the mark of a manifest, damaged or not."""
    return _FORMAT.has_mark(path)


def _manifest(data: Any) -> Manifest:
    """Check everything; a wrong value raises a ValueError, a KeyError or a TypeError."""
    header = _header(data["header"])
    chunks = tuple(_chunk(entry, header) for entry in _list(data["chunks"], MOST_FRAMES))
    place = header.frame_start
    for chunk in chunks:
        _require(chunk.first == place)
        place = chunk.last + 1
    _require(place <= header.frame_end + 1)
    complete = data["complete"]
    _require(isinstance(complete, bool))
    _require(not complete or place == header.frame_end + 1)
    return Manifest(header, chunks, complete, _played(data))


def _played(data: Any) -> Mapping[str, str] | None:
    if "played" not in data:
        return None
    played: dict[str, str] = data["played"]
    _require(isinstance(played, dict) and set(PLAYED).issuperset(played))
    _require(all(isinstance(s, str) and _SUM.fullmatch(s) for s in played.values()))
    return played


def _header(data: Any) -> CacheHeader:
    start = _int(data["frame_start"], -_FRAME, _FRAME)
    fps = data["fps"]
    _require(type(fps) in (int, float) and math.isfinite(fps) and fps > 0.0)
    _require(isinstance(data["about"], dict))
    _require(data["forward_axis"] in ("POS_X", "POS_Y", "NEG_X", "NEG_Y"))
    return CacheHeader(
        name=_text(data["name"]),
        fps=float(fps),
        frame_start=start,
        frame_end=_int(data["frame_end"], start, start + MOST_FRAMES),
        settings_hash=_text(data["settings_hash"]),
        forward_axis=data["forward_axis"],
        attributes=_names(data["attributes"]),
        agent_count=_int(data["agent_count"], 0, MOST_AGENTS),
        chunk_frames=_int(data["chunk_frames"], 1, MOST_FRAMES),
        generation=_int(data["generation"], 1, 10**9 - 1),
        steer=_text(data["steer"]),
        owner=_text(data.get("owner", "")),
        about=data["about"],
    )


def _chunk(data: Any, header: CacheHeader) -> Chunk:
    first = _int(data["first"], -_FRAME, _FRAME)
    last = _int(data["last"], first, first + header.chunk_frames - 1)
    counts = tuple(_int(n, 0, MOST_AGENTS) for n in _list(data["counts"], last - first + 1))
    _require(len(counts) in (1, last - first + 1))
    attributes = _names(data["attributes"])
    known = {*ARRAYS, *(f"attribute_{i}" for i in range(len(attributes)))}
    once = _names(data["once"])
    _require(known.issuperset(once) and (not once or len(counts) == 1))
    chunk = Chunk(
        first=first,
        last=last,
        counts=counts,
        once=once,
        attributes=attributes,
        states=tuple(_state(entry) for entry in _list(data["states"], MOST_STATES)),
        sums=data["sums"],
    )
    files = chunk.files()
    _require(isinstance(chunk.sums, dict) and chunk.sums.keys() == files.keys())
    _require(all(isinstance(s, str) and _SUM.fullmatch(s) for s in chunk.sums.values()))
    sizes = {name: size for name, (_, size) in files.items()}
    states = [sizes.pop(name) for name in files if name.startswith("state_")]
    _require(all(size <= MOST_BYTES for size in (sum(sizes.values()), *states)))
    return chunk


def _state(data: Any) -> StateEntry:
    memory = [(_text(row[0]), _int(row[1], 0, 1000)) for row in _list(data["memory"], MOST_STATES)]
    return StateEntry(
        crowd=_text(data["crowd"]),
        agents=_int(data["agents"], 0, MOST_AGENTS),
        attributes=_names(data["attributes"]),
        memory=tuple(memory),
    )


def _require(fits: bool) -> None:
    if not fits:
        raise ValueError


def _int(value: Any, least: int, most: int) -> int:
    _require(type(value) is int and least <= value <= most)
    return int(value)


def _text(value: Any) -> str:
    _require(isinstance(value, str) and len(value) <= MOST_TEXT)
    return str(value)


def _list(value: Any, most: int) -> Sequence[Any]:
    _require(isinstance(value, list) and len(value) <= most)
    found: Sequence[Any] = value
    return found


def _names(value: Any) -> tuple[str, ...]:
    names = tuple(_text(name) for name in _list(value, MOST_ATTRIBUTES))
    _require(len(set(names)) == len(names))
    return names
