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
        contents: The same for the help of the command line; empty where `text` serves there too.
    """

    name: str
    label: str
    suffix: str
    text: str
    contents: str = ""

    @property
    def help(self) -> str:
        """Its content, in the form for the middle of a sentence."""
        return self.contents or self.text[0].lower() + self.text[1:]


FORMATS = {
    entry.name: entry
    for entry in (
        Format(
            "usd",
            "USD Points",
            ".usdc",
            "Points with all that agents know",
            "USD points with all that agents know",
        ),
        Format(
            "pointinstancer",
            "USD Point Instancer",
            ".usdc",
            "Instances of what agents are shown as",
            "USD instances of what agents are shown as",
        ),
        Format("alembic", "Alembic Points", ".abc", "Vertices with velocities"),
        Format("mdd", "MDD Point Cache", ".mdd", "Positions, with times in seconds"),
        Format("pc2", "PC2 Point Cache", ".pc2", "Positions, frame by frame"),
        Format(
            "csv",
            "Trajectories (PedPy, JuPedSim)",
            ".csv",
            "Text with a line for each living agent and frame: id, frame, x, y, z",
            "trajectories as PedPy and JuPedSim read them",
        ),
        Format(
            "glb",
            "glTF Keyframes",
            ".glb",
            "One keyed object per agent",
            "glTF with a keyed object per agent",
        ),
        Format("fbx", "FBX Keyframes", ".fbx", "One keyed object per agent", "the same as FBX"),
    )
}
"""By name, in the order of menus."""
