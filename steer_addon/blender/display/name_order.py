"""The order in which Blender's nodes count the objects of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cmp_to_key
from typing import Any

import bpy

_PARTS = re.compile(rb"[0-9]+|.", re.DOTALL)
"""A name is compared number by number, and byte by byte between them."""


def by_name(objects: Iterable[Any]) -> list[bpy.types.Object]:
    """Objects in the order of *Collection Info*: small and capital letters alike, 2 before 10."""
    return sorted(objects, key=lambda obj: _KEY(obj.name.encode()))


def _compare(one: bytes, other: bytes) -> int:
    """Below 0 where a name comes first, above 0 where the other one does."""
    zeros = 0
    for a, b in zip(_PARTS.findall(one), _PARTS.findall(other), strict=False):
        if a.isdigit() and b.isdigit():
            if int(a) != int(b):
                return int(a) - int(b)
            zeros = zeros or len(a) - len(b)
        elif a[:1].lower() != b[:1].lower():
            # "Rig.001 Walker" comes before "Rig Walker"
            if b"." in (a, b):
                return -1 if a == b"." else 1
            return -1 if a.lower() < b.lower() else 1
    return zeros or (one > other) - (one < other)


_KEY = cmp_to_key(_compare)
