"""Avoid others and walls: the way on which the next collision is far off."""

from .behavior import AvoidNeighbors

__all__ = ["AvoidNeighbors"]
