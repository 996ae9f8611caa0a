"""Scene with a crowd from mesh files, or on a plaza: ready to play and render."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.crowd.presets import DEFAULT, load_preset
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.geometry import bvh
from ..characters import gathering, library
from ..crowd import crowds
from ..display import display
from ..reading.scene_meshes import walkable_triangles
from .arrangement import BALL, TERRAIN, Arrangement
from .figures import BODY_RADIUS, HEIGHT
from .importers import append_characters, import_meshes, join_meshes
from .materials import open_from_behind, plain_material, slope_material
from .plaza import make_plaza
from .scene_look import View, add_camera, add_light, aim_camera, set_render
from .spawning import BODIES_APART, Group, Plan, Spawn, plan_flight, plan_walk
from .staging import Stage, choose, empty_scene
from .walkable import Body, find_walkable

GROUND_MATERIAL, COLLIDER_MATERIAL = "Ground", "Collider"


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
        characters: Files with characters that agents are shown as; none takes the built-in people.
    """

    ground: Path | None = None
    colliders: tuple[Path, ...] = ()
    agents: int = 300
    spawn: Spawn = Spawn()
    targets: tuple[tuple[float, ...], ...] = ()
    preset: str = DEFAULT
    seed: int = 0
    radius: float | None = None
    frames: range = range(1, 251)
    characters: tuple[Path, ...] = ()


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
    warnings: list[Diagnosis]


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
    scene = empty_scene(options.frames)
    stage = Stage(scene, names=("Stage", "Colliders", "Figures"))
    site = _make_site(options, settings, stage)
    plan = _plan(site, settings, options)
    # before there is a crowd, which Blender would evaluate for every place that a camera tries
    _make_look(stage, site, plan, settings)
    result = _make_crowd(stage, site, plan, settings, own_characters=bool(options.characters))
    if options.characters:
        usual = load_preset(options.preset, *crowds.user_preset_folders()).settings.agents.radius
        scale = settings.agents.radius / usual if usual > 0.0 else 1.0
        _show_characters(stage, result, options.characters, scale)
    stage.tidy()
    scene.frame_set(options.frames[0])
    return result


def _settings(options: SceneOptions) -> CrowdSettings:
    folders = crowds.user_preset_folders()
    settings = load_preset(options.preset, *folders).settings
    radius = settings.agents.radius if options.radius is None else options.radius
    agents = replace(settings.agents, radius=radius if radius > 0.0 else 0.01)
    settings = replace(settings, agents=agents, seed=options.seed)
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
    """Give imported objects a material and sharp edges, unless they have image textures."""
    for obj in objects:
        slots = [m for m in obj.data.materials if m is not None and m.node_tree is not None]
        if any(node.type == "TEX_IMAGE" for m in slots for node in m.node_tree.nodes):
            continue
        mesh: bpy.types.Mesh = obj.data
        mesh.materials.clear()
        mesh.materials.append(material)
        # many files smooth over corners that should be visible
        normals = mesh.attributes.get("custom_normal")
        if normals is not None:
            mesh.attributes.remove(normals)
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
        mesh.set_sharp_from_angle(angle=math.radians(30.0))


def _plan(site: _Site, settings: CrowdSettings, options: SceneOptions) -> Plan:
    radius = settings.agents.radius
    group = Group(options.agents, radius, options.spawn, options.targets, options.seed)
    if settings.motion.motion == "FLY":
        points = site.triangles().reshape(-1, 3).astype(np.float64)
        return plan_flight(points.min(axis=0), points.max(axis=0), group)
    body = Body(
        radius=radius,
        height=HEIGHT * radius / BODY_RADIUS,
        max_slope=settings.motion.max_slope,
        step_height=settings.motion.step_height,
    )
    return plan_walk(find_walkable(site.ground_triangles, site.collider_triangles, body), group)


