"""Follow wall: seek x + n · wall_distance, x the surface point next to the point ahead, p + v · T.

n is the direction from x to the point ahead; at a point ahead on the surface itself the normal of
the face, turned to the agent. It turns steadily around outer corners, where normals of faces jump.

Symbols: p position [m], v velocity and v_max maximum speed [m/s], T anticipation_time [s], n unit.
Source: Reynolds 1999, "Steering Behaviors For Autonomous Characters", Wall Following.

Decided beyond the sources:

- An agent that stands looks ahead along its heading, as if at maximum speed.
- The point ahead does not go through walls: where the way to it is blocked, x is the point that is
  hit and n the normal there.
- The point sought is at least v_max · T/2 along the wall: by the formula alone, agents that come
  straight at a wall or into an inner corner would stop before it. Along the wall is where v leads,
  and in an inner corner away from the wall that was followed before.
- GROUND: the point ahead is at eye height, and n is level. Only faces too steep to walk on are
  walls: floors and ceilings of a building do not count.

On a straight wall the distance e from the wished one obeys e'' = -(e' + e/T)/τ with relaxation time
τ: it is damped without swinging for T ≥ 4τ, and hardly swings for T ≥ 2τ.
"""

from __future__ import annotations

from ..bvh import triangle_normal
from ..jit import kernel, scratch
from ..parameters import param
from ..triangles_at_once import put_three, three
from ..vec import (
    EPSILON,
    add_scaled,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    sub,
    unit,
)
from ..vicinity import AT, BLOCK, NEAR, SKIP, TRIANGLE, is_free, nearest_around
from ..vicinity import LINES as FIRST_LINE
from .base import COLLIDERS, VELOCITY, Behavior, behavior
from .sight import eye, first_ground_hit, first_hit, tangent_by_id, way
from .targeting import on_ground

NEAREST = 3
"""Column of the memory, after the normal: the nearest triangle + 1, as far as numbers go."""
ORIGIN, ALONG, NORMAL, REACH, WHOLE, LINES = (FIRST_LINE + k for k in (0, 3, 6, 9, 10, 11))
"""Lines of the table after those of `nearest_around`: where an agent looks from [m], its unit way,
the normal of what it would hit, how far it looks, and how far it would at maximum speed [m]."""
TOUCHING = 1.0e-3
"""Nearer to the surface than this [m] the point ahead does not tell a direction."""
CORNER = 0.5
"""How much of the motion goes into the wall, at least, where a corner is seen in it."""
LEAST_PROGRESS = 0.5
"""Share of the way ahead at maximum speed that the point sought lies along the wall."""


@kernel
def _set_out(i, k, agents, world, p, table):
    """Write where agent i looks from, which way, and to where."""
    origin = eye(i, agents, world)
    whole = agents.max_speed[i] * pick(p.anticipation_time, i)
    velocity = on_ground(i, agents, world, load(agents.velocity, i))
    along, speed = way(i, agents, world, velocity), length(velocity)
    reach = whole if speed < EPSILON else speed * pick(p.anticipation_time, i)
    put_three(table, ORIGIN, k, origin)
    put_three(table, ALONG, k, along)
    put_three(table, AT, k, add_scaled(origin, along, reach))
    table[REACH, k], table[WHOLE, k] = reach, whole


@kernel
def _cast(i, k, world, vicinity, memory, table):
    """Look ahead: what is hit is followed, else what is nearest to the point ahead is asked for."""
    origin, along, reach = three(table, ORIGIN, k), three(table, ALONG, k), table[REACH, k]
    if is_free(vicinity, i, origin, three(table, AT, k)):
        triangle, distance, normal = first_ground_hit(world, origin, along, reach)
    else:
        triangle, distance, normal = first_hit(world, origin, along, reach)
    # most often it is that of the last step: the search ends sooner, and finds the same
    table[TRIANGLE, k] = SKIP if triangle >= 0 else int(memory[i, NEAREST]) - 1
    put_three(table, NEAR, k, add_scaled(origin, along, distance))
    put_three(table, NORMAL, k, normal)


