"""The contents of a stored world, and their places.

::

    WORLD/manifest.json    what there is, with a checksum of itself
    WORLD/float32.npy      all numbers of this type, one after another, and so on for each of ARRAYS

Whatever has rows in these files is named by the place of its first number and its count of rows.
So no name of a scene becomes the name of a file, and sizes are known before anything is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.signed import Format

FORMAT = Format("world", 1, 256_000_000, ("extracted", "extract it again"))
"""Format of the manifest."""
MANIFEST = "manifest.json"
ARRAYS: dict[str, str] = {
    "float32": "<f4",
    "float64": "<f8",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "|u1",
}
"""Files of numbers by name, each with its type."""
FILES = (MANIFEST, *(f"{name}.npy" for name in ARRAYS))

MOST_BYTES = 1 << 34
"""Size of the largest file of numbers [bytes]: more is neither written nor read."""
MOST_ROWS = 1 << 31
MOST_CROWDS = 1000
MOST_FRAMES = 2_000_000
MOST_NAMES = 100_000
"""Inputs of a crowd, and variants of its settings and warnings."""
MOST_TEXT = 4000
"""Characters of the longest text."""
HEADER = 128
"""Length of the header of a file of numbers [bytes]."""

COLLIDERS, EXITS, GROUND = "colliders", "exits", "ground"
AREAS, PAINT, PORTALS = "areas", "paint", "portals"
TRIANGLES = ("triangles", "float32", (3, 3))

KINDS: dict[str, tuple[tuple[str, str, tuple[int, ...]], ...]] = {
    "targets": (
        ("position", "float32", (3,)),
        ("velocity", "float32", (3,)),
        ("heading", "float32", (3,)),
        ("up", "float32", (3,)),
        ("weight", "float32", ()),
    ),
    COLLIDERS: (TRIANGLES,),
    GROUND: (TRIANGLES,),
    EXITS: (TRIANGLES,),
    "spheres": (("center", "float32", (3,)), ("radius", "float32", ())),
    "paths": (("point", "float32", (3,)), ("first", "int32", ()), ("cyclic", "uint8", ())),
    "fields": (TRIANGLES, ("vector", "float32", (3, 3))),
    "containers": (
        ("center", "float32", ()),
        ("axes", "float32", (3,)),
        ("half", "float32", ()),
        ("radius", "float32", ()),
        TRIANGLES,
    ),
    "emitters": (
        ("corner", "float32", (3, 3)),
        ("share", "float64", ()),
        ("ahead", "float32", (3,)),
        ("normal", "float32", (3,)),
        ("along", "float32", (3,)),
    ),
    AREAS: (TRIANGLES, ("rule", "float64", ()), ("group", "uint8", ())),
    PAINT: (("cost", "float32", (3,)),),
    PORTALS: (("point", "float32", (3,)), ("rule", "float64", ()), ("group", "uint8", ())),
}
"""Inputs by kind: their arrays, each with the file of its numbers and the shape of a row."""
KINDS["second_targets"] = KINDS["targets"]

POINTS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("position", "float32", (3,)),
    ("velocity", "float32", (3,)),
    ("rotation", "float32", (4,)),
    ("heading", "float32", (3,)),
)
"""Vectors of the points of a crowd; those that it lacks are left out."""

NONE = (-1, 0)
"""Place and rows of an array that is not there."""


def is_world(path: Any) -> bool:
    """Whether a path leads to a folder with a stored world, damaged or not."""
    return FORMAT.has_mark(Path(path) / MANIFEST)
