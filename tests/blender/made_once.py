"""What takes long is made once in a process: later tests open the file that it was left in."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy

_folder = TemporaryDirectory(prefix="steer-tests-")
_paths: dict[Hashable, Path] = {}


def made_once(key: Hashable, make: Callable[[], object]) -> None:
    """Fill the open file, which has to be empty.

    Args:
        key: What it is filled with; the same for the same.
        make: Fills it, when nothing was made for that key yet.
    """
    if key in _paths:
        bpy.ops.wm.open_mainfile(filepath=str(_paths[key]))
        return
    assert not bpy.data.objects
    make()
    path = Path(_folder.name) / f"{len(_paths)}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    _paths[key] = path


def import_rig(path: Path) -> bpy.types.Object:
    """The armature of a .glb file, with all that comes with it."""
    made_once(path, lambda: bpy.ops.import_scene.gltf(filepath=str(path)))
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
