"""Pictures that behaviors think in: the overlay draws them for an agent that is looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..parameters import belongs


class Circle(NamedTuple):
    """A circle that a behavior thinks in: the overlay draws it for an agent that is looked at.

    Attributes:
        radius: Parameter that is its radius [m].
        distance: Parameter that says how far ahead of the agent its middle lies [m]; "" for a
            circle around the agent.
        point: First of three columns of the memory with the unit vector from the middle to a point
            on it; -1 for none.
        moves: Whether it has handles in the 3D view, which change both parameters.
        shown_for: The choice that it belongs to, and for which of its values; None for any.
    """

    radius: str
    distance: str = ""
    point: int = -1
    moves: bool = False
    shown_for: tuple[str, tuple[str, ...]] | None = None

    def counts(self, settings: Any) -> bool:
        """Whether it is there, given the values of the behavior's parameters."""
        return belongs(self.shown_for, settings)


class Waypoints(NamedTuple):
    """Where a behavior keeps how far an agent is on its path: the overlay draws that.

    Attributes:
        path: Column of the memory: number of the path + 1, negative for travel backward; 0 for
            none.
        place: Column of the memory: number of the current waypoint.
        radius: Parameter: a waypoint this near [m] counts as reached.
        lane: Parameter: offset to the right of the path [m]; "" for none.
        shown_for: The choice that the waypoint belongs to, and for which of its values; None for
            any.
    """

    path: int
    place: int
    radius: str
    lane: str = ""
    shown_for: tuple[str, tuple[str, ...]] | None = None
