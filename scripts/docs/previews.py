"""Make the small pictures of presets that menus show: `python scripts/docs/previews.py [NAME …]`.

Each picture is the preset as *Add ▸ Crowd* starts it, with few agents, after two seconds, by
Workbench without its ground. Needs the bpy wheel.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="steer-previews-"))

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Vector  # noqa: E402

from scripts.docs.each_preset import make_each  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.ui import previews  # noqa: E402
from steer_addon.core.crowd.presets import builtin_folder  # noqa: E402

SIZE = 96
"""Width and height of a picture [pixels]."""
AGENTS, MOST = 14, {"shark": 1, "seeker": 1, "predators": 3, "parade_on_path": 24}
FRAME = 40
BRIGHT = 0.75
"""Smallest value of the strongest color channel of a material."""
LIMIT = 20_000
"""Largest file [bytes]."""


def render(preset: str, folder: Path) -> Path:
    """Make the picture of one preset; returns its path."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.object.steer_start(preset=preset, count=MOST.get(preset, AGENTS))
    scene, crowd = bpy.context.scene, bpy.context.object
    for number in range(1, FRAME + 1):
        scene.frame_set(number)
    frame = live.get_frame(crowd, FRAME)
    if frame is None:
        raise SystemExit(f"{preset} was not simulated: {live.status(crowd).diagnosis}")
    if crowd.steer.ground is not None:
        crowd.steer.ground.hide_render = True
    _look(scene, frame.position.astype(float), crowd)
    path = folder / f"{preset}.png"
    render = scene.render
    render.engine, render.film_transparent = "BLENDER_WORKBENCH", True
    render.resolution_x = render.resolution_y = SIZE
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    render.image_settings.compression = 100
    render.filepath = str(path)
    shading = scene.display.shading
    shading.light, shading.color_type, shading.show_shadows = "FLAT", "MATERIAL", False
    shading.show_object_outline, shading.object_outline_color = True, (0.02, 0.02, 0.02)
    for material in bpy.data.materials:
        # menus show them small, on dark themes and on light ones
        red, green, blue, _ = material.diffuse_color
        most = max(red, green, blue, 1e-3)
        share = BRIGHT / most if most < BRIGHT else 1.0
        material.diffuse_color = (share * red, share * green, share * blue, 1.0)
    bpy.ops.render.render(write_still=True)
    return path


def _look(scene: bpy.types.Scene, points: np.ndarray, crowd: bpy.types.Object) -> None:
    """A camera without perspective that shows most of the agents in a visible size."""
    body = crowd.steer.agents.radius
    middle = np.median(points, axis=0)
    middle = points[np.argmin(np.linalg.norm(points - middle, axis=1))]
    gaps = np.sort(np.linalg.norm(points - middle, axis=1))
    reach = 2.0 * gaps[min(4, len(gaps) - 1)]
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale = "ORTHO", max(1.1 * reach, 9.0 * body)
    data.clip_end = 1000.0
    camera = bpy.data.objects.new("Camera", data)
    scene.collection.objects.link(camera)
    way = Vector((math.cos(math.radians(-60)), math.sin(math.radians(-60)), 0.75)).normalized()
    camera.location = Vector(middle) + Vector((0, 0, 2 * body)) + way * 200.0
    camera.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
    scene.camera = camera


def main(names: list[str]) -> int:
    """Make the pictures of some presets, or of all built-in ones."""
    return make_each(names, render, builtin_folder() / previews.FOLDER, LIMIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
