"""Caches to try things on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.cache import CacheHeader, CacheWriter
from steer_addon.core.results.frames import Frame

FIELDS = ("id", "position", "velocity", "rotation", "radius", "alive")


def make_frame(number: int, ids=range(6), names=("zone",)) -> Frame:
    """A frame of random agents, the same for the same number."""
    random, count = np.random.default_rng(1000 + number), len(ids)

    def rows(*shape):
        return random.normal(size=(count, *shape)).astype(np.float32)

    return Frame(
        number=number,
        id=np.array(ids, np.int64),
        position=rows(3),
        velocity=rows(3),
        rotation=rows(4),
        radius=np.full(count, 0.25, np.float32),
        alive=(random.random(count) < 0.8).astype(np.uint8),
        attributes={name: rows() for name in names},
    )


def make_state(frame: Frame) -> Agents:
    """Agents at a frame that remember something."""
    agents = make_agents(
        frame.position, radius=0.25, mass=1.0, max_speed=1.4, max_force=9.0, ids=frame.id
    )
    agents.attributes["wander.weight"] = frame.radius * frame.number
    agents.memory["wander"] = frame.velocity.copy()
    agents.memory["follow_path.001"] = frame.rotation[:, :1].copy()
    return agents


def write(folder: Path, frames, *, end=None, stop=False, **options) -> Path:
    """A cache of some frames, each with a state."""
    first, last = frames[0].number, frames[-1].number if end is None else end
    header = CacheHeader("Crowd", 24.0, first, last, **{"chunk_frames": 4, **options})
    with CacheWriter(folder, header) as writer:
        add(writer, frames)
        if stop:
            writer.stop()
        else:
            writer.finish()
    return folder


def add(writer: CacheWriter, frames) -> None:
    """Add the frames that are missing."""
    for frame in frames:
        if frame.number >= writer.next_frame:
            writer.add(frame, {"Crowd": make_state(frame)} if len(frame.id) else None)


def same(a: Frame, b: Frame) -> bool:
    """Whether two frames are equal to the bit."""
    return a.number == b.number and _bits(a) == _bits(b)


def _bits(frame: Frame) -> dict[str, bytes]:
    arrays = {name: getattr(frame, name) for name in FIELDS} | dict(frame.attributes)
    return {name: array.tobytes() + array.dtype.str.encode() for name, array in arrays.items()}


def equal_agents(a: Agents, b: Agents) -> bool:
    """Whether agents are equal to the bit."""

    def bits(agents):
        plain = {k: v.tobytes() for k, v in vars(agents).items() if isinstance(v, np.ndarray)}
        more = {**agents.attributes, **{f"m {k}": v for k, v in agents.memory.items()}}
        return plain | {k: v.tobytes() + str(v.shape).encode() for k, v in more.items()}

    return bits(a) == bits(b)


def files(folder: Path) -> dict[str, bytes]:
    """All files of a cache, but for its lock."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != ".steer.lock"
    }


def resign(raw: bytes, body: bytes) -> bytes:
    """A manifest with another body and the checksum that fits it, as a liar would write it."""
    digest = hashlib.sha256(body).hexdigest().encode()
    first = raw.partition(b"\n")[0]
    start = first.index(b'"sha256": "') + len(b'"sha256": "')
    return first[:start] + digest + first[start + 64 :] + b"\n" + body + b"\n}\n"
