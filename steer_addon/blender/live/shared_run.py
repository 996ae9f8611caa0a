"""One run for several crowds that are simulated together, each of which is read by itself."""

from __future__ import annotations

from collections.abc import Collection, Generator

import bpy

from ..crowd.links import linked_crowds
from .simulate import Moment, moments


class SharedRun:
    """A run of `moments` with a reader for each of several crowds.

    Readers go on together: none asks for its next frame before all that have not ended had this
    one, since sessions change from frame to frame.
    """

    def __init__(
        self,
        root: bpy.types.Object,
        scene: bpy.types.Scene,
        last: int,
        read: Collection[bpy.types.Object],
    ) -> None:
        """Prepare the run.

        Args:
            root: A crowd that depends on all crowds that are read.
            scene: Its scene.
            last: The last frame.
            read: The crowds that are read.
        """
        self._steps = moments(root, scene, last, wanted=read)
        self._first = min(crowd.steer.frame_start for crowd in linked_crowds(root))
        self._moment: Moment = []
        self._taken = 0
        self._failed: Exception | None = None

    def moments_of(self, obj: bpy.types.Object, last: int) -> Generator[Moment, None, None]:
        """What `moments` gives for one of the crowds, and nothing for frames before.

        Args:
            obj: The crowd.
            last: Its last frame.

        Raises:
            SteerError: While iterating: a crowd of the run cannot be simulated.
        """
        members = linked_crowds(obj)
        for number in range(last - self._first + 1):
            rows = {row[0].session_uid: row for row in self._at(number)}
            uids = [crowd.session_uid for crowd in members]
            yield [rows[uid] for uid in uids if uid in rows]

    def _at(self, number: int) -> Moment:
        """The moment of a frame, counted from the first one."""
        if self._failed is not None:
            raise self._failed
        if number == self._taken:
            try:
                self._moment = next(self._steps)
            except Exception as error:
                self._failed = error
                raise
            self._taken += 1
        assert number == self._taken - 1, "a reader went on alone"
        return self._moment

    def close(self) -> None:
        """End the run."""
        self._steps.close()
