"""Differences between the inputs of a cache and the inputs now, in plain words.

Both are JSON data, and the data of a cache may come from a stranger: a part with another form than
expected counts as different, and has no other effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 8
"""Most changes that are named."""


def settings_changes(old: Any, new: Mapping[str, Any], main: str) -> list[str]:
    """Which settings differ.

    Args:
        old: Of the cache: what each crowd is told, by its name.
        new: The same, of now.
        main: The crowd whose name need not be said.
    """
    before, found = _mapping(old), []
    for crowd in dict.fromkeys((*new, *before)):
        suffix = "" if crowd == main else f" of crowd {crowd!r}"
        if crowd not in before:
            found.append(f"it steers by crowd {crowd!r} now")
        elif crowd not in new:
            found.append(f"it no longer steers by crowd {crowd!r}")
        else:
            found += [text + suffix for text in _told(_mapping(before[crowd]), new[crowd])]
    return found


def _told(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    yield from _values("", _mapping(old.get("values")), new["values"])
    before = _mapping(old.get("behaviors"))
    for name in sorted({*before, *new["behaviors"]}):
        if name not in before or name not in new["behaviors"]:
            yield f"behavior {name!r} is {'gone' if name in before else 'new'}"
        else:
            yield from _values(f"{name}.", _mapping(before[name]), new["behaviors"][name])
    if old.get("order") != new["order"] and before.keys() == new["behaviors"].keys():
        yield "the order of behaviors changed"
    animated = named_changes(old.get("animation"), new["animation"])
    yield from (f"animation of {text}" for text in animated)


def _values(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield f"{prefix}{name} is of another version of Steer"
        elif old[name] != new[name]:
            yield f"{prefix}{name} was {_short(old[name])}, is {_short(new[name])}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)[:40]


def named_changes(old: Any, new: Mapping[str, str]) -> list[str]:
    """Which named digests differ, as words like "animation of 'Goal' changed"."""
    before = _mapping(old)
    found = []
    for name in sorted({*before, *new}):
        if before.get(name, "") != new.get(name, ""):
            verb = "changed" if before.get(name) and new.get(name) else "is new"
            found.append(f"{name} {verb if new.get(name) else 'is gone'}")
    return found


def part_changes(old: Any, new: Mapping[str, Any], *, moved: bool) -> list[str]:
    """Perceived inputs that differ at the frames that were sampled both times.

    Args:
        old: Of the cache: "parts", the runs of digests by name, and "sampled", the frames.
        new: The same, of now.
        moved: Whether anything could move when the cache was baked; else a sample held for all
            frames after it.
    """
    before = _mapping(old)
    runs, sampled = before.get("parts"), before.get("sampled")
    if not isinstance(runs, Mapping) or not isinstance(sampled, list):
        return ["what it was baked from is not known"]
    frames = [f for f in new["sampled"] if f in sampled or not moved]
    found = []
    for name in sorted({*runs, *new["parts"]}):
        for frame in frames:
            was, now = _at(runs.get(name), frame), _at(new["parts"].get(name), frame)
            if was != now:
                verb = "is gone" if not now else "is new" if not was else "changed"
                at = "" if frame == frames[0] else f" at frame {frame}"
                found.append(f"{name} {verb}{at}")
                break
    return found


def _at(run: Any, frame: int) -> str:
    text = ""
    for row in run if isinstance(run, list) else ():
        if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], int)):
            return "?"
        if row[0] > frame:
            break
        text = str(row[1])
    return text


def all_changes(old: Mapping[str, Any], new: Mapping[str, Any], main: str) -> list[str]:
    """Everything that differs.

    Args:
        old: The `about` of a cache.
        new: The same, of now; what was not looked at is left out.
        main: Name of the crowd.
    """
    settings = settings_changes(old.get("settings"), new["settings"], main)
    found = list(settings)
    if "animation" in new:
        found += named_changes(old.get("animation"), new["animation"])
    if "inputs" in new:
        was, now = old.get("inputs"), new["inputs"]
        found += _crowd_changes("points", _mapping(was), now)
        if not settings:
            # settings give bodies to all points that have none of their own
            found += _crowd_changes("bodies", _mapping(was), now)
        found += part_changes(was, now, moved=bool(old.get("moving", True)))
    return found


def _crowd_changes(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    before = _mapping(old.get(kind))
    return [
        f"the {kind} of crowd {name!r} changed"
        for name, text in new[kind].items()
        if before.get(name) != text
    ]


def sentence(changes: list[str]) -> str:
    """Changes in one line."""
    shown = changes[:MOST]
    more = len(changes) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
