"""Contacts: nobody inside anybody, and nobody through a wall, whatever the behaviors asked for.

The last part of a step. It takes where agents wish to be, and lets them go as far as there is room:
`near` finds whom each one may meet, `passes` moves them inside of cells that cannot overlap,
`walls` makes planes of the colliders near an agent. Bodies are discs in GROUND motion and spheres
in FLY, as large as the agents' radius.

An agent that was held up has the velocity of what it really went, no faster than it wished; its
heading stays the one of its wish, so that a crowd that pushes does not look about.
"""

from __future__ import annotations

import numpy as np

from .. import bvh, jit
from ..agents import Agents
from ..settings import CrowdSettings
from ..views import F32, WorldView
from .near import F64, NearView, find_near
from .passes import BodyView, SpaceView, pass_kernel, walled_kernel

__all__ = ["resolve"]

BACKING = 0.5
"""Farthest that overlapping bodies back out in a step, as a share of their radius."""


def resolve(before: Agents, after: Agents, settings: CrowdSettings, sees: WorldView) -> None:
    """Take back of a step what bodies and walls do not allow.

    Args:
        before: The crowd before the step.
        after: The crowd after it; positions, velocities and normals are corrected.
        settings: What the crowd is told.
        sees: The world after the step.
    """
    told = settings.bodies
    space = _space(settings, sees)
    if before.count == 0 or not (told.collide_agents or len(space.walls.link)):
        return
    bodies = _bodies(before, after, sees.dt, told.iterations)
    near = _near(bodies, space, told.iterations)
    walled = np.zeros(before.count, np.uint8)
    if len(space.walls.link):
        jit.parallel_for(walled_kernel, before.count, bodies, space, near.span, walled)
    place = bodies.start.astype(np.float64)
    normal = before.normal.copy()
    for _pass in range(told.iterations):
        gone = np.empty_like(place)
        jit.parallel_for(
            pass_kernel, before.count, bodies, space, near, walled, place, normal, gone
        )
        place = gone
    _correct(before, after, place, normal, space.flat, sees.dt)


def _space(settings: CrowdSettings, sees: WorldView) -> SpaceView:
    told = settings.bodies
    return SpaceView(
        walls=sees.colliders if told.collide_colliders else bvh.EMPTY,
        ground=sees.ground,
        eye=sees.eye_height,
        rise=float(settings.motion.step_height),
        min_up=sees.min_up,
        flat=sees.flat,
        together=told.collide_agents,
    )


def _bodies(before: Agents, after: Agents, dt: float, passes: int) -> BodyView:
    moves = before.max_speed > 0.0
    back = np.minimum(before.max_speed * dt, BACKING * before.radius.astype(np.float64))
    return BodyView(
        id=before.id,
        radius=before.radius,
        give=np.where(moves, 1.0 / before.mass.astype(np.float64), 0.0),
        back=back / passes,
        start=before.position,
        goal=after.position.copy(),
        goal_normal=after.normal.copy(),
    )


def _near(bodies: BodyView, space: SpaceView, passes: int) -> NearView:
    way = bodies.goal.astype(np.float64) - bodies.start
    if space.flat:
        way[:, 2] = 0.0
    backing = bodies.back * passes
    wish: F64 = np.maximum(np.sqrt(np.einsum("ij,ij->i", way, way)), backing)
    if not space.together:
        count = len(wish)
        none = np.zeros(count, np.int32)
        return NearView(none, np.zeros((count, 0), np.int32), wish, wish, none, wish)
    rise, flat = space.rise, space.flat
    return find_near(bodies.start, bodies.id, bodies.radius, wish, backing, rise, flat)


def _correct(before: Agents, after: Agents, place: F64, normal: F32, flat: bool, dt: float) -> None:
    """Write where agents really got to, for those that did not get where they wished."""
    reached = place.astype(np.float32)
    held = np.flatnonzero((reached != after.position).any(axis=1))
    if not len(held):
        return
    done = reached[held].astype(np.float64) - before.position[held]
    if flat:
        done[:, 2] = 0.0
    velocity = done / dt
    speed = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
    wished = after.velocity[held].astype(np.float64)
    # contacts only take speed away: who is pushed does not fly off
    most = np.sqrt(np.einsum("ij,ij->i", wished, wished))
    velocity *= np.minimum(1.0, most / np.maximum(speed, 1.0e-30))[:, None]
    after.position[held] = reached[held]
    after.velocity[held] = velocity
    after.normal[held] = normal[held]
