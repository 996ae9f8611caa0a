"""Characters as objects of Blender: all poses of one in a mesh, and the nodes that show them."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "bodies",
    "gathering",
    "heroes",
    "joining",
    "keys",
    "library",
    "library_group",
    "making",
    "origins",
    "rigs",
    "sampling",
)
