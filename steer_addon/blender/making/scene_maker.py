"""Scene with a crowd from mesh files, or on a plaza: ready to play and render."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.crowd.presets import load_preset
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.geometry import bvh
from ..crowd import crowds
from ..reading.scene_meshes import walkable_triangles
from .figures import BODY_RADIUS
from .importers import import_meshes, join_meshes
from .materials import open_from_behind, plain_material, slope_material
from .plaza import make_plaza
from .scene_look import FLYING_TILTS, WALKING_TILTS, View, make_camera, make_light, set_render
from .spawning import Plan, Spawn, plan_flight, plan_walk
from .staging import FPS, Stage, empty_scene, steer_by
from .walkable import Body, find_walkable

GROUND_MATERIAL, COLLIDER_MATERIAL = "Ground", "Collider"
HEIGHT = 1.75
"""Height [m] of a person with the body radius `BODY_RADIUS`."""


@dataclass(frozen=True)
class SceneOptions:
    """Settings of a scene to make.

    Attributes:
        ground: Mesh file of the ground; None makes a plaza.
        colliders: Mesh files of the colliders.
        agents: Number of agents.
        spawn: Start region of the agents.
        targets: Targets [m]; several are assigned by id; none chooses a place.
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
    fps: int = FPS


@dataclass(frozen=True)
class SceneResult:
    """Result of making a scene.

    Attributes:
        crowd: The crowd object.
        targets: The target empties.
        warnings: Diagnoses that the user may want to act on.
    """

    crowd: bpy.types.Object
    targets: list[bpy.types.Object]
    warnings: list[Diagnosis] = field(default_factory=list)


@dataclass(frozen=True)
class _Site:
    """Ground of the crowd, with all its triangles."""

    ground: bpy.types.Object
    ground_triangles: NDArray[np.float32]
    collider_triangles: NDArray[np.float32]

    def triangles(self) -> NDArray[np.float32]:
        """Triangles of ground and colliders [m], shape (n, 3, 3)."""
        return np.concatenate([self.ground_triangles, self.collider_triangles])


def make_scene(options: SceneOptions) -> SceneResult:
    """Fill a new file with ground, colliders, a crowd, its target, camera and light.

    Raises:
        SteerError: A file or the preset cannot be used, or there is no room for the crowd.
    """
    settings = _settings(options)
    scene = empty_scene(options.frames, options.fps)
    stage = Stage(scene, names=("Stage", "Colliders", "Figures"))
    site = _make_site(options, settings, stage)
    plan = _plan(site, settings, options)
    targets = _make_targets(stage, plan, settings)
    crowd = _make_crowd(stage, site, plan, targets, settings)
    _make_look(stage, site, plan, settings)
    stage.tidy()
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
        by_id: dict[str, Any] = {"target_choice": "BY_ID"}
        stack = tuple(
            replace(entry, **by_id) if hasattr(entry, "target_choice") else entry
            for entry in settings.behaviors
        )
        settings = replace(settings, behaviors=stack)
    return settings


def _make_site(options: SceneOptions, settings: CrowdSettings, stage: Stage) -> _Site:
    if options.ground is None:
        furnished = not options.colliders
        ground = make_plaza(stage, options.agents, settings.agents.radius, furnished=furnished)
    else:
        ground = join_meshes(import_meshes(options.ground, stage.set), "Ground")
        _paint([ground], slope_material(GROUND_MATERIAL))
    imported = [obj for path in options.colliders for obj in import_meshes(path, stage.colliders)]
    _paint(imported, plain_material(COLLIDER_MATERIAL, "#7F93A8"))
    view_layer = stage.scene.view_layers[0]
    view_layer.update()
    depsgraph = view_layer.depsgraph
    blocking = [walkable_triangles(obj, depsgraph) for obj in stage.colliders.objects]
    none = np.zeros((0, 3, 3), np.float32)
    return _Site(ground, walkable_triangles(ground, depsgraph), np.concatenate([none, *blocking]))


