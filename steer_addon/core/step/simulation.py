"""Simulation: a crowd from frame to frame, resumable and cancellable."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from operator import index
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import contacts
from ..agents import Agents
from ..crowd import membership
from ..crowd.birth_memory import Tally, tally, waits
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..errors import ParameterError, short
from ..geometry import ground
from ..inputs.world import NO_COLLIDERS, World
from ..results.frames import Frame, make_frame
from ..ways.ways import Ways
from . import arrival, choosing
from .birth_rows import with_rows
from .births import Births, Change
from .free_goals import FreeGoals
from .gaits import gait
from .guiding import ways_advice, with_footing, with_ways
from .proposals import Proposal
from .room import Bodies, bodies_of
from .solver import Solver, StepResult
from .stuck import Headway
from .together import Meeting, Member, step_together

T = TypeVar("T")

LOWEST_FPS, HIGHEST_FPS = 1.0e-6, 1.0e10
"""Bounds of the frames per second, beyond those of any scene: a longer step overflows."""


def _checked_fps(fps: object) -> float:
    value: Any = fps
    if isinstance(fps, Real) and LOWEST_FPS <= value <= HIGHEST_FPS:
        return float(value)
    raise ParameterError(
        f"fps is {short(fps)}: give a number from {LOWEST_FPS:g} to {HIGHEST_FPS:g}"
    )


class Simulation:
    """One crowd, one frame after the other.

    A result depends only on the agents at the start, the settings, the worlds given and the frame
    numbers: continuing from a copy of `agents` at any frame gives the same bits. Where colliders
    move and push agents, the world of that frame belongs to it.
    """

    def __init__(
        self,
        settings: CrowdSettings,
        agents: Agents,
        *,
        frame: int,
        fps: float,
        world: World | None = None,
        placed: bool = False,
    ) -> None:
        """Start at a frame.

        Args:
            settings: Settings of the crowd.
            agents: The crowd at that frame; it is copied.
            frame: Number of that frame, a whole one.
            fps: Frames per second, from 10⁻⁶ to 10¹⁰: those that a Blender scene can have.
            world: The world at that frame: walking agents are put on its ground, and all out of
                colliders. Without it colliders count as still until the next frame.
            placed: Whether the agents stand in free places, as those that a simulation left do.

        Raises:
            ParameterError: fps is out of range, or frame is no whole number.
        """
        self.settings = settings
        try:
            self.frame = self.start_frame = index(frame)
        except TypeError:
            raise ParameterError(f"frame is {short(frame)}: give a whole number") from None
        self.dt = 1.0 / _checked_fps(fps)
        self.agents = agents.copy()
        first = self.start_frame + (2 if world is None else 1)
        self._births = Births(self.start_frame, self.dt, first)
        self.off_ground = 0
        """Agents that had no walkable ground below or above them at the start."""
        self._key = _key_of(agents, settings)
        self._goals = FreeGoals()
        self._ways = Ways()
        self._ways_advice: dict[tuple[str, str], Diagnosis] = {}
        self._headway = Headway()
        self.in_colliders = 0
        """Agents that started inside of colliders, and were put to the nearest free place."""
        self.proposals: tuple[Proposal, ...] = ()
        """The proposal of each behavior in the last step."""
        self._colliders = None if world is None else world.colliders or NO_COLLIDERS
        world = None if world is None else with_footing(world, settings)
        if world is not None and not placed:
            self._place(world)
        whole = with_rows(self.agents, settings, self.start_frame)
        self.agents = membership.joined(whole, settings)
        gait.begin(self.agents, settings)
        if world is not None and not placed:
            change = self._births.decide(self.agents, self.agents, settings, world, self.frame)
            self._apply(self.agents, change, 0)
        self._started = int((self.agents.alive != 0).sum())

    def _place(self, world: World) -> None:
        """Put walkers on their ground, and all agents out of the colliders that hold them."""
        self.off_ground = self._put_on_ground(world, np.arange(self.agents.count))
        if world.colliders is not None and self.settings.bodies.collide_colliders:
            moved = contacts.put_free(self.agents, self.settings, world.colliders)
            self.in_colliders = int(moved.sum())
            self._put_on_ground(world, np.flatnonzero(moved))

    def _put_on_ground(self, world: World, rows: NDArray[np.int64]) -> int:
        """Put some of the agents on the ground; returns how many have none there."""
        if world.ground is None or self.settings.motion.motion != "GROUND" or not len(rows):
            return 0
        least = ground.min_up(self.settings.motion.max_slope)
        feet, normal, found = ground.place_many(world.ground, self.agents.position[rows], least)
        self.agents.position[rows], self.agents.normal[rows] = feet, normal
        return int((~found).sum())

    def step(self, world: World, settings: CrowdSettings | None = None) -> Frame:
        """Advance by one frame.

        Args:
            world: The world at the new frame.
            settings: Settings of the new frame where they are keyed; None keeps the last ones.
        """
        self.advance(world, settings)
        return self.current()

    def advance(self, world: World, settings: CrowdSettings | None = None) -> None:
        """Advance by one frame as `step` does, for callers that read `agents` themselves."""
        begun = self._begun(world, settings)
        result = Solver(self.settings).step(
            self.agents, begun.world, self.dt, number=begun.number, before=self._colliders
        )
        self._end(begun.world, result, self._change(begun.world, result))

    def _begun(self, world: World, settings: CrowdSettings | None) -> Member:
        """The crowd at the start of a step."""
        if settings is not None:
            self.settings = settings
        world = self._goals.freed(world, self.agents, self.settings)
        world = with_ways(with_footing(world, self.settings), self.settings, self._ways)
        number = self.frame - self.start_frame
        return Member(self.settings, self.agents, world, number, self._key, self._colliders)

    def _change(
        self, world: World, result: StepResult, others: Sequence[Bodies] = ()
    ) -> Change | None:
        """Births after a step, which changes nothing yet."""
        options = (self.agents, result.agents, self.settings, world, self.frame + 1)
        return self._births.decide(*options, others)

    def _apply(self, agents: Agents, change: Change | None, number: int) -> None:
        if change is not None:
            self._births.apply(agents, change, self.settings, number)

    def _end(self, world: World, result: StepResult, change: Change | None) -> None:
        """Take over what a step gave."""
        # before anything changes: where a kernel is missing, the step is repeated
        self._headway.note(self.settings.stack, result.proposals)
        if (self.frame - self.start_frame + 1) % max(1, round(1.0 / self.dt)) == 0:
            self._headway.look(result.agents, world, self.settings, result.proposals)
            for told in ways_advice(self.settings, world, result.agents):
                self._ways_advice.setdefault((told.code, told.subject), told)
        self._colliders = world.colliders or NO_COLLIDERS
        gait.advance(self.agents, result.agents, self.settings, self.dt)
        self._apply(result.agents, change, self.frame + 1 - self.start_frame)
        self.agents = result.agents
        self.proposals = result.proposals
        self.frame += 1

    def skip(self, world: World, settings: CrowdSettings | None = None) -> None:
        """Pass over a frame whose agents are known: `adopt` gives them at the end of such frames.

        Args:
            world: The world at that frame.
            settings: Settings of that frame where they are keyed; None keeps the last ones.
        """
        if settings is not None:
            self.settings = settings
        self._colliders = world.colliders or NO_COLLIDERS
        self.frame += 1

    def adopt(self, agents: Agents) -> None:
        """Continue from agents that a simulation of this crowd left at this frame; makes a copy."""
        self.agents = membership.joined(agents.copy(), self.settings)
        self._headway = Headway()

    @property
    def tally(self) -> Tally:
        """How many agents are there, wait to be born, have been born, and are gone."""
        return tally(self.agents, self._started)

    @property
    def stuck(self) -> Diagnosis | None:
        """How many agents are stuck by now; None where none is."""
        return self._headway.diagnosis

    @property
    def warnings(self) -> list[Diagnosis]:
        """Diagnoses of the frames simulated until now that the user may want to act on."""
        found = [*self.settings.advice(self.agents), *self._goals.warnings]
        found += membership.advice(self.settings, self.agents)
        found += choosing.lacking(self.agents, self.settings.stack)
        found += self._births.warnings(self.agents, self.frame)
        found += self._ways_advice.values()
        if self.off_ground:
            found.append(diagnose("OFF_GROUND", count=self.off_ground))
        if self.in_colliders:
            found.append(diagnose("INSIDE_COLLIDERS", count=self.in_colliders))
        return found

    def current(self) -> Frame:
        """The crowd as it is now."""
        told = self.settings
        return make_frame(
            self.frame,
            self.agents,
            told.motion,
            told.behaviors,
            arriving=arrival.acts(told),
            carried=(told.body, *told.carried),
        )


def _key_of(agents: Agents, settings: CrowdSettings) -> bytes:
    """What a crowd is told apart by among those that it meets, whatever its name is."""
    digest = hashlib.blake2b(np.int64(settings.seed).tobytes(), digest_size=16)
    for column in (agents.id, agents.position, agents.velocity, agents.radius):
        digest.update(column.tobytes())
    return digest.digest()


@dataclass(frozen=True, eq=False, repr=False)
class Taking:
    """What a crowd takes part with in a step of several.

    Attributes:
        simulation: The crowd.
        world: The world at the new frame.
        settings: Settings of the new frame where they are keyed; None keeps the last ones.
        shown: The crowd at the new frame, where it is played or stands; its simulation, at the
            frame before, is not advanced then.
    """

    simulation: Simulation
    world: World
    settings: CrowdSettings | None = None
    shown: Agents | None = None


def advance_together(crowds: Sequence[Taking], meeting: Meeting) -> None:
    """Advance several crowds by one frame, in which they see and touch one another.

    Args:
        crowds: The crowds; all have the same frames per second.
        meeting: Which of them meet.

    Raises:
        ParameterError: The frames per second differ.
    """
    steps = {crowd.simulation.dt for crowd in crowds}
    if len(steps) > 1:
        rates = ", ".join(f"{1.0 / dt:g}" for dt in sorted(steps, reverse=True))
        raise ParameterError(
            f"Crowds that meet have {rates} frames per second: give all the same number"
        )
    members = [
        replace(crowd.simulation._begun(crowd.world, crowd.settings), shown=crowd.shown)
        for crowd in crowds
    ]
    results = step_together(members, meeting, steps.pop()) if crowds else []
    changes = _changes(crowds, members, results, meeting.touches)
    for crowd, member, result, change in zip(crowds, members, results, changes, strict=True):
        if crowd.shown is None:
            crowd.simulation._end(member.world, result, change)


def _changes(
    crowds: Sequence[Taking], members: Sequence[Member], results: Sequence[StepResult], touches: Any
) -> list[Change | None]:
    """Births in each of several crowds after a step, none of which takes the place of another."""
    found: list[Change | None] = [None] * len(crowds)
    bodies: dict[int, Bodies] = {}

    def body(k: int) -> Bodies:
        """The bodies of a crowd, with those that are born by now."""
        if k not in bodies:
            agents, change = results[k].agents, found[k]
            there = agents.alive != 0
            if change is not None:
                there[change.born] = True
                there &= ~change.gone
            bodies[k] = bodies_of(agents, members[k].settings).part(there)
        return bodies[k]

    for k in sorted(range(len(crowds)), key=lambda k: members[k].key):
        if crowds[k].shown is not None:
            continue
        others: list[Bodies] = []
        if waits(results[k].agents):
            others = [body(j) for j in range(len(crowds)) if j != k and touches[k, j]]
        found[k] = crowds[k].simulation._change(members[k].world, results[k], others)
        bodies.pop(k, None)
    return found


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        done: Frames that are done.
        total: Frames in all.
        seconds: Time spent [s].
        remaining: Estimated time left [s].
    """

    done: int
    total: int
    seconds: float
    remaining: float

    @property
    def share(self) -> float:
        """0 at the start, 1 at the end."""
        return self.done / self.total if self.total else 1.0

    @property
    def time_left(self) -> str:
        """The estimated time as people say it."""
        if self.remaining < 60.0:
            return f"{self.remaining:.0f} s"
        minutes, rest = divmod(round(self.remaining), 60)
        if minutes < 60:
            return f"{minutes} min {rest} s"
        return f"{minutes // 60} h {minutes % 60} min"


def with_progress(
    frames: Iterator[T],
    total: int,
    report: Callable[[Progress], bool],
    interval: float = 0.1,
) -> Iterator[T]:
    """Pass frames, or their numbers, on and report progress; stops when `report` returns False.

    Args:
        frames: The run, one item a frame.
        total: Number of frames in all.
        report: Called at most once per interval, and at the end; False cancels.
        interval: Seconds between reports.
    """
    start = last = time.perf_counter()
    for done, frame in enumerate(frames, 1):
        yield frame
        now = time.perf_counter()
        if now - last >= interval or done == total:
            last = now
            spent = now - start
            if not report(Progress(done, total, spent, spent / done * (total - done))):
                return
