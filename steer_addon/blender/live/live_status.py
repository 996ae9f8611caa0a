"""What a panel tells about a live crowd."""

from __future__ import annotations

from typing import NamedTuple

from ...core.diagnoses import Diagnosis


class LiveStatus(NamedTuple):
    """What a panel tells about a live crowd.

    Attributes:
        diagnosis: Why the frame asked for is not shown as it should be; None when all is well.
        warnings: What the user may want to change about the scene.
        stored_range: First and last frame that are stored, or None.
        stored_count: How many frames are stored.
        out_of_date: Whether settings or inputs changed since the first stored frame.
    """

    diagnosis: Diagnosis | None = None
    warnings: tuple[Diagnosis, ...] = ()
    stored_range: tuple[int, int] | None = None
    stored_count: int = 0
    out_of_date: bool = False

    @property
    def message(self) -> str:
        """The sentence of the diagnosis; empty when all is well."""
        return "" if self.diagnosis is None else self.diagnosis.sentence
