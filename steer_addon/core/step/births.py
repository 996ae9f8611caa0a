"""Births: which agents are born in a step, which wait for room, and which are gone.

After a step and its contacts, in this order:

1. Agents are gone whose time is over: their lifetime, the frame of their attribute `death`, or
   inside of a volume that takes agents away. Those that leave at a goal are gone by `arrival`.
2. Agents that wait are born where there is room, the least id first: their body overlaps none of
   its crowd, nor of crowds that it touches, and no wall. Others go on waiting; those of a source
   try another place of it in the next step.
3. Those that are due at the next frame get a row, and wait in it. Where all rows are in use they
   are not born at all: the capacity of the crowd is the most that its sources keep there.

PER_SECOND is a sum of rate · dt over frames, with half of a birth to begin with, so that n seconds
give n · rate births to the nearest; OVER_FRAMES a share of the number at each frame; BURSTS the
number at each multiple of the interval. A row is free when its agent is gone for a whole frame.

Everything follows from the state at the step, so the order of agents and crowds does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..compiled import jit
from ..contacts.free import inside_kernel
from ..crowd.birth_memory import (
    BORN,
    FRESH,
    KIND,
    LEFT_OVER,
    MEMORY,
    OWN,
    SINCE,
    USED,
    VELOCITY,
    WAITS,
    remembered,
)
from ..crowd.births import BIRTH, DEATH, BirthsSettings
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..geometry import ground
from ..inputs.emitters import Emitters
from ..inputs.world import Colliders, World
from .birth_rows import begin_life, forget, lifetimes, newly, places
from .room import Bodies, bodies_of, with_room

I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

PATIENCE = 2.0
"""Users are told of agents that have waited for room for longer than this [s]."""


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """What becomes of a crowd after a step.

    Attributes:
        gone: Which agents are gone, shape (agent_count,).
        born: Rows of those that are born.
        waiting: Those that wait at a place of a source now, None for nobody.
        left_over: The part of a birth that is left over.
    """

    gone: Mask
    born: I64
    waiting: Waiting | None = None
    left_over: float = 0.0


class Waiting(NamedTuple):
    """Agents that wait at a place of a source.

    Attributes:
        rows: Their rows.
        ids: Their ids.
        place: Where they wait [m], shape (waiting_count, 3).
        heading: Where they look, likewise.
        normal: Normals of the ground under them, likewise.
        new: Which of them wait from now on, shape (waiting_count,).
    """

    rows: I64
    ids: I64
    place: F32
    heading: F32
    normal: F32
    new: Mask


@dataclass(eq=False, repr=False)
class Births:
    """The births of one crowd; it keeps nothing that a step depends on.

    Attributes:
        lost: The capacity, once agents were not born as it was used up; 0 before.
    """

    start: int
    """First frame of the crowd."""
    dt: float
    """Length of a frame [s]."""
    first: int
    """First frame at which sources can have agents, which are known a frame before."""
    lost: int = 0
    _lacking: bool = field(default=False)

    def _emits(self, births: BirthsSettings, frame: int) -> bool:
        """Whether a frame is one at which sources can have agents."""
        return births.emits and max(births.first_frame, self.first) <= frame <= births.last_frame

    def due(self, births: BirthsSettings, frame: int, left_over: float) -> tuple[int, float]:
        """How many are born at a frame, and the part of a birth that is left over.

        Args:
            births: The settings.
            frame: Number of the frame.
            left_over: The part that was left over until then.
        """
        if not self._emits(births, frame):
            return 0, left_over
        if births.emission == "PER_SECOND":
            total = left_over + min(births.rate * self.dt, float(births.capacity) + 1.0)
            whole = int(total + 1.0e-5)
            return whole, max(total - whole, 0.0)
        first = max(births.first_frame, self.first)
        done = frame - first
        if births.emission == "OVER_FRAMES":
            count = births.last_frame - first + 1
            return births.number * (done + 1) // count - births.number * done // count, left_over
        if births.interval <= 0.0:
            return births.number if done == 0 else 0, left_over
        # the burst whose frame this is, if there is one
        nearest = round(done * self.dt / births.interval)
        hits = done == round(nearest * births.interval / self.dt)
        return births.number if hits else 0, left_over

    def decide(
        self,
        before: Agents,
        agents: Agents,
        settings: CrowdSettings,
        world: World,
        frame: int,
        others: Sequence[Bodies] = (),
    ) -> Change | None:
        """What becomes of a crowd after a step; None where nothing does. Nothing is changed.

        Args:
            before: The crowd before the step.
            agents: The crowd after it.
            settings: Settings of the crowd.
            world: What it perceived.
            frame: The frame after the step.
            others: Bodies of other crowds that it touches, as they are after the step.
        """
        memory = remembered(agents)
        if self._is_quiet(agents, memory, settings, world, frame):
            return None
        gone = self._gone(agents, memory, settings, world, frame)
        if memory is None:
            return Change(gone, np.zeros(0, np.int64)) if gone.any() else None
        waits, number = memory[:, WAITS] != 0.0, frame - self.start
        born = self._born(agents, gone, waits, settings, world, frame, others)
        before_this = float(memory[:1, LEFT_OVER].sum())
        due, left_over = self.due(settings.births, frame + 1, before_this)
        rows, ids = self._new_rows(before, agents, memory, due, world, settings)
        still = waits & (memory[:, KIND] != OWN)
        still[born] = False
        old = np.flatnonzero(still)
        waiting = None
        if (len(old) or len(rows)) and world.emitters is not None:
            rows, ids = np.concatenate([old, rows]), np.concatenate([agents.id[old], ids])
            new = np.arange(len(rows)) >= len(old)
            since = np.where(new, number, memory[rows, SINCE])
            waited = (number - since) * self.dt
            placed = _placed(ids, number + 1, waited, world.emitters, world, settings)
            waiting = Waiting(rows, ids, *placed, new)
        if waiting is None and not len(born) and not gone.any() and left_over == before_this:
            return None
        return Change(gone, born, waiting, left_over)

    def _is_quiet(
        self, agents: Agents, memory: F32 | None, settings: CrowdSettings, world: World, frame: int
    ) -> bool:
        """Whether nothing can happen, which is quick to find out."""
        births = settings.births
        if births.lifetime > 0.0 or DEATH in agents.attributes or world.exits is not None:
            return False
        if memory is None:
            return True
        return not self._emits(births, frame + 1) and not memory[:, WAITS].any()

    def _born(
        self,
        agents: Agents,
        gone: Mask,
        waits: Mask,
        settings: CrowdSettings,
        world: World,
        frame: int,
        others: Sequence[Bodies],
    ) -> I64:
        """Rows of those that wait and have room."""
        rows = np.flatnonzero(waits)
        if BIRTH in agents.attributes:
            rows = rows[agents.attributes[BIRTH][rows] <= frame]
        if not len(rows):
            return rows
        rows = rows[np.argsort(agents.id[rows], kind="stable")]
        bodies = bodies_of(agents, settings)
        there = bodies.part((agents.alive != 0) & ~gone)
        coming = Bodies(*(column[rows] for column in bodies))
        return rows[with_room([there, *others], coming, settings, world.colliders)]

    def _new_rows(
        self,
        before: Agents,
        agents: Agents,
        memory: F32,
        due: int,
        world: World,
        settings: CrowdSettings,
    ) -> tuple[I64, I64]:
        """Rows for those that are due, and their ids."""
        self._lacking = settings.births.emits and world.emitters is None
        if due == 0 or world.emitters is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        kind = memory[:, KIND]
        free = (agents.alive == 0) & (before.alive == 0) & (memory[:, WAITS] == 0.0)
        fresh, used = np.flatnonzero(free & (kind == FRESH)), np.flatnonzero(free & (kind == USED))
        rows = np.concatenate([fresh, used])[:due]
        if len(rows) < due:
            self.lost = int((kind != OWN).sum())
        again = np.arange(max(len(rows) - len(fresh), 0)) + int(agents.id.max()) + 1
        return rows, np.concatenate([agents.id[rows[: len(fresh)]], again])

    def _gone(
        self, agents: Agents, memory: F32 | None, settings: CrowdSettings, world: World, frame: int
    ) -> Mask:
        """Whose time is over."""
        alive, gone = agents.alive != 0, np.zeros(agents.count, np.bool_)
        if settings.births.lifetime > 0.0:
            since = 0.0 if memory is None else memory[:, SINCE].astype(np.float64)
            age = (frame - self.start - since) * self.dt
            gone |= age >= lifetimes(agents, settings) - 1.0e-6
        if DEATH in agents.attributes:
            own = agents.attributes[DEATH] <= frame
            gone |= own if memory is None else own & (memory[:, KIND] == OWN)
        if world.exits is not None:
            gone |= _inside(agents, world.exits, settings)
        ended: Mask = gone & alive
        return ended

    @staticmethod
    def apply(agents: Agents, change: Change, settings: CrowdSettings, number: int) -> None:
        """Let a change happen.

        Args:
            agents: The crowd after the step; it is changed.
            change: What `decide` has found.
            settings: Settings of the crowd.
            number: Steps of the crowd until now.
        """
        agents.alive[change.gone], agents.velocity[change.gone] = 0, 0.0
        memory = remembered(agents)
        if memory is None:
            return
        if len(change.born):
            begin_life(agents, change.born, settings, number)
            memory[:, BORN] += len(change.born)
        memory[:, LEFT_OVER] = change.left_over
        if change.waiting is not None:
            _put(agents, change.waiting, settings, number)

    def warnings(self, agents: Agents, frame: int) -> list[Diagnosis]:
        """What keeps agents from being born.

        Args:
            agents: The crowd.
            frame: The frame that it is at.
        """
        found = []
        if self._lacking:
            found.append(diagnose("NO_SOURCES"))
        if self.lost:
            found.append(diagnose("BIRTHS_LOST", capacity=self.lost))
        memory = remembered(agents)
        if memory is not None:
            since = (frame - self.start - memory[:, SINCE].astype(np.float64)) * self.dt
            waits: Mask = (memory[:, WAITS] != 0.0) & (since > PATIENCE)
            if BIRTH in agents.attributes:
                waits &= agents.attributes[BIRTH] + PATIENCE / self.dt < frame
            if waits.any():
                found.append(diagnose("BIRTHS_WAIT", seconds=PATIENCE))
        return found


def _put(agents: Agents, waiting: Waiting, settings: CrowdSettings, number: int) -> None:
    """Put agents that wait to their places; new ones get all that is their own."""
    rows, new = waiting.rows[waiting.new], waiting.new
    if len(rows):
        like = (agents, settings)
        made = newly(waiting.ids[new], waiting.place[new], waiting.heading[new], *like)
        made.memory = {key: columns[rows] for key, columns in agents.memory.items()}
        made.memory[MEMORY][:, [KIND, WAITS, SINCE]] = USED, 1.0, number
        agents.put(rows, made)
        for name, values in made.attributes.items():
            agents.attributes[name][rows] = values
        forget(agents, rows, settings)
    agents.position[waiting.rows], agents.heading[waiting.rows] = waiting.place, waiting.heading
    agents.normal[waiting.rows] = waiting.normal
    speed = np.float32(settings.births.speed)
    agents.memory[MEMORY][waiting.rows, VELOCITY:] = speed * waiting.heading


def _placed(
    ids: I64,
    number: int,
    waited: F64,
    emitters: Emitters,
    world: World,
    settings: CrowdSettings,
) -> tuple[F32, F32, F32]:
    """Places, headings and normals of agents that wait at the sources."""
    normal = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(ids), 1))
    place, heading = places(ids, number, waited, emitters, settings)
    if settings.motion.motion == "GROUND" and world.ground is not None:
        least = ground.min_up(settings.motion.max_slope)
        place, normal, _found = ground.place_many(world.ground, place, least)
    return place, heading, normal


def _inside(agents: Agents, volumes: Colliders, settings: CrowdSettings) -> Mask:
    """Which agents are inside of a volume: their centers, or walkers where their eyes are."""
    motion = settings.motion
    eye = float(motion.step_height) if motion.motion == "GROUND" else 0.0
    found = np.zeros(agents.count, np.bool_)
    shape = (volumes.bvh, volumes.center, volumes.radius, volumes.first)
    jit.parallel_for(inside_kernel, agents.count, *shape, eye, agents.position, found)
    return found
