"""Frames with the same agents in the same rows, for formats that know agents by their row only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AgentError
from .frames import Frame


class Roster:
    """Gives each agent a row of its own for good.

    An agent absent from a frame is dead there, at its last place; an agent that appears later than
    in the first frame gets a row behind the others. Where all identities are not known beforehand,
    a row of an agent that is gone may go on as that of another one, as in the frames themselves,
    if neither of both lives there: so the rows of a crowd with births do not grow.
    """

    def __init__(self, ids: NDArray[np.int64] | None = None) -> None:
        """Begin.

        Args:
            ids: All identities there will be, shape (agent_count,), where that is known: frames
                then have that many rows from the first on, and no other agent may appear.
        """
        self._ids = None if ids is None else np.asarray(ids, np.int64)
        self._fixed = ids is not None
        self._last: Frame | None = None

    def placed(self, frame: Frame) -> Frame:
        """The frame in the order of the roster; the frame itself where it is in that order.

        Raises:
            AgentError: An identity occurs twice, or is new though all were given.
        """
        if self._ids is None:
            self._ids = frame.id.copy()
        if not np.array_equal(frame.id, self._ids):
            if not self._goes_on(frame):
                frame = self._sorted(frame, self._ids)
            self._ids = frame.id
        self._last = frame
        return frame

    def _goes_on(self, frame: Frame) -> bool:
        """Whether rows are those of the frame before, but for the dead that others replace."""
        last = self._last
        if self._fixed or last is None or len(frame.id) != len(last.id):
            return False
        changed = np.flatnonzero(frame.id != last.id)
        living = (frame.alive[changed] | last.alive[changed]).any()
        moved = np.isin(frame.id[changed], last.id).any()
        return not (living or moved) and len(np.unique(frame.id)) == len(frame.id)

    def _sorted(self, frame: Frame, ids: NDArray[np.int64]) -> Frame:
        if len(np.unique(frame.id)) < len(frame.id):
            raise AgentError(
                f"An id occurs twice at frame {frame.number}: give every point an id of its own"
            )
        new = frame.id[~np.isin(frame.id, ids)]
        if len(new) and self._fixed:
            raise AgentError(
                f"Agent {new[0]} appears at frame {frame.number}, and this format needs to know "
                "all agents from the start: bake the crowd first, and export the bake"
            )
        ids = np.concatenate([ids, new])
        order = np.argsort(ids)
        rows = order[np.searchsorted(ids[order], frame.id)]
        filled = replace(
            frame,
            id=ids,
            position=self._filled("position", frame, rows, len(ids)),
            velocity=_spread(frame.velocity, rows, len(ids)),
            rotation=self._filled("rotation", frame, rows, len(ids)),
            radius=self._filled("radius", frame, rows, len(ids)),
            alive=_spread(frame.alive, rows, len(ids)),
            attributes={k: _spread(v, rows, len(ids)) for k, v in frame.attributes.items()},
        )
        if self._last is None:
            # a quaternion of zeros is no rotation
            absent = np.ones(len(ids), np.bool_)
            absent[rows] = False
            filled.rotation[absent, 0] = 1.0
        return filled

    def _filled(
        self, name: str, frame: Frame, rows: NDArray[np.int64], count: int
    ) -> NDArray[np.float32]:
        """A column with what absent agents had last."""
        values: NDArray[np.float32] = getattr(frame, name)
        result = np.zeros((count, *values.shape[1:]), np.float32)
        if self._last is not None:
            before: NDArray[np.float32] = getattr(self._last, name)
            result[: len(before)] = before
        result[rows] = values
        return result


def _spread(values: Any, rows: NDArray[np.int64], count: int) -> Any:
    result = np.zeros((count, *values.shape[1:]), values.dtype)
    result[rows] = values
    return result


def placed(frames: Iterable[Frame], ids: NDArray[np.int64] | None = None) -> Iterator[Frame]:
    """Frames with the same agents in the same rows.

    Args:
        frames: The frames in ascending order.
        ids: All identities there will be, where that is known.

    Raises:
        AgentError: While iterating: an identity occurs twice, or is new though all were given.
    """
    roster = Roster(ids)
    for frame in frames:
        yield roster.placed(frame)


def everybody(frames: Iterable[Frame]) -> NDArray[np.int64]:
    """All identities in frames, in the order in which they appear, shape (agent_count,)."""
    found = np.zeros(0, np.int64)
    last: NDArray[np.int64] | None = None
    for frame in frames:
        if last is None or not np.array_equal(frame.id, last):
            new = frame.id[~np.isin(frame.id, found)]
            found, last = np.concatenate([found, new]), frame.id
    return found
