"""Pictures of presets, one file each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import steer_addon
from steer_addon.core.crowd.presets import find_presets


def make_each(
    names: list[str], render: Callable[[str, Path], Path], folder: Path, limit: int
) -> int:
    """Make the pictures of some presets, or of all built-in ones; returns the exit code.

    Args:
        names: The presets; none means all.
        render: Makes the picture of a preset in a folder.
        folder: Folder of the pictures.
        limit: Larger files [bytes] are an error.
    """
    steer_addon.register()
    folder.mkdir(parents=True, exist_ok=True)
    large = []
    for name in names or find_presets():
        path = render(name, folder)
        print(f"{path.relative_to(folder.parent)}  {path.stat().st_size} bytes", flush=True)
        large += [name] if path.stat().st_size > limit else []
    if large:
        print(f"error: larger than {limit} bytes: {', '.join(large)}", file=sys.stderr)
    return 1 if large else 0
