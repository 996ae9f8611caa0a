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
from . import distribute, lines, shapes
from .figures import BODY_RADIUS
from .staging import Stage, steer_by

VIEWPORT_CLOTHES = (0.13, 0.37, 0.62, 1.0)
_AHEAD = np.array([0.0, 1.0, 0.0], np.float32)
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
    """Sizes of the new objects [m]."""

    body: float
    spread: float
    reach: float
    height: float
    flies: bool
    uses: frozenset[str]
    start: StartSettings


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
    preset = load_preset(wish.preset, *crowds.user_preset_folders())
    settings = replace(preset.settings, seed=wish.seed)
    plan = _plan(settings, complete_start(preset.start, settings), wish.count)
    place = Stage(scene, scene.cursor.location, COLLECTIONS)
    line = _line(plan)
    spots = _spots(plan) if plan.start.scenery != "NONE" and wish.obstacles else []
    points, headings, attributes = _agents(plan, wish, line, spots)
    _obstacles(place, plan, spots)
    crowd = place.crowd(settings, points, headings=headings, attributes=attributes)
    if not plan.flies:
        crowd.steer.ground = _ground(place, plan, wish, active)
    if plan.start.target != "NONE":
        steer_by(crowd, _target(place, plan, settings))
    _sources(place, plan, crowd, line)
    _show(place, plan, crowd, wish)
    place.tidy()
    return crowd


def _plan(settings: CrowdSettings, start: StartSettings, count: int) -> _Plan:
    acting = [b for b in settings.behaviors if b.enabled and b.weight > 0.0]
    body = max(settings.agents.radius, 0.02)
    flies = settings.motion.motion == "FLY"
    near = [getattr(b, b.keeps_apart_by) for b in acting if b.keeps_apart_by]
    gap = max([4.0 * body, *(0.7 * float(distance) for distance in near)])
    spread = gap * (0.8 * count ** (1 / 3) if flies else 0.75 * math.sqrt(count))
    spread = max(spread, 4.0 * body)
    reach = spread + min(max(4.0 * settings.agents.max_speed, 24.0 * body), 100.0 * body)
    return _Plan(
        body=body,
        spread=spread,
        reach=reach,
        height=spread + 6.0 * body if flies else 0.0,
        flies=flies,
        uses=frozenset(use for b in acting for use in b.definition.uses),
        start=start,
    )


def _way_radius(plan: _Plan) -> float:
    """Largest distance of the path from the middle [m]."""
    return 0.6 * plan.reach + 4.0 * plan.body


def _line(plan: _Plan) -> Any:
    """A closed round path through the agents' region, shape (n, 3)."""
    line = lines.circle(_way_radius(plan)) * (1.0, 0.7, 1.0)
    return line + (0.0, 0.0, plan.height)


