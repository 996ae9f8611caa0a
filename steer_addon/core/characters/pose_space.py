"""A pose space: all poses of a character, in rows of one gait or clip each.

Poses face -Y and stand with their lowest feet on z = 0, the origin below the body. The gaits lie
in the order of their speeds, from standing on; each is one cycle. Where a gait has feet, they pass
each other at phases 0 and 1/2: there a character may change from one gait to another, since the
poses of neighboring gaits are nearest to each other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CharacterError
from ..numeric.easing import smoothstep

F32 = NDArray[np.float32]
KNOTS = 24
"""Even phases of a cycle at which `Row.turning` and `rolling` are kept, which mix between them."""
LEAVES = 48
"""Even phases of a cycle at which `Row.leaving` and what goes with it are kept."""
TABLES = {
    "turning": (KNOTS, 3),
    "leaving": (LEAVES, 2),
    "landing": (LEAVES, 1),
    "parting": (LEAVES, 3),
    "leaning": (LEAVES, 2),
    "lifts": (KNOTS, 1),
    "rolling": (KNOTS, 6),
}
"""Fields of `Row` that are tables, and their shapes where they are not empty."""
FIRST = 0.6
"""Speed of first steps, as a share of that of the gait that they lead to, see `Row.from_stand`."""
LAST_STEPS = "last steps"
"""Name of the row of `Row.last_steps`."""
LAST_POSES, LAST_SECONDS = 12, 0.04
"""Poses of each half of it, but for those of faster gaits, and the time from one to the next [s]:
so a foot of rigs goes by up to 20 mm a frame. The first and the last one are not shown: they are
there for the velocities of those beside them."""
SLOWEST = 2
"""Number of the gait that follows standing and first steps."""


@dataclass(frozen=True)
class Row:
    """Poses of one cycle of a gait, or of a clip, at even steps.

    Attributes:
        name: Name that users see, such as "walk" or "wave".
        first: Number of its first pose.
        count: Number of its poses, at least 1.
        speed: Speed that it is made for [m/s].
        stride: Way of one cycle [m], over which the poses are evenly spaced; 0 where the cycle goes
            on by time, as for standing, wings and clips.
        duration: Time of one cycle at its speed [s] > 0.
        loops: Whether it begins again at its end; only clips may end.
        round_from: Phase to which a clip that ends steps back, while it is to go on.
        round_to: Phase from which it does, in the same pose; none of both where it is played once.
        from_stand: Whether it is the way between standing and the next gait: at phase 0 it is as
            standing begins, and at 1/2 as the next gait is there. Only the second gait may be.
        both_sides: Whether such a row holds two cycles of steps: in the second half the other
            foot goes first, so at phase 1/2 it is as standing is there, and at 1/4 and 3/4 as the
            next gait at 1/2 and 0.
        begins_twice: Whether it is as standing begins at phase 1/2 too.
        turning: Turn to the left [rad m], shift ahead and shift to the right [m²] of the body at
            even phases, all per curvature of its way, by which planted feet stay on curves; none
            where bodies turn as their agents.
        close: Whether it is one of many between two gaits, so like the one before it that
            characters change between the two also somewhat after the feet have passed each other.
        leaving: Way of a step [m] from which on characters may leave the gait for the one before
            it, and the phase there less that here, at even phases; none where they only do where
            feet pass each other.
        landing: Way of the feet in a step [m] from which on characters that have stopped may leave
            the gait so, at even phases; none where it is as for those on their way.
        parting: How far ahead and to the right [m] characters are shifted as they leave the gait
            so, that planted feet stay, and the most that another vertex moves then [m], at even
            phases; none where they are not.
        leaning: How far ahead and to the right they lean then, as tangents, so that the rest of
            the body stays where it is, too; none where they do not.
        reach: How far hands, and what they hold, are to either side at most [m]: characters of rigs
            do not change gaits where these would jump on a curve; 0 for others.
        turn: Turn of one cycle to the left [rad], over which the poses are evenly spaced, where the
            row shows turning on the spot; 0 for all others. See `split_clips`.
        last_steps: Whether the row is how a body that has stopped comes to stand: in each half it
            goes through the poses of all gaits, from the fastest to the slowest one, at phase 0 or
            1/2, where their feet pass each other, and on to that in which standing begins. See
            `split_clips`, `falling` and `last_shares`.
        lifts: How high the planted foot is at even phases [m]: characters of earlier versions have
            it in place of `rolling`.
        rolling: Turn to the left [rad], shift ahead and shift to the right [m] at even phases, for
            a lean or slope to the right of tangent 1, and the same for one ahead: by them planted
            feet that rise and roll stay; none where they lie still.
    """

    name: str
    first: int
    count: int
    speed: float = 0.0
    stride: float = 0.0
    duration: float = 1.0
    loops: bool = True
    round_from: float = 0.0
    round_to: float = 0.0
    from_stand: bool = False
    turning: tuple[tuple[float, ...], ...] = ()
    close: bool = False
    both_sides: bool = False
    turn: float = 0.0
    leaving: tuple[tuple[float, float], ...] = ()
    lifts: tuple[tuple[float], ...] = ()
    rolling: tuple[tuple[float, ...], ...] = ()
    begins_twice: bool = False
    landing: tuple[tuple[float], ...] = ()
    parting: tuple[tuple[float, float, float], ...] = ()
    last_steps: bool = False
    leaning: tuple[tuple[float, float], ...] = ()
    reach: float = 0.0

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def __hash__(self) -> int:
        """Made once: of the hundreds of numbers of a gait it takes longer than a body's step."""
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: texts have another one in each process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def goes_round(self) -> bool:
        """Whether a part of it goes round while it is to go on."""
        return self.round_from < self.round_to


