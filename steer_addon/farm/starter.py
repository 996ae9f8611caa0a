"""How commands of Steer are started on this machine: as the running one was."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIFELINE = "STEER_LIFELINE"
_PACKAGE = __name__.rpartition(".farm.")[0]
_SCRIPT = "scripts/batch_render.py"


@dataclass(frozen=True)
class Starter:
    """How commands of Steer are started on this machine.

    Attributes:
        prefix: The program and its first words.
        environment: Variables in addition to those of this process.
        blender: Version of its Blender.
        anywhere: Whether workers on other machines start commands in the same way; they find one
            of their own otherwise.
    """

    prefix: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    blender: str = ""
    anywhere: bool = False

    def open(self, words: Sequence[str], more: Mapping[str, str], **streams: Any) -> Any:
        """Start a command, which ends with this process; see `subprocess.Popen` for the streams.

        Raises:
            OSError: It cannot be started.
        """
        variables = {**os.environ, **self.environment, **more, LIFELINE: "stdin"}
        return subprocess.Popen(
            [*self.prefix, *words], stdin=subprocess.PIPE, env=variables, **streams
        )


def find_starter() -> Starter:
    """How commands are started: as this one was."""
    bpy: Any = sys.modules.get("bpy")
    if bpy is not None and not bpy.app.module:
        program, blender = str(bpy.app.binary_path), str(bpy.app.version_string)
        if _PACKAGE.startswith("bl_ext."):
            # preferences are saved when Blender ends, so an extension may be enabled here alone
            extension = _PACKAGE.rpartition(".")[0]
            return Starter((program, "--addons", extension, "-c", "steer"), {}, blender)
        script = _root() / _SCRIPT
        return Starter((program, "-b", "-P", str(script), "--"), {}, blender)
    paths = [str(_root()), *filter(None, [os.environ.get("PYTHONPATH")])]
    # a large module that no other command needs
    metadata = importlib.import_module("importlib.metadata")
    try:
        blender = metadata.version("bpy")
    except metadata.PackageNotFoundError:
        blender = ""
    prefix = (sys.executable, "-m", _PACKAGE)
    return Starter(prefix, {"PYTHONPATH": os.pathsep.join(paths)}, blender)


def _root() -> Path:
    """The folder of the package."""
    return Path(__file__).resolve().parents[2]
