"""Frames and agents to arrays as they are stored on the disk, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..errors import CacheError, FileError
from ..files.plain import read_file, write_file
from ..results.frames import Frame
from .layout import ARRAYS, MOST_BYTES, STATE, Chunk, StateEntry, npy_header

Array = NDArray[Any]
_AT_ONCE = 8
"""Files that are written at the same time."""

States = Mapping[str, Agents]
"""The agents of crowds by the crowds' names."""


def write_chunk(folder: Path, frames: Sequence[Frame], states: States) -> Chunk:
    """Write consecutive frames, and the agents from which the last one continues.

    Args:
        folder: A new folder for the files.
        frames: The frames, at least one.
        states: The agents after the last of them.

    Raises:
        OSError: A file cannot be written.
    """
    sizes = [len(frame.id) for frame in frames]
    even = len(set(sizes)) == 1
    attributes = tuple(dict.fromkeys(name for frame in frames for name in frame.attributes))
    columns = {name: [getattr(frame, name) for frame in frames] for name in ARRAYS}
    for i, name in enumerate(attributes):
        columns[f"attribute_{i}"] = [
            frame.attributes.get(name, np.zeros(len(frame.id), np.float32)) for frame in frames
        ]
    once: list[str] = []
    jobs: dict[str, tuple[bytes, Sequence[Array]]] = {}
    for name, parts in columns.items():
        kind, rest = ARRAYS.get(name, ("<f4", ()))
        arrays = [np.ascontiguousarray(part, kind) for part in parts]
        if even and _is_still(arrays):
            once.append(name)
            arrays = arrays[:1]
        rows = (len(arrays), sizes[0]) if even else (sum(sizes),)
        jobs[name] = (npy_header((*rows, *rest), kind), arrays)
    entries = []
    for i, (crowd, agents) in enumerate(states.items()):
        entry, table = pack_state(crowd, agents)
        header = npy_header((entry.agents,), entry.record)
        jobs[f"state_{i}"] = (header, [table.view(np.uint8)])
        entries.append(entry)
    # at once, since a disk takes as long to confirm one file as to confirm them all
    with ThreadPoolExecutor(_AT_ONCE, "steer-cache-file") as pool:
        sums = pool.map(lambda name: _write(folder / f"{name}.npy", *jobs[name]), jobs)
    return Chunk(
        first=frames[0].number,
        last=frames[-1].number,
        counts=(sizes[0],) if even else tuple(sizes),
        once=tuple(once),
        attributes=attributes,
        states=tuple(entries),
        sums=dict(zip(jobs, sums, strict=True)),
    )


def _is_still(arrays: Sequence[Array]) -> bool:
    """Whether all are the same, to the bit: NaN would equal nothing."""
    first = arrays[0].view(np.uint8)
    return all(a is arrays[0] or np.array_equal(a.view(np.uint8), first) for a in arrays[1:])


def _write(path: Path, header: bytes, arrays: Sequence[Array]) -> str:
    digest = hashlib.sha256(header)
    for array in arrays:
        digest.update(array.data)
    write_file(path, [header, *(array.reshape(-1) for array in arrays if array.size)])
    return digest.hexdigest()


def read_chunk(folder: Path, chunk: Chunk) -> dict[str, Array]:
    """The arrays of a chunk by their files' names, without those of states.

    Each has the shape (rows, …), frame after frame; one that never changes holds a single frame.

    Raises:
        CacheError: A file is missing or damaged.
    """
    found = {}
    for name, (header, size) in chunk.files().items():
        if not name.startswith("state_"):
            kind, rest = ARRAYS.get(name, ("<f4", ()))
            data = _read(folder / f"{name}.npy", header, size, chunk.sums[name])
            found[name] = data.view(kind).reshape(-1, *rest)
    return found


def _read(path: Path, header: bytes, size: int, wanted: str) -> NDArray[np.uint8]:
    try:
        data = read_file(path, size=len(header) + size, most=MOST_BYTES + len(header))
    except FileError as error:
        raise CacheError(f"{error}: the cache is damaged, bake again") from None
    if data[: len(header)].tobytes() != header or hashlib.sha256(data.data).hexdigest() != wanted:
        raise CacheError(f"{path} is damaged, its checksum is another one: bake again")
    return data[len(header) :]


def frame_of(chunk: Chunk, arrays: Mapping[str, Array], number: int) -> Frame:
    """One frame of a chunk, from the arrays of the chunk."""
    place = number - chunk.first
    if len(chunk.counts) == 1:
        size = chunk.counts[0]
        start = place * size
    else:
        size, start = chunk.counts[place], sum(chunk.counts[:place])

    def rows(name: str) -> Array:
        begin = 0 if name in chunk.once else start
        return arrays[name][begin : begin + size]

    return Frame(
        number=number,
        **{name: rows(name) for name in ARRAYS},
        attributes={name: rows(f"attribute_{i}") for i, name in enumerate(chunk.attributes)},
    )


def pack_state(crowd: str, agents: Agents) -> tuple[StateEntry, Array]:
    """The agents of a crowd as records, shape (agent_count,), with the description of these."""
    memory = tuple((name, columns.shape[1]) for name, columns in agents.memory.items())
    entry = StateEntry(crowd, agents.count, tuple(agents.attributes), memory)
    table = np.empty(agents.count, np.dtype(entry.record))
    for name, _, _ in STATE:
        table[name] = getattr(agents, name)
    for i, values in enumerate(agents.attributes.values()):
        table[f"attribute_{i}"] = values
    for i, columns in enumerate(agents.memory.values()):
        table[f"memory_{i}"] = columns
    return entry, table


def read_state(folder: Path, chunk: Chunk, place: int) -> Agents:
    """The agents of one crowd after the last frame of a chunk; `place` is that of the state.

    Raises:
        CacheError: The file is missing or damaged, or holds no possible agents.
    """
    entry, name = chunk.states[place], f"state_{place}"
    path = folder / f"{name}.npy"
    header, size = chunk.files()[name]
    table = _read(path, header, size, chunk.sums[name]).view(np.dtype(entry.record))
    plain: dict[str, Any] = {n: np.ascontiguousarray(table[n]) for n, _, _ in STATE}
    attributes = {n: table[f"attribute_{i}"].copy() for i, n in enumerate(entry.attributes)}
    memory = {
        n: np.ascontiguousarray(table[f"memory_{i}"]).reshape(entry.agents, width)
        for i, (n, width) in enumerate(entry.memory)
    }
    agents = Agents(**plain, attributes=attributes, memory=memory)
    _check(path, agents)
    return agents


def _check(path: Path, agents: Agents) -> None:
    """Refuse numbers that no simulation leaves: kernels rely on them."""
    groups = (vars(agents), agents.attributes, agents.memory)
    arrays = [v for group in groups for v in group.values() if isinstance(v, np.ndarray)]
    finite = all(np.isfinite(array).all() for array in arrays)
    unique = len(np.unique(agents.id)) == agents.count
    sizes = (agents.radius, agents.max_speed, agents.max_force, agents.waited)
    positive = all((array >= 0.0).all() for array in sizes) and (agents.mass > 0.0).all()
    if not (finite and unique and positive):
        raise CacheError(f"{path} holds no agents that can continue: bake again")
