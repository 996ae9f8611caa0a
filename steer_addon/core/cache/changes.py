"""Differences between the inputs of a cache and the inputs now.

Both are JSON data, and the data of a cache may come from a stranger: a part with another form than
expected counts as different, and has no other effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..diagnoses import Diagnosis, diagnose

NAMED_CHANGES = 8
"""Largest number of changes that a sentence names."""
MEETING = "meets.crowds"
"""Name of the digest of whom crowds see, are seen by, and touch, among the values of settings."""
_DIGESTS = {MEETING: "who meets whom", "characters": "the cast of characters"}
"""What values are called that are digests, which say nothing to a reader."""


def settings_changes(old: Any, new: Mapping[str, Any], main: str) -> list[Diagnosis]:
    """The settings that differ.

    Args:
        old: Settings of each crowd in the cache, by its name.
        new: The settings now.
        main: The crowd that is not named in the changes.
    """
    before, found = _mapping(old), list[Diagnosis]()
    for crowd in dict.fromkeys((*new, *before)):
        if crowd not in before:
            found.append(diagnose("CROWD_NEW", crowd))
        elif crowd not in new:
            found.append(diagnose("CROWD_GONE", crowd))
        else:
            changes = _crowd_settings_changes(_mapping(before[crowd]), new[crowd])
            if crowd == main:
                found += changes
            else:
                found += [diagnose("OF_CROWD", crowd, change=change) for change in changes]
    return found


def _crowd_settings_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Diagnosis]:
    yield from _values("", _mapping(old.get("values")), new["values"])
    before = _mapping(old.get("behaviors"))
    for name in sorted({*before, *new["behaviors"]}):
        if name not in before or name not in new["behaviors"]:
            yield diagnose("BEHAVIOR_GONE" if name in before else "BEHAVIOR_NEW", name)
        else:
            yield from _values(f"{name}.", _mapping(before[name]), new["behaviors"][name])
    if old.get("order") != new["order"] and before.keys() == new["behaviors"].keys():
        yield diagnose("ORDER_CHANGED")
    yield from named_changes(old.get("animation"), new["animation"], "animation of ")


def _values(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Diagnosis]:
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield _change(_DIGESTS.get(name, f"{prefix}{name}"), name in old, name in new)
        elif name in _DIGESTS and old[name] != new[name]:
            yield _change(_DIGESTS[name], old[name], new[name])
        elif old[name] != new[name]:
            was, now = _short(old[name]), _short(new[name])
            yield diagnose("VALUE_CHANGED", f"{prefix}{name}", was=was, now=now)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)[:40]


def named_changes(old: Any, new: Mapping[str, str], prefix: str = "") -> list[Diagnosis]:
    """The named digests that differ, as of "animation of 'Goal'"; names get the prefix."""
    before, found = _mapping(old), []
    for name in sorted({*before, *new}):
        was, now = before.get(name, ""), new.get(name, "")
        if was != now:
            found.append(_change(f"{prefix}{name}", was, now))
    return found


def _change(name: str, was: Any, now: Any) -> Diagnosis:
    """The change of a thing; an empty digest stands for a thing that is not there."""
    return diagnose("THING_GONE" if not now else "THING_CHANGED" if was else "THING_NEW", name)


def part_changes(old: Any, new: Mapping[str, Any], *, moved: bool) -> list[Diagnosis]:
    """Perceived inputs that differ at the frames that were sampled both times.

    Args:
        old: Inputs of the cache: "parts", the runs of digests by name, and "sampled", the frames.
        new: The inputs now.
        moved: Whether anything could move when the cache was baked; else a sample holds for all
            frames after it.
    """
    before = _mapping(old)
    runs, sampled = before.get("parts"), before.get("sampled")
    if not isinstance(runs, Mapping) or not isinstance(sampled, list):
        return [diagnose("INPUTS_UNKNOWN")]
    frames = [f for f in new["sampled"] if f in sampled or not moved]
    found = []
    for name in sorted({*runs, *new["parts"]}):
        for frame in frames:
            was, now = _at(runs.get(name), frame), _at(new["parts"].get(name), frame)
            if was != now:
                change = _change(name, was, now)
                if frame != frames[0]:
                    change = diagnose("AT_FRAME", change=change, frame=frame)
                found.append(change)
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


def all_changes(old: Mapping[str, Any], new: Mapping[str, Any], main: str) -> list[Diagnosis]:
    """Everything that differs.

    Args:
        old: The `about` of a cache.
        new: The same for the current scene; it may lack parts, which are not compared.
        main: Name of the crowd.
    """
    settings = settings_changes(old.get("settings"), new["settings"], main)
    found = list(settings)
    if "animation" in new:
        found += named_changes(old.get("animation"), new["animation"])
    if "inputs" in new:
        was, now = old.get("inputs"), new["inputs"]
        found += _crowd_changes("POINTS_CHANGED", "points", _mapping(was), now)
        if not settings:
            # settings give bodies to all points that have none of their own
            found += _crowd_changes("BODIES_CHANGED", "bodies", _mapping(was), now)
        found += part_changes(was, now, moved=bool(old.get("moving", True)))
    return found


def _crowd_changes(
    code: str, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[Diagnosis]:
    before = _mapping(old.get(kind))
    return [diagnose(code, name) for name, text in new[kind].items() if before.get(name) != text]


def out_of_date(changes: Sequence[Diagnosis]) -> Diagnosis:
    """A bake is out of date: the first of its changes, and the number of further ones."""
    named = tuple(changes[:NAMED_CHANGES])
    more = len(changes) - len(named)
    if more:
        named = (*named, diagnose("MORE", count=more))
    return diagnose("BAKE_OUT_OF_DATE", changes=named)
