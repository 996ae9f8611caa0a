"""Frames the other way around: the motion of each agent over time, matched by identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AgentError, SceneError
from .frames import Frame

POSITION = slice(0, 3)
"""Channels of the position [m]."""
ROTATION = slice(3, 7)
"""Channels of the unit quaternion (w, x, y, z)."""
VELOCITY = slice(7, 10)
"""Channels of the velocity [m/s]."""
CHANNEL_COUNT = 10


@dataclass(frozen=True)
class TrackIndex:
    """Where in the frames each agent is found."""

    frames: Sequence[Frame]
    numbers: NDArray[np.int64]
    """Frame numbers, increasing, shape (frame_count,)."""
    id: NDArray[np.int64]
    """Identities in the order in which they first appear, shape (agent_count,)."""
    row: NDArray[np.int32] | None
    """Row of each agent in each frame, -1 where it is absent, shape (frame_count, agent_count);
    None when every frame holds the same agents in the same order."""
    radius: NDArray[np.float32]
    """Body radii [m] where the agents first appear, shape (agent_count,)."""

    def first(self, name: str) -> NDArray[np.float32]:
        """An attribute of the agents where they first appear, 0 without it; (agent_count,)."""
        count = len(self.id)
        if self.row is None:
            return self.frames[0].attributes.get(name, np.zeros(count, np.float32))
        found = np.zeros(count, np.float32)
        starts = (self.row >= 0).argmax(axis=0)
        for number in np.unique(starts):
            here = np.flatnonzero(starts == number)
            column = self.frames[number].attributes.get(name)
            if column is not None:
                found[here] = column[self.row[number, here]]
        return found


def agent_names(crowd: str, ids: NDArray[np.int64]) -> list[str]:
    """Names of objects for agents: that of their crowd and their id, which files tell to readers.

    Args:
        crowd: Name of the crowd.
        ids: Ids of all its agents, shape (n,), at least one.
    """
    width = max(4, len(str(ids.max())))
    return [f"{crowd}.{number:0{width}d}" for number in ids.tolist()]


def index_frames(frames: Sequence[Frame]) -> TrackIndex:
    """Match the agents of all frames by identity, without those that live in none of them.

    Raises:
        SceneError: There are no frames or no agents, frame numbers do not increase, or an
            identity occurs twice in a frame.
    """
    if not frames:
        raise SceneError("no frames are stored: simulate the crowd before baking it")
    numbers = np.array([frame.number for frame in frames], dtype=np.int64)
    falling = np.flatnonzero(np.diff(numbers) <= 0)
    if len(falling):
        a, b = numbers[falling[0]], numbers[falling[0] + 1]
        raise SceneError(f"frame {b} comes after frame {a}: give frames in increasing order")
    first = frames[0]
    if all(np.array_equal(frame.id, first.id) for frame in frames):
        _check_unique(first)
        index = TrackIndex(frames, numbers, first.id, None, first.radius)
    else:
        index = _match(frames, numbers)
    index = _living(index)
    if not len(index.id):
        raise SceneError("the frames hold no agents: give the crowd points and simulate it again")
    return index


def _living(index: TrackIndex) -> TrackIndex:
    """The same without agents that are dead in all frames, as those that were not born."""
    if index.row is None:
        lives = np.logical_or.reduce([frame.alive != 0 for frame in index.frames])
        everywhere = np.tile(np.arange(len(index.id), dtype=np.int32), (len(index.frames), 1))
    else:
        lives, everywhere = np.zeros(len(index.id), np.bool_), index.row
        for rows, frame in zip(index.row, index.frames, strict=True):
            lives[rows >= 0] |= frame.alive[rows[rows >= 0]] != 0
    if lives.all():
        return index
    rows = everywhere[:, lives]
    return replace(index, id=index.id[lives], row=rows, radius=index.radius[lives])


def _check_unique(frame: Frame) -> None:
    found, count = np.unique(frame.id, return_counts=True)
    if len(found) < len(frame.id):
        double = found[count > 1][0]
        raise SceneError(
            f"id {double} belongs to {count[count > 1][0]} agents at frame {frame.number}: "
            "give every point an id of its own"
        )


def _match(frames: Sequence[Frame], numbers: NDArray[np.int64]) -> TrackIndex:
    for frame in frames:
        _check_unique(frame)
    every = np.concatenate([frame.id for frame in frames])
    radius = np.concatenate([frame.radius for frame in frames])
    found, where = np.unique(every, return_index=True)
    order = np.argsort(where)
    place = np.empty(len(found), dtype=np.int64)
    place[order] = np.arange(len(found))
    row = np.full((len(frames), len(found)), -1, dtype=np.int32)
    for i, frame in enumerate(frames):
        row[i, place[np.searchsorted(found, frame.id)]] = np.arange(len(frame.id))
    return TrackIndex(frames, numbers, found[order], row, radius[where[order]])


def read_tracks(
    index: TrackIndex, start: int, stop: int
) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Read the motion of agents start to stop.

    Args:
        index: The frames, from `index_frames`.
        start: First agent.
        stop: Agent after the last.

    Returns:
        Where each agent is present, shape (stop - start, frame_count), and its channels
        (position [m], quaternion, velocity [m/s]), shape (stop - start, frame_count, 10); zeros
        where it is absent.

    Raises:
        AgentError: A number is not finite.
    """
    size = stop - start
    present = np.ones((size, len(index.frames)), dtype=np.bool_)
    values = np.zeros((size, len(index.frames), CHANNEL_COUNT), dtype=np.float32)
    for i, frame in enumerate(index.frames):
        rows: slice | NDArray[np.int32] = slice(start, stop)
        here: slice | NDArray[np.bool_] = slice(None)
        if index.row is not None:
            here = index.row[i, start:stop] >= 0
            present[:, i] = here
            rows = index.row[i, start:stop][here]
        values[here, i, POSITION] = frame.position[rows]
        values[here, i, ROTATION] = frame.rotation[rows]
        values[here, i, VELOCITY] = frame.velocity[rows]
    if not np.isfinite(values).all():
        agent, i = np.argwhere(~np.isfinite(values).all(axis=2))[0]
        raise AgentError(
            f"agent {index.id[start + agent]} has a position, rotation or velocity that is not "
            f"finite at frame {index.numbers[i]}: clear the stored frames and simulate again"
        )
    return present, values