@dataclass(frozen=True, eq=False, repr=False)
class PoseSpace:
    """All poses of a character.

    Attributes:
        positions: Vertices of each pose [m], shape (pose_count, vertex_count, 3).
        gaits: Rows by rising speed; the first one is standing.
        clips: Further rows: those that users play by their name, and those of `split_clips`.

    Raises:
        CharacterError: Rows do not cover the poses in order, or gaits do not rise.
    """

    positions: F32
    gaits: tuple[Row, ...]
    clips: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        """Check that rows and poses fit."""
        after = 0
        for row in self.rows:
            if row.first != after or row.count < 1 or not row.duration > 0.0:
                raise CharacterError(
                    f"Row {row.name!r} has {row.count} poses from {row.first} on, for "
                    f"{row.duration:g} s: give rows that follow one another and last"
                )
            if not 0.0 <= row.round_from <= row.round_to <= 1.0:
                raise CharacterError(
                    f"Row {row.name!r} goes round from {row.round_from:g} to {row.round_to:g}: "
                    "give phases from 0 to 1, the first one below the second"
                )
            after += row.count
        if self.positions.ndim != 3 or len(self.positions) != after:
            raise CharacterError(
                f"The rows of a character have {after} poses, and there are "
                f"{len(self.positions)}: give as many"
            )
        speeds = [row.speed for row in self.gaits]
        if not speeds or any(a >= b for a, b in zip(speeds, speeds[1:], strict=False)):
            raise CharacterError(
                f"The gaits of a character have speeds {speeds}: give one or more, each faster "
                "than the one before"
            )

    @property
    def rows(self) -> tuple[Row, ...]:
        """Gaits, then clips."""
        return (*self.gaits, *self.clips)

    @property
    def pose_count(self) -> int:
        """Number of poses."""
        return len(self.positions)


def falling(gaits: int) -> list[int]:
    """Numbers of the gaits with which each half of last steps begins, before the slowest one.

    The fastest one is there twice: a pose has its velocity by those beside it.

    Args:
        gaits: Number of gaits, standing and first steps among them.
    """
    return [gaits - 1, *range(gaits - 1, SLOWEST, -1)]


def last_shares() -> NDArray[np.float64]:
    """How far the poses after these are from standing, shape (LAST_POSES - 1,)."""
    shares: NDArray[np.float64] = 1.0 - smoothstep(np.arange(LAST_POSES - 1) / (LAST_POSES - 2))
    return shares


def split_clips(clips: tuple[Row, ...]) -> tuple[tuple[Row, ...], ...]:
    """Rows that users play by their name, two of turning on the spot or none, one of last steps.

    Args:
        clips: Rows of a character after its gaits.

    Returns:
        The three; those of turning lead to the left and to the right, by the same angle, in as many
        poses. There is one row of last steps, or none.
    """
    lasts = clips[-1:] if clips and clips[-1].last_steps else ()
    clips = clips[: len(clips) - len(lasts)]
    if len(clips) > 1 and 0.0 < clips[-2].turn == -clips[-1].turn:
        if clips[-2].count == clips[-1].count:
            return clips[:-2], clips[-2:], lasts
    return clips, (), lasts
