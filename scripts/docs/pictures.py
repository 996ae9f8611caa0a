"""Runs the scripts that make the pictures of docs/, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"

PICTURES: dict[str, tuple[str, ...]] = {
    "figures": ("scripts/docs/figures.py",),
    "previews": ("scripts/docs/previews.py",),
    "gallery": ("-m", "scripts.docs.gallery"),
    "scenes": ("-m", "scripts.docs.scenes"),
    "display": ("scripts/docs/views.py",),
    "demo": ("-m", "scripts.docs.readme_picture"),
    "debug": ("-P", "scripts/docs/views.py"),
    "panels": ("-P", "scripts/docs/shots.py"),
}
"""Kinds of pictures and their commands: Python's arguments, or with -P those of Blender."""


def _window(program: str) -> list[str] | None:
    """Command that runs Blender in a window, or None if there is none.

    Unlike the window tests this one is driven by a real mouse, for edges of editors.
    """
    if program:
        return [program, "--factory-startup", "--window-geometry", "0", "0", "1280", "800"]
    from scripts.window.test_gui import TOOL

    if not TOOL.is_file():
        print("No window: give a program with --blender")
        return None
    # a separate network: virtual screens of the same number would collide in a shared one
    return ["unshare", "--net", "sh", str(TOOL), "blender"]


def make_pictures(kinds: list[str], program: str = "") -> int:
    """Make pictures of some kinds; returns the exit code.

    Args:
        kinds: Keys of PICTURES.
        program: A Blender program that can open a window; empty takes the installed one.
    """
    failed = []
    for kind in kinds:
        words: list[str] | None = [sys.executable]
        if PICTURES[kind][0] == "-P":
            words = _window(program)
        if words is None:
            failed.append(kind)
            continue
        print(f"== {kind}", flush=True)
        if subprocess.run([*words, *PICTURES[kind]], cwd=ROOT, check=False).returncode:
            failed.append(kind)
    if failed:
        print(f"Not made: {', '.join(failed)}")
    return 1 if failed else 0
