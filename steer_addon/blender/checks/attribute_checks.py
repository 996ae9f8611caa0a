"""Diagnoses of point attributes that override settings: those without effect, or out of range.

Panels ask at every redraw: only attributes of the crowd's own mesh are looked at. Where modifiers
above Crowd make the points, those may still make something else of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.behaviors import REGISTRY
from ...core.characters.cast import CLIP, GIVEN, PARTS, TEMPO
from ...core.crowd.births import BIRTH, DEATH
from ...core.crowd.groups import ATTRIBUTE
from ...core.diagnoses import Diagnosis, diagnose
from ...core.parameters import parameters
from ...core.runs.points import BODY_RANGES
from ..characters import optional_parts
from ..crowd import casting
from ..reading import scene_agents

Range = tuple[float, float]
_ROWS = {"velocity": "FLOAT_VECTOR", "heading": "FLOAT_VECTOR", "rotation": "QUATERNION"}
_TYPES = {"FLOAT_VECTOR": "a Vector", "QUATERNION": "a Quaternion"}
_NUMBERS = ("FLOAT", "INT", "INT8", "BOOLEAN")
_DOMAINS = {"EDGE": "edges", "FACE": "faces", "CORNER": "face corners"}
_MOST_PARTS = 31
"""Parts that have a place in a whole number of an attribute."""
_ENDLESS = (-np.inf, np.inf)


def found(obj: bpy.types.Object) -> Iterator[Diagnosis]:
    """Diagnoses of the attributes of a crowd's mesh."""
    mesh = obj.data
    # others of Blender itself have a dot
    names = [name for name in mesh.attributes.keys() if name[0] != "." and name != "position"]
    if not names or mesh.is_editmode or scene_agents.needs_evaluation(obj):
        return
    ranges = _ranges(obj)
    for name in names:
        if name not in ranges and name not in _ROWS:
            continue
        attribute = mesh.attributes[name]
        wanted = _ROWS.get(name)
        fits = attribute.data_type in ((wanted,) if wanted else _NUMBERS)
        if attribute.domain != "POINT" or not fits:
            yield diagnose(
                "ATTRIBUTE_IGNORED",
                obj.name,
                attribute=name,
                place=_DOMAINS.get(attribute.domain, "vertices"),
                type=_label(attribute),
                wanted=_TYPES.get(wanted or "", "a Float"),
            )
        elif not wanted:
            yield from _of_values(obj, name, ranges[name])


def _of_values(obj: bpy.types.Object, name: str, limits: Range) -> Iterator[Diagnosis]:
    """Diagnoses of the numbers of the points."""
    values = scene_agents.column(obj.data, name)
    if values is None or not len(values):
        return
    if name in (CLIP, PARTS):
        yield from (_of_clips if name == CLIP else _of_parts)(obj, values)
        return
    least, most = limits
    beyond = (values < np.float32(least)) | (values > np.float32(most))
    if beyond.any():
        first = float(values[beyond.argmax()])
        yield diagnose(
            "ATTRIBUTE_CUT",
            obj.name,
            attribute=name,
            count=int(beyond.sum()),
            value=f"{first:g}",
            limit=f"{least if first < least else most:g}",
        )


def _of_clips(obj: bpy.types.Object, values: NDArray[Any]) -> Iterator[Diagnosis]:
    """A diagnosis of numbers that no character has a clip of."""
    count = casting.most_clips(obj)
    beyond = values >= count
    if beyond.any():
        yield diagnose(
            "CLIP_NUMBER_UNKNOWN",
            obj.name,
            count=int(beyond.sum()),
            number=f"{float(values[beyond.argmax()]):g}",
            known=f"have clips 0 to {count - 1}" if count else "have no clips",
        )


def _of_parts(obj: bpy.types.Object, values: NDArray[Any]) -> Iterator[Diagnosis]:
    """A diagnosis of sums of optional parts that no character has."""
    found = map(optional_parts.count_of, casting.shown_characters(obj))
    count = min(max(found, default=0), _MOST_PARTS)
    beyond = (values >= 2.0**count) | (values < 0)
    if beyond.any():
        yield diagnose(
            "PARTS_UNKNOWN",
            obj.name,
            count=int(beyond.sum()),
            number=f"{float(values[beyond.argmax()]):g}",
            known=f"0 to {2**count - 1}" if count else "0, as its characters have none",
        )


def _label(attribute: bpy.types.Attribute) -> str:
    """The type of an attribute, as Blender names it."""
    kinds: Any = attribute.bl_rna.properties["data_type"]
    return str(kinds.enum_items[attribute.data_type].name)


def _ranges(obj: bpy.types.Object) -> dict[str, Range]:
    """Smallest and largest value of the attributes that a crowd reads, by their names."""
    steer = obj.steer
    plain = ("id", "target_index", "alive", BIRTH, DEATH)
    ranges: dict[str, Range] = {**dict.fromkeys(plain, _ENDLESS), **BODY_RANGES}
    ranges |= {group.name: _ENDLESS for group in steer.groups if group.source == ATTRIBUTE}
    if casting.shown_characters(obj):
        ranges |= dict.fromkeys((GIVEN, CLIP, PARTS), _ENDLESS) | {TEMPO: (0.0, np.inf)}
    for item in steer.behaviors:
        cls = REGISTRY.get(item.type)
        for name, info in {} if cls is None else parameters(cls).items():
            if info.per_agent:
                limits = (info.minimum, info.maximum)
                names = [f"{prefix}.{name}" for prefix in (item.name, item.type)]
                for each in names if name == "weight" else [*names, name]:
                    ranges[each] = _both(ranges.get(each, limits), limits)
    return ranges


def _both(first: Range, second: Range) -> Range:
    return max(first[0], second[0]), min(first[1], second[1])
