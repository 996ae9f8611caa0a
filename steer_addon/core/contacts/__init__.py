"""Contacts: no body inside another, and none through a wall, whatever the behaviors proposed.

Contacts are the last part of a step. They take the places that agents wish for, and move each agent
as far as there is room: `near` finds the agents that each one may meet, `pushes` hands on the
pressure between them, `passes` moves all agents inside of cells that cannot overlap, `walls` makes
planes of the colliders near an agent. Crowds that touch one another are the `parties` of one pass.
Bodies are upright in GROUND motion, discs to one another and lines of a height to colliders, and
spheres in FLY, with the agents' radius.

An agent that was held up gets the velocity of its real motion, no faster than it wished. Its
heading stays that of its wish, so that a crowd that pushes does not look around.
"""

from .moved import MovedView, find_moved
from .near import Known
from .parties import Party
from .resolve import put_free, resolve

__all__ = ["Known", "MovedView", "Party", "find_moved", "put_free", "resolve"]
