"""What scenes are put together from: ground, walls, obstacles, paths, targets, crowds, camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ....core.crowd.presets import load_preset
from ....core.crowd.settings import CrowdSettings
from ....core.inputs.paths import Path
from ...crowd import crowds
from ...display import display
from ..figures import BODY_RADIUS, make_person
from ..materials import plain_material, tile_material
from ..path_curves import add_curve
from ..scene_look import make_light, make_marker, set_render, show_copies_only
from . import shapes

FRAMES = range(1, 241)
FPS = 24
STONE, GRASS, SAND, WATER = "#8FA0AE", "#7E9A6A", "#CDBE9E", "#5E93B5"
ROOF = "#9C5A44"


class Stage:
    """A scene that is being put together."""

    def __init__(self, scene: bpy.types.Scene, frames: range | None = None) -> None:
        """Begin with an empty scene; None takes the usual frames."""
        self.scene = scene
        self.crowds: list[bpy.types.Object] = []
        scene.name = "Scene"
        scene.render.fps, scene.render.fps_base = FPS, 1.0
        span = frames or FRAMES
        scene.frame_start, scene.frame_end = span[0], span[-1]
        self.set = self.collection("Stage")
        self.colliders = self.collection("Colliders")
        self.look = self.collection("Camera and Light")
        self._bodies = self.collection("Bodies")

    def collection(self, name: str) -> bpy.types.Collection:
        """A new collection of the scene."""
        made = bpy.data.collections.new(name)
        self.scene.collection.children.link(made)
        return made

    def add(
        self,
        data: Any,
        location: Any = (0.0, 0.0, 0.0),
        *,
        name: str | None = None,
        color: str | None = None,
        collection: bpy.types.Collection | None = None,
    ) -> bpy.types.Object:
        """An object; without a collection it is only looked at."""
        obj = bpy.data.objects.new(name or data.name, data)
        obj.location = location
        if color is not None:
            obj.data.materials.append(plain_material(obj.name, color))
        (collection or self.set).objects.link(obj)
        return obj

    def ground(self, size_x: float, size_y: float, color: str | None = None) -> bpy.types.Object:
        """A level ground around the origin: paved, or of one color."""
        x, y = size_x / 2, size_y / 2
        corners = [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)]
        obj = self.add(shapes.new_mesh("Ground", corners, [(0, 1, 2, 3)]), color=color)
        if color is None:
            material = tile_material("Paving", "#CFC7BA", "#BFB6A8", "#9B9389", 1.0)
            obj.data.materials.append(material)
        return obj

    def block(self, location: Any, size: Any, color: str = STONE, turn: float = 0.0) -> Any:
        """A box among the colliders; `turn` about Z [deg]."""
        mesh = shapes.box_mesh("Block", size)
        obj = self.add(mesh, location, color=color, collection=self.colliders)
        obj.rotation_euler[2] = math.radians(turn)
        return obj

    def house(self, location: Any, size: Any, color: str, roof: float, turn: float = 0.0) -> Any:
        """A house with a gabled roof among the colliders; `turn` about Z [deg]."""
        mesh = shapes.house_mesh("House", size, roof)
        obj = self.add(mesh, location, color=color, collection=self.colliders)
        mesh.materials.append(plain_material("Roof", ROOF))
        obj.rotation_euler[2] = math.radians(turn)
        return obj

    def pillar(self, location: Any, radius: float, height: float = 3.0, color: str = STONE) -> Any:
        """A round pillar among the colliders."""
        mesh = shapes.pillar_mesh("Pillar", radius, height)
        return self.add(mesh, location, color=color, collection=self.colliders)

    def ball(self, location: Any, radius: float, color: str = STONE) -> Any:
        """A ball among the colliders."""
        mesh = shapes.ball_mesh("Ball", radius)
        return self.add(mesh, location, color=color, collection=self.colliders)

    def wall(self, points: Sequence[Any], thickness: float = 0.3, height: float = 2.5) -> None:
        """A wall of blocks along a line [m]."""
        ends = [np.asarray(point, np.float64)[:2] for point in points]
        for start, end in zip(ends, ends[1:], strict=False):
            way = end - start
            middle, length = (start + end) / 2, float(np.linalg.norm(way))
            turn = math.degrees(math.atan2(way[1], way[0]))
            size = (length + thickness, thickness, height)
            self.block((*middle, 0.0), size, turn=turn)

    def plan(self, points: Sequence[Any], edges: Sequence[Any], name: str = "Floor Plan") -> Any:
        """Walls as edges without faces, as in a floor plan; they are not rendered."""
        mesh = shapes.new_mesh(name, points, (), edges)
        return self.add(mesh, collection=self.colliders)

    def sphere(self, location: Any, radius: float) -> bpy.types.Object:
        """An empty that is an obstacle."""
        obj = self.add(None, location, name="Sphere", collection=self.colliders)
        obj.empty_display_type, obj.empty_display_size = "SPHERE", radius
        return obj

    def target(self, location: Any, name: str = "Target", *, flag: bool = False) -> Any:
        """An empty to steer by, with a flag on it if people shall see it."""
        obj = self.add(None, location, name=name)
        obj.empty_display_size = 0.5
        if flag:
            make_marker(obj, self.set, 1.0)
        return obj

    def path(self, points: Sequence[Any], *, cyclic: bool = False, name: str = "Path") -> Any:
        """A path as a curve object of straight pieces."""
        return add_curve(Path(points, cyclic=cyclic), self.set, name)

    def move(self, obj: bpy.types.Object, places: dict[int, Any]) -> None:
        """Key an object's location, frame by frame number; straight and at constant speed."""
        for number, place in places.items():
            obj.location = place
            obj.keyframe_insert("location", frame=number)
        action, slot = obj.animation_data.action, obj.animation_data.action_slot
        for curve in action.layers[0].strips[0].channelbag(slot).fcurves:
            curve.keyframe_points.foreach_set("interpolation", [1] * len(curve.keyframe_points))
            curve.update()

    def run(self, obj: bpy.types.Object, points: Sequence[Any], first: int, speed: float) -> None:
        """Key an object, frame by frame, so that it runs along a smooth curve and looks along it.

        Args:
            obj: What runs; it looks along -Y.
            points: What the curve goes through [m], three or more.
            first: Frame at which it sets off.
            speed: Its speed [m/s].
        """
        curve = _curve([np.asarray(point, np.float64) for point in points])
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
        steps = np.arange(0.0, along[-1], speed / FPS)
        places = np.stack([np.interp(steps, along, curve[:, k]) for k in range(3)], axis=1)
        ways = np.gradient(places, axis=0)
        turns = np.unwrap(np.arctan2(ways[:, 0], -ways[:, 1]))
        for number, (place, turn) in enumerate(zip(places, turns, strict=True)):
            obj.location, obj.rotation_euler[2] = place, turn
            obj.keyframe_insert("location", frame=first + number)
            obj.keyframe_insert("rotation_euler", index=2, frame=first + number)

    def key(self, crowd: bpy.types.Object, behavior: str, weights: dict[int, float]) -> None:
        """Key the weight of a behavior, frame by frame number."""
        place = crowd.steer.behaviors.find(behavior)
        for number, weight in weights.items():
            crowd.steer.behaviors[place].weight = weight
            crowd.keyframe_insert(f"steer.behaviors[{place}].weight", frame=number)

    def crowd(
        self,
        preset: str,
        points: Any,
        *,
        name: str = "Crowd",
        headings: Any = None,
        attributes: dict[str, Any] | None = None,
    ) -> bpy.types.Object:
        """A crowd on points [m], shape (n, 3), with the settings of a preset.

        Args:
            preset: Name of the preset.
            points: Where the agents start.
            name: Name of the crowd object.
            headings: Unit headings at the start, shape (n, 3) or (3,); None is -Y.
            attributes: Point attributes by name, whole numbers or floats, each of shape (n,).
        """
        places = np.asarray(points, np.float32).reshape(-1, 3)
        obj = crowds.add_crowd_object(name, places, self.scene.collection)
        if headings is not None:
            rows = np.broadcast_to(np.asarray(headings, np.float32), places.shape)
            made = obj.data.attributes.new("heading", "FLOAT_VECTOR", "POINT")
            made.data.foreach_set("vector", np.ascontiguousarray(rows).ravel())
        for key, values in (attributes or {}).items():
            whole = np.asarray(values).dtype.kind in "iub"
            made = obj.data.attributes.new(key, "INT" if whole else "FLOAT", "POINT")
            kind = np.int32 if whole else np.float32
            made.data.foreach_set("value", np.asarray(values, kind))
        crowds.make_crowd(obj, settings=self.settings(preset), scene=self.scene)
        if self.colliders.objects:
            obj.steer.colliders = self.colliders
        self.crowds.append(obj)
        return obj

    def settings(self, preset: str) -> CrowdSettings:
        """The settings of a built-in preset."""
        return load_preset(preset).settings

    def show_people(self, crowd: bpy.types.Object) -> None:
        """Show the agents as people."""
        self._show(crowd, make_person(), crowd.steer.agents.radius / BODY_RADIUS)

    def show_mesh(self, crowd: bpy.types.Object, mesh: bpy.types.Mesh, color: str) -> None:
        """Show the agents as copies of a mesh that looks along -Y."""
        body = bpy.data.objects.new(f"{crowd.name} Body", mesh)
        mesh.materials.append(plain_material(body.name, color, 0.45))
        self._show(crowd, body, 1.0)

    def show_cones(self, crowd: bpy.types.Object, color: str) -> None:
        """Show the agents as cones."""
        modifier = display.find_modifier(crowd)
        display.set_input(modifier, "Display", "Cones")
        display.set_input(modifier, "Material", plain_material(f"{crowd.name} Cones", color, 0.5))

    def _show(self, crowd: bpy.types.Object, body: bpy.types.Object, scale: float) -> None:
        self._bodies.objects.link(body)
        show_copies_only(self.scene, self._bodies)
        modifier = display.find_modifier(crowd)
        display.set_input(modifier, "Display", "Object")
        display.set_input(modifier, "Object", body)
        display.set_input(modifier, "Scale", scale)
        crowd.steer.bake_source_object = body

    def camera(self, location: Any, look_at: Any, lens: float = 40.0) -> bpy.types.Object:
        """The scene's camera, with the light that goes with it."""
        data = bpy.data.cameras.new("Camera")
        data.lens = lens
        data.clip_end = 1000.0
        camera = bpy.data.objects.new("Camera", data)
        camera.location = location
        way = Vector(look_at) - Vector(location)
        camera.rotation_euler = way.to_track_quat("-Z", "Y").to_euler()
        self.look.objects.link(camera)
        self.scene.camera = camera
        make_light(self.scene, self.look, camera)
        return camera

    def finish(self) -> list[bpy.types.Object]:
        """Last settings; returns the crowds."""
        set_render(self.scene)
        self.scene.frame_set(self.scene.frame_start)
        return self.crowds