def read_alive(index: TrackIndex, start: int, stop: int) -> NDArray[np.bool_]:
    """At which frames agents start to stop live, shape (stop - start, frame_count).

    Where an agent is absent it does not.

    Args:
        index: The frames, from `index_frames`.
        start: First agent.
        stop: Agent after the last.
    """
    alive: NDArray[np.bool_]
    alive = _read_column(index, start, stop, [frame.alive for frame in index.frames]) != 0
    return alive


def read_radius(index: TrackIndex, start: int, stop: int) -> NDArray[np.float32]:
    """Body radii [m] of agents start to stop, 0 where one is absent; (stop - start, frame_count).

    Args:
        index: The frames, from `index_frames`.
        start: First agent.
        stop: Agent after the last.
    """
    radius: NDArray[np.float32]
    radius = _read_column(index, start, stop, [frame.radius for frame in index.frames])
    return radius


def read_attribute(index: TrackIndex, start: int, stop: int, name: str) -> NDArray[np.float32]:
    """An attribute of agents start to stop, 0 where it is absent; (stop - start, frame_count).

    Args:
        index: The frames, from `index_frames`.
        start: First agent.
        stop: Agent after the last.
        name: Name of the attribute.
    """
    columns = [frame.attributes.get(name) for frame in index.frames]
    pairs = zip(columns, index.frames, strict=True)
    known = [np.zeros(len(f.id), np.float32) if c is None else c for c, f in pairs]
    found: NDArray[np.float32] = _read_column(index, start, stop, known)
    return found


def _read_column(index: TrackIndex, start: int, stop: int, columns: list[NDArray[Any]]) -> Any:
    found = np.zeros((stop - start, len(columns)), columns[0].dtype)
    for i, column in enumerate(columns):
        if index.row is None:
            found[:, i] = column[start:stop]
        else:
            rows = index.row[i, start:stop]
            found[rows >= 0, i] = column[rows[rows >= 0]]
    return found


def continuous(rotation: NDArray[np.float32]) -> NDArray[np.float32]:
    """Flip signs so that neighbors lie on one hemisphere and interpolation turns the short way.

    Args:
        rotation: Quaternions of one agent over time, shape (sample_count, 4).

    Returns:
        The same rotations, shape (sample_count, 4); the first is unchanged.
    """
    aligned = np.einsum("ij,ij->i", rotation[1:], rotation[:-1])
    signs = np.cumprod(np.where(aligned < 0.0, -1.0, 1.0))
    result = rotation.copy()
    result[1:] *= signs[:, None]
    return result


def turned(
    rotation: NDArray[np.float32], first: tuple[float, float, float, float]
) -> NDArray[np.float32]:
    """Rotations that turn by a constant rotation before their own.

    Args:
        rotation: Quaternions (w, x, y, z), shape (..., 4).
        first: The unit quaternion that acts first.

    Returns:
        The products rotation · first, shape (..., 4).
    """
    w, x, y, z = first
    product = np.array([[w, x, y, z], [-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
    result: NDArray[np.float32] = (rotation @ product).astype(np.float32)
    return result
