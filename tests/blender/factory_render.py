"""Render frames of a .blend file in a Blender that has never seen Steer: run as a script."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy


def main() -> None:
    """FILE.blend FOLDER FRAME …"""
    blend, folder, *numbers = sys.argv[1:]
    bpy.ops.wm.open_mainfile(filepath=blend)
    assert not hasattr(bpy.types.Object, "steer")
    assert not any("steer_addon" in name for name in sys.modules)
    scene = bpy.context.scene
    for number in map(int, numbers):
        scene.frame_set(number)
        scene.render.filepath = str(Path(folder) / f"{number}.png")
        bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
