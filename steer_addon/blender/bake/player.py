"""What plays a cache without Steer, where this build has such a thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

FILES = ("crowd.usdc", "crowd.pc2")
"""Files that are made of a cache, in its folder."""


def _playback() -> Any:
    try:
        from .. import playback
    except ImportError:
        return None
    return playback


def attach(obj: bpy.types.Object, folder: Path) -> None:
    """Let a crowd play its cache.

    Raises:
        SteerError: It cannot.
    """
    found = _playback()
    if found is not None:
        found.attach(obj, folder)


def detach(obj: bpy.types.Object) -> None:
    """Go back to the live crowd."""
    found = _playback()
    if found is not None:
        found.detach(obj)