def _agents(
    plan: _Plan, wish: Wish, line: Any, spots: Sequence[tuple[float, float, float]]
) -> tuple[Any, Any, dict[str, Any]]:
    """Points, headings and attributes of the crowd, around the 3D cursor."""
    toward = (0.0, -1.0, 0.0)
    if plan.start.placement == "LANES":
        closed = np.concatenate([line, line[:1]])
        files = (-1.0, 0.0, 1.0)
        rows = -(-wish.count // len(files))
        total = lines.length_of(closed)
        step = min(6.0 * plan.body, 0.95 * total / max(rows, 1))
        along = np.repeat(step * np.arange(rows), len(files))[: wish.count]
        lane = 4.0 * plan.body * np.tile(files, rows)[: wish.count]
        points, heading = lines.places(closed, along, lane)
        return points, heading, {"lane": lane}
    back = 0.5 * plan.reach if plan.start.placement == "FACING" else 0.0
    if plan.flies:
        points = distribute.ball_of_points(wish.count, plan.spread, seed=wish.seed)
        return points + (0.0, back, plan.height), toward, {}
    gap = 2.5 * plan.body
    places = distribute.disc_points(wish.count + 60, plan.spread, gap, wish.seed)
    if back:
        return places[: wish.count] + _AHEAD * np.float32(back), toward, {}
    free = [p for p in places if all(math.dist(p[:2], s[:2]) > s[2] + gap for s in spots)]
    return np.array(free[: wish.count], np.float32).reshape(-1, 3), toward, {}


def _target(place: Stage, plan: _Plan, settings: CrowdSettings) -> bpy.types.Object:
    """Add the target of the crowd: ahead of it, circling among the agents, or leading them."""
    ahead = (0.0, -0.5 * plan.reach, plan.height)
    target = place.target(ahead, size=2.0 * plan.body)
    if not plan.flies:
        place.flag(target, plan.body / BODY_RADIUS)
    lap = _lap(plan)
    if lap:
        _go_round(place, target, plan, lap, 0.55 * settings.agents.max_speed)
    return target


def _lap(plan: _Plan) -> float:
    """Radius of the circle that the target moves on [m]; 0 if it stands still."""
    share = {"AMONG": 0.6, "LEADS": 0.9}.get(plan.start.target)
    return 0.0 if share is None else share * plan.spread + 6.0 * plan.body


def _go_round(
    place: Stage, target: bpy.types.Object, plan: _Plan, radius: float, speed: float
) -> None:
    """Key a target on a circle, over all frames of the scene."""
    scene = place.scene
    fps = scene.render.fps / scene.render.fps_base
    lap = max(2.0 * math.pi * radius / max(speed, 1.0e-3) * fps, 8.0)
    steps = np.arange(0.0, scene.frame_end - scene.frame_start + lap / 16, lap / 16)
    turns = -math.pi / 2 + 2.0 * math.pi * steps / lap
    keys = {}
    for step, turn in zip(steps, turns, strict=True):
        place_on = Vector((radius * math.cos(turn), radius * math.sin(turn), plan.height))
        keys[scene.frame_start + float(step)] = place.origin + place_on
    place.move(target, keys)


def _spots(plan: _Plan) -> list[tuple[float, float, float]]:
    """Obstacles clear of the way of a circling target: x, y and radius [m]."""
    unit = plan.body / BODY_RADIUS
    width = max(0.6 * plan.spread, 3.0 * unit)
    spots = [(-width, 0.0), (0.1 * width, -0.25 * width), (width, 0.15 * width)]
    if PATHS in plan.uses or _lap(plan):
        spots = [(-width, width), (width, 0.8 * width), (-0.8 * width, -width), (width, -width)]
    if plan.start.placement == "LANES":
        # inside of the common circular path
        spots = [(0.0, 0.0)]
    found = []
    for number, (x, y) in enumerate(spots):
        size = unit * (0.8 + 0.25 * (number % 2)) * (2.0 if plan.flies else 1.0)
        far, free = math.hypot(x, y), size + 4.0 * plan.body
        if far and abs(far - _lap(plan)) < free:
            x, y = (value * (_lap(plan) + free) / far for value in (x, y))
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


def _ground(
    place: Stage, plan: _Plan, wish: Wish, active: bpy.types.Object | None
) -> bpy.types.Object | None:
    """An existing ground, or a new level one; None if none is wanted."""
    for crowd in crowds.crowds(place.scene):
        if crowd.steer.ground is not None:
            return crowd.steer.ground
    if active is not None and is_ground(active, plan.spread):
        return active
    if not wish.ground:
        return None
    size = 2.5 * (plan.reach + plan.spread)
    return place.ground(size, size)


def is_ground(obj: bpy.types.Object, width: float) -> bool:
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
            item.source_kind, item.source_object = "OBJECT", made[use]
        if SECOND_TARGETS in uses:
            second = place.target((plan.reach / 2, 0.0, plan.height), name="Second Target")
            item.second_target_kind, item.second_target_object = "OBJECT", second


def _container(place: Stage, plan: _Plan) -> bpy.types.Object:
    """A box around the agents, not rendered."""
    half = 1.3 * plan.spread + 6.0 * plan.body
    if PATHS in plan.uses:
        # agents that run for a path outside would be stopped at the wall
        half = max(half, _way_radius(plan) + 6.0 * plan.body)
    low = max(plan.height - half, 0.0) if plan.flies else -2.0 * plan.body
    size = (2.0 * half, 2.0 * half, plan.height + half - low)
    return place.space("box", (0.0, 0.0, low), "Container", size=size)


def _show(place: Stage, plan: _Plan, crowd: bpy.types.Object, wish: Wish) -> None:
    """Set the display of the agents."""
    figure = plan.start.figure if wish.bodies else "CONE"
    if figure == "FISH":
        size = 4.0 * plan.body
        place.show_mesh(crowd, shapes.fish_mesh("Fish", size), "#E88B3A")
    elif figure == "ANIMAL":
        place.show_mesh(crowd, shapes.animal_mesh("Animal", 3.5 * plan.body, 0.4), "#9C7A54")
    elif figure == "PERSON":
        place.show_people(crowd)
        # in the viewport all clothes have one color, which would be the darkest of them
        person: Any = crowd.steer.bake_source_object
        person.data.materials[0].diffuse_color = VIEWPORT_CLOTHES
    else:
        place.show_cones(crowd, "#C8502F")


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