def _make_crowd(
    stage: Stage, site: _Site, plan: Plan, settings: CrowdSettings, *, own_characters: bool
) -> SceneResult:
    """Add the crowd and its targets, with flags for agents that walk."""
    walks = settings.motion.motion == "GROUND"
    unit = settings.agents.radius / BODY_RADIUS
    collection, flags = stage.collection("Targets"), stage.collection("Flags")
    targets = [stage.target(place, size=unit, collection=collection) for place in plan.targets]
    arrangement = _arrangement(plan, settings).to_text()
    headings = _target_headings(plan, walks=walks)
    crowd = stage.crowd(settings, plan.positions, headings=headings, arrangement=arrangement)
    choose(crowd.steer, "target", targets[0] if len(targets) == 1 else collection)
    if walks:
        for target in targets:
            stage.flag(target, unit, flags)
        crowd.steer.ground = site.ground
        if not own_characters:
            stage.show(crowd, "people")
    elif not own_characters:
        stage.show(crowd, "cones", color="#C8502F")
    return SceneResult(crowd, targets, plan.warnings)


def _show_characters(
    stage: Stage, made: SceneResult, files: tuple[Path, ...], scale: float
) -> None:
    """Show agents as the characters of files, in place of what they are shown as."""
    found = [
        obj
        for file in dict.fromkeys(files)
        for obj in append_characters(file, stage.scene, made.warnings)
    ]
    modifier = display.require_modifier(made.crowd)
    if len(found) == 1:
        display.set_input(modifier, "Object", found[0])
    else:
        cast = bpy.data.collections.new("Cast")
        library.ensure_collection(stage.scene).children.link(cast)
        for obj in found:
            cast.objects.link(obj)
        display.set_input(modifier, "Collection", cast)
    display.set_input(modifier, "Display", "Character" if len(found) == 1 else "Characters")
    display.set_input(modifier, "Scale", scale)
    gathering.gather(made.crowd)


def _arrangement(plan: Plan, settings: CrowdSettings) -> Arrangement:
    """How more agents would be placed: on the ground where these start, or in the same ball."""
    walks, radius = settings.motion.motion == "GROUND", settings.agents.radius
    middle = plan.positions[0] if walks else plan.positions.mean(axis=0)
    reach = np.linalg.norm(plan.positions - middle, axis=1).max()
    return Arrangement(
        TERRAIN if walks else BALL,
        spacing=BODIES_APART * radius,
        radius=float(reach) + radius,
        center=tuple(float(value) for value in middle),
        seed=settings.seed,
        max_slope=settings.motion.max_slope,
    )


def _target_headings(plan: Plan, *, walks: bool) -> NDArray[np.float32]:
    """Unit headings from the agents to their targets, shape (n, 3)."""
    rows = np.arange(len(plan.positions)) % len(plan.targets)
    way = (plan.targets[rows] - plan.positions).astype(np.float32)
    if walks:
        way[:, 2] = 0.0
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.where(
        length > 1.0e-6, way / np.maximum(length, 1.0e-6), np.array([0.0, -1.0, 0.0], np.float32)
    )


def _make_look(stage: Stage, site: _Site, plan: Plan, settings: CrowdSettings) -> None:
    scene, camera = stage.scene, add_camera(stage.scene, 42.0)
    flies = settings.motion.motion == "FLY"
    height = settings.agents.radius * (2.0 if flies else HEIGHT / BODY_RADIUS)
    set_render(scene)
    view = View(
        heads=plan.positions.astype(np.float64) + [0.0, 0.0, height],
        target=plan.targets.mean(axis=0),
        obstacles=bvh.build(site.triangles()),
        height=height,
        flies=flies,
        roam=_roam(settings, plan) if flies else 0.0,
    )
    if aim_camera(scene, camera, view) < 0.5:
        # a roof hides the crowd: make back faces invisible, as in a doll's house
        aim_camera(scene, camera, replace(view, culled=True))
        scene.display.shading.show_backface_culling = True
        painted = [site.ground, *stage.colliders.objects]
        for material in {m for obj in painted for m in obj.data.materials if m is not None}:
            if material.name.partition(".")[0] in (GROUND_MATERIAL, COLLIDER_MATERIAL):
                open_from_behind(material)
    add_light(scene, camera)


def _roam(settings: CrowdSettings, plan: Plan) -> float:
    """Radius of flyers' circles around their target [m]: their own spread plus a wide turn."""
    spread = np.linalg.norm(plan.positions - plan.positions.mean(axis=0), axis=1).mean()
    turn = math.radians(settings.solver.max_turn_rate) or 1.0
    return float(min(spread + settings.agents.max_speed / turn, 2.5 * spread))
