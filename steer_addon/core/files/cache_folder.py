"""The user's cache folder: what takes long to make or find is kept there from session to session.

It is the one that STEER_CACHE_DIR names, which many machines may share, or else the user's own. It
deserves the trust of a program, since compiled kernels in it are run. So it is never a temporary
folder, to which others may write, nor one of the package itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

_users: list[Path] = []


def choose(folder: Path) -> None:
    """Take a folder in place of the one that the system gives each user; STEER_CACHE_DIR wins."""
    _users[:] = [folder]


def roots() -> list[Path]:
    """The folders that may be it, the one to prefer first; some may not be writable."""
    named = os.environ.get("STEER_CACHE_DIR")
    return [*([Path(named)] if named else []), *(_users or _of_system())]


def folder(name: str) -> Path | None:
    """The folder of that name in the first of them where it takes files; None where none does."""
    return next((root / name for root in roots() if takes_files(root / name)), None)


def takes_files(folder: Path) -> bool:
    """Whether files can be written to a folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return True
    # a name may be none that the system's encoding can hold
    except (OSError, ValueError):
        return False


def _of_system() -> list[Path]:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return [(Path(base) if base else Path.home() / ".cache") / "steer"]
    except RuntimeError:  # a user without a home
        return []