@kernel
def _normal(i, k, agents, world, memory, table):
    """Unit normal of what is followed, to the agent's side; the zero vector for nothing."""
    normal, triangle = three(table, NORMAL, k), int(table[TRIANGLE, k])
    if triangle != SKIP:
        memory[i, NEAREST] = triangle + 1
        if triangle < 0:
            return (0.0, 0.0, 0.0)
        point = three(table, NEAR, k)
        normal = sub(three(table, AT, k), point)
        if length(on_ground(i, agents, world, normal)) < TOUCHING:
            normal = triangle_normal(world.colliders, triangle)
            if dot(normal, sub(three(table, ORIGIN, k), point)) < 0.0:
                normal = scale(normal, -1.0)
    return unit(on_ground(i, agents, world, normal))


@kernel
def _tangent(i, agents, along, normal, followed):
    """Unit direction along the wall; `followed` is the normal of the wall before, or zero."""
    into = -dot(along, normal)
    tangent = project(along, normal)
    if into > CORNER and dot(tangent, followed) <= 0.0 and length(project(followed, normal)) > 0.1:
        tangent = project(followed, normal)
    if length(tangent) > 1.0e-3:
        return unit(tangent)
    return tangent_by_id(i, agents, normal)


@kernel
def _wish(i, k, agents, world, p, memory, table):
    """Desired velocity to a point beside the wall; the zero vector where there is none."""
    normal = _normal(i, k, agents, world, memory, table)
    if not length(normal) > 0.5:
        return (0.0, 0.0, 0.0)
    along = three(table, ALONG, k)
    tangent = _tangent(i, agents, along, normal, load(memory, i))
    if -dot(along, normal) <= CORNER:
        store(memory, i, normal)
    aside = sub(three(table, NEAR, k), three(table, ORIGIN, k))
    sought = on_ground(i, agents, world, add_scaled(aside, normal, pick(p.wall_distance, i)))
    missing = LEAST_PROGRESS * table[WHOLE, k] - dot(sought, tangent)
    sought = add_scaled(sought, tangent, max(missing, 0.0))
    if length(sought) < EPSILON:
        return (0.0, 0.0, 0.0)
    return unit(sought)


@kernel
def follow_wall_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to a point beside the wall, a little ahead; some agents at a time."""
    table = scratch(LINES, BLOCK)
    least = max(world.min_up, 0.0) if world.flat else -1.0
    for first in range(start, stop, BLOCK):
        count = min(BLOCK, stop - first)
        for k in range(count):
            _set_out(first + k, k, agents, world, p, table)
        for k in range(count):
            _cast(first + k, k, world, p.vicinity, memory, table)
        nearest_around(world.colliders, least, p.vicinity, first, world.step, count, table)
        for k in range(count):
            i = first + k
            wish = _wish(i, k, agents, world, p, memory, table)
            if dot(wish, wish) > 0.0:
                store(out, i, scale(wish, agents.max_speed[i]))
                active[i] = 1


@behavior(
    label="Follow Wall",
    output=VELOCITY,
    kernel=follow_wall_kernel,
    uses=(COLLIDERS,),
    memory_width=4,
    vicinity=True,
    icon="MOD_OUTLINE",
    group="Obstacles",
)
class FollowWall(Behavior):
    """Walk along the nearest wall at a distance from it."""

    looks_by = ("anticipation_time",)
    anticipation_time: float = param(
        1.0,
        unit="s",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=5.0,
        doc="How far ahead the wall is looked at; more is smoother and cuts corners",
    )
    wall_distance: float = param(
        1.0,
        unit="m",
        minimum=0.0,
        soft_maximum=20.0,
        doc="Distance from the wall; more walks farther away from it",
    )
