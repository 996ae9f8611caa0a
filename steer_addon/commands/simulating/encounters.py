"""What the crowds of a run do to one another, for the reports of those that are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from ...core.results.frames import Frame
from ...core.results.metric_crowds import Bodies, Encounters
from ...core.results.metrics import Touched
from ...core.runs.linking import Crowd
from ...core.runs.session import Session
from ..pipeline import Job, Pipeline, Row

Moment = Sequence[tuple[Crowd, Session, Frame]]
"""The crowds of a run at a frame."""


class _Watched:
    """A run and its crowds, those that play a bake included."""

    def __init__(self, work: Pipeline, root: Crowd, wanted: set[int]) -> None:
        self.members = work.members(root)
        self.numbers = {crowd.session_uid: k for k, crowd in enumerate(self.members)}
        self.found = Encounters(work.touches(self.members))
        beside = [crowd for crowd in self.members if crowd.session_uid not in wanted]
        self._bakes = [(crowd.session_uid, work.played(crowd)) for crowd in beside]

    def add(self, moment: Moment) -> None:
        """Count one step."""
        bodies = {}
        for crowd, session, _ in moment:
            agents, told = session.simulation.agents, session.simulation.settings
            bodies[self.numbers[crowd.session_uid]] = Bodies(
                agents.position, agents.radius, agents.alive, told.body_height
            )
        number = max(frame.number for _, _, frame in moment)
        for uid, bake in self._bakes:
            if bake is not None:
                bodies[self.numbers[uid]] = bake(number)
        self.found.add(bodies)


class Watch:
    """Collects what crowds do to one another in all runs of a command."""

    def __init__(self, work: Pipeline, jobs: Sequence[Job]) -> None:
        """Begin with the crowds that are written."""
        self._work = work
        self._wanted = {job.crowd.session_uid for job in jobs}
        self._first = min(job.frames[0] for job in jobs)
        self._runs: dict[int, _Watched] = {}

    def add(self, root: Crowd, moment: Moment) -> None:
        """Count one step of a run, from the first frame that is written.

        Args:
            root: The crowd that the run was made for.
            moment: Its crowds.
        """
        if moment and max(frame.number for _, _, frame in moment) >= self._first:
            run = self._runs.get(root.session_uid)
            if run is None:
                run = self._runs[root.session_uid] = _Watched(self._work, root, self._wanted)
            run.add(moment)

    def _run_of(self, crowd: Crowd) -> _Watched | None:
        uid = crowd.session_uid
        return next((run for run in self._runs.values() if uid in run.numbers), None)

    def touched(self, crowd: Crowd) -> Touched | None:
        """What the agents of a crowd did to bodies of others; None for no others."""
        run = self._run_of(crowd)
        return None if run is None else run.found.touched(run.numbers[crowd.session_uid])

    def rows(self, crowd: Crowd) -> list[Row]:
        """For each crowd that a crowd touches, what they did to each other."""
        run = self._run_of(crowd)
        if run is None:
            return []
        found = run.found.of(run.numbers[crowd.session_uid])
        return [{"crowd": run.members[k].name, **asdict(pair)} for k, pair in found.items()]
