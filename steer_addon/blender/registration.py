"""Make Steer known to Blender, and take everything back in the reverse order.

Nothing here imports numba or compiles a kernel: enabling the extension stays quick.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..core.compiled import jit
from ..core.files import cache_folder
from . import preferences
from .bake import status
from .characters import gathering
from .checks import character_checks, collider_checks
from .crowd import agent_count, property_classes, records
from .display import appended, display
from .live import live
from .making import resizing
from .operators import (
    add,
    bake,
    bake_all,
    baking,
    behaviors,
    catching_up,
    character_lists,
    characters,
    export,
    groups,
    heroes,
    looks,
    picking,
    presets,
    stepping,
    variations,
    ways_out,
)
from .overlay import gizmos
from .overlay import handlers as overlay
from .ui import menus, panels
from .variations import current

COMMAND = "steer"

CLASSES = (
    *add.classes,
    *behaviors.classes,
    *groups.classes,
    *presets.classes,
    *bake.classes,
    *bake_all.classes,
    *variations.classes,
    *export.classes,
    *looks.classes,
    *character_lists.classes,
    *characters.classes,
    *heroes.classes,
    *ways_out.classes,
    *catching_up.classes,
    *picking.classes,
    *gizmos.classes,
    *menus.classes,
    *panels.classes,
)
"""Operators, menus and panels; a parent panel comes before its parts."""

RunCommand = Callable[[list[str]], int]
_command: list[Any] = []


def _register_command(run: RunCommand | None) -> None:
    if run is not None and hasattr(bpy.utils, "register_cli_command"):
        _command.append(bpy.utils.register_cli_command(COMMAND, run))


def _unregister_command() -> None:
    while _command:
        bpy.utils.unregister_cli_command(_command.pop())


def _configure_cache() -> None:
    """Keep compiled kernels, and all else, in the folder that Blender gives each extension."""
    package = preferences.root_package()
    if package.startswith("bl_ext."):
        cache_folder.choose(Path(bpy.utils.extension_path_user(package)))


def _resize(obj: bpy.types.Object, count: int) -> None:
    resizing.resize(obj, count)


STEPS: tuple[tuple[Callable[[], None], Callable[[], None]], ...] = (
    (_configure_cache, jit.stop_threads),
    (preferences.register, preferences.unregister),
    (preferences.register_properties, property_classes.unregister),
    (lambda: setattr(agent_count, "resize", _resize), lambda: None),
    bpy.utils.register_classes_factory(CLASSES),
    (lambda: None, baking.stop_all),
    (lambda: None, stepping.stop_all),
    (catching_up.register, catching_up.unregister),
    (current.register, current.unregister),
    (lambda: None, gizmos.unregister),
    (menus.register, menus.unregister),
    (records.register, records.unregister),
    (live.register, live.unregister),
    (status.register, status.unregister),
    (collider_checks.register, collider_checks.unregister),
    (character_checks.register, character_checks.unregister),
    (overlay.register, overlay.unregister),
    (display.register, display.unregister),
    (gathering.register, gathering.unregister),
    (appended.register, appended.unregister),
    (lambda: None, _unregister_command),
)
"""Steps of enabling the extension, in order, each with the step that undoes it."""


def register(run_command: RunCommand | None = None) -> None:
    """Do all steps in order; when one fails, the steps before it are undone.

    Args:
        run_command: Called by `blender -c steer …` with its arguments; None for no such command.
    """
    done: list[Callable[[], None]] = []
    try:
        for do, undo in STEPS:
            do()
            done.append(undo)
        _register_command(run_command)
    except BaseException:
        for undo in reversed(done):
            undo()
        raise


def unregister() -> None:
    """Undo all steps in the reverse order."""
    for _, undo in reversed(STEPS):
        undo()
