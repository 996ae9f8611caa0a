"""Make the pictures of docs/debug.md and docs/display.md from the real program.

    blender --factory-startup -P scripts/docs/views.py        docs/images/debug.jpg
    python scripts/docs/views.py                              docs/images/display.jpg

The first needs a window and ImageMagick's `import`, which captures it; the second renders.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if "STEER_CACHE_DIR" not in os.environ:
    os.environ["STEER_CACHE_DIR"] = str(ROOT / "build" / "kernels")

import bpy  # noqa: E402
from mathutils import Euler  # noqa: E402

import steer_addon  # noqa: E402 - the checkout comes first
from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import compiling, live  # noqa: E402
from steer_addon.blender.making.materials import plain_material  # noqa: E402
from steer_addon.blender.operators import looks  # noqa: E402
from steer_addon.core.crowd.presets import load_preset  # noqa: E402
from steer_addon.core.crowd.settings import make_behavior  # noqa: E402

FOLDER = ROOT / "docs" / "images"
SEEN = 45
"""The frame of the first picture."""
STACK: tuple[dict[str, Any], ...] = (
    {"type": "arrive"},
    {"type": "separation", "weight": 0.6},
    {"type": "wander", "weight": 0.3},
    {"type": "obstacle_avoidance", "method": "WHISKERS", "look_ahead": 3.0},
)


def add_crowd(name: str, points: list[tuple[float, float, float]], goal: Any) -> bpy.types.Object:
    """A crowd that goes to a goal."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    stack = tuple(make_behavior(entry) for entry in STACK)
    settings = replace(load_preset("pedestrians").settings, behaviors=stack)
    crowds.make_crowd(obj, settings=settings, scene=bpy.context.scene)
    target = bpy.data.objects.new(f"{name} Target", None)
    target.location = goal
    bpy.context.scene.collection.objects.link(target)
    obj.steer.target_object = target
    return obj


def add_boxes(places: list[tuple[float, float]]) -> bpy.types.Collection:
    """Obstacles 1.2 m wide."""
    collection = bpy.data.collections.new("Colliders")
    bpy.context.scene.collection.children.link(collection)
    for x, y in places:
        bpy.ops.mesh.primitive_cube_add(size=1.2, location=(x, y, 0.6))
        box = bpy.context.object
        for other in list(box.users_collection):
            other.objects.unlink(box)
        collection.objects.link(box)
    return collection


def play(last: int) -> None:
    """Simulate up to a frame."""
    for number in range(1, last + 1):
        bpy.context.scene.frame_set(number)


def clear() -> None:
    """Start with an empty scene."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)


def debug_scene() -> None:
    """A crowd among boxes, seen with the overlay."""
    clear()
    points = [(x * 0.9 + 0.3 * (y % 2), y * 0.9, 0.0) for x in range(6) for y in range(5)]
    crowd = add_crowd("Crowd", points, (14.0, 2.0, 0.0))
    crowd.steer.colliders = add_boxes([(6.5, 1.5), (8.0, 4.5), (7.5, -1.5)])
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = crowd
    overlay = bpy.context.scene.steer_overlay
    overlay.agents, overlay.show = "21", True
    area = next(
        a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D"
    )
    space = area.spaces.active
    space.show_region_ui = space.show_region_toolbar = space.show_gizmo = False
    view = space.region_3d
    view.view_rotation = Euler((math.radians(42.0), 0.0, math.radians(-12.0))).to_quaternion()
    view.view_location, view.view_distance = (5.3, 1.7, 0.0), 9.0


def take_debug() -> None:
    """Take the picture of the 3D view, then end."""
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=2)
    top = window.height - area.y - area.height
    crop = f"{area.width}x{area.height - 60}+{area.x}+{top + 60}"
    command = ["import", "-window", "root", "-crop", crop, "-resize", "860x", "-quality", "82"]
    subprocess.run([*command, str(FOLDER / "debug.jpg")], check=True)
    # immediately: quitting would ask whether to save
    os._exit(0)


def add_bodies() -> bpy.types.Collection:
    """Three bodies to choose from."""
    bodies = bpy.data.collections.new("Bodies")
    add = bpy.ops.mesh
    for make, options in (
        (add.primitive_cube_add, {"size": 0.4}),
        (add.primitive_uv_sphere_add, {"radius": 0.25}),
        (add.primitive_cylinder_add, {"radius": 0.15, "depth": 0.7}),
    ):
        make(**options)
        body = bpy.context.object
        for other in list(body.users_collection):
            other.objects.unlink(body)
        bodies.objects.link(body)
    return bodies


SHOWN: tuple[dict[str, Any], ...] = (
    {"Display": "Cones", "Color By": "Speed", "Color Range": 1.6},
    {"Display": "Discs", "Color By": "Density", "Color Range": 3.0},
    {"Display": "Discs", "Color By": "ID"},
    {"Display": "Collection", "Choose By": "Index", "Color By": "Speed", "Color Range": 1.6},
)
"""Display of each crowd of the picture, from left to right."""


def display_picture() -> None:
    """Four crowds, each shown in another way."""
    steer_addon.register()
    clear()
    bodies, material = add_bodies(), looks.color_material()
    for number, shown in enumerate(SHOWN):
        left = 8.0 * number
        points = [(left + 0.8 * x, 0.8 * y, 0.0) for x in range(7) for y in range(7)]
        crowd = add_crowd(f"Crowd {number}", points, (left + 2.4, 9.0, 0.0))
        modifier = display.find_modifier(crowd)
        display.set_input(modifier, "Material", material)
        display.set_input(modifier, "Collection", bodies)
        for name, value in shown.items():
            display.set_input(modifier, name, value)
    play(70)
    for body in bodies.objects:
        body.data.materials.append(material)
    bpy.ops.mesh.primitive_plane_add(size=90.0, location=(14.0, 10.0, -0.001))
    bpy.context.object.data.materials.append(plain_material("Floor", "#3A3D42"))
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (14.4, -14.0, 15.0), (math.radians(52.0), 0.0, 0.0)
    camera.data.lens = 26.5
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 2.5, (0.5, 0.3, 0.0)
    for obj in (camera, sun):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.view_settings.view_transform = "Standard"
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 24, "CPU"
    scene.render.resolution_x, scene.render.resolution_y = 900, 200
    scene.render.image_settings.file_format = "JPEG"
    scene.render.image_settings.quality = 82
    scene.render.filepath = str(FOLDER / "display.jpg")
    bpy.ops.render.render(write_still=True)


def when_compiled() -> float | None:
    """Play once all kernels are compiled: with a window the crowd waits for them."""
    crowd = bpy.context.view_layer.objects.active
    if compiling.state() is None and live.get_frame(crowd, SEEN) is None:
        play(SEEN)
    if compiling.state() is not None or live.get_frame(crowd, SEEN) is None:
        return 0.5
    bpy.app.timers.register(take_debug, first_interval=2.0)
    return None


def in_window() -> None:
    """Build the scene, let Blender draw it, and take the picture."""
    debug_scene()
    bpy.app.timers.register(when_compiled, first_interval=0.5)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    if bpy.app.background:
        display_picture()
    else:
        bpy.context.preferences.view.show_splash = False
        steer_addon.register()
        bpy.app.timers.register(in_window, first_interval=3.0)
