"""Crowds from presets with all their inputs: ground, target, path, container, obstacles.

The inputs follow from what the preset's behaviors read, so the user's own presets start
as well as the built-in ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.behaviors import REGISTRY
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS
from ..crowd import crowds
from . import path_curves
from .beside import free_origin
from .figures import BODY_RADIUS
from .plans import AUTO, Plan, Spot, Wish, plan_of
from .staging import Stage, choose, new_parent

VIEWPORT_CLOTHES = (0.13, 0.37, 0.62, 1.0)
COLLECTIONS = ("Crowd Set", "Crowd Obstacles", "Crowd Bodies")


def start(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, wish: Wish) -> bpy.types.Object:
    """Make a crowd from a preset around the 3D cursor, with all its inputs.

    Where other crowds start, stand or walk already, it is made beside them, on their ground.

    Args:
        scene: Scene of the new objects.
        layer: Its view layer: new objects go to the active collection, and the active object may
            be the ground.
        wish: The user's options.

    Returns:
        The crowd object.

    Raises:
        SteerError: The preset cannot be used.
    """
    plan = plan_of(wish)
    spots = plan.spots()
    arrangement = plan.arrangement(spots)
    places = arrangement.places(wish.count)
    ground = None if plan.flies else _existing_ground(scene, layer.objects.active, plan)
    origin, ground = free_origin(scene, plan.box(places.points), ground, plan.new_ground())
    place = Stage(scene, origin, COLLECTIONS, new_parent(scene, layer))
    _obstacles(place, plan, spots)
    crowd = place.crowd(
        plan.settings,
        places.points,
        headings=places.headings,
        attributes=places.attributes,
        arrangement=arrangement.to_text(),
    )
    if not plan.flies:
        crowd.steer.ground = ground or _new_ground(place, plan)
    if plan.start.target != "NONE":
        choose(crowd.steer, "target", _target(place, plan))
    _sources(place, plan, crowd)
    _show(place, plan, crowd)
    place.tidy()
    return crowd


def _target(place: Stage, plan: Plan) -> bpy.types.Object:
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


def _obstacles(place: Stage, plan: Plan, spots: Sequence[Spot]) -> None:
    """Add a few obstacles around the middle."""
    for spot in spots:
        at = (spot.x, spot.y, spot.z)
        if plan.start.scenery == "BALLS":
            place.solid("ball", at, radius=spot.radius)
        elif plan.start.scenery == "SPHERES":
            place.sphere(at, spot.radius)
        else:
            place.solid("pillar", at, radius=spot.radius, height=12.0 * plan.body)


def _existing_ground(
    scene: bpy.types.Scene, active: bpy.types.Object | None, plan: Plan
) -> bpy.types.Object | None:
    """The ground of another crowd, or the active mesh if it is one."""
    if plan.wish.ground != AUTO:
        return None
    for crowd in crowds.crowds(scene):
        if crowd.steer.ground is not None:
            return crowd.steer.ground
    return active if active is not None and _is_ground(active, plan.spread) else None


def _new_ground(place: Stage, plan: Plan) -> bpy.types.Object | None:
    """A new level ground; None if none is wanted."""
    size = plan.new_ground()
    return place.ground((size, size)) if size else None


def _is_ground(obj: bpy.types.Object, width: float) -> bool:
    """Whether a mesh is wide and flat enough for a crowd to walk on."""
    if obj.type != "MESH" or crowds.is_crowd(obj) or not obj.data.polygons:
        return False
    x, y, z = obj.dimensions
    return bool(min(x, y) >= 2.0 * width and z < 0.5 * min(x, y))


def _sources(place: Stage, plan: Plan, crowd: bpy.types.Object) -> None:
    """Add the paths, fields, containers and second targets of behaviors."""
    line = path_curves.oval(plan.way, (0.0, 0.0, plan.height))
    made: dict[str, bpy.types.Object] = {}
    for item in crowd.steer.behaviors:
        uses = set(REGISTRY[item.type].definition.uses)
        for use in uses & {PATHS, FIELD, CONTAINER}:
            if use not in made:
                is_room = use == CONTAINER
                made[use] = _container(place, plan) if is_room else place.path(line, cyclic=True)
            choose(item, "source", made[use])
        if SECOND_TARGETS in uses:
            second = place.target(plan.second_target, name="Second Target")
            choose(item, "second_target", second)


def _container(place: Stage, plan: Plan) -> bpy.types.Object:
    """A box around the agents, not rendered."""
    half, low = plan.container()
    size = (2.0 * half, 2.0 * half, plan.height + half - low)
    return place.space("box", (0.0, 0.0, low), "Container", size=size)


def _show(place: Stage, plan: Plan, crowd: bpy.types.Object) -> None:
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
