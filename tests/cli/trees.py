"""Folders before and after a command."""

from __future__ import annotations

import os
from pathlib import Path


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder, but for those of links."""
    return {
        str(path.relative_to(folder)): os.readlink(path).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
    }
