"""Formats that crowds are exported to, for menus and the command line, without Blender."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """One format.

    Attributes:
        name: Its name on the command line.
        label: Its name in menus.
        suffix: Ending of its files.
        text: Its content, in one sentence.
    """

    name: str
    label: str
    suffix: str
    text: str


FORMATS = {
    entry.name: entry
    for entry in (
        Format("usd", "USD Points", ".usdc", "Points with all attributes of the agents"),
        Format("pointinstancer", "USD Point Instancer", ".usdc", "Instances of the shown objects"),
        Format("alembic", "Alembic Points", ".abc", "Vertices with velocities"),
        Format("mdd", "MDD Point Cache", ".mdd", "Positions, with times in seconds"),
        Format("pc2", "PC2 Point Cache", ".pc2", "Positions, frame by frame"),
        Format(
            "csv",
            "Trajectories (PedPy, JuPedSim)",
            ".csv",
            "Text with a line for each living agent and frame: id, frame, x, y, z",
        ),
        Format("glb", "glTF Keyframes", ".glb", "One keyed object per agent"),
        Format("fbx", "FBX Keyframes", ".fbx", "One keyed object per agent"),
    )
}
"""By name, in the order of menus."""