def steer_by(obj: bpy.types.Object, target: Any, behavior: str | None = None) -> None:
    """Set what a crowd, or one of its behaviors, steers by: an object, a collection or a crowd."""
    slot = obj.steer if behavior is None else obj.steer.behaviors[behavior]
    if behavior is not None:
        slot.use_own_target = True
    if isinstance(target, bpy.types.Collection):
        slot.target_kind, slot.target_collection = "COLLECTION", target
    else:
        slot.target_kind = "CROWD" if crowds.is_crowd(target) else "OBJECT"
        slot.target_object = target


def _curve(points: list[Any], pieces: int = 24) -> Any:
    """A Catmull-Rom spline through points, shape (n, 3)."""
    ends = [2.0 * points[0] - points[1], *points, 2.0 * points[-1] - points[-2]]
    t = np.linspace(0.0, 1.0, pieces, endpoint=False)[:, None]
    rows = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        bend = (2.0 * a - 5.0 * b + 4.0 * c - d) * t**2 + (3.0 * b - a - 3.0 * c + d) * t**3
        rows.append(b + 0.5 * ((c - a) * t + bend))
    return np.concatenate([*rows, points[-1][None]])


def scatter(
    count: int, size_x: float, size_y: float, spacing: float, *, center: Any = (0, 0, 0), seed: int
) -> Any:
    """Random points on a rectangle that keep a distance from one another, shape (n, 3) [m]."""
    random = np.random.default_rng(seed)
    found: list[Any] = []
    for _ in range(200 * count):
        point = random.uniform((-size_x / 2, -size_y / 2), (size_x / 2, size_y / 2))
        if all(math.dist(point, other) >= spacing for other in found):
            found.append(point)
            if len(found) == count:
                break
    rows = np.column_stack([np.array(found).reshape(-1, 2), np.zeros(len(found))])
    return (rows + np.asarray(center, np.float64)).astype(np.float32)


def ball_of_points(count: int, radius: float, *, center: Any = (0, 0, 0), seed: int) -> Any:
    """Random points in a ball, shape (n, 3) [m]."""
    random = np.random.default_rng(seed)
    ways = random.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    reach = radius * random.uniform(size=(count, 1)) ** (1 / 3)
    return (ways * reach + np.asarray(center, np.float64)).astype(np.float32)
