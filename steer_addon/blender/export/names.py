"""What crowds are exported to, as menus and the command line tell it: no Blender is needed here."""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """How a format is told.

    Attributes:
        label: What menus call it.
        suffix: Ending of its files.
        text: What it holds, in one sentence.
        contents: The same for the help text of the command line.
    """

    label: str
    suffix: str
    text: str
    contents: str


NAMES = {
    "usd": Name(
        "USD Points",
        ".usdc",
        "Points with all that agents know",
        "USD points with all that agents know",
    ),
    "pointinstancer": Name(
        "USD Point Instancer",
        ".usdc",
        "Instances of what agents are shown as",
        "USD instances of what agents are shown as",
    ),
    "alembic": Name(
        "Alembic Points", ".abc", "Vertices with velocities", "vertices with velocities"
    ),
    "mdd": Name(
        "MDD Point Cache",
        ".mdd",
        "Positions, with times in seconds",
        "positions, with times in seconds",
    ),
    "pc2": Name(
        "PC2 Point Cache", ".pc2", "Positions, frame by frame", "positions, frame by frame"
    ),
    "csv": Name(
        "Trajectories (PedPy, JuPedSim)",
        ".csv",
        "Text with a line for each living agent and frame: id, frame, x, y, z",
        "trajectories as PedPy and JuPedSim read them",
    ),
    "glb": Name(
        "glTF Keyframes", ".glb", "One keyed object per agent", "glTF with a keyed object per agent"
    ),
    "fbx": Name("FBX Keyframes", ".fbx", "One keyed object per agent", "the same as FBX"),
}
"""By what the command line calls them, in the order of menus."""
