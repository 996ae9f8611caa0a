"""Kinds of areas, and limits of what ways through them seem to cost."""

from __future__ import annotations

FORBIDDEN, COST, ONE_WAY = "FORBIDDEN", "COST", "ONE_WAY"
KINDS = (FORBIDDEN, COST, ONE_WAY)
LEAST_COST, MOST_COST = 0.1, 100.0
"""Limits of how much longer ways through an area may seem."""
