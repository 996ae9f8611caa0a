"""Parts of scenes: ground, obstacles, paths, targets, crowds, camera."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.crowd.settings import CrowdSettings
from ...core.inputs.paths import Path
from ..crowd import crowds
from ..display import display
from .figures import BODY_RADIUS, make_person
from .materials import plain_material, tile_material
from .path_curves import add_curve
from .scene_look import make_light, show_copies_only
from .shapes import SHAPES, flag_mesh, new_mesh

FPS = 24
STONE = "#8FA0AE"
_TURNS = {"NEG_Y": 0.0, "POS_X": 90.0, "POS_Y": 180.0, "NEG_X": -90.0}
"""Rotation [deg] of figures whose front is not -Y."""


def empty_scene(frames: range, fps: int = FPS) -> bpy.types.Scene:
    """The empty scene of a new file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.name = "Scene"
    scene.render.fps, scene.render.fps_base = fps, 1.0
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    return scene


class Stage:
    """A scene under construction, or a part of one.

    Attributes:
        scene: The scene.
        origin: Origin of the places of objects [m].
        set: Collection of objects that agents do not read.
        colliders: Collection of colliders.
        bodies: Collection of the objects that agents copy.
        crowds: The crowds made.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        origin: Any = (0.0, 0.0, 0.0),
        names: Sequence[str] = ("Stage", "Colliders", "Bodies"),
    ) -> None:
        """Begin with the three collections."""
        self.scene = scene
        self.origin = Vector(origin)
        self.crowds: list[bpy.types.Object] = []
        self.set, self.colliders, self.bodies = (self.collection(name) for name in names)

    def collection(self, name: str) -> bpy.types.Collection:
        """A new collection of the scene."""
        made = bpy.data.collections.new(name)
        self.scene.collection.children.link(made)
        return made

    def tidy(self) -> None:
        """Remove empty collections."""
        for collection in (self.set, self.colliders, self.bodies):
            if not collection.objects:
                bpy.data.collections.remove(collection)

    def add(
        self,
        data: Any,
        location: Any = (0.0, 0.0, 0.0),
        *,
        name: str | None = None,
        color: str | None = None,
        collection: bpy.types.Collection | None = None,
    ) -> bpy.types.Object:
        """Add an object at a place from the origin; by default in the collection `set`."""
        obj = bpy.data.objects.new(name or data.name, data)
        obj.location = self.origin + Vector([float(x) for x in location])
        if color is not None:
            obj.data.materials.append(plain_material(obj.name, color))
        (collection or self.set).objects.link(obj)
        return obj

    def solid(
        self,
        kind: str,
        location: Any,
        *,
        name: str = "",
        color: str = STONE,
        roof_color: str = "",
        turn: float = 0.0,
        blocks: bool = True,
        **sizes: Any,
    ) -> bpy.types.Object:
        """An object of one of `SHAPES`.

        Args:
            kind: Name of the shape.
            location: Its place [m].
            name: Its name; empty is its kind.
            color: Its color.
            roof_color: Color of its second material; empty for none.
            turn: Its turn about Z [deg].
            blocks: Whether it is a collider.
            **sizes: Sizes that the shape takes.
        """
        mesh = SHAPES[kind](name or kind.title(), **sizes)
        obj = self.add(mesh, location, color=color, collection=self.colliders if blocks else None)
        if roof_color:
            mesh.materials.append(plain_material("Roof", roof_color))
        obj.rotation_euler[2] = math.radians(turn)
        return obj

    def space(self, kind: str, location: Any, name: str, **sizes: Any) -> bpy.types.Object:
        """A container for agents: an object of one of `SHAPES` that is not rendered."""
        obj = self.add(SHAPES[kind](name, **sizes), location)
        obj.display_type, obj.hide_render = "WIRE", True
        return obj

    def ground(self, size_x: float, size_y: float, color: str | None = None) -> bpy.types.Object:
        """A level ground around the origin: paved, or of one color."""
        x, y = size_x / 2, size_y / 2
        corners = [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)]
        obj = self.add(new_mesh("Ground", corners, [(0, 1, 2, 3)]), color=color)
        if color is None:
            material = tile_material("Paving", "#CFC7BA", "#BFB6A8", "#9B9389", 1.0)
            obj.data.materials.append(material)
        return obj

    def plan(self, points: Sequence[Any], edges: Sequence[Any], name: str) -> Any:
        """Walls as edges without faces, as in a floor plan; they are not rendered."""
        return self.add(new_mesh(name, points, (), edges), collection=self.colliders)

    def sphere(self, location: Any, radius: float) -> bpy.types.Object:
        """An empty that is an obstacle."""
        obj = self.add(None, location, name="Sphere", collection=self.colliders)
        obj.empty_display_type, obj.empty_display_size = "SPHERE", radius
        return obj

    def target(
        self,
        location: Any,
        name: str = "Target",
        *,
        size: float = 0.0,
        collection: bpy.types.Collection | None = None,
    ) -> bpy.types.Object:
        """An empty to steer by, drawn as a sphere where it has a size [m]."""
        obj = self.add(None, location, name=name, collection=collection)
        obj.empty_display_type = "SPHERE" if size else "PLAIN_AXES"
        obj.empty_display_size = size or 0.5
        return obj

    def flag(
        self,
        target: bpy.types.Object,
        unit: float = 1.0,
        collection: bpy.types.Collection | None = None,
    ) -> bpy.types.Object:
        """A flag of 4 units [m] that stands at a target and follows it; it is no collider."""
        mesh = flag_mesh("Flag")
        mesh.materials.append(plain_material("Pole", "#E8E6E1", 0.4))
        mesh.materials.append(plain_material("Flag", "#E2572B", 0.6))
        flag = bpy.data.objects.new(f"{target.name} Flag", mesh)
        flag.scale = (unit, unit, unit)
        flag.parent = target
        (collection or self.set).objects.link(flag)
        return flag

    def path(
        self,
        points: Sequence[Any],
        *,
        cyclic: bool = False,
        name: str = "Path",
        collection: bpy.types.Collection | None = None,
    ) -> bpy.types.Object:
        """A path as a curve object of straight pieces."""
        path = add_curve(Path(points, cyclic=cyclic), collection or self.set, name)
        path.location = self.origin
        return path

    def move(self, obj: bpy.types.Object, places: Mapping[Any, Any]) -> None:
        """Key an object's location, frame by frame number; straight and at constant speed."""
        for number, place in places.items():
            obj.location = place
            obj.keyframe_insert("location", frame=number)
        data: Any = obj.animation_data
        action, slot = data.action, data.action_slot
        for curve in action.layers[0].strips[0].channelbag(slot).fcurves:
            curve.keyframe_points.foreach_set("interpolation", [1] * len(curve.keyframe_points))
            curve.update()

    def run(self, obj: bpy.types.Object, points: Sequence[Any], first: int, speed: float) -> None:
        """Key an object, frame by frame, so that it runs and faces along a smooth curve.

        Args:
            obj: The object; it faces -Y.
            points: Points on the curve [m], three or more.
            first: Frame at which it starts.
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

    def key(self, crowd: bpy.types.Object, behavior: str, weights: Mapping[int, float]) -> None:
        """Key the weight of a behavior, frame by frame number."""
        place = crowd.steer.behaviors.find(behavior)
        for number, weight in weights.items():
            crowd.steer.behaviors[place].weight = weight
            crowd.keyframe_insert(f"steer.behaviors[{place}].weight", frame=number)

    def crowd(
        self,
        settings: CrowdSettings,
        points: Any,
        *,
        name: str = "Crowd",
        headings: Any = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> bpy.types.Object:
        """Add a crowd on points [m], shape (n, 3), with the stage's colliders as its colliders.

        Args:
            settings: Its settings.
            points: Start positions of the agents.
            name: Name of the crowd object.
            headings: Unit headings at the start, shape (n, 3) or (3,); None is -Y.
            attributes: Point attributes by name, whole numbers or floats, each of shape (n,).
        """
        places = np.asarray(points, np.float32).reshape(-1, 3)
        obj = crowds.add_crowd_object(name, places, self.scene.collection)
        obj.location = self.origin
        if headings is not None:
            rows = np.broadcast_to(np.asarray(headings, np.float32), places.shape)
            made = obj.data.attributes.new("heading", "FLOAT_VECTOR", "POINT")
            made.data.foreach_set("vector", np.ascontiguousarray(rows).ravel())
        for key, values in (attributes or {}).items():
            whole = np.asarray(values).dtype.kind in "iub"
            made = obj.data.attributes.new(key, "INT" if whole else "FLOAT", "POINT")
            kind = np.int32 if whole else np.float32
            made.data.foreach_set("value", np.asarray(values, kind))
        crowds.make_crowd(obj, settings=settings, scene=self.scene)
        if self.colliders.objects:
            obj.steer.colliders = self.colliders
        self.crowds.append(obj)
        return obj

    def show_people(self, crowd: bpy.types.Object) -> None:
        """Show the agents as people, live and baked."""
        person = make_person()
        person.rotation_euler[2] = math.radians(_TURNS[crowd.steer.motion.forward_axis])
        self._show(crowd, person, crowd.steer.agents.radius / BODY_RADIUS)

    def show_mesh(self, crowd: bpy.types.Object, mesh: bpy.types.Mesh, color: str) -> None:
        """Show the agents as copies of a mesh that faces -Y."""
        body = bpy.data.objects.new(f"{crowd.name} Body", mesh)
        mesh.materials.append(plain_material(body.name, color, 0.45))
        self._show(crowd, body, 1.0)

    def show_cones(
        self, crowd: bpy.types.Object, look: str | bpy.types.Material, scale: float = 1.0
    ) -> None:
        """Show the agents as cones of a color or material."""
        if isinstance(look, str):
            look = plain_material(f"{crowd.name} Cones", look, 0.5)
        modifier = display.require_modifier(crowd)
        display.set_input(modifier, "Display", "Cones")
        display.set_input(modifier, "Material", look)
        if scale != 1.0:
            display.set_input(modifier, "Scale", scale)

    def _show(self, crowd: bpy.types.Object, body: bpy.types.Object, scale: float) -> None:
        self.bodies.objects.link(body)
        show_copies_only(self.scene, self.bodies)
        modifier = display.require_modifier(crowd)
        display.set_input(modifier, "Display", "Object")
        display.set_input(modifier, "Object", body)
        display.set_input(modifier, "Scale", scale)
        crowd.steer.bake_source_object = body

    def camera(self, location: Any, look_at: Any, lens: float) -> bpy.types.Object:
        """Add the scene's camera and light."""
        data = bpy.data.cameras.new("Camera")
        data.lens = lens
        data.clip_end = 1000.0
        camera = bpy.data.objects.new("Camera", data)
        camera.location = location
        way = Vector(look_at) - Vector(location)
        camera.rotation_euler = way.to_track_quat("-Z", "Y").to_euler()
        look = self.collection("Camera and Light")
        look.objects.link(camera)
        self.scene.camera = camera
        make_light(self.scene, look, camera)
        return camera


def steer_by(obj: bpy.types.Object, target: Any, behavior: str = "") -> None:
    """Set the target of a crowd or a behavior: an object, a collection or a crowd."""
    slot: Any = obj.steer.behaviors[behavior] if behavior else obj.steer
    if behavior:
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
