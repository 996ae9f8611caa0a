"""The animations of docs/gallery.md: `python -m scripts.docs.gallery [NAME …]`.

Each animation is a preset as *Add ▸ Crowd* starts it, with fewer walkers, in real time, drawn
by Workbench. Inputs of the agents that are not rendered are shown by replacements: a red
ball for a target without a flag, a yellow line for a path, a thin frame for a container, balls
for empties that are obstacles. Needs the bpy wheel and Pillow.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="steer-gallery-"))

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Vector  # noqa: E402
from PIL import Image  # noqa: E402

from scripts.docs.each_preset import make_each  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.making.materials import plain_material  # noqa: E402
from steer_addon.core.crowd.presets import load_preset  # noqa: E402

FOLDER = ROOT / "docs" / "images" / "presets"
SIZE = (320, 180)
"""Width and height [pixels]."""
FIRST, COUNT, STEP = 30, 24, 3
"""The first shown frame, the number of pictures, and the frames between two pictures."""
MOST = 40
"""Most walkers: more are too small to see, and make large files."""
LIMIT = 60_000
"""Largest file [bytes]."""
QUALITIES = (50, 40, 30, 22, 16, 10)
"""Qualities that are tried until a file is small enough."""
WAY = Vector((0.45, -0.8, 0.75)).normalized()
"""Direction from the crowd to the camera."""
SEEN = 0.97
"""Share of the agents' places that are in the picture."""


def play(preset: str) -> tuple[bpy.types.Scene, bpy.types.Object, np.ndarray]:
    """Start and simulate a preset; returns all places that are shown [m], shape (n, 3), too."""
    bpy.ops.wm.read_homefile(use_empty=True)
    chosen = load_preset(preset)
    count, flies = chosen.start.agents, chosen.settings.motion.motion == "FLY"
    bpy.ops.object.steer_start(preset=preset, count=count if flies else min(count, MOST))
    scene, crowd = bpy.context.scene, bpy.context.object
    places = []
    for number in range(1, FIRST + COUNT * STEP):
        scene.frame_set(number)
        frame = live.get_frame(crowd, number)
        if frame is None:
            raise SystemExit(f"{preset} was not simulated: {live.status(crowd).diagnosis}")
        if number >= FIRST:
            places.append(frame.position.astype(float))
    return scene, crowd, np.concatenate(places)


def _targets(crowd: bpy.types.Object) -> list[bpy.types.Object]:
    steer = crowd.steer
    own = [i.target_object for i in steer.behaviors if i.use_own_target]
    second = [i.second_target_object for i in steer.behaviors]
    found = dict.fromkeys([steer.target_object, *own, *second])
    return [obj for obj in found if obj is not None and obj != crowd]


