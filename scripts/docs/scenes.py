"""The pictures of scenes in docs/panels: `python -m scripts.docs.scenes [NAME …]`.

Each is one frame of a scene of `steer demo`, by its own camera, drawn by Workbench.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.docs.gallery import prepare  # keeps the user's Blender out

# isort: split

import bpy
from PIL import Image

import steer_addon
from steer_addon.blender.live import live
from steer_addon.blender.making import demos

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images" / "scenes"
FRAMES = {"evacuation": 130, "office": 330, "stadium_exit": 150}
"""The frame of each picture."""
SIZE = (480, 270)
"""Width and height [pixels]."""


def render(name: str, frame: int) -> Path:
    """Make the picture of a scene; returns its path."""
    crowds = demos.make_demo(name)
    scene = bpy.context.scene
    for number in range(1, frame + 1):
        scene.frame_set(number)
    for crowd in crowds:
        if live.get_frame(crowd, frame) is None:
            raise SystemExit(f"{name} was not simulated: {live.status(crowd).diagnosis}")
    prepare(scene)
    path = FOLDER / f"{name}.webp"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.filepath = str(path.with_suffix(".png"))
    bpy.ops.render.render(write_still=True)
    with Image.open(scene.render.filepath) as picture:
        picture.convert("RGB").save(path, quality=60, method=6)
    path.with_suffix(".png").unlink()
    return path


def main(names: list[str]) -> int:
    """Make the pictures of some scenes, or of all that docs show."""
    steer_addon.register()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or FRAMES:
        path = render(name, FRAMES[name])
        print(f"{path.relative_to(FOLDER.parent)}  {path.stat().st_size} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
