"""What a panel tells about a live crowd."""

from __future__ import annotations

from typing import NamedTuple


class LiveStatus(NamedTuple):
    """What a panel tells about a live crowd.

    Attributes:
        message: What is shown instead of the frame, and the way out; empty when all is well.
        warnings: What the user may want to change about the scene.
        stored_range: First and last frame that are stored, or None.
        stored_count: How many frames are stored.
        out_of_date: Whether settings or inputs changed since the first stored frame.
    """

    message: str = ""
    warnings: tuple[str, ...] = ()
    stored_range: tuple[int, int] | None = None
    stored_count: int = 0
    out_of_date: bool = False

    @property
    def plays_on(self) -> bool:
        """Whether playing from the start is the way out that the message names."""
        return "play" in self.message and "from frame" in self.message
