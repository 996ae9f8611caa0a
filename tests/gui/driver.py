"""Drives a Blender with a window: steps between which the window lives, and pictures of it.

A session is a generator that runs inside of a timer. It yields the thing to wait for: a
function that becomes true, or None for the next tick of the timer. Time that passes is Blender's
own, so whatever is asked for is drawn, handled and evaluated as with a user in front of it.

Every step, check and picture is written to `steps.jsonl` at once: where Blender ends early, the
last line tells how far it came.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

Step = Callable[[], bool] | None
TICK = 0.04
PATIENCE = 420.0
"""Seconds after which something that is waited for counts as failed."""
LONG = 0.4
"""Length of a pause from which Python's activity in it is logged [s]."""


class Driver:
    """Runs a session, takes pictures, and writes what came out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pauses = Pauses()
        self._log = folder / "steps.jsonl"
        self._pictures = 0
        self._begun = time.perf_counter()
        self._session: Iterator[Step] | None = None
        self._until: Step = None
        self._deadline = 0.0
        self._drawn = {"VIEW_3D": 0, "PROPERTIES": 0}
        for space, kind in ((bpy.types.SpaceView3D, "VIEW_3D"),
                            (bpy.types.SpaceProperties, "PROPERTIES")):  # fmt: skip
            space.draw_handler_add(self._count, (kind,), "WINDOW", "POST_PIXEL")

    def start(self, session: Iterator[Step]) -> None:
        """Run a session as soon as the window is there."""
        self._session = session
        self._wait(self.drawn())
        bpy.app.timers.register(self._tick, first_interval=0.5, persistent=True)

    def say(self, **values: Any) -> None:
        """Write a line to the log."""
        values = {**values, "seconds": round(time.perf_counter() - self._begun, 1)}
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def step(self, name: str) -> None:
        """Note what is tried from here on."""
        print(f"== {name}", flush=True)
        self.say(step=name)

    def check(self, what: str, passed: bool, note: object = "") -> None:
        """Note something that has to hold."""
        print(f"{'ok  ' if passed else 'FAIL'} {what} {note}", flush=True)
        self.say(check=what, passed=bool(passed), note=str(note))

    def took(self, what: str, seconds: float) -> None:
        """Note how long a user waited; nothing is asserted, as machines differ."""
        self.say(took=what, waited=round(seconds, 2))

    def picture(self, name: str) -> Iterator[Step]:
        """A picture of the whole screen, once all of it is drawn again."""
        yield from self.settled()
        if bpy.context.window_manager.windows[0].screen.is_animation_playing:
            # or the screen would be caught between two frames
            with bpy.context.temp_override(window=window()):
                bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
        self.shoot(name)

    def shoot(self, name: str) -> None:
        """A picture of the whole screen as it is."""
        path = self.folder / f"{self._pictures:02d}_{name}.png"
        self._pictures += 1
        if shutil.which("import") and sys.platform == "linux":
            subprocess.run(["import", "-window", "root", str(path)], check=True, timeout=60)
        else:
            with bpy.context.temp_override(window=window()):
                bpy.ops.screen.screenshot(filepath=str(path))
        self.say(picture=path.name)

    def drawn(self) -> Callable[[], bool]:
        """True once all that was tagged or changed by now is on the screen."""
        before: dict[str, int] = {}

        def is_drawn() -> bool:
            # tagged with the first question, which comes after a file was opened
            for kind in self._drawn.keys() - before.keys():
                before[kind] = self._drawn[kind]
                redraw(kind)
            shown = {area.type for area in window().screen.areas}
            return all(self._drawn[k] > n for k, n in before.items() if k in shown)

        return is_drawn

    def settled(self) -> Iterator[Step]:
        """Wait until events are handled, and what came of them is drawn."""
        yield None
        yield self.drawn()
        yield self.drawn()

    def _count(self, kind: str) -> None:
        self._drawn[kind] += 1

    def _wait(self, step: Step) -> None:
        self._deadline = time.perf_counter() + PATIENCE
        self._until = step

    def _tick(self) -> float | None:
        self.pauses.tick()
        try:
            if time.perf_counter() > self._deadline:
                raise TimeoutError(f"waited {PATIENCE:.0f} s in vain")
            if self._until is None or self._until():
                assert self._session is not None
                self._wait(next(self._session))
        except StopIteration:
            self.say(end=True)
            return self._quit()
        except BaseException:  # noqa: BLE001
            told = traceback.format_exc()
            self.say(error=told)
            print(told, flush=True)
            self.shoot("failed")
            return self._quit()
        return TICK

    def _quit(self) -> None:
        self.pauses.end()
        bpy.ops.wm.quit_blender()


class Pauses:
    """Measures how long the window stands still, and sees what Python does meanwhile."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.told: list[str] = []
        """Python's stack in long pauses, innermost first."""
        self._last = time.perf_counter()
        self._main = threading.get_ident()
        self._ended = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def forget(self) -> None:
        """Measure from now on."""
        self.longest, self.told, self._last = 0.0, [], time.perf_counter()

    def tick(self) -> None:
        """Called as often as the window lives."""
        now = time.perf_counter()
        pause, self._last = now - self._last, now
        if pause > LONG:
            self.told.append(f"{pause:.2f} s")
        self.longest = max(self.longest, pause)

    def end(self) -> None:
        """End the thread that looks."""
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            if time.perf_counter() - self._last > LONG:
                frame = sys._current_frames().get(self._main)
                names = []
                while frame is not None and len(names) < 14:
                    code = frame.f_code
                    names.append(f"{Path(code.co_filename).stem}.{code.co_name}:{frame.f_lineno}")
                    frame = frame.f_back
                if names:
                    # otherwise Blender draws or evaluates
                    self.told.append(" < ".join(names))


def window() -> bpy.types.Window:
    """The first window."""
    return bpy.context.window_manager.windows[0]


def area_of(kind: str) -> bpy.types.Area:
    """The largest area of a type."""
    found = [area for area in window().screen.areas if area.type == kind]
    return max(found, key=lambda area: area.width * area.height)


def region_of(kind: str, part: str = "WINDOW") -> bpy.types.Region:
    """A region of that area."""
    return next(region for region in area_of(kind).regions if region.type == part)


def within(kind: str, part: str = "WINDOW") -> Any:
    """A context as if the mouse were in an area of a type."""
    return bpy.context.temp_override(
        window=window(), area=area_of(kind), region=region_of(kind, part)
    )


def redraw(kind: str) -> None:
    """Have areas of a type drawn again."""
    for area in window().screen.areas:
        if area.type == kind:
            area.tag_redraw()
