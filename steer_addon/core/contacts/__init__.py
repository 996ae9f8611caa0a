"""Contacts: no body inside another, and none through a wall, whatever the behaviors proposed.

The last part of a step. It takes where agents wish to be, and lets them go as far as there is room:
`near` finds whom each one may meet, `pushes` lets those who press move others, `passes` moves all
inside of cells that cannot overlap, `walls` makes planes of the colliders near an agent. Bodies are
discs in GROUND motion and spheres in FLY, as large as the agents' radius.

An agent that was held up has the velocity of what it really went, no faster than it wished; its
heading stays the one of its wish, so that a crowd that pushes does not look about.
"""

from .moved import MovedView, find_moved
from .near import Known
from .resolve import put_free, resolve

__all__ = ["Known", "MovedView", "find_moved", "put_free", "resolve"]
