"""The flock's three: separation, cohesion and alignment."""

# isort: off
# menus list them in this order
from .separation import Separation
from .cohesion import Cohesion
from .alignment import Alignment

__all__ = ["Alignment", "Cohesion", "Separation"]
