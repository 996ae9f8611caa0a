"""How much is tried: less each time than with --long."""

from __future__ import annotations

from hypothesis import settings

USUAL = settings().max_examples
"""Examples of other properties."""
LONG = USUAL > 25


def tried(most: int) -> int:
    """Examples: so many with --long, else a quarter, but no fewer than other properties try."""
    return most if LONG else max(min(USUAL, most), most // 4)


def half_of(count: int) -> int:
    """Agents of which each shows the same: so many with --long, else half of them."""
    return count if LONG else count // 2
