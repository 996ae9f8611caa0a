"""Crowds from presets with all their inputs: ground, target, path, container, obstacles.

The inputs follow from what the preset's behaviors read, so the user's own presets start
as well as the built-in ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.behaviors import REGISTRY
from ...core.crowd.presets import load_preset
from ...core.crowd.settings import CrowdSettings
from ...core.crowd.start import StartSettings, complete_start
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS
from ..crowd import crowds
from . import distribute, path_curves
from .figures import BODY_RADIUS
from .staging import Stage, choose

VIEWPORT_CLOTHES = (0.13, 0.37, 0.62, 1.0)
COLLECTIONS = ("Crowd Set", "Crowd Obstacles", "Crowd Bodies")


@dataclass(frozen=True)
class Wish:
    """Options of the user.

    Attributes:
        preset: Name of a preset, or path of a .json file.
        count: Number of agents.
        seed: Random seed of the start positions.
        obstacles: Whether to add obstacles.
        ground: Whether to add a ground for walkers if there is none.
        bodies: Whether agents are shown as people and animals; cones are quicker to draw.
    """

    preset: str
    count: int
    seed: int = 0
    obstacles: bool = True
    ground: bool = True
    bodies: bool = True


@dataclass(frozen=True)
class _Plan:
    """Settings of a new crowd, and sizes of the new objects [m]."""

    wish: Wish
    settings: CrowdSettings
    start: StartSettings
    uses: frozenset[str]
    flies: bool
    body: float
    spread: float
    reach: float
    height: float
    way: float
    """Largest distance of the path from the middle."""
    lap: float
    """Radius of the circle that the target moves on; 0 if it stands still."""


def start(scene: bpy.types.Scene, wish: Wish, active: bpy.types.Object | None) -> bpy.types.Object:
    """Make a crowd from a preset around the 3D cursor, with all its inputs.

    Args:
        scene: Scene of the new objects.
        wish: The user's options.
        active: A mesh that may be the ground, or None.

    Returns:
        The crowd object.

    Raises:
        SteerError: The preset cannot be used.
    """
    plan = _plan(wish)
    place = Stage(scene, scene.cursor.location, COLLECTIONS)
    # a closed round path through the agents' region
    line = path_curves.circle(plan.way) * (1.0, 0.7, 1.0) + (0.0, 0.0, plan.height)
    spots = _spots(plan) if plan.start.scenery != "NONE" and wish.obstacles else []
    points, headings, attributes = _agents(plan, line, spots)
    _obstacles(place, plan, spots)
    crowd = place.crowd(plan.settings, points, headings=headings, attributes=attributes)
    if not plan.flies:
        crowd.steer.ground = _ground(place, plan, active)
    if plan.start.target != "NONE":
        choose(crowd.steer, "target", _target(place, plan))
    _sources(place, plan, crowd, line)
    _show(place, plan, crowd)
    place.tidy()
    return crowd


def _plan(wish: Wish) -> _Plan:
    preset = load_preset(wish.preset, *crowds.user_preset_folders())
    settings = replace(preset.settings, seed=wish.seed)
    start = complete_start(preset.start, settings)
    acting = [b for b in settings.behaviors if b.enabled and b.weight > 0.0]
    body = max(settings.agents.radius, 0.02)
    flies = settings.motion.motion == "FLY"
    near = [getattr(b, b.keeps_apart_by) for b in acting if b.keeps_apart_by]
    gap = max([4.0 * body, *(0.7 * float(distance) for distance in near)])
    spread = gap * (0.8 * wish.count ** (1 / 3) if flies else 0.75 * math.sqrt(wish.count))
    spread = max(spread, 4.0 * body)
    reach = spread + min(max(4.0 * settings.agents.max_speed, 24.0 * body), 100.0 * body)
    lap = {"AMONG": 0.6 * spread + 6.0 * body, "LEADS": 0.9 * spread + 6.0 * body}
    return _Plan(
        wish=wish,
        settings=settings,
        start=start,
        uses=frozenset(use for b in acting for use in b.definition.uses),
        flies=flies,
        body=body,
        spread=spread,
        reach=reach,
        height=spread + 6.0 * body if flies else 0.0,
        way=0.6 * reach + 4.0 * body,
        lap=lap.get(start.target, 0.0),
    )


def _agents(
    plan: _Plan, line: Any, spots: Sequence[tuple[float, float, float]]
) -> tuple[Any, Any, dict[str, Any]]:
    """Points, headings and attributes of the crowd, around the 3D cursor."""
    count, seed = plan.wish.count, plan.wish.seed
    toward = (0.0, -1.0, 0.0)
    if plan.start.placement == "LANES":
        closed = np.concatenate([line, line[:1]])
        files = (-1.0, 0.0, 1.0)
        rows = -(-count // len(files))
        total = path_curves.length_of(closed)
        step = min(6.0 * plan.body, 0.95 * total / max(rows, 1))
        along = np.repeat(step * np.arange(rows), len(files))[:count]
        lane = 4.0 * plan.body * np.tile(files, rows)[:count]
        points, heading = path_curves.places(closed, along, lane)
        return points, heading, {"lane": lane}
    back = 0.5 * plan.reach if plan.start.placement == "FACING" else 0.0
    if plan.flies:
        points = distribute.ball_of_points(count, plan.spread, seed)
        return points + (0.0, back, plan.height), toward, {}
    gap = 2.5 * plan.body
    places = distribute.disc_points(count + 60, plan.spread, gap, seed)
    if back:
        return places[:count] + np.array([0.0, back, 0.0], np.float32), toward, {}
    free = [p for p in places if all(math.dist(p[:2], s[:2]) > s[2] + gap for s in spots)]
    return np.array(free[:count], np.float32).reshape(-1, 3), toward, {}


def _target(place: Stage, plan: _Plan) -> bpy.types.Object:
    """Add the target of the crowd: ahead of it, circling among the agents, or leading them."""
    target = place.target((0.0, -0.5 * plan.reach, plan.height), size=2.0 * plan.body)
    if not plan.flies:
        place.flag(target, plan.body / BODY_RADIUS)
    if plan.lap:
        # over all frames of the scene
        scene, speed = place.scene, max(0.55 * plan.settings.agents.max_speed, 1.0e-3)
        fps = scene.render.fps / scene.render.fps_base
        lap = max(2.0 * math.pi * plan.lap / speed * fps, 8.0)
        steps = np.arange(0.0, scene.frame_end - scene.frame_start + lap / 16, lap / 16)
        turns = -math.pi / 2 + 2.0 * math.pi * steps / lap
        keys = {}
        for step, turn in zip(steps, turns, strict=True):
            on_circle = (plan.lap * math.cos(turn), plan.lap * math.sin(turn), plan.height)
            keys[scene.frame_start + float(step)] = place.origin + Vector(on_circle)
        place.move(target, keys)
    return target


def _spots(plan: _Plan) -> list[tuple[float, float, float]]:
    """Obstacles clear of the way of a circling target: x, y and radius [m]."""
    unit = plan.body / BODY_RADIUS
    width = max(0.6 * plan.spread, 3.0 * unit)
    spots = [(-width, 0.0), (0.1 * width, -0.25 * width), (width, 0.15 * width)]
    if PATHS in plan.uses or plan.lap:
        spots = [(-width, width), (width, 0.8 * width), (-0.8 * width, -width), (width, -width)]
    if plan.start.placement == "LANES":
        # inside of the common circular path
        spots = [(0.0, 0.0)]
    found = []
    for number, (x, y) in enumerate(spots):
        size = unit * (0.8 + 0.25 * (number % 2)) * (2.0 if plan.flies else 1.0)
        far, free = math.hypot(x, y), size + 4.0 * plan.body
        if far and abs(far - plan.lap) < free:
            x, y = (value * (plan.lap + free) / far for value in (x, y))
        found.append((x, y, size))
    return found


def _obstacles(place: Stage, plan: _Plan, spots: Sequence[tuple[float, float, float]]) -> None:
    """Add a few obstacles around the middle."""
    for x, y, size in spots:
        if plan.start.scenery == "BALLS":
            place.solid("ball", (x, y - 0.25 * plan.reach, plan.height), radius=size)
        elif plan.start.scenery == "SPHERES":
            place.sphere((x, y, size), size)
        else:
            place.solid("pillar", (x, y, 0.0), radius=size, height=12.0 * plan.body)


def _ground(place: Stage, plan: _Plan, active: bpy.types.Object | None) -> bpy.types.Object | None:
    """An existing ground, or a new level one; None if none is wanted."""
    for crowd in crowds.crowds(place.scene):
        if crowd.steer.ground is not None:
            return crowd.steer.ground
    if active is not None and _is_ground(active, plan.spread):
        return active
    if not plan.wish.ground:
        return None
    size = 2.5 * (plan.reach + plan.spread)
    return place.ground((size, size))


def _is_ground(obj: bpy.types.Object, width: float) -> bool:
    """Whether a mesh is wide and flat enough for a crowd to walk on."""
    if obj.type != "MESH" or crowds.is_crowd(obj) or not obj.data.polygons:
        return False
    x, y, z = obj.dimensions
    return bool(min(x, y) >= 2.0 * width and z < 0.5 * min(x, y))


def _sources(place: Stage, plan: _Plan, crowd: bpy.types.Object, line: Any) -> None:
    """Add the paths, fields, containers and second targets of behaviors."""
    made: dict[str, bpy.types.Object] = {}
    for item in crowd.steer.behaviors:
        uses = set(REGISTRY[item.type].definition.uses)
        for use in uses & {PATHS, FIELD, CONTAINER}:
            if use not in made:
                is_room = use == CONTAINER
                made[use] = _container(place, plan) if is_room else place.path(line, cyclic=True)
            choose(item, "source", made[use])
        if SECOND_TARGETS in uses:
            second = place.target((plan.reach / 2, 0.0, plan.height), name="Second Target")
            choose(item, "second_target", second)


def _container(place: Stage, plan: _Plan) -> bpy.types.Object:
    """A box around the agents, not rendered."""
    half = 1.3 * plan.spread + 6.0 * plan.body
    if PATHS in plan.uses:
        # agents that run for a path outside would be stopped at the wall
        half = max(half, plan.way + 6.0 * plan.body)
    low = max(plan.height - half, 0.0) if plan.flies else -2.0 * plan.body
    size = (2.0 * half, 2.0 * half, plan.height + half - low)
    return place.space("box", (0.0, 0.0, low), "Container", size=size)


def _show(place: Stage, plan: _Plan, crowd: bpy.types.Object) -> None:
    """Set the display of the agents."""
    looks: dict[str, dict[str, Any]] = {
        "PERSON": {"kind": "people"},
        "ANIMAL": {"kind": "animal", "name": "Animal", "length": 3.5 * plan.body, "girth": 0.4},
        "FISH": {"kind": "fish", "name": "Fish", "length": 4.0 * plan.body},
        "CONE": {"kind": "cones"},
    }
    colors = {"ANIMAL": "#9C7A54", "FISH": "#E88B3A", "CONE": "#C8502F"}
    figure = plan.start.figure if plan.wish.bodies else "CONE"
    place.show(crowd, color=colors.get(figure, ""), **looks[figure])
    if figure == "PERSON":
        # in the viewport all clothes have one color, which would be the darkest of them
        person: Any = crowd.steer.bake_source_object
        person.data.materials[0].diffuse_color = VIEWPORT_CLOTHES


def worth_seeing(
    before: Sequence[bpy.types.Object], crowd: bpy.types.Object, scene: bpy.types.Scene
) -> list[bpy.types.Object]:
    """Objects of a started crowd to frame in the view: the crowd, and its targets.

    Ground and container are much larger: in a view of them the agents would be specks.

    Args:
        before: Objects that were in the scene before.
        crowd: The crowd.
        scene: Its scene.
    """
    known = {obj.session_uid for obj in before}
    large = {crowd.steer.ground}
    for item in crowd.steer.behaviors:
        if CONTAINER in REGISTRY[item.type].definition.uses:
            large.add(item.source_object)
    return [obj for obj in scene.objects if obj.session_uid not in known and obj not in large]
