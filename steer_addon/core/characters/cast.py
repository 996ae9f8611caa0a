"""The cast of a crowd: the characters that its agents are shown as, as far as they steer gaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from .pose_space import KNOTS, LAST_POSES, LEAVES, SLOWEST, TABLES, Row

SPEED, STRIDE, DURATION, FROM_STAND, CLOSE, COUNT, STANDS, REACH = range(8)
"""Columns of a table of gaits."""
LEFT, ANGLE, POSES, LAST, LASTS, HIGHEST = range(6)
"""Columns of a table of what bodies do on the spot."""
WAY, PHASES, LANDING_WAY, SHIFT, APART, LEANS = 0, 1, 2, 3, 5, 6
"""Columns of a table of where gaits are left, see `leaving_of`; `SHIFT` and `LEANS` are the first
of two, ahead and to the right."""
RANDOM, INDEX = "at random", "by index"
"""Ways to choose a character; names of point attributes are others."""
GIVEN = "character"
"""Point attribute that says which character an agent is, whatever is chosen for the others."""
CLIP, TEMPO = "clip", "tempo"
"""Point attributes that say which clip an agent plays whenever it stands, and how much faster than
others it does what goes by time. `CLIP` is one of the state too, where clips are played."""
CLIP_MEMORY = "a clip"
"""Key, in the memory of agents, of the number of the clip that is played or due, -1 for none."""
PARTS = "parts"
"""Point attribute that says which optional parts of its character an agent has: 1 the first one, 2
the second, 4 the third and so on, added up; 0 none."""
MEMORY = "a gait"
"""Key of the posture in the memory of agents: no behavior has a space in its type."""
POSTURE = (
    "phase",
    "gait",
    "character",
    "slope_ahead",
    "slope_side",
    "lean_ahead",
    "lean_side",
    "twist",
    "shift_ahead",
    "shift_side",
    "lift",
    "curve",
)
"""Point attributes that say how the body of an agent looks at a frame: cycles of its gait since the
start, the number of the gait, the number of its character, the rise of the ground ahead and to the
right [m/m], the tangents of how far the body leans ahead and to the right, how far it is turned to
the left of its heading [rad] and shifted ahead and to the right [m], so that planted feet stay on
curves and between two poses, how far it is above the ground on stairs [m], and the curvature of its
way to the left [1/m], the last four for a body of usual size."""
_ALWAYS = 3
"""Number of those that flyers have too: how these lie in the air is in their rotation."""


@dataclass(frozen=True)
class Cast:
    """Characters of a crowd.

    Attributes:
        gaits: The gaits of each character, by rising speed; none where no character is shown.
        clips: The clips of each character; none at all where none has any.
        scale: Size of all bodies, and of their strides.
        sized: Whether bodies are also as large as the radius of their agent says.
        choice: `RANDOM`, `INDEX` or the name of a point attribute: which character an agent takes.
        seed: Changes which character each agent takes at random.
        weights: How often each character is taken at random, against the others; none where all
            are taken as often.
        names: Name of each character; None where no group asks for one.
        rounds: The rows of turning on the spot of each character, see `split_clips`; none at all
            where none has any. In the pose space they follow its clips.
        lasts: The row of last steps of each character, likewise; it follows those.
        upright: Share of the slope by which the body of each character is not tilted, 0 to 1; none
            at all where all are upright.
    """

    gaits: tuple[tuple[Row, ...], ...] = ()
    scale: float = 1.0
    sized: bool = False
    choice: str = RANDOM
    seed: int = 0
    weights: tuple[float, ...] = ()
    clips: tuple[tuple[Row, ...], ...] = ()
    names: tuple[str, ...] | None = None
    rounds: tuple[tuple[Row, ...], ...] = ()
    upright: tuple[float, ...] = ()
    lasts: tuple[tuple[Row, ...], ...] = ()

    def __bool__(self) -> bool:
        """Whether there are characters."""
        return bool(self.gaits)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the point attributes that it reads."""
        if not self:
            return ()
        own = (GIVEN, CLIP, TEMPO, PARTS)
        return own if self.choice in (RANDOM, INDEX) else (*own, self.choice)

    def limits(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Weights of some characters, each with those before it, as the nodes add them all."""
        weights = np.array(self.weights or [1.0] * len(self.gaits), np.float32)[list(numbers)]
        # the nodes keep by how much a weight is more than 1
        return np.cumsum((np.maximum(weights, 0.0) - np.float32(1.0)) + np.float32(1.0))

    def table(self) -> NDArray[np.float64]:
        """Speed, stride, duration, from standing, whether close, poses, cycles of standing, reach.

        Gaits that do not come from standing have 0 of these cycles, others 1, or 2 for both sides;
        the last column but one says how many cycles of standing they are. The shape of the table is
        (character_count, most_gaits, 8). Characters with fewer gaits than others have
        ones that no speed reaches.
        """
        table = np.zeros((len(self.gaits), _most(self.gaits), 8))
        table[:, :, SPEED] = np.inf
        table[:, :, [DURATION, COUNT, STANDS]] = 1.0
        for rows, gaits in zip(table, self.gaits, strict=True):
            rows[: len(gaits)] = [
                (
                    g.speed, g.stride, g.duration, _cycles_from_stand(g), g.close, g.count,
                    1 + g.begins_twice, g.reach,
                )
                for g in gaits
            ]  # fmt: skip
        return table

    def uprights(self) -> NDArray[np.float64]:
        """Share of the slope by which the body of each character is not tilted, 0 to 1."""
        return np.array(self.upright or [1.0] * len(self.gaits))

    def spots(self) -> NDArray[np.float64]:
        """What bodies do on the spot: turning, and last steps.

        Row of turning left, turn of a cycle [rad] and number of its poses, row of last steps,
        their time [s] and the fastest gait from which they lead, of each character. The row of
        turning right follows that of turning left; rows, and that gait, are -1 where there are
        none. The shape of the table is (character_count, 6).
        """
        table = np.tile([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0], (len(self.gaits), 1))
        for who, gaits in enumerate(self.gaits):
            clips, rounds, lasts = (
                rows[who] if rows else () for rows in (self.clips, self.rounds, self.lasts)
            )
            after = len(gaits) + len(clips)
            if rounds:
                table[who, :LAST] = after, rounds[0].turn, rounds[0].count
            if lasts:
                highest = SLOWEST + lasts[0].count // 2 - LAST_POSES
                table[who, LAST:] = after + len(rounds), lasts[0].duration, highest
        return table


def _most(all_gaits: tuple[tuple[Row, ...], ...]) -> int:
    """Most gaits of a character, at least 2: kernels ask whether the second one is first steps."""
    return max(2, *(len(gaits) for gaits in all_gaits))


def _cycles_from_stand(gait: Row) -> int:
    return int(gait.from_stand) * (2 if gait.both_sides else 1)


def turns_of(cast: Cast) -> NDArray[np.float64]:
    """Turns and shifts of gaits on curves, shape (character_count, most_gaits, KNOTS, 3).

    See `Row.turning`; they are 0 where a row has none.
    """
    return _at_knots(cast.gaits, "turning")


def rolls_of(cast: Cast) -> NDArray[np.float64]:
    """What planted feet need of bodies that lean, shape (character_count, most_gaits, KNOTS, 6).

    See `Row.rolling`; 0 where a row has neither that nor `lifts`.
    """
    return _rolls(cast.gaits)


@lru_cache(maxsize=32)
def _rolls(all_gaits: tuple[tuple[Row, ...], ...]) -> NDArray[np.float64]:
    found, lifts = (_at_knots(all_gaits, name) for name in ("rolling", "lifts"))
    # feet of characters of earlier versions rise as a whole
    risen = found.copy()
    risen[..., [2, 4]] -= lifts
    return risen


@lru_cache(maxsize=32)
def _at_knots(all_gaits: tuple[tuple[Row, ...], ...], name: str) -> NDArray[np.float64]:
    """One of `TABLES` of all gaits, made once: it takes longer than the gaits of a small crowd."""
    found = np.zeros((len(all_gaits), _most(all_gaits), *TABLES[name]))
    for rows, gaits in zip(found, all_gaits, strict=True):
        for row, gait in zip(rows, gaits, strict=False):
            if len(getattr(gait, name)) == KNOTS:
                row[:] = getattr(gait, name)
    return found


def leaving_of(cast: Cast) -> NDArray[np.float64]:
    """Where bodies leave gaits, shape (character_count, most_gaits, LEAVES, 8).

    See `Row.leaving`, `landing`, `parting` and `leaning`; ways are infinite where a row has none.
    """
    return _leaving(cast.gaits)


@lru_cache(maxsize=16)
def _leaving(all_gaits: tuple[tuple[Row, ...], ...]) -> NDArray[np.float64]:
    found = np.zeros((len(all_gaits), _most(all_gaits), LEAVES, 8))
    found[..., [WAY, LANDING_WAY, APART]] = np.inf
    for rows, gaits in zip(found, all_gaits, strict=True):
        for row, gait in zip(rows, gaits, strict=False):
            if len(gait.leaving) == LEAVES:
                row[:, [WAY, PHASES]] = gait.leaving
                row[:, LANDING_WAY] = row[:, WAY]
            if len(gait.landing) == LEAVES:
                row[:, LANDING_WAY] = np.ravel(gait.landing)
            if len(gait.parting) == LEAVES:
                row[:, SHIFT : APART + 1] = gait.parting
            if len(gait.leaning) == LEAVES:
                row[:, LEANS:] = gait.leaning
    return found


def posture(agents: Agents, walks: bool) -> dict[str, NDArray[np.float32]]:
    """Point attributes of the posture of agents, each of shape (agent_count,).

    Args:
        agents: The crowd.
        walks: Whether agents walk on a surface.
    """
    memory = agents.memory.get(MEMORY)
    if memory is None:
        return {}
    names = POSTURE if walks else POSTURE[:_ALWAYS]
    found = {name: memory[:, column].copy() for column, name in enumerate(names)}
    if CLIP_MEMORY in agents.memory:
        found[CLIP] = agents.memory[CLIP_MEMORY][:, 0].copy()
    if PARTS in agents.attributes:
        found[PARTS] = agents.attributes[PARTS].astype(np.float32)
    return found


def remembered(attributes: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """What agents remember of their posture, from the attributes of a frame that shows it.

    Args:
        attributes: Columns by name, each of shape (agent_count,).

    Returns:
        A part of the memory of agents; nothing where the frame shows no posture.
    """
    if any(name not in attributes for name in POSTURE[:_ALWAYS]):
        return {}
    level = np.zeros_like(attributes[POSTURE[0]])
    columns = [attributes.get(name, level) for name in POSTURE]
    found = {MEMORY: np.ascontiguousarray(np.stack(columns, axis=1), np.float32)}
    if CLIP in attributes:
        found[CLIP_MEMORY] = np.array(attributes[CLIP][:, None], np.float32)
    return found
