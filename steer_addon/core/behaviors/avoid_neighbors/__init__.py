"""Avoid others and walls: the way on which the next collision is far off."""

from ...doors import load_on_use

load_on_use(__name__, "kernel")

from .behavior import AvoidNeighbors  # noqa: E402

__all__ = ["AvoidNeighbors"]
