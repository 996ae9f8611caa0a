"""Make a scene with a crowd from mesh files, or from nothing: something to look at at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.crowd.presets import load_preset
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.geometry import bvh
from ..crowd import crowds
from ..display import display
from ..reading.scene_meshes import walkable_triangles
from .figures import BODY_RADIUS, make_person
from .importers import import_meshes, join_meshes
from .materials import open_from_behind, plain_material, slope_material
from .plaza import make_plaza
from .scene_look import (
    FLYING_TILTS,
    WALKING_TILTS,
    View,
    make_camera,
    make_light,
    make_marker,
    set_render,
    show_copies_only,
)
from .spawning import Plan, Spawn, plan_flight, plan_walk
from .walkable import Body, find_walkable

CROWD_NAME = "Crowd"
GROUND_MATERIAL, COLLIDER_MATERIAL = "Ground", "Collider"
HEIGHT = 1.75
"""Height [m] of somebody with the body radius `BODY_RADIUS`."""


@dataclass(frozen=True)
class SceneOptions:
    """What scene to make.

    Attributes:
        ground: Mesh file of the ground; None makes a plaza.
        colliders: Mesh files of what blocks.
        agents: How many.
        spawn: Where they start.
        targets: Where they go [m]; several are shared out by id; none chooses a place.
        preset: Name of a preset, or path of one.
        seed: Random seed.
        radius: Body radius [m]; None takes the preset's.
        frames: Frame range.
        fps: Frames per second.
    """

    ground: Path | None = None
    colliders: tuple[Path, ...] = ()
    agents: int = 300
    spawn: Spawn = Spawn()
    targets: tuple[tuple[float, ...], ...] = ()
    preset: str = crowds.DEFAULT_PRESET
    seed: int = 0
    radius: float | None = None
    frames: range = range(1, 251)
    fps: int = 24


@dataclass(frozen=True)
class SceneResult:
    """What was made.

    Attributes:
        crowd: The crowd object.
        targets: The target empties.
        warnings: What the user may want to change.
    """

    crowd: bpy.types.Object
    targets: list[bpy.types.Object]
    warnings: list[Diagnosis] = field(default_factory=list)


@dataclass(frozen=True)
class _Stage:
    """Where the crowd is put."""

    ground: bpy.types.Object
    colliders: bpy.types.Collection
    ground_triangles: NDArray[np.float32]
    collider_triangles: NDArray[np.float32]


def make_scene(options: SceneOptions) -> SceneResult:
    """Fill a new file with ground, colliders, a crowd, its target, camera and light.

    Raises:
        SteerError: A file or the preset cannot be used, or there is no room for the crowd.
    """
    settings = _settings(options)
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.name = "Scene"
    scene.render.fps, scene.render.fps_base = options.fps, 1.0
    scene.frame_start, scene.frame_end = options.frames[0], options.frames[-1]
    stage = _make_stage(options, settings, scene)
    plan = _plan(stage, settings, options)
    targets = _make_targets(scene, plan, settings)
    crowd = _make_crowd(scene, stage, plan, targets, settings)
    _make_look(scene, stage, plan, settings)
    scene.frame_set(options.frames[0])
    return SceneResult(crowd, targets, plan.warnings)


def _settings(options: SceneOptions) -> CrowdSettings:
    folders = crowds.user_preset_folders()
    settings = replace(load_preset(options.preset, *folders).settings, seed=options.seed)
    if options.radius is not None:
        settings = replace(settings, agents=replace(settings.agents, radius=options.radius))
    if settings.agents.radius <= 0.0:
        settings = replace(settings, agents=replace(settings.agents, radius=0.01))
    if len(options.targets) > 1:
        stack = tuple(
            replace(entry, target_choice="BY_ID") if hasattr(entry, "target_choice") else entry
            for entry in settings.behaviors
        )
        settings = replace(settings, behaviors=stack)
    return settings


def _collection(scene: bpy.types.Scene, name: str) -> bpy.types.Collection:
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    return collection


def _make_stage(options: SceneOptions, settings: CrowdSettings, scene: bpy.types.Scene) -> _Stage:
    stage, colliders = _collection(scene, "Stage"), _collection(scene, "Colliders")
    if options.ground is None:
        plaza = make_plaza(
            options.agents,
            settings.agents.radius,
            stage,
            colliders,
            furnished=not options.colliders,
        )
        ground = plaza.ground
    else:
        ground = join_meshes(import_meshes(options.ground, stage), "Ground")
        _paint([ground], slope_material(GROUND_MATERIAL, "#CFC5B4", "#96918B"))
    imported = [obj for path in options.colliders for obj in import_meshes(path, colliders)]
    _paint(imported, plain_material(COLLIDER_MATERIAL, "#7F93A8"))
    depsgraph = _updated(scene)
    blocking = [walkable_triangles(obj, depsgraph) for obj in colliders.objects]
    none = np.zeros((0, 3, 3), np.float32)
    return _Stage(
        ground,
        colliders,
        walkable_triangles(ground, depsgraph),
        np.concatenate([none, *blocking]),
    )


def _updated(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    view_layer = scene.view_layers[0]
    view_layer.update()
    return view_layer.depsgraph


def _paint(objects: list[bpy.types.Object], material: bpy.types.Material) -> None:
    """Give imported objects a material, unless they came with pictures on them."""
    for obj in objects:
        slots = [m for m in obj.data.materials if m is not None and m.node_tree is not None]
        if any(node.type == "TEX_IMAGE" for m in slots for node in m.node_tree.nodes):
            continue
        obj.data.materials.clear()
        obj.data.materials.append(material)
        _sharpen(obj.data)


def _sharpen(mesh: bpy.types.Mesh) -> None:
    """Shade bends as bends: many files smooth over corners that the eye should see."""
    normals = mesh.attributes.get("custom_normal")
    if normals is not None:
        mesh.attributes.remove(normals)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.set_sharp_from_angle(angle=math.radians(30.0))


def _plan(stage: _Stage, settings: CrowdSettings, options: SceneOptions) -> Plan:
    radius = settings.agents.radius
    if settings.motion.motion == "FLY":
        corners = np.concatenate([stage.ground_triangles, stage.collider_triangles])
        points = corners.reshape(-1, 3).astype(np.float64)
        low, high = points.min(axis=0), points.max(axis=0)
        return plan_flight(
            low, high, options.agents, radius, options.spawn, options.targets, options.seed
        )
    body = Body(
        radius=radius,
        height=HEIGHT * radius / BODY_RADIUS,
        max_slope=settings.motion.max_slope,
        step_height=settings.motion.step_height,
    )
    places = find_walkable(stage.ground_triangles, stage.collider_triangles, body)
    return plan_walk(places, options.agents, radius, options.spawn, options.targets, options.seed)


def _make_targets(
    scene: bpy.types.Scene, plan: Plan, settings: CrowdSettings
) -> list[bpy.types.Object]:
    collection = _collection(scene, "Targets")
    flags = _collection(scene, "Flags")
    unit = settings.agents.radius / BODY_RADIUS
    made = []
    for place in plan.targets:
        target = bpy.data.objects.new("Target", None)
        target.empty_display_type = "SPHERE"
        target.empty_display_size = unit
        target.location = place
        collection.objects.link(target)
        if settings.motion.motion == "GROUND":
            make_marker(target, flags, unit)
        made.append(target)
    return made


def _make_crowd(
    scene: bpy.types.Scene,
    stage: _Stage,
    plan: Plan,
    targets: list[bpy.types.Object],
    settings: CrowdSettings,
) -> bpy.types.Object:
    crowd = crowds.add_crowd_object(CROWD_NAME, plan.positions, scene.collection)
    _face_targets(crowd, plan, settings)
    crowds.make_crowd(crowd, settings=settings, scene=scene)
    steer = crowd.steer
    if len(targets) == 1:
        steer.target_kind, steer.target_object = "OBJECT", targets[0]
    else:
        steer.target_kind = "COLLECTION"
        steer.target_collection = targets[0].users_collection[0]
    if len(stage.colliders.objects):
        steer.colliders = stage.colliders
    if settings.motion.motion == "GROUND":
        steer.ground = stage.ground
        _dress(scene, crowd, settings)
    else:
        modifier = display.find_modifier(crowd)
        display.set_input(modifier, "Display", "Cones")
        display.set_input(modifier, "Material", plain_material("Agents", "#C8502F", 0.5))
    return crowd


def _face_targets(crowd: bpy.types.Object, plan: Plan, settings: CrowdSettings) -> None:
    """Let agents look to where they go from the first frame on."""
    rows = np.arange(len(plan.positions)) % len(plan.targets)
    way = (plan.targets[rows] - plan.positions).astype(np.float32)
    if settings.motion.motion == "GROUND":
        way[:, 2] = 0.0
    length = np.linalg.norm(way, axis=1, keepdims=True)
    way = np.where(length > 1.0e-6, way / np.maximum(length, 1.0e-6), np.float32([0.0, -1.0, 0.0]))
    attribute = crowd.data.attributes.new("heading", "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(way, np.float32).ravel())


def _dress(scene: bpy.types.Scene, crowd: bpy.types.Object, settings: CrowdSettings) -> None:
    """Show walking agents as people, live and when they are baked."""
    figures = _collection(scene, "Figures")
    person = make_person()
    figures.objects.link(person)
    show_copies_only(scene, figures)
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", person)
    display.set_input(modifier, "Scale", settings.agents.radius / BODY_RADIUS)
    crowd.steer.bake_source_object = person
    if settings.motion.forward_axis != "NEG_Y":
        turns = {"POS_X": 90.0, "POS_Y": 180.0, "NEG_X": -90.0}
        person.rotation_euler[2] = math.radians(turns[settings.motion.forward_axis])


def _make_look(scene: bpy.types.Scene, stage: _Stage, plan: Plan, settings: CrowdSettings) -> None:
    collection = _collection(scene, "Camera and Light")
    height, tilts = HEIGHT * settings.agents.radius / BODY_RADIUS, WALKING_TILTS
    if settings.motion.motion == "FLY":
        height, tilts = 2.0 * settings.agents.radius, FLYING_TILTS
    obstacles = bvh.build(np.concatenate([stage.ground_triangles, stage.collider_triangles]))
    heads = plan.positions.astype(np.float64) + [0.0, 0.0, height]
    set_render(scene)
    target, roam = plan.targets.mean(axis=0), _roam(settings, plan)
    view = View(heads, target, obstacles, height, roam, tilts)
    camera, seen = make_camera(scene, collection, view)
    if seen < 0.5:
        # a roof is in the way: look through it from behind, as into a doll's house
        bpy.data.objects.remove(camera)
        camera, _ = make_camera(scene, collection, replace(view, culled=True))
        _open_rooms(scene, [stage.ground, *stage.colliders.objects])
    make_light(scene, collection, camera)


def _roam(settings: CrowdSettings, plan: Plan) -> float:
    """How far flyers circle around their target [m]: their own spread, and a wide turn."""
    if settings.motion.motion != "FLY":
        return 0.0
    spread = np.linalg.norm(plan.positions - plan.positions.mean(axis=0), axis=1).mean()
    turn = math.radians(settings.solver.max_turn_rate) or 1.0
    return float(min(spread + settings.agents.max_speed / turn, 2.5 * spread))


def _open_rooms(scene: bpy.types.Scene, objects: list[bpy.types.Object]) -> None:
    scene.display.shading.show_backface_culling = True
    for material in {m for obj in objects for m in obj.data.materials if m is not None}:
        if material.name.partition(".")[0] in (GROUND_MATERIAL, COLLIDER_MATERIAL):
            open_from_behind(material)