def _ball(parent: bpy.types.Object, radius: float, color: str) -> None:
    """A ball at an object."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius)
    ball = bpy.context.object
    ball.data.materials.append(plain_material("Seen", color))
    ball.parent = parent


def stand_ins(scene: bpy.types.Scene, crowd: bpy.types.Object) -> list[bpy.types.Object]:
    """Add objects that show targets, paths and containers; returns the targets."""
    body = crowd.steer.agents.radius
    targets = _targets(crowd)
    for target in targets:
        # a target with a flag is visible already
        if not target.children:
            _ball(target, 2.0 * body, "#D8352A")
    colliders = crowd.steer.colliders
    for empty in () if colliders is None else colliders.objects:
        if empty.type == "EMPTY":
            _ball(empty, empty.empty_display_size, "#8FA0AE")
    for item in crowd.steer.behaviors:
        source = item.source_object
        if source is None or not item.enabled:
            continue
        shown = source.copy()
        shown.data = source.data.copy()
        shown.hide_render = False
        scene.collection.objects.link(shown)
        if source.type == "CURVE":
            shown.data.bevel_depth = 0.25 * body
            shown.data.materials.append(plain_material("Path Seen", "#D9A92B"))
        else:
            frame = shown.modifiers.new("Frame", "WIREFRAME")
            frame.thickness = 0.4 * body
            shown.data.materials.clear()
            shown.data.materials.append(plain_material("Container Seen", "#5C6770"))
    return targets


def look(scene: bpy.types.Scene, points: np.ndarray, body: float) -> None:
    """A camera without perspective that has nearly all points in the picture."""
    side = WAY.cross(Vector((0.0, 0.0, 1.0))).normalized()
    axes = np.array([side, WAY.cross(side)])
    flat = points @ axes.T
    edge = 100.0 * (1.0 - SEEN) / 2.0
    low, high = np.percentile(flat, [edge, 100.0 - edge], axis=0)
    width, height = high - low + 10.0 * body
    data = bpy.data.cameras.new("Camera")
    data.type, data.clip_end = "ORTHO", 2000.0
    data.ortho_scale = max(width, height * SIZE[0] / SIZE[1])
    camera = bpy.data.objects.new("Camera", data)
    scene.collection.objects.link(camera)
    middle = (low + high) / 2.0
    depth = float(np.median(points @ np.array(WAY)))
    place = Vector(axes.T @ middle) + WAY * (depth + 500.0)
    camera.location, camera.rotation_euler = place, WAY.to_track_quat("Z", "Y").to_euler()
    scene.camera = camera


def prepare(scene: bpy.types.Scene) -> None:
    """Settings of Workbench."""
    settings, shading = scene.render, scene.display.shading
    settings.engine = "BLENDER_WORKBENCH"
    settings.resolution_x, settings.resolution_y = SIZE
    settings.film_transparent = False
    settings.image_settings.file_format = "PNG"
    scene.display.render_aa = "FXAA"
    scene.view_settings.view_transform = "Standard"
    shading.light, shading.color_type = "FLAT", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    shading.show_object_outline, shading.object_outline_color = True, (0.1, 0.1, 0.1)
    world = bpy.data.worlds.new("World")
    world.color = (0.62, 0.66, 0.70)
    scene.world = world
    shading.background_type = "WORLD"


def pictures(scene: bpy.types.Scene) -> list[Image.Image]:
    """Render the shown frames."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FIRST, FIRST + COUNT * STEP, STEP):
            scene.frame_set(number)
            scene.render.filepath = str(Path(folder) / f"{number:04d}.png")
            bpy.ops.render.render(write_still=True)
            with Image.open(scene.render.filepath) as picture:
                made.append(picture.convert("RGB"))
    return made


def animation(frames: list[Image.Image], fps: float) -> bytes:
    """The best animated WebP below the limit."""
    options: dict[str, Any] = {
        "format": "WEBP", "save_all": True, "append_images": frames[1:], "loop": 0,
        "duration": round(1000.0 * STEP / fps), "method": 6, "minimize_size": True,
    }  # fmt: skip
    for quality in QUALITIES:
        data = io.BytesIO()
        frames[0].save(data, quality=quality, **options)
        if len(data.getvalue()) <= LIMIT:
            print(f"quality {quality}", end="  ")
            return data.getvalue()
    # a large crowd that moves everywhere gets a shorter animation
    return animation(frames[: 3 * len(frames) // 4], fps)


def render(preset: str, folder: Path) -> Path:
    """Make the animation of one preset; returns its path."""
    scene, crowd, points = play(preset)
    body = float(crowd.steer.agents.radius)
    targets = stand_ins(scene, crowd)
    seen = [np.array(target.matrix_world.translation)[None] for target in targets]
    # a target belongs in the picture, even as one among thousands of places
    look(scene, np.concatenate([points, *(np.repeat(s, len(points) // 8, 0) for s in seen)]), body)
    prepare(scene)
    path = folder / f"{preset}.webp"
    path.write_bytes(animation(pictures(scene), scene.render.fps / scene.render.fps_base))
    return path


def main(names: list[str]) -> int:
    """Make the pictures of some presets, or of all built-in ones."""
    return make_each(names, render, FOLDER, LIMIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
