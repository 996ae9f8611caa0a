"""One run for several crowds that are simulated together, each of which is read by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import replace

import bpy

from ..crowd.links import linked_crowds
from .session import Session
from .simulate import Moment, Resume, moments


class SharedRun:
    """A run of `moments` with a reader for each of several crowds.

    Readers go on together: none asks for its next frame before all that have not ended had this
    one, since sessions change from frame to frame.

    Attributes:
        watch: Called with each moment, before any reader has it.
    """

    def __init__(
        self,
        root: bpy.types.Object,
        scene: bpy.types.Scene,
        last: int,
        read: Collection[bpy.types.Object],
        resume: Resume | None = None,
    ) -> None:
        """Prepare the run.

        Args:
            root: A crowd that depends on all crowds that are read.
            scene: Its scene.
            last: The last frame.
            read: The crowds that are read.
            resume: Point to continue from; readers have functions of their own to pass sessions.
        """
        known = resume and replace(resume, pass_session=lambda *row: self._passed.append(row))
        self._steps = moments(root, scene, last, known, wanted=read)
        self.watch: Callable[[Moment], None] = lambda moment: None
        self._first = min(crowd.steer.frame_start for crowd in linked_crowds(root))
        self._moment: Moment = []
        self._passed: list[tuple[bpy.types.Object, Session]] = []
        """The crowds of a frame that is known, each with its session."""
        self._taken = 0
        self._failed: Exception | None = None

    def moments_of(
        self,
        obj: bpy.types.Object,
        last: int,
        pass_session: Callable[[bpy.types.Object, Session], None] = lambda crowd, session: None,
    ) -> Generator[Moment, None, None]:
        """What `moments` gives for one of the crowds, and nothing for frames before.

        Args:
            obj: The crowd.
            last: Its last frame.
            pass_session: Called with each crowd and its session at every frame that is known.

        Raises:
            SteerError: While iterating: a crowd of the run cannot be simulated.
        """
        members = linked_crowds(obj)
        for number in range(last - self._first + 1):
            rows = {row[0].session_uid: row for row in self._at(number)}
            uids = [crowd.session_uid for crowd in members]
            for crowd, session in self._passed:
                if crowd.session_uid in uids:
                    pass_session(crowd, session)
            yield [rows[uid] for uid in uids if uid in rows]

    def _at(self, number: int) -> Moment:
        """The moment of a frame, counted from the first one."""
        if self._failed is not None:
            raise self._failed
        if number == self._taken:
            self._passed.clear()
            try:
                self._moment = next(self._steps)
            except Exception as error:
                self._failed = error
                raise
            self._taken += 1
            self.watch(self._moment)
        assert number == self._taken - 1, "a reader went on alone"
        return self._moment

    def close(self) -> None:
        """End the run."""
        self._steps.close()
