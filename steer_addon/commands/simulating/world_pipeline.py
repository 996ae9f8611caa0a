"""The pipeline of a stored world, which `steer extract` wrote: without Blender."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ...core.crowd.meets import Relation
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.errors import ParameterError
from ...core.results.metric_crowds import Bodies
from ...core.worlds import layout
from ...core.worlds.source import WorldSource as WorldSource
from ..pipeline import Pipeline


def is_world(path: Path) -> bool:
    """Whether a path leads to a stored world."""
    return layout.is_world(path)


def in_blender(options: argparse.Namespace) -> bool:
    """Whether a command that takes both needs Blender: not for a stored world."""
    return not is_world(options.file)


class WorldPipeline(Pipeline):
    """A stored world that a command has opened.

    Attributes:
        source: Its crowds.
    """

    def _open(self, options: argparse.Namespace) -> None:
        self.source = WorldSource(options.file)
        self.crowds = self.source.find(options.crowd)

    def _frames(self, crowd: Any) -> range:
        return self.source.frames_of(crowd, self.options.frames)

    def _override(self, crowd: Any) -> CrowdSettings:
        if self.options.preset is not None:
            raise ParameterError(
                f"--preset {self.options.preset} decides what is read from the scene: extract the "
                "world with it, or simulate the .blend file"
            )
        return self.source.override(crowd, self.options.set, self.options.seed)

    def _advice(self, crowd: Any) -> Iterable[Diagnosis]:
        """Nothing: the world tells it, with what else was seen when its first frame was read."""
        return ()

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.source.fps

    def run_together(self, wanted: Sequence[tuple[Any, range]], **options: Any) -> Any:
        """Simulate crowds; see `Source.run_together`."""
        return self.source.run_together(wanted, **options)

    def members(self, root: Any) -> list[Any]:
        """A crowd, first, and all that it depends on."""
        return self.source.linked_crowds(root)

    def touches(self, members: Sequence[Any]) -> Relation:
        """Which of some crowds touch which."""
        return self.source.relations_of(members)[1]

    def played(self, crowd: Any) -> Callable[[int], Bodies] | None:
        """None: a world holds no bakes."""
        return None
