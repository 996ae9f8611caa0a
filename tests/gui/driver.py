"""Drives a Blender with a window: steps between which the window lives, and pictures of it.

A session is a generator that runs inside of a timer. What it yields says how long it waits: a
number of seconds, or a function that becomes true. Time that passes is Blender's own, so whatever
is asked for is drawn, handled and evaluated as with a user in front of it.
"""

from __future__ import annotations

import json
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

Step = float | Callable[[], bool]
TICK = 0.05
PATIENCE = 400.0
"""Seconds after which something that is waited for counts as failed."""


class Driver:
    """Runs a session, takes pictures, and writes what came out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results: dict[str, Any] = {"checks": [], "pictures": [], "error": ""}
        self._session: Iterator[Step] | None = None
        self._until: Callable[[], bool] | None = None
        self._deadline = 0.0
        self.longest_pause = 0.0
        self._last = 0.0

    def start(self, session: Iterator[Step]) -> None:
        """Run a session as soon as the window is there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._session = session
        self._wait(3.0)
        bpy.app.timers.register(self._tick, first_interval=1.0, persistent=True)

    def check(self, what: str, passed: bool, note: object = "") -> None:
        """Note something that has to hold."""
        self.results["checks"].append({"what": what, "passed": bool(passed), "note": str(note)})
        print(f"{'ok  ' if passed else 'FAIL'} {what} {note}", flush=True)

    def picture(self, name: str, *, redraw: bool = False) -> None:
        """A picture of the whole screen as it is.

        Args:
            name: What it shows.
            redraw: Draw all first: while an animation plays the screen may be caught between two
                frames. An open menu takes no keys afterwards.
        """
        if redraw:
            with bpy.context.temp_override(window=window()):
                bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
        path = self.folder / f"{len(self.results['pictures']):02d}_{name}.png"
        subprocess.run(["import", "-window", "root", str(path)], check=True, timeout=30)
        self.results["pictures"].append(path.name)

    def forget_pauses(self) -> None:
        """Measure the longest time between two ticks from now on."""
        self.longest_pause, self._last = 0.0, time.perf_counter()

    def _wait(self, step: Step) -> None:
        now = time.perf_counter()
        self._deadline = now + PATIENCE
        if callable(step):
            self._until = step
        else:
            self._until = lambda end=now + step: time.perf_counter() >= end

    def _tick(self) -> float | None:
        now = time.perf_counter()
        self.longest_pause = max(self.longest_pause, now - self._last)
        self._last = now
        try:
            if now > self._deadline:
                raise TimeoutError(f"waited {PATIENCE:.0f} s in vain")
            if self._until is None or self._until():
                assert self._session is not None
                self._wait(next(self._session))
        except StopIteration:
            return self._finish()
        except BaseException:  # noqa: BLE001
            self.results["error"] = traceback.format_exc()
            print(self.results["error"], flush=True)
            self.picture("failed")
            return self._finish()
        return TICK

    def _finish(self) -> None:
        path = self.folder / "result.json"
        path.write_text(json.dumps(self.results, indent=2), encoding="utf-8")
        bpy.ops.wm.quit_blender()


def window() -> bpy.types.Window:
    """The first window."""
    return bpy.context.window_manager.windows[0]


def area_of(kind: str) -> bpy.types.Area:
    """The largest area of a type."""
    found = [area for area in window().screen.areas if area.type == kind]
    return max(found, key=lambda area: area.width * area.height)


def within(kind: str) -> Any:
    """A context as if the mouse were in an area of a type."""
    area = area_of(kind)
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=area, region=region)


def xdotool(*words: object) -> None:
    """Move the mouse or press keys."""
    subprocess.run(["xdotool", *map(str, words)], check=True, timeout=30)


def click(x: float, y: float) -> None:
    """Click at a place of the window, counted from its lower left corner as Blender does."""
    xdotool("mousemove", int(x), int(window().height - y), "click", 1)
