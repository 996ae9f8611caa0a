"""The contents of a cache, and their places: names come from numbers, never from a file.

::

    NAME/manifest.json                       the contents, with a checksum of itself
    NAME/crowd.usdc                          what Blender plays, listed in the manifest
    NAME/bake_1/.steer                       the mark of a folder that Steer made
    NAME/bake_1/frames_1_25/position.npy     (frames, agents, 3) float32, and so on
    NAME/bake_1/frames_1_25/state_0.npy      records: the agents after the last of these frames

An array that is the same in all frames of a chunk is stored once, as (1, agents, …). Where the
number of agents changes within a chunk, the first two axes become one: frame after frame.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

VERSION = 1
"""Version of the format."""

MANIFEST = "manifest.json"
NEXT = "manifest.next.json"
"""The manifest of a bake that will replace the one that is there, once it is complete."""

BAKE = re.compile(r"bake_[1-9]\d{0,8}")
BAKE_MARK = ".steer"
CHUNK = re.compile(r"frames_-?\d{1,7}_-?\d{1,7}(\.partial)?")
CHUNK_FILE = re.compile(r"(position|velocity|rotation|id|radius|alive|(attribute|state)_\d+)\.npy")
PARTIAL = ".partial"
"""Ending of the folder of a chunk that is not complete yet."""
PLAYED = ("crowd.usdc", "crowd.pc2")
"""The files that Blender plays: one, for a Blender with USD or without."""

MOST_FRAMES = 2_000_000
MOST_AGENTS = 4_000_000
MOST_ATTRIBUTES = 250
MOST_STATES = 100
"""Crowds that steer by one another, and behaviors that remember something."""
MOST_BYTES = 1 << 29
"""Size of the arrays of a chunk, and of a state [bytes]: more is not read."""
MOST_ROWS = 1_000_000
"""A chunk ends at this number of rows, however few frames it has."""

CHUNK_BYTES = 32_000_000
CHUNK_FRAMES = 25

ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "position": ("<f4", (3,)),
    "velocity": ("<f4", (3,)),
    "rotation": ("<f4", (4,)),
    "id": ("<i8", ()),
    "radius": ("<f4", ()),
    "alive": ("|u1", ()),
}
"""Arrays of a chunk by the field of a frame: type, and shape behind (frames, agents)."""

STATE: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("id", "<i8", ()),
    ("position", "<f4", (3,)),
    ("velocity", "<f4", (3,)),
    ("heading", "<f4", (3,)),
    ("normal", "<f4", (3,)),
    ("radius", "<f4", ()),
    ("mass", "<f4", ()),
    ("max_speed", "<f4", ()),
    ("max_force", "<f4", ()),
    ("target_index", "<i8", ()),
    ("roll", "<f4", ()),
    ("alive", "|u1", ()),
    ("arrived", "|u1", ()),
    ("waited", "<f4", ()),
)
"""Fields of the record of an agent: field of `Agents`, type, shape."""


_START = b"\x93NUMPY\x01\x00"
_ALIGN = 64

Kind = str | Sequence[tuple[Any, ...]]
"""A type as NumPy writes it: "<f4", or the fields of a record with their types."""


def npy_header(shape: tuple[int, ...], kind: Kind = "<f4", size: int = 0) -> bytes:
    """Header of a .npy file (NumPy's format 1.0, in C order).

    The type and shape of an array are known before its file is opened, so the header of a foreign
    file is never parsed: the file has to begin with exactly this one.

    Args:
        shape: Shape of the array.
        kind: Its type.
        size: Length of the header [bytes]; 0 takes the shortest with aligned data.
    """
    fields = kind if isinstance(kind, str) else list(kind)
    text = repr({"descr": fields, "fortran_order": False, "shape": shape}).encode("ascii")
    if not size:
        size = -(-(len(_START) + 3 + len(text)) // _ALIGN) * _ALIGN
    length = size - len(_START) - 2
    return _START + struct.pack("<H", length) + text.ljust(length - 1) + b"\n"


@dataclass(frozen=True)
class StateEntry:
    """The agents of one crowd after the last frame of a chunk.

    Attributes:
        crowd: Name of the crowd.
        agents: Number of agents.
        attributes: Names of the point attributes that they carry.
        memory: Memory of the behaviors, by behavior, with the number of columns.
    """

    crowd: str
    agents: int
    attributes: tuple[str, ...] = ()
    memory: tuple[tuple[str, int], ...] = ()

    @property
    def record(self) -> list[tuple[Any, ...]]:
        """Type of the record of an agent; names from outside do not get into it."""
        fields: list[tuple[Any, ...]] = [(n, k, *((s,) if s else ())) for n, k, s in STATE]
        fields += [(f"attribute_{i}", "<f4") for i in range(len(self.attributes))]
        return fields + [(f"memory_{i}", "<f4", (w,)) for i, (_, w) in enumerate(self.memory)]

    @property
    def record_bytes(self) -> int:
        """Size of the record of an agent [bytes]."""
        fixed = sum(int(k[-1]) * math.prod(s) for _, k, s in STATE)
        return fixed + 4 * (len(self.attributes) + sum(w for _, w in self.memory))


@dataclass(frozen=True)
class Chunk:
    """Consecutive frames, as they are stored on the disk.

    Attributes:
        first: Their first frame.
        last: Their last frame.
        counts: Number of agents in each frame; a single number if it is the same in all.
        once: The files of arrays that are the same in all frames.
        attributes: Attributes that behaviors show, in the order of the files.
        states: Agents after the last frame, from which a simulation continues.
        sums: SHA-256 of each file, in hexadecimal digits, by its name without the ending.
    """

    first: int
    last: int
    counts: tuple[int, ...]
    once: tuple[str, ...]
    attributes: tuple[str, ...]
    states: tuple[StateEntry, ...]
    sums: Mapping[str, str]

    @property
    def folder(self) -> str:
        """Name of its folder."""
        return f"frames_{self.first}_{self.last}"

    @property
    def row_count(self) -> int:
        """Agents of all frames together."""
        return sum(self.counts) * (self.frame_count if len(self.counts) == 1 else 1)

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return self.last - self.first + 1

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Every file, without its ending: what it begins with, and how many bytes follow."""
        kinds = dict(ARRAYS)
        kinds |= {f"attribute_{i}": ("<f4", ()) for i in range(len(self.attributes))}
        found = {}
        for name, (kind, rest) in kinds.items():
            shape = (sum(self.counts), *rest)
            if len(self.counts) == 1:
                frames = 1 if name in self.once else self.frame_count
                shape = (frames, self.counts[0], *rest)
            found[name] = (npy_header(shape, kind), int(kind[-1]) * math.prod(shape))
        for i, entry in enumerate(self.states):
            header = npy_header((entry.agents,), entry.record)
            found[f"state_{i}"] = (header, entry.agents * entry.record_bytes)
        return found


@dataclass(frozen=True)
class CacheHeader:
    """The crowd and frames that a cache holds.

    Attributes:
        name: Name of the crowd.
        fps: Frames per second.
        frame_start: First frame.
        frame_end: Last frame of the complete cache.
        settings_hash: Hash of all settings of the crowd and of the crowds that it steers by.
        forward_axis: Axis of an object that `rotation` turns to the heading.
        attributes: Attributes that behaviors show in the first frame.
        agent_count: Agents of the first frame.
        chunk_frames: Frames of a chunk.
        generation: Number of this bake in its folder.
        steer: Version of Steer that baked it.
        owner: The .blend file whose bake it is, relative to the cache; empty for an unsaved one.
        about: Further JSON data: fingerprints that are compared before a bake is continued.
        version: Version of the format.
    """

    name: str
    fps: float
    frame_start: int
    frame_end: int
    settings_hash: str = ""
    forward_axis: str = "NEG_Y"
    attributes: tuple[str, ...] = ()
    agent_count: int = 0
    chunk_frames: int = 0
    generation: int = 1
    steer: str = ""
    owner: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    version: int = VERSION

    @property
    def folder(self) -> str:
        """Name of the folder of its chunks."""
        return f"bake_{self.generation}"


def ends_chunk(done: int, rows: int, header: CacheHeader) -> bool:
    """Whether a chunk is full, by the frames of the cache and the agents in the chunk's frames."""
    return done % header.chunk_frames == 0 or rows >= MOST_ROWS


def chunk_frames(agents: int, attributes: int) -> int:
    """Number of frames in a chunk: those of about a second, fewer if they are large."""
    frame = agents * (45 + 4 * attributes)
    return max(1, min(CHUNK_FRAMES, CHUNK_BYTES // max(1, frame)))


_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def folder_name(name: str) -> str:
    """Name of the folder of a crowd, on every system; other crowds have other folders."""
    plain = re.sub(r"[^\w\- .]", "_", name).strip(" .")[:100]
    if plain == name and plain and not _RESERVED.fullmatch(plain):
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}_{mark}" if plain and not _RESERVED.fullmatch(plain) else f"crowd_{mark}"
