"""Names of behaviors in lists: "Avoid Neighbors.001", while the key stays `avoid_neighbors.001`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\.[0-9]{3,})?")


def renumbered(text: str, start: str, other: str) -> str:
    """A text that is `start`, with a number or without, with another start; else as it is."""
    number = text[len(start) :]
    return other + number if text.startswith(start) and _NUMBER.fullmatch(number) else text
