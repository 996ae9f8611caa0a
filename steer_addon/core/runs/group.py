"""A crowd and all crowds that it depends on, stepped together frame by frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..agents import Agents
from ..crowd.meets import Relation, groups_of
from ..crowd.settings import CrowdSettings
from ..errors import SceneError, SteerError
from ..results.frames import Frame
from ..step.simulation import Taking, advance_together
from ..step.together import Meeting
from .linking import CrowdT
from .session import Session

SessionT = TypeVar("SessionT", bound=Session)


@dataclass(frozen=True)
class Resume:
    """Point from which an interrupted run continues.

    Attributes:
        frame: The last frame that is known.
        states: The agents of every crowd that had started by then, by the crowd's full name.
        pass_session: Called with each crowd and its session at every frame up to that point.
    """

    frame: int
    states: Mapping[str, Agents]
    pass_session: Callable[[Any, Any], None] = lambda crowd, session: None


def meeting_groups(
    takings: Sequence[Taking], relations: tuple[Relation, Relation]
) -> list[tuple[list[Taking], Meeting]]:
    """Crowds that meet one another, with which ones do: each group is advanced together.

    Args:
        takings: What each crowd takes part with.
        relations: Which of them see, and which touch which.
    """
    meeting = Meeting(*relations)
    groups = groups_of(meeting.sees | meeting.touches)
    return [([takings[k] for k in group], meeting.part(group)) for group in groups]


class RunGroup(ABC, Generic[CrowdT, SessionT]):
    """Crowds of which the first one depends on all others.

    Attributes:
        members: The crowds; those that cannot begin, and need not, are removed as they are met.
        needed: Session uids of those that the run is for, and of those that these steer by.
    """

    def __init__(
        self, members: list[CrowdT], needed: set[int], resume: Resume | None = None
    ) -> None:
        """Begin.

        Args:
            members: The crowds.
            needed: Session uids of those that the run is for, and of those that these steer by.
            resume: Point to continue from.
        """
        self.members = members
        self.needed, self._resume = needed, resume
        self._sessions: dict[int, SessionT] = {}
        self._begun: dict[int, SessionT] = {}
        """The sessions too of crowds that wait for their start."""
        self._frames: dict[int, Frame] = {}

    @abstractmethod
    def span(self, crowd: CrowdT) -> tuple[int, int]:
        """First and last frame of a crowd."""

    @abstractmethod
    def begin(self, crowd: CrowdT) -> SessionT:
        """A session of a crowd at its first frame, with points and world as they are now.

        Raises:
            SteerError: It cannot be simulated.
        """

    def started(self, crowd: CrowdT) -> None:
        """Note that the points of a crowd are not read again."""

    @abstractmethod
    def settings_at(self, crowd: CrowdT) -> CrowdSettings:
        """The settings of a crowd as they are now."""

    @abstractmethod
    def read(self, crowd: CrowdT, session: SessionT, settings: CrowdSettings) -> None:
        """Let a session read the world as it is now."""

    @abstractmethod
    def taking(
        self,
        crowd: CrowdT,
        session: SessionT,
        settings: CrowdSettings,
        before: Mapping[int, Frame],
    ) -> Taking:
        """What a crowd takes part with in the step to this frame.

        Args:
            crowd: The crowd.
            session: Its session.
            settings: Its settings now.
            before: The frame before of every crowd, by session uid.

        Raises:
            SceneError: A crowd that this one steers by is not simulated up to this frame.
        """

    @abstractmethod
    def relations(self, crowds: Sequence[CrowdT]) -> tuple[Relation, Relation]:
        """Which of some crowds see, and which touch which."""

    def played(self, crowd: CrowdT, number: int) -> tuple[Frame, Taking] | None:
        """A crowd at a frame, where it goes as a bake has it go."""
        return None

    def advance(self, number: int, read: bool) -> list[tuple[CrowdT, SessionT, Frame]]:
        """Advance every crowd to a frame; each reads the others at the frame before.

        Args:
            number: The frame.
            read: Whether worlds may differ from those of the frame before.

        Returns:
            The started crowds, the first one first, each with its session and its frame; none for
            a frame that is known.
        """
        before = dict(self._frames)
        known = self._resume is not None and number <= self._resume.frame
        steps: dict[int, tuple[CrowdT, Taking]] = {}
        for crowd in list(self.members):
            uid, (start, end) = crowd.session_uid, self.span(crowd)
            bake = self.played(crowd, number)
            if bake is not None:
                self._frames[uid], taking = bake
                steps[uid] = crowd, taking
            elif number == start or (number < start and uid not in self._frames):
                # until it starts, other crowds see it at its start pose
                try:
                    self._begun[uid] = session = self.begin(crowd)
                except SteerError:
                    if uid in self.needed:
                        raise
                    # its own panel tells; the others do without it
                    self.members.remove(crowd)
                    continue
                self._frames[uid] = session.current()
                steps[uid] = crowd, session.standing()
                if number == start:
                    self._sessions[uid] = session
                    self.started(crowd)
            elif start < number <= end:
                session, settings = self._sessions[uid], self.settings_at(crowd)
                if read:
                    self.read(crowd, session, settings)
                if known:
                    session.simulation.skip(session.world, settings)
                else:
                    steps[uid] = crowd, self.taking(crowd, session, settings, before)
            else:
                steps[uid] = crowd, self._begun[uid].standing()
        if known:
            assert self._resume is not None
            self._restore(self._resume, number)
            return []
        self._step(steps)
        begun = [crowd for crowd in self.members if crowd.session_uid in self._sessions]
        return [(c, self._sessions[c.session_uid], self._frames[c.session_uid]) for c in begun]

    def _step(self, steps: Mapping[int, tuple[CrowdT, Taking]]) -> None:
        relations = self.relations([crowd for crowd, _ in steps.values()])
        for group in meeting_groups([taking for _, taking in steps.values()], relations):
            advance_together(*group)
        for uid, (_, taking) in steps.items():
            if taking.shown is None:
                self._frames[uid] = taking.simulation.current()

    def _restore(self, resume: Resume, number: int) -> None:
        """Pass a known frame; at the last known frame the agents are restored."""
        for crowd in self.members:
            session = self._sessions.get(crowd.session_uid)
            if session is None:
                continue
            resume.pass_session(crowd, session)
            if number < resume.frame:
                continue
            if crowd.name_full not in resume.states:
                raise SceneError(
                    f"The bake does not hold crowd {crowd.name_full!r} at frame {number}: "
                    "bake again"
                )
            session.simulation.adopt(resume.states[crowd.name_full])
            self._frames[crowd.session_uid] = session.current()
