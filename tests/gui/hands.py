"""Mouse and keyboard of a session: events that Blender takes for the user's own.

Blender runs with --enable-event-simulate, which also keeps the real mouse out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from driver import Driver, Step, area_of, region_of, window, within

DIGITS = {str(n): name for n, name in enumerate(
    ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
)} | {".": "PERIOD"}  # fmt: skip
ROW = 11
"""Pixels between two tries to find a button; rows are about twice as high."""


class Hands:
    """Moves the mouse, presses its buttons, types."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.x, self.y = 0, 0

    def send(self, kind: str, value: str, **more: Any) -> None:
        """An event where the mouse is."""
        window().event_simulate(type=kind, value=value, x=self.x, y=self.y, **more)

    def move(self, x: float, y: float) -> None:
        """Move the mouse, counted from the lower left corner of the window."""
        self.x, self.y = int(x), int(y)
        self.send("MOUSEMOVE", "NOTHING")

    def key(self, kind: str, **more: Any) -> None:
        """Press a key and let go."""
        self.send(kind, "PRESS", **more)
        held = {name: value for name, value in more.items() if name != "unicode"}
        self.send(kind, "RELEASE", **held)

    def write(self, text: str) -> None:
        """Type digits and a point."""
        for letter in text:
            self.key(DIGITS[letter], unicode=letter)

    def hover(self, kind: str, x: float = 0.5, y: float = 0.5) -> None:
        """Move the mouse into an area, at fractions of its size."""
        region = region_of(kind)
        self.move(region.x + x * region.width, region.y + y * region.height)

    def click(self, x: float, y: float, **more: Any) -> Iterator[Step]:
        """Click at a place of the window."""
        self.move(x, y)
        yield None
        self.send("LEFTMOUSE", "PRESS", **more)
        yield None
        self.send("LEFTMOUSE", "RELEASE", **more)
        yield from self._driver.settled()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> Iterator[Step]:
        """Press at one place, move to another, let go."""
        self.move(*start)
        # handles take up the mouse only when it was seen above them
        yield from self._driver.settled()
        self.send("LEFTMOUSE", "PRESS")
        yield None
        for part in (0.02, 0.1, 0.4, 0.8, 1.0):
            self.move(*(a + part * (b - a) for a, b in zip(start, end, strict=True)))
            yield None
        self.send("LEFTMOUSE", "RELEASE")
        yield from self._driver.settled()

    def find_field(self, ending: str) -> Iterator[Step]:
        """Move the mouse down the Properties editor, until it is above a field.

        Args:
            ending: How the path of its property ends.

        Raises:
            LookupError: There is none in sight.
        """
        region = region_of("PROPERTIES")
        for down in range(ROW, region.height, ROW):
            self.move(region.x + 0.7 * region.width, region.y + region.height - down)
            yield None
            yield None
            with within("PROPERTIES"):
                found = bpy.context.property
            if found is not None and found[1].endswith(ending):
                return
        raise LookupError(f"no field of {ending!r} is in sight")


def place_in_view(point: Any) -> tuple[float, float]:
    """Where a point of the scene is seen in the window.

    Raises:
        LookupError: It is not in view.
    """
    region = region_of("VIEW_3D")
    found = location_3d_to_region_2d(region, area_of("VIEW_3D").spaces[0].region_3d, point)
    if found is None or not (0 < found[0] < region.width and 0 < found[1] < region.height):
        raise LookupError(f"{tuple(point)} is not in view")
    return region.x + found[0], region.y + found[1]
