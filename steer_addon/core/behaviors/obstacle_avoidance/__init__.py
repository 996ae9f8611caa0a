"""Steer around colliders: by rays, by whiskers, or by their bounding spheres."""

from .behavior import ObstacleAvoidance

__all__ = ["ObstacleAvoidance"]
