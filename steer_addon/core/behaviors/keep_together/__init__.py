"""People walk together: pairs, threes and fours stay beside one another."""

from .behavior import KeepTogether

__all__ = ["KeepTogether"]
