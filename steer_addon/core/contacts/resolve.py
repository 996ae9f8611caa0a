"""The contacts of one step: from the agents that each may meet to the places that they reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..bounds import lengths
from ..compiled import jit
from ..crowd.settings import CrowdSettings
from ..geometry import bvh, ground
from ..inputs.world import Colliders
from ..views import F32, WorldView
from .free import free_kernel
from .heaps import FARTHEST, HEAP, heap_levels
from .moved import MovedView, carry_kernel, hold_kernel
from .near import Known, NearView, Touching, find_near, touching
from .passes import BodyView, SpaceView, correct_kernel, pass_kernel, prepare_kernel, walled_kernel
from .pushes import pushed

JUMP = 1.5
"""An agent this many times farther away than its velocity leads did not walk there."""


def resolve(
    before: Agents,
    after: Agents,
    settings: CrowdSettings,
    sees: WorldView,
    moved: MovedView | None = None,
    known: Known | None = None,
) -> None:
    """Undo the part of a step that bodies and walls do not allow.

    Args:
        before: The crowd before the step.
        after: The crowd after it; positions, velocities and normals are corrected.
        settings: Settings of the crowd.
        sees: The world after the step.
        moved: The colliders that moved in it, from `find_moved`.
        known: Neighbors of all agents before it.
    """
    told = settings.bodies
    space = _space(settings, sees, moved)
    if before.count == 0 or not (told.collide_agents or len(space.walls.link)):
        return
    bodies = _bodies(before, after)
    touched = np.zeros(before.count, np.uint8)
    if moved is not None and told.collide_colliders:
        bodies = bodies._replace(start=_carried(before, after, moved, space, touched))
    if any(b.enabled and b.definition.constraint is not None for b in settings.behaviors):
        bodies = _landed(bodies, after, settings, sees, touched)
    if bodies.start is not before.position:
        known = None
    bodies, near, touch = _near(bodies, before, space, sees.dt, told.iterations, known)
    if touch.deepest > HEAP:
        levels = heap_levels(near, bodies.start, bodies.radius, space.flat)
        bodies = bodies._replace(level=levels)
    walled = np.zeros(before.count, np.uint8)
    if len(space.walls.link):
        jit.parallel_for(walled_kernel, before.count, bodies, space, near.span, walled)
    held = moved is not None and bool(touched.any())
    if not (held or len(touch.rows) or walled.any()):
        return
    if space.together:
        goal, shifted = pushed(bodies, space, near, touch, walled)
        bodies = bodies._replace(goal=goal, shifted=shifted)
    place, normal = bodies.start.astype(np.float64), before.normal.copy()
    rows, busy = np.arange(before.count), np.ones(before.count, np.uint8)
    passes = told.iterations
    while passes > 0:
        at_once = passes if jit.runs_alone(len(rows)) and not held else 1
        gone, turned = place.copy(), normal.copy()
        state = (bodies, space, near, walled, place, turned, gone, busy, at_once)
        jit.parallel_for(pass_kernel, len(rows), rows, *state)
        if moved is not None and held:
            seen = (moved, space.eye, before.radius, space.flat, before.position, touched)
            jit.parallel_for(hold_kernel, before.count, *seen, place, normal, gone, turned)
        place, normal = gone, turned
        passes -= at_once
        if passes > 0:
            rows = np.flatnonzero(busy)
    outcome = (before.position, place, normal, space.flat, sees.dt)
    result = (after.position, after.velocity, after.normal)
    jit.parallel_for(correct_kernel, before.count, *outcome, *result, chunk=jit.MANY)


def _landed(
    bodies: BodyView,
    after: Agents,
    settings: CrowdSettings,
    sees: WorldView,
    touched: NDArray[np.uint8],
) -> BodyView:
    """Bodies, of which those that a behavior has put elsewhere start at their new place.

    An agent does not walk to the far side of a container: what lies between does not count.
    """
    way = bodies.goal - bodies.start
    far = lengths(after.velocity) * sees.dt + 2.0 * settings.motion.step_height
    rows = np.flatnonzero(lengths(way) > JUMP * far + after.radius)
    if not len(rows):
        return bodies
    start, origin = bodies.start.copy(), bodies.origin.copy()
    start[rows] = origin[rows] = after.position[rows]
    touched[rows] = 0
    return bodies._replace(start=start, origin=origin)


def put_free(agents: Agents, settings: CrowdSettings, colliders: Colliders) -> NDArray[np.bool_]:
    """Put agents that are inside of colliders to the nearest free place.

    Args:
        agents: The crowd; its positions are corrected.
        settings: Settings of the crowd.
        colliders: Meshes that agents may not be inside of.

    Returns:
        Which agents were moved, shape (agent_count,).
    """
    flat = settings.motion.motion == "GROUND"
    eye = float(settings.motion.step_height) if flat else 0.0
    moved = np.zeros(agents.count, np.bool_)
    shape = (colliders.bvh, colliders.center, colliders.radius, colliders.first)
    none = np.zeros(len(colliders.radius), np.uint8)
    room = agents.radius
    jit.parallel_for(
        free_kernel, agents.count, *shape, none, eye, room, flat, agents.position, moved
    )
    return moved


def _space(settings: CrowdSettings, sees: WorldView, moved: MovedView | None) -> SpaceView:
    told = settings.bodies
    count = len(sees.collider_radius)
    return SpaceView(
        walls=sees.colliders if told.collide_colliders else bvh.empty(),
        first=sees.collider_first,
        still=np.ones(count, np.uint8) if moved is None else moved.still,
        ground=sees.ground,
        eye=sees.eye_height,
        rise=float(settings.motion.step_height),
        min_up=sees.min_up,
        flat=sees.flat,
        together=told.collide_agents,
    )


def _bodies(before: Agents, after: Agents) -> BodyView:
    """The agents as bodies; `_near` fills in how far each may go."""
    unknown = np.zeros(0)
    return BodyView(
        id=before.id,
        radius=before.radius,
        give=unknown,
        back=unknown,
        origin=before.position,
        start=before.position,
        goal=after.position.copy(),
        goal_normal=after.normal.copy(),
        level=np.full(before.count, FARTHEST, np.uint8),
        shifted=np.zeros(before.count, np.uint8),
    )


def _carried(
    before: Agents,
    after: Agents,
    moved: MovedView,
    space: SpaceView,
    touched: NDArray[np.uint8],
) -> F32:
    """Where agents are after moving colliders have pushed them, on their ground.

    Those that a collider may have touched are marked.
    """
    start = np.empty_like(before.position)
    ways = (before.position, after.position)
    options = (moved, space.eye, before.radius, space.flat, *ways)
    jit.parallel_for(carry_kernel, before.count, *options, start, touched)
    rows = np.flatnonzero((start != before.position).any(axis=1))
    if len(rows) and space.flat and len(space.ground.link):
        feet, _normal, found = ground.place_many(space.ground, start[rows], space.min_up)
        start[rows[found], 2] = feet[found, 2]
    return start


def _near(
    bodies: BodyView,
    before: Agents,
    space: SpaceView,
    dt: float,
    passes: int,
    known: Known | None,
) -> tuple[BodyView, NearView, Touching]:
    """Bodies with how far each may go, the agents that each may touch, and those that touch any."""
    count = before.count
    wish, backing, give, back = np.empty((4, count))
    options = (before.max_speed, before.mass, space.flat, dt, passes)
    written = (wish, backing, give, back)
    jit.parallel_for(prepare_kernel, count, bodies, *options, *written, chunk=jit.MANY)
    bodies = bodies._replace(give=give, back=back)
    if not space.together:
        none, index = np.zeros(count, np.int32), np.zeros((count, 0), np.int32)
        near = NearView(none, index, wish, wish, none, np.zeros(count), wish)
        return bodies, near, touching(near)
    seen = (bodies.start, bodies.id, bodies.radius, wish, backing, space.rise, space.flat)
    return bodies, *find_near(*seen, known)
