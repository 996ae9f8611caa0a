"""Which variations of a crowd are there, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.cache import MANIFEST, folder_name
from ...core.errors import SteerError
from ...farm.report import figures, gather
from ...farm.tasks import BAKE, CACHES, SIMULATION
from ..bake import places
from ..crowd.crowds import why_not_editable
from ..crowd.links import linked_crowds
from ..crowd.records import LastLook, Part

SCENE, OUT = "scene.blend", "batch"
"""The copy of the file from which they are made, and the folder of the batch."""


class Variation(NamedTuple):
    """A variation that may be made already.

    Attributes:
        number: Its number, from 1.
        seed: Its seed.
        caches: Folder of the caches of its crowds.
    """

    number: int
    seed: int
    caches: Path

    def cache_of(self, crowd: bpy.types.Object) -> Path:
        """Folder of the cache of one of its crowds."""
        return self.caches / folder_name(crowd.name)

    def has(self, crowd: bpy.types.Object) -> bool:
        """Whether the cache of a crowd is there."""
        return (self.cache_of(crowd) / MANIFEST).is_file()


@dataclass
class _Known:
    """What panels draw."""

    last_look: LastLook = field(default_factory=LastLook)
    found: list[Variation] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    told: dict[int, str] = field(default_factory=dict)


_known: Part[_Known] = Part(_Known)


def folder_of(obj: bpy.types.Object) -> Path:
    """Folder of the variations of a crowd, beside those of the bakes of its file."""
    return places.absolute(places.parent_folder(obj)) / f"{folder_name(obj.name)}.variations"


def members_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The crowds of a variation: a crowd, and those that it meets or steers by."""
    return [crowd for crowd in linked_crowds(obj) if not why_not_editable(crowd)]


def variations_of(obj: bpy.types.Object) -> list[Variation]:
    """The variations that were begun, by their numbers; none where there is no such folder."""
    if places.why_no_folder(obj):
        return []
    out = folder_of(obj) / OUT
    try:
        rows = gather.variations(out)
    except SteerError:
        return []
    return [
        Variation(row["number"], row["seed"], out / row["name"] / BAKE / CACHES)
        for row in rows
        if isinstance(row.get("seed"), int)
    ]


def seen(obj: bpy.types.Object) -> tuple[list[Variation], set[int]]:
    """The variations, and the numbers of those that are made; quick enough for every redraw."""
    known = _known.ensure(obj)
    if known.last_look.is_due():
        known.found = variations_of(obj)
        known.done = {one.number for one in known.found if one.has(obj)}
    return known.found, known.done


def figures_of(obj: bpy.types.Object, number: int) -> str:
    """How a variation went, in a line; empty where its simulation does not say."""
    known = _known.ensure(obj)
    if number not in known.told:
        one = next((one for one in seen(obj)[0] if one.number == number), None)
        try:
            reports = gather.reports_of(one.caches.parent / SIMULATION) if one else []
        except SteerError:
            reports = []
        metrics = [gather.metrics_of(report) for _folder, report in reports]
        known.told[number] = figures.in_words(figures.row_of(metrics))
    return known.told[number]


def refresh(obj: bpy.types.Object) -> None:
    """Look again at the next redraw."""
    _known.drop(obj)
