"""Camera, light and colors of a scene made by Steer, which make its crowd visible."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...core.geometry import bvh
from ...core.views import BvhView
from ..display.node_builder import add_nodes, linear_color
from .materials import node_rows

Floats = NDArray[np.float64]

_TURNS = 12
"""Directions around the crowd that are tried for the camera."""
_WALKING_TILTS, _FLYING_TILTS = (32.0, 42.0, 55.0), (6.0, 14.0)
"""Angles [deg] at which the camera may look down, the preferred one first."""


@dataclass(frozen=True)
class View:
    """Subject of the camera.

    Attributes:
        heads: Points that belong in the picture [m], shape (n, 3).
        target: Target of the crowd [m], shape (3,).
        obstacles: All triangles of the scene.
        height: Size of an agent [m].
        flies: Whether agents fly, so that the camera looks from their side.
        roam: Radius of the circles of agents that never stop, around the target [m].
        culled: Whether back faces hide nothing, as in a doll's house.
    """

    heads: Floats
    target: Floats
    obstacles: BvhView
    height: float
    flies: bool
    roam: float
    culled: bool = False


def add_camera(scene: bpy.types.Scene, lens: float) -> bpy.types.Object:
    """Add the scene's camera, in a collection for it and its light."""
    collection = bpy.data.collections.new("Camera and Light")
    scene.collection.children.link(collection)
    data = bpy.data.cameras.new("Camera")
    data.lens = lens
    camera = bpy.data.objects.new("Camera", data)
    collection.objects.link(camera)
    scene.camera = camera
    return camera


def aim_camera(scene: bpy.types.Scene, camera: bpy.types.Object, view: View) -> float:
    """Put a camera above at an angle, on the side from which most agents are visible.

    Returns:
        The share of the agents that it sees.
    """
    data: bpy.types.Camera = camera.data
    points = _frame_points(view)
    best, chosen, share = -math.inf, (0.0, 0.0), 0.0
    way = view.target - view.heads.mean(axis=0)
    ahead = math.atan2(float(way[1]), float(way[0]))
    tilts: tuple[float, ...] = _FLYING_TILTS if view.flies else _WALKING_TILTS
    for tilt in tilts:
        for step in range(_TURNS):
            turn = ahead + 2.0 * math.pi * step / _TURNS
            place = _aim(scene, camera, turn, math.radians(tilt), points)
            seen = _seen(view, place)
            # agents that approach the camera at an angle are seen better than those that leave
            liking = 0.1 * math.cos(turn - ahead - math.radians(50.0))
            score = seen + liking - 0.006 * (tilt - tilts[0])
            if score > best:
                best, chosen, share = score, (turn, math.radians(tilt)), seen
    _aim(scene, camera, *chosen, points)
    distance = float(np.linalg.norm(np.array(camera.location) - view.heads.mean(axis=0)))
    data.clip_start = min(0.1, 1.0e-3 * distance)
    data.clip_end = max(1000.0, 20.0 * distance)
    return share


def _frame_points(view: View) -> Floats:
    """The crowd without its farthest stragglers, and the target."""
    low, high = np.quantile(view.heads, [0.02, 0.98], axis=0)
    inner = ((view.heads >= low) & (view.heads <= high)).all(axis=1)
    heads = view.heads[inner] if inner.any() else view.heads
    rise = np.array([0.0, 0.0, view.height])
    # room around a crowd of one, too
    around = np.array([[x, y, 0.0] for x in (-3, 3) for y in (-3, 3)]) * view.height
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    goal = view.target + rise + view.roam * corners
    return np.concatenate([heads, heads - rise, goal, heads[0] + around])


def _aim(
    scene: bpy.types.Scene, camera: bpy.types.Object, turn: float, tilt: float, points: Floats
) -> Floats:
    """Aim the camera at points from a direction; returns its position [m]."""
    back = Vector(
        (math.cos(turn) * math.cos(tilt), math.sin(turn) * math.cos(tilt), math.sin(tilt))
    )
    camera.rotation_mode = "XYZ"
    camera.rotation_euler = back.to_track_quat("Z", "Y").to_euler()
    view_layer = scene.view_layers[0]
    view_layer.update()
    place, _ = camera.camera_fit_coords(view_layer.depsgraph, points.ravel().tolist())
    middle = Vector(points.mean(axis=0))
    # a margin around the picture
    camera.location = place + 0.05 * (place - middle).length * back
    return np.array(camera.location, np.float64)


def _seen(view: View, place: Floats) -> float:
    """Share of the agents that are visible from a place."""
    way = view.heads - place
    length = np.linalg.norm(way, axis=1)
    way /= length[:, None]
    origin = np.tile(place, (len(way), 1))
    left = length - 0.5 * view.height
    seen = np.zeros(len(way), np.bool_)
    rows = np.arange(len(way))
    while len(rows):
        face, distance = bvh.ray_cast_many(view.obstacles, origin[rows], way[rows])
        free = distance >= left[rows]
        seen[rows[free]] = True
        rows, face, distance = rows[~free], face[~free], distance[~free]
        if not view.culled:
            break
        corners = view.obstacles.triangles[face].astype(np.float64)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        behind = np.sum(normal * way[rows], axis=1) > 0.0
        rows, distance = rows[behind], distance[behind] + 1.0e-3 * view.height
        origin[rows] += way[rows] * distance[:, None]
        left[rows] -= distance
    return float(seen.mean())


def add_light(scene: bpy.types.Scene, camera: bpy.types.Object) -> None:
    """Sun over the camera's left shoulder, and a soft sky."""
    data = bpy.data.lights.new("Sun", "SUN")
    data.energy = 5.0
    data.angle = math.radians(2.0)
    data.color = linear_color("#FFF3E2")[:3]
    sun = bpy.data.objects.new("Sun", data)
    sun.rotation_euler = (math.radians(48.0), 0.0, camera.rotation_euler[2] - math.radians(65.0))
    sun.location = camera.location
    camera.users_collection[0].objects.link(sun)
    world = bpy.data.worlds.new("Sky")
    scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    add_nodes(world.node_tree, node_rows("sky"))
    world.color = linear_color("#C9D6E2")[:3]


def can_denoise() -> bool:
    """Whether this build of Blender can denoise Cycles' pictures."""
    try:
        cycles = importlib.import_module("_cycles")
    except ImportError:
        return False
    return bool(getattr(cycles, "with_openimagedenoise", False))


def set_render(scene: bpy.types.Scene) -> None:
    """Settings that give a clean picture in seconds, on a computer without a graphics card."""
    render = scene.render
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = 960, 540, 100
    render.use_lock_interface = True
    scene.cycles.samples = 32
    scene.cycles.use_adaptive_sampling = True
    scene.cycles.max_bounces = 4
    scene.cycles.use_denoising = can_denoise()
    shading = scene.display.shading
    shading.light = "STUDIO"
    shading.show_shadows = True
    shading.show_cavity = True
    shading.color_type = "MATERIAL"