def _paint(objects: list[bpy.types.Object], material: bpy.types.Material) -> None:
    """Give imported objects a material, unless they have image textures."""
    for obj in objects:
        slots = [m for m in obj.data.materials if m is not None and m.node_tree is not None]
        if any(node.type == "TEX_IMAGE" for m in slots for node in m.node_tree.nodes):
            continue
        obj.data.materials.clear()
        obj.data.materials.append(material)
        _sharpen(obj.data)


def _sharpen(mesh: bpy.types.Mesh) -> None:
    """Shade sharp edges as sharp: many files smooth over corners that should be visible."""
    normals = mesh.attributes.get("custom_normal")
    if normals is not None:
        mesh.attributes.remove(normals)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.set_sharp_from_angle(angle=math.radians(30.0))


def _plan(site: _Site, settings: CrowdSettings, options: SceneOptions) -> Plan:
    radius = settings.agents.radius
    if settings.motion.motion == "FLY":
        points = site.triangles().reshape(-1, 3).astype(np.float64)
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
    places = find_walkable(site.ground_triangles, site.collider_triangles, body)
    return plan_walk(places, options.agents, radius, options.spawn, options.targets, options.seed)


def _make_targets(stage: Stage, plan: Plan, settings: CrowdSettings) -> list[bpy.types.Object]:
    collection, flags = stage.collection("Targets"), stage.collection("Flags")
    unit = settings.agents.radius / BODY_RADIUS
    made = [stage.target(place, size=unit, collection=collection) for place in plan.targets]
    if settings.motion.motion == "GROUND":
        for target in made:
            stage.flag(target, unit, flags)
    return made


def _make_crowd(
    stage: Stage,
    site: _Site,
    plan: Plan,
    targets: list[bpy.types.Object],
    settings: CrowdSettings,
) -> bpy.types.Object:
    headings = _target_headings(plan, settings)
    crowd = stage.crowd(settings, plan.positions, headings=headings)
    steer_by(crowd, targets[0] if len(targets) == 1 else targets[0].users_collection[0])
    if settings.motion.motion == "GROUND":
        crowd.steer.ground = site.ground
        stage.show_people(crowd)
    else:
        stage.show_cones(crowd, "#C8502F")
    return crowd


def _target_headings(plan: Plan, settings: CrowdSettings) -> NDArray[np.float32]:
    """Unit headings from the agents to their targets, shape (n, 3)."""
    rows = np.arange(len(plan.positions)) % len(plan.targets)
    way = (plan.targets[rows] - plan.positions).astype(np.float32)
    if settings.motion.motion == "GROUND":
        way[:, 2] = 0.0
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.where(
        length > 1.0e-6, way / np.maximum(length, 1.0e-6), np.array([0.0, -1.0, 0.0], np.float32)
    )


def _make_look(stage: Stage, site: _Site, plan: Plan, settings: CrowdSettings) -> None:
    scene, collection = stage.scene, stage.collection("Camera and Light")
    height = HEIGHT * settings.agents.radius / BODY_RADIUS
    tilts: tuple[float, ...] = WALKING_TILTS
    if settings.motion.motion == "FLY":
        height, tilts = 2.0 * settings.agents.radius, FLYING_TILTS
    heads = plan.positions.astype(np.float64) + [0.0, 0.0, height]
    set_render(scene)
    target, roam = plan.targets.mean(axis=0), _roam(settings, plan)
    view = View(heads, target, bvh.build(site.triangles()), height, roam, tilts)
    camera, seen = make_camera(scene, collection, view)
    if seen < 0.5:
        # a roof hides the crowd: make back faces invisible, as in a doll's house
        bpy.data.objects.remove(camera)
        camera, _ = make_camera(scene, collection, replace(view, culled=True))
        _open_rooms(scene, [site.ground, *stage.colliders.objects])
    make_light(scene, collection, camera)


def _roam(settings: CrowdSettings, plan: Plan) -> float:
    """Radius of flyers' circles around their target [m]: their own spread plus a wide turn."""
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
