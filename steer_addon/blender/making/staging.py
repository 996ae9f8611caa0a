"""Parts of scenes: ground, obstacles, paths, targets, crowds, camera."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.crowd.settings import CrowdSettings
from ...core.errors import UsageError
from ...core.inputs.paths import Path
from ..characters import gathering
from ..crowd import crowds
from ..display import display
from .figures import CASTS, ensure_cast, ensure_character, scale_of
from .materials import attribute_material, plain_material, tile_material
from .path_curves import add_curve
from .scene_look import add_camera, add_light
from .shapes import SHAPES, flag_mesh, new_mesh

FPS = 24
STONE = "#8FA0AE"


def empty_scene(frames: range) -> bpy.types.Scene:
    """The empty scene of a new file.

    Raises:
        UsageError: No scene has these frames.
    """
    if frames[0] < 0:
        # the property would be clamped
        raise UsageError(
            f"frames are {frames[0]}-{frames[-1]}: a scene of Blender begins at frame 0 or later, "
            "so give --frames from 0 on"
        )
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.name = "Scene"
    # whatever the user's startup file has: files and presets are in meters
    scene.unit_settings.scale_length = 1.0
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    return scene


class Stage:
    """A scene under construction, or a part of one.

    Attributes:
        scene: The scene.
        origin: Origin of the places of objects [m].
        parent: Collection that all others are in.
        unit: Units of the scene in a meter.
        set: Collection of objects that agents do not read.
        colliders: Collection of colliders.
        bodies: Collection of the objects that agents copy.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        origin: Any = (0.0, 0.0, 0.0),
        names: Sequence[str] = ("Stage", "Colliders", "Bodies"),
        parent: bpy.types.Collection | None = None,
        unit: float = 1.0,
    ) -> None:
        """Begin with the three collections, in the scene's own or in another one."""
        self.scene = scene
        self.parent = parent or scene.collection
        self.unit = unit
        self.origin = Vector(origin)
        self.set, self.colliders, self.bodies = (self.collection(name) for name in names)

    def collection(self, name: str) -> bpy.types.Collection:
        """A new collection."""
        made = bpy.data.collections.new(name)
        self.parent.children.link(made)
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
        color: str | None = STONE,
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
            color: Its color; None for no material.
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

    def space(self, kind: str, at: Any, name: str, **sizes: Any) -> bpy.types.Object:
        """A container for agents: an object of one of `SHAPES` that is not rendered."""
        obj = self.add(SHAPES[kind](name, **sizes), at)
        obj.display_type, obj.hide_render = "WIRE", True
        return obj

    def ground(self, size: Any, color: str | None = None) -> bpy.types.Object:
        """A level ground around the origin: paved, or of one color."""
        x, y = size[0] / 2, size[1] / 2
        corners = [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)]
        obj = self.add(new_mesh("Ground", corners, [(0, 1, 2, 3)]), color=color)
        if color is None:
            paving = tile_material("Paving", "#CFC7BA", "#BFB6A8", "#9B9389", self.unit)
            obj.data.materials.append(paving)
        return obj

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
        obj.empty_display_size = size or 0.5 * self.unit
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
        arrangement: str = "",
    ) -> bpy.types.Object:
        """Add a crowd with the stage's colliders as its colliders.

        Args:
            settings: Its settings.
            points: Start positions of the agents [m], shape (n, 3).
            name: Name of the crowd object.
            headings: Unit headings at the start, shape (n, 3) or (3,); None is -Y.
            attributes: Point attributes by name, whole numbers or floats, each of shape (n,).
            arrangement: How the points were made, as text; empty says nothing.
        """
        places = np.asarray(points, np.float32).reshape(-1, 3)
        obj = crowds.add_crowd_object(name, places, self.parent)
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
        obj.steer.arrangement = arrangement
        if self.colliders.objects:
            obj.steer.colliders = self.colliders
        return obj

    def show(
        self,
        crowd: bpy.types.Object,
        kind: str,
        *,
        color: str = "",
        scale: float = 1.0,
        **sizes: Any,
    ) -> None:
        """Set the display of the agents, live and baked.

        Args:
            crowd: The crowd.
            kind: "cones", one of `CASTS`, or one of `SHAPES`; they face -Y.
            color: Color of cones or shape, and of the clothes or coat of characters.
            scale: Scale of the bodies; characters are as large as the radius of the agents asks
                for.
            **sizes: Sizes that the shape takes; of cones an `attribute` and its `colors`.
        """
        modifier, body = display.require_modifier(crowd), None
        shown = "Object"
        if kind == "cones":
            shown = "Cones"
            name = f"{crowd.name} Cones"
            zones = attribute_material("Zones", **sizes) if sizes else None
            display.set_input(modifier, "Material", zones or plain_material(name, color, 0.5))
        elif kind in CASTS:
            radius = crowd.steer.agents.radius
            scale *= scale_of(kind, radius)
            if len(CASTS[kind]) > 1:
                shown = "Characters"
                cast = ensure_cast(CASTS[kind], kind.title(), self.scene, color)
                display.set_input(modifier, "Collection", cast)
            else:
                shown, body = "Character", ensure_character(CASTS[kind][0], self.scene, color)
        else:
            mesh = SHAPES[kind](**sizes)
            body = bpy.data.objects.new(f"{crowd.name} Body", mesh)
            mesh.materials.append(plain_material(body.name, color, 0.45))
            self.bodies.objects.link(body)
            # disabled in viewports or renders, the body would hide its copies, too
            for layer in self.scene.view_layers:
                _exclude(layer.layer_collection, self.bodies)
        if body is not None:
            display.set_input(modifier, "Object", body)
        display.set_input(modifier, "Display", shown)
        display.set_input(modifier, "Scale", scale)
        gathering.gather(crowd)

    def camera(self, location: Any, look_at: Any, lens: float) -> None:
        """Add the scene's camera and light."""
        camera = add_camera(self.scene, lens)
        camera.location = location
        way = Vector(look_at) - Vector(location)
        camera.rotation_euler = way.to_track_quat("-Z", "Y").to_euler()
        add_light(self.scene, camera)


