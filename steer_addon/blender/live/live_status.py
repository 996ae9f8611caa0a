"""Status of a live crowd for its panel."""

from __future__ import annotations

from typing import NamedTuple

from ...core.diagnoses import Diagnosis


class LiveStatus(NamedTuple):
    """Status of a live crowd for its panel.

    Attributes:
        diagnosis: Reason why the requested frame is not shown, or out of date; None if it is shown.
        warnings: Diagnoses of the scene that the user may want to act on.
        stored_range: First and last stored frame, or None.
        stored_count: Number of stored frames.
        out_of_date: Whether settings or inputs changed since the first stored frame.
    """

    diagnosis: Diagnosis | None = None
    warnings: tuple[Diagnosis, ...] = ()
    stored_range: tuple[int, int] | None = None
    stored_count: int = 0
    out_of_date: bool = False

    @property
    def message(self) -> str:
        """The sentence of the diagnosis; empty if there is none."""
        return "" if self.diagnosis is None else self.diagnosis.sentence
