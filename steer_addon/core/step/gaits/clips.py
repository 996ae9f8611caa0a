"""Clips: what standing agents play now and then, at their arrival, or as a point attribute says.

A clip begins and ends in the pose in which standing begins, so it starts only where a cycle of
standing ends; one that is due lets that come twice as soon. Phases go on growing: a clip lasts from
one whole number to the next, and one that goes round and round steps back within it, to the same
place of the next whole number. Whether a clip starts, which one, and whether it goes round again
depends on the seed, the agent and that whole number alone: a frame is enough to continue from. An
agent that walks off leaves its clip by the nearer end, at twice its rate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...agents import Agents
from ...characters.cast import CLIP, CLIP_MEMORY, DURATION, MEMORY, TEMPO, Cast
from ...characters.pose_space import Row
from ...compiled.jit import kernel, parallel_for
from ...crowd.clips import ClipsSettings
from ...crowd.settings import CrowdSettings
from ...numeric.node_random import random_floats
from ...numeric.rng import random_purpose, uniform4
from .stance import CHARACTER, GAIT, PHASE

TIME, FROM, TO, LOOPS, IDLE, ARRIVAL = range(6)
"""Columns of a table of clips: duration of one cycle [s], phases between which it goes round,
whether all of it does, and whether it is played while standing, and at the arrival."""
HURRY = 2.0
"""How much faster standing gets to its end when a clip is due, and a clip that is left to its."""
NOT_GIVEN = -2
"""Clip of agents without the point attribute."""
LANDED = 1.0e-3
"""Part of a cycle after which standing has begun already."""

_PURPOSE = random_purpose("clips")
_DRAWN = "a tempo"
"""Key, in the memory of agents, of their place in the spread of tempos, from -1 to 1."""


def tempos(before: Agents, after: Agents, settings: CrowdSettings) -> NDArray[np.float64]:
    """How much faster than its character each agent does what goes by time, shape (agent_count,).

    Args:
        before: The crowd before a step.
        after: The crowd after it; it remembers what it has drawn.
        settings: Its settings.
    """
    if TEMPO in after.attributes:
        given: NDArray[np.float64] = after.attributes[TEMPO].astype(np.float64)
        return np.maximum(given, 0.0)
    drawn = before.memory.get(_DRAWN)
    if drawn is None:
        drawn = _draw(after, settings)
    after.memory[_DRAWN] = drawn
    return 1.0 + settings.clips.tempo_spread * drawn[:, 0].astype(np.float64)


def _draw(agents: Agents, settings: CrowdSettings) -> NDArray[np.float32]:
    """Places in the spread of tempos, shape (agent_count, 1)."""
    numbers = random_floats(agents.id, settings.seed + _PURPOSE)
    return (2.0 * numbers - np.float32(1.0))[:, None]


def at_birth(agents: Agents, settings: CrowdSettings) -> dict[str, NDArray[np.float32]]:
    """What agents that begin to live remember of clips, by key."""
    return {CLIP_MEMORY: _no_clips(agents), _DRAWN: _draw(agents, settings)}


def begin(agents: Agents, settings: CrowdSettings) -> None:
    """Have agents that play no clip yet say so from their first frame on; writes their memory."""
    if _wanted(agents, settings):
        agents.memory[CLIP_MEMORY] = _no_clips(agents)


def _no_clips(agents: Agents) -> NDArray[np.float32]:
    """What agents remember that play no clip, shape (agent_count, 1)."""
    return np.full((agents.count, 1), -1.0, np.float32)


def _wanted(agents: Agents, settings: CrowdSettings) -> bool:
    """Whether agents are to play clips at all."""
    cast = settings.cast
    has_clips = cast is not None and any(cast.clips)
    return has_clips and (CLIP in agents.attributes or bool(settings.clips.names))


def stand_instead(cast: Cast, posture: NDArray[np.float32]) -> None:
    """Let agents in clips stand, as gaits know no clips; changes the posture.

    Args:
        cast: The characters.
        posture: Columns of `POSTURE`, shape (agent_count, 12).
    """
    counts = np.array([len(gaits) for gaits in cast.gaits])
    if posture[:, GAIT].max(initial=0.0) < counts.min():
        return
    who = posture[:, CHARACTER].astype(np.int64)
    clips = np.array([len(own) for own in cast.clips or [()] * len(counts)])[who]
    after = posture[:, GAIT] - counts[who]
    in_clip = (after >= 0.0) & (after < clips)
    posture[in_clip, GAIT] = 0.0


def advance(
    before: Agents,
    after: Agents,
    settings: CrowdSettings,
    tempo: NDArray[np.float64],
    dt: float,
) -> None:
    """Let clips follow the gaits of a step.

    Args:
        before: The crowd before the step.
        after: The crowd after it, whose gaits have been advanced; its memory is written.
        settings: Its settings.
        tempo: How much faster than its character each agent does what goes by time.
        dt: Length of the step [s].
    """
    cast, told = settings.cast, settings.clips
    if cast is None or not _wanted(after, settings):
        after.memory.pop(CLIP_MEMORY, None)
        return
    given = after.attributes.get(CLIP)
    wanted = before.memory.get(CLIP_MEMORY)
    after.memory[CLIP_MEMORY] = _no_clips(after) if wanted is None else wanted.copy()
    own = np.full(after.count, NOT_GIVEN, np.int64) if given is None else given.astype(np.int64)
    table = _table(cast, told)
    parallel_for(
        clips_kernel,
        after.count,
        before.memory[MEMORY],
        after.memory[MEMORY],
        after.memory[CLIP_MEMORY],
        (before.arrived, after.arrived),
        (after.id, own, tempo),
        (table, cast.table()[:, 0, DURATION].copy(), _counts(cast), _chances(cast, table, told)),
        float(told.idle_time),
        settings.seed,
        float(dt),
    )


def _counts(cast: Cast) -> NDArray[np.int64]:
    """Numbers of gaits and of clips of each character, shape (character_count, 2)."""
    pairs = zip(cast.gaits, cast.clips, strict=True)
    return np.array([(len(gaits), len(clips)) for gaits, clips in pairs], np.int64)


def _table(cast: Cast, told: ClipsSettings) -> NDArray[np.float64]:
    """The clips of each character, shape (character_count, most_clips, 6)."""
    table = np.zeros((len(cast.clips), max(len(clips) for clips in cast.clips), 6))
    table[:, :, TIME] = 1.0
    for rows, clips in zip(table, cast.clips, strict=True):
        for row, clip in zip(rows, clips, strict=False):
            row[:] = (
                clip.duration, clip.round_from, clip.round_to, clip.loops,
                told.plays(told.idle, clip.name), told.plays(told.arrival, clip.name),
            )  # fmt: skip
    return table


def _chances(cast: Cast, table: Any, told: ClipsSettings) -> NDArray[np.float64]:
    """Chance that a clip follows where a cycle of standing, or a clip, has ended.

    With it clips take the share of the time that is asked for.
    """
    found = np.zeros(len(cast.clips))
    for who, clips in enumerate(cast.clips):
        stand = cast.gaits[who][0].duration
        chosen = [_lasts(clip, told) for k, clip in enumerate(clips) if table[who, k, IDLE]]
        if chosen:
            share, clip_time = told.idle_share, sum(chosen) / len(chosen)
            found[who] = share * stand / (share * stand + (1.0 - share) * clip_time)
    return found


def _lasts(clip: Row, told: ClipsSettings) -> float:
    """Mean time of a clip that is played while standing [s]."""
    return clip.duration + (told.idle_time if clip.loops or clip.goes_round else 0.0)


@kernel
def _picked(table, who, count, column, word):
    """One of the clips that are marked in a column of the table, -1 for none."""
    marked = 0
    for k in range(count):
        marked += int(table[who, k, column])
    left = int(word * marked)
    for k in range(count):
        if table[who, k, column] > 0.0:
            if left == 0:
                return k
            left -= 1
    return -1


@kernel
def _next(characters, who, number, wanted, agent, seed):
    """The clip that begins where standing ends at a whole number of cycles, -1 for none.

    Args:
        characters: Table of clips, time of standing, counts and chances, of each character.
        who: Number of the character.
        number: The whole number.
        wanted: The clip that is due, -1 for none.
        agent: Its id, its clip by attribute and its tempo.
        seed: Random seed.
    """
    table, _stand, counts, chances = characters
    agent_id, own, _tempo = agent
    if own != NOT_GIVEN:
        return own if own < counts[who, 1] else -1
    if wanted >= 0:
        return wanted
    draws = uniform4(seed, agent_id, number, _PURPOSE)
    if draws[0] >= chances[who]:
        return -1
    return _picked(table, who, counts[who, 1], IDLE, draws[1])


@kernel
def _again(table, who, clip, number, arrived, agent, more, seed):
    """Whether a clip that goes round does so once more, see `_next`; `more` is its mean time."""
    agent_id, own, _tempo = agent
    if own == clip or (arrived and table[who, clip, ARRIVAL] > 0.0):
        return True
    part = table[who, clip, TO] - table[who, clip, FROM]
    if table[who, clip, LOOPS] > 0.0:
        part = 1.0
    draws = uniform4(seed, agent_id, number, _PURPOSE)
    return draws[2] * (more + part * table[who, clip, TIME]) < more


@kernel
def _played(table, who, clip, phase, moves, arrived, agent, more, seed, dt):
    """Phase after a step of a clip, and whether it is over; see `_again`.

    Args:
        table: Clips of all characters.
        who: Number of the character.
        clip: Number of the clip.
        phase: Cycles until now.
        moves: Whether the agent walks off.
        arrived: Whether it has arrived.
        agent: Its id, its clip by attribute and its tempo.
        more: Mean time for which clips go round [s].
        seed: Random seed.
        dt: Length of the step [s].
    """
    whole = float(math.floor(phase))
    done, step = phase - whole, dt * agent[2] / table[who, clip, TIME]
    loops = table[who, clip, LOOPS] > 0.0
    if moves:
        if loops:
            return whole + 1.0, True
        done = done - HURRY * step if done < 0.5 else done + HURRY * step
        if done <= 0.0:
            return whole, True
        return whole + min(done, 1.0), done >= 1.0
    first, last = table[who, clip, FROM], table[who, clip, TO]
    if loops:
        first, last = 0.0, 1.0
    if (
        last > first
        and done < last <= done + step
        and _again(table, who, clip, whole + 1.0, arrived, agent, more, seed)
    ):
        return whole + 1.0 + min(done + step - (last - first), last), False
    return whole + done + step, done + step >= 1.0


@kernel
def _begun(new, i, number, clip, late, characters, agent):
    """Let an agent begin a clip, or stand where it is -1; `late` [s] have gone on since."""
    table, stand, counts, _chances = characters
    who = int(new[i, CHARACTER])
    lasts, row = stand[who], 0
    if clip >= 0:
        lasts, row = table[who, clip, TIME], counts[who, 0] + clip
    new[i, PHASE] = number + min(late * agent[2] / lasts, 0.5)
    new[i, GAIT] = row


@kernel
def _stood(old, new, i, due, characters, agent):
    """A whole number at which standing ended in this step, and the time since [s]; or -1."""
    phase, stand = new[i, PHASE] * 1.0, characters[1][int(new[i, CHARACTER])]
    if old[i, GAIT] > 0.0:
        landed = float(math.floor(phase + LANDED))
        return (landed, 0.0) if abs(phase - landed) < LANDED else (-1.0, 0.0)
    if due and phase > old[i, PHASE]:
        phase += (HURRY - 1.0) * (phase - old[i, PHASE])
        new[i, PHASE] = phase
    whole = float(math.floor(phase))
    if whole <= math.floor(old[i, PHASE]):
        return -1.0, 0.0
    return whole, (phase - whole) * stand / max(agent[2], 1.0e-6)


@kernel
def clips_kernel(start, stop, old, new, wanted, arrivals, agents, characters, more, seed, dt):
    """Begin, go on with and end the clips of agents.

    Args:
        start: First agent.
        stop: Agent after the last.
        old: Columns of `POSTURE` before the step.
        new: Those after it, as far as gaits are concerned; read and written.
        wanted: Clip that each agent plays or is about to, -1 for none, shape (n, 1); written.
        arrivals: Whether each agent had arrived before the step, and has after it.
        agents: Ids, clips by attribute and tempos.
        characters: Table of clips, time of standing, counts and chances, of each character.
        more: Mean time for which clips go round [s].
        seed: Random seed.
        dt: Length of the step [s].
    """
    table, _stand, counts, _chances = characters
    for i in range(start, stop):
        who = int(new[i, CHARACTER])
        count, gaits = counts[who, 1], counts[who, 0]
        if count == 0:
            wanted[i, 0] = -1.0
            continue
        agent = (agents[0][i], agents[1][i], agents[2][i])
        moves, arrived = new[i, GAIT] > 0.0, arrivals[1][i] > 0
        if arrived and arrivals[0][i] == 0 and agent[1] == NOT_GIVEN:
            word = uniform4(seed, agent[0], math.floor(old[i, PHASE]), _PURPOSE)[3]
            wanted[i, 0] = _picked(table, who, count, ARRIVAL, word)
        clip = int(old[i, GAIT]) - gaits
        if 0 <= clip < count:
            phase, over = _played(
                table, who, clip, old[i, PHASE] * 1.0, moves, arrived, agent, more, seed, dt
            )
            if not over:
                new[i, PHASE], new[i, GAIT] = phase, gaits + clip
                continue
            if int(wanted[i, 0]) == clip:
                wanted[i, 0] = -1.0
            number = float(math.floor(phase))
            late = (phase - number) * table[who, clip, TIME] / max(agent[2], 1.0e-6)
            if moves:
                _begun(new, i, number, -1, 0.0, characters, agent)
                continue
        elif moves:
            if not arrived:
                wanted[i, 0] = -1.0
            continue
        else:
            due = wanted[i, 0] >= 0.0 or agent[1] >= 0
            number, late = _stood(old, new, i, due, characters, agent)
            if number < 0.0:
                continue
        following = _next(characters, who, number, int(wanted[i, 0]), agent, seed)
        if following >= 0 or clip >= 0:
            _begun(new, i, number, following, late, characters, agent)
        if following >= 0:
            wanted[i, 0] = following