def _exclude(within: bpy.types.LayerCollection, collection: bpy.types.Collection) -> None:
    """Exclude a collection from a view layer, wherever it is."""
    for child in within.children:
        if child.collection == collection:
            child.exclude = True
        _exclude(child, collection)


def new_parent(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> bpy.types.Collection:
    """The collection that new objects go to: the active one, if objects can be put into it."""
    chosen: Any = layer.active_layer_collection
    active: bpy.types.Collection = chosen.collection
    foreign = active.library is not None or active.override_library is not None
    return scene.collection if foreign else active


def find_named(name: str) -> Any:
    """The collection or object of a new file that has a name."""
    return bpy.data.collections.get(name) or bpy.data.objects[name]


def choose(owner: Any, slot: str, source: Any) -> None:
    """Choose an input of a crowd or of a behavior.

    Args:
        owner: Settings of the crowd, or the behavior.
        slot: Its "target", "second_target" or "source".
        source: An object, a collection or, for a target, a crowd.
    """
    kind, held = "OBJECT", "object"
    if isinstance(source, bpy.types.Collection):
        kind, held = "COLLECTION", "collection"
    elif slot == "target" and crowds.is_crowd(source):
        kind = "CROWD"
    setattr(owner, f"{slot}_kind", kind)
    setattr(owner, f"{slot}_{held}", source)


def _curve(points: list[Any], pieces: int = 24) -> Any:
    """A Catmull-Rom spline through points, shape (n, 3)."""
    ends = [2.0 * points[0] - points[1], *points, 2.0 * points[-1] - points[-2]]
    t = np.linspace(0.0, 1.0, pieces, endpoint=False)[:, None]
    rows = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        bend = (2.0 * a - 5.0 * b + 4.0 * c - d) * t**2 + (3.0 * b - a - 3.0 * c + d) * t**3
        rows.append(b + 0.5 * ((c - a) * t + bend))
    return np.concatenate([*rows, points[-1][None]])
