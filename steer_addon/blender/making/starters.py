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
from ...core.errors import SceneError
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS
from ..crowd import crowds
from ..reading.extents import holds, start_box
from ..scene_units import units_per_meter
from . import path_curves
from .figures import BODY_RADIUS
from .grounds import Field, Site, choose_field, find_site, free_origin
from .plans import ACTIVE, Plan, Spot, Wish, plan_of
from .staging import Stage, choose, new_parent

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
    plan = plan_of(wish, units_per_meter(scene))
    field = choose_field(scene, layer, plan)
    site, ground = _site(scene, plan, field)
    place = Stage(scene, site.origin, COLLECTIONS, new_parent(scene, layer), plan.unit)
    _obstacles(place, plan, site.spots)
    crowd = place.crowd(
        plan.settings,
        site.places.points,
        headings=site.places.headings,
        attributes=site.places.attributes,
        arrangement=site.arrangement.to_text(),
    )
    if not plan.flies:
        crowd.steer.ground = ground or _new_ground(place, plan)
    if plan.start.target != "NONE":
        choose(crowd.steer, "target", _target(place, plan, site))
    _sources(place, plan, crowd, site)
    _show(place, plan, crowd)
    place.tidy()
    return crowd


def _site(
    scene: bpy.types.Scene, plan: Plan, field: Field | None
) -> tuple[Site, bpy.types.Object | None]:
    """Where the crowd stands, and the ground that is there."""
    cursor, starts = scene.cursor.location, [start_box(c) for c in crowds.crowds(scene)]
    level = field is not None and field.is_level(plan.settings.motion.step_height)
    if field is not None and not level:
        try:
            return find_site(field, plan, cursor, starts), field.obj
        except SceneError:
            if plan.wish.ground == ACTIVE or not starts:
                raise
            field = None
    spots = plan.spots()
    arrangement = plan.arrangement(spots)
    places = arrangement.places(plan.wish.count)
    box = plan.box(places.points)
    there = None if field is None else field.obj
    origin, ground = free_origin(scene, box, there, plan.new_ground())
    if field is not None and (ground or plan.wish.ground == ACTIVE):
        if not holds(field.box, box + np.array(origin)):
            # the ground ends near the cursor
            return find_site(field, plan, cursor, starts), field.obj
        origin.z = float(field.box[1, 2])
    return Site(origin, arrangement, places, spots, plan.target), ground


def _target(place: Stage, plan: Plan, site: Site) -> bpy.types.Object:
    """Add the target of the crowd: ahead of it, circling among the agents, or leading them."""
    target = place.target(site.target, size=2.0 * plan.body)
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
            lifted = Vector(site.lifted([on_circle])[0].tolist())
            keys[scene.frame_start + float(step)] = place.origin + lifted
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


def _new_ground(place: Stage, plan: Plan) -> bpy.types.Object | None:
    """A new level ground; None if none is wanted."""
    size = plan.new_ground()
    return place.ground((size, size)) if size else None


def _sources(place: Stage, plan: Plan, crowd: bpy.types.Object, site: Site) -> None:
    """Add the paths, fields, containers and second targets of behaviors."""
    line = site.lifted(path_curves.oval(plan.way, (0.0, 0.0, plan.height)))
    made: dict[str, bpy.types.Object] = {}
    for item in crowd.steer.behaviors:
        uses = set(REGISTRY[item.type].definition.uses)
        for use in uses & {PATHS, FIELD, CONTAINER}:
            if use not in made:
                is_room = use == CONTAINER
                made[use] = (
                    _container(place, plan, site) if is_room else place.path(line, cyclic=True)
                )
            choose(item, "source", made[use])
        if SECOND_TARGETS in uses:
            second = place.target(site.lifted([plan.second_target])[0], name="Second Target")
            choose(item, "second_target", second)


def _container(place: Stage, plan: Plan, site: Site) -> bpy.types.Object:
    """A box around the agents, not rendered."""
    half, low = plan.container()
    if site.walkable is not None:
        # hills and hollows are in it too
        low = -half
    size = (2.0 * half, 2.0 * half, plan.height + half - low)
    return place.space("box", (0.0, 0.0, low), "Container", size=size)


def _show(place: Stage, plan: Plan, crowd: bpy.types.Object) -> None:
    """Set the display of the agents."""
    looks: dict[str, dict[str, Any]] = {
        "PERSON": {"kind": "people"},
        "ANIMAL": {"kind": "dog"},
        "BIRD": {"kind": "bird"},
        "FISH": {"kind": "fish"},
        "CONE": {"kind": "cones", "color": "#C8502F"},
    }
    place.show(crowd, **looks[plan.start.figure if plan.wish.bodies else "CONE"])


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
