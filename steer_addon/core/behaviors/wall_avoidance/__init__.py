"""Feelers that push an agent back from walls, as a spring would."""

from .behavior import WallAvoidance

__all__ = ["WallAvoidance"]
