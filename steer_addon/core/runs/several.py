"""The fewest runs in which some crowds are simulated, and the frames of them that are wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Generic

from ..diagnoses import Diagnosis, add_new
from ..errors import SceneError
from ..results.frames import Frame
from .group import SessionT
from .linking import CrowdT


class Source(ABC, Generic[CrowdT, SessionT]):
    """Where crowds come from."""

    @abstractmethod
    def span(self, crowd: CrowdT) -> range:
        """The frames that a crowd may be simulated for.

        Raises:
            SceneError: Its range is backwards.
        """

    @abstractmethod
    def linked(self, crowd: CrowdT) -> frozenset[int]:
        """Session uids of a crowd and of all that it depends on."""

    @abstractmethod
    def moments(
        self, root: CrowdT, last: int, wanted: Sequence[CrowdT]
    ) -> Generator[list[tuple[CrowdT, SessionT, Frame]], None, None]:
        """Run a crowd and all that it depends on, up to a frame.

        Args:
            root: The crowd.
            last: The last frame.
            wanted: The crowds that are simulated, whatever bake they may have.

        Yields:
            The started crowds at each frame, each with its session and its frame.
        """

    def runs_for(self, wanted: Iterable[CrowdT]) -> list[tuple[CrowdT, list[CrowdT]]]:
        """The fewest runs of `moments` in which some crowds are simulated; see `fewest_runs`."""
        return fewest_runs(wanted, self.linked)

    def run_together(
        self,
        wanted: Sequence[tuple[CrowdT, range]],
        *,
        warnings: list[Diagnosis] | None = None,
        watch: Callable[[CrowdT, Any], None] = lambda root, moment: None,
    ) -> Generator[list[tuple[CrowdT, SessionT, Frame]], None, None]:
        """Simulate crowds from their first frames and yield the requested frames.

        Crowds that meet, or that steer by one another, are simulated in one run, others one after
        another. Close the iterator to cancel.

        Args:
            wanted: The crowds, each with the frames to yield, in ascending order, from its range.
            warnings: Filled with diagnoses that the user may want to act on.
            watch: Called at every frame with the crowd of the run, see `runs_for`, and all its
                crowds.

        Yields:
            For each frame those crowds of which it is requested, with their session and frame.

        Raises:
            SceneError: The frames are backwards, or outside of the crowd's range.
            SteerError: While iterating: a crowd cannot be simulated.
        """
        for crowd, frames in wanted:
            _check_frames(crowd.name, frames, self.span(crowd))
        ranges = {crowd.session_uid: frames for crowd, frames in wanted}
        found = [] if warnings is None else warnings

        def simulated() -> Generator[list[tuple[CrowdT, SessionT, Frame]], None, None]:
            for root, given in self.runs_for(crowd for crowd, _ in wanted):
                last = max(ranges[crowd.session_uid][-1] for crowd in given)
                known: dict[int, Frame] = {}
                with closing(self.moments(root, last, given)) as steps:
                    for moment in steps:
                        watch(root, moment)
                        rows = [row for row in moment if row[0] in given]
                        # a crowd that has ended keeps its last frame
                        rows = [r for r in rows if r[2] is not known.get(r[0].session_uid)]
                        known |= {crowd.session_uid: frame for crowd, _, frame in rows}
                        rows = [row for row in rows if _is_told(row, ranges, found)]
                        if rows:
                            yield rows

        return simulated()


def fewest_runs(
    wanted: Iterable[CrowdT], linked: Callable[[CrowdT], frozenset[int]]
) -> list[tuple[CrowdT, list[CrowdT]]]:
    """The fewest runs in which some crowds are simulated.

    Args:
        wanted: The crowds.
        linked: Tells the session uids of a crowd and of all that it depends on.

    Returns:
        The crowd of each run, and those of the wanted crowds that it gives; each is given once.
    """
    left = list(wanted)
    reach = {crowd.session_uid: linked(crowd) for crowd in left}
    found = []
    for crowd in sorted(left, key=lambda crowd: -len(reach[crowd.session_uid])):
        if crowd in left:
            given = [other for other in left if other.session_uid in reach[crowd.session_uid]]
            left = [other for other in left if other not in given]
            found.append((crowd, given))
    return found


def _check_frames(name: str, frames: range, allowed: range) -> None:
    """Refuse frames that a run cannot yield.

    Raises:
        SceneError: They are backwards, or outside of the crowd's range.
    """
    first, last = allowed[0], allowed[-1]
    if frames.step < 0 or not len(frames):
        raise SceneError(
            f"Frames {frames.start} to {frames.stop - 1} are none or run backwards: "
            f"give a first and a later last frame from {first} to {last}"
        )
    if frames[0] < first or frames[-1] > last:
        raise SceneError(
            f"Frames {frames[0]} to {frames[-1]} reach outside the range of crowd {name!r}: "
            f"give frames from {first} to {last}, or change its start and end"
        )


def _is_told(row: Any, ranges: Mapping[int, range], warnings: list[Diagnosis]) -> bool:
    """Note what is to be told of a crowd at a frame; whether that frame is requested."""
    crowd, session, frame = row
    frames = ranges[crowd.session_uid]
    if frame.number > frames[-1]:
        return False
    add_new(warnings, [*session.read_warnings, *session.simulation.warnings])
    if frame.number == frames[-1]:
        # of the last frame alone: with every frame their number is another one
        add_new(warnings, filter(None, [session.simulation.stuck]))
    return frame.number in frames
