"""Obstacle zones: brake, bend, slide along the wall, turn back to the goal.

One ray along v, as long as look_ahead; hit distance d, normal n turned against the ray. The state,
shown as the agent attribute `zone`, is

0 free   nothing ahead: no proposal.
1 push   d > pull_distance: Δ = n · min(push_strength, |v| - push_speed), only above push_speed.
2 pull   slide_distance < d ≤ pull_distance: Δ = push_strength · t, t the wall tangent with the sign
         of v; head-on that of the desired velocity, else by id.
3 slide  d ≤ slide_distance: the velocity is set to t at cruise speed. t is kept until slide_until:
         TWO_RADII  a ray toward the wall, 2·r long, finds nothing: then turn.
         IN_SIGHT   such a ray of r + max(r, slide_distance) does, or the goal comes in sight.
4 turn   the velocity is set at cruise speed and turned toward the goal by at most turn_rate; slide
         again when something is within slide_distance. Free
         TWO_RADII  when the goal is in sight.
         IN_SIGHT   when turned to the goal, or when it is in sight and not behind.

Symbols: v velocity [m/s], r body radius [m], d and distances [m], Δ [m/s].
Source: Unity tutorial of a three-zone obstacle avoider (look_ahead 10, pull 5, slide 2, cruise 10,
push_speed 8, turn 10 rad/s there). Leaving a slide only nearer to the goal: Lumelsky and Stepanov
1987, "Path-planning strategies for a point mobile automaton moving amidst unknown obstacles".

Decided beyond the sources:

- TWO_RADII is the source's rule, and the preset unity_zones takes it. With slide_distance > r the
  ray does not reach the wall from where the slide began: the slide ends at once, the agent turns
  to the goal behind the wall until that is within slide_distance on its way, slides again, and so
  comes in a few short curves to within 2·r, where the slide lasts. Around a closed obstacle it
  lasts for as long as another one hides the goal. IN_SIGHT reaches the wall from where the slide
  began, is smooth, leaves obstacles earlier, and is the default.
- An obstacle within slide_distance along t is the other side of an inner corner: the slide lasts
  there, not back into the first wall; flyers in a right angle follow the edge of both. A wall
  that recedes bends t with it; one that comes nearer is left to the ray ahead, so that t never
  flips between two faces. With IN_SIGHT, an agent whose body would touch the wall leans away from
  it by up to 45°.
- The goal is the target, or without targets the direction of the desired velocity. It is in sight
  when nothing is on the way to it; with IN_SIGHT also when nothing is within look_ahead and it is
  nearer than where the slide began: agents get away from closed obstacles earlier, and do not run
  in circles in a corner.
- With IN_SIGHT a goal behind is turned to around the end of the wall, not back along its front;
  one that is in sight the short way, as all are with TWO_RADII.
- Obstacles behind a target in sight do not count, nor do any with the target within slide_distance:
  agents can arrive in front of a wall.
- Without motion the ray goes along the desired velocity; agents that neither move nor want to stay.
- Whatever else moves an agent, its step ends before a collider that it would cross.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel
from ..numeric.vec import EPSILON, add_scaled, dot, length, load, pick, project, scale, store, unit
from ..parameters import choice, named_choices, param
from ..sensing.declare import COLLIDERS, PUSH, SET, TARGETS, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.sight import eye, first_hit, tangent_by_id
from ..sensing.stop_before_walls import stop_before_walls
from ..sensing.targeting import on_ground, target_choice, target_offset
from ..sensing.units import meters, meters_per_second

SLIDE_UNTIL = named_choices(
    {
        "IN_SIGHT": "The goal comes in sight or the wall has an end: smooth, not in the source",
        "TWO_RADII": "Nothing is within two radii toward the wall: the rule of the source",
    }
)
FREE, PUSHING, PULLING, SLIDING, TURNING = 0, 1, 2, 3, 4

ZONE = 0
WAY = 1
"""Columns 1 to 3 of the memory: unit direction of the slide, or of the turn."""
SIDE = 4
"""Columns 4 to 6, square to the way: the wall's normal, or where to turn for a goal behind."""
BEGUN = 7
"""Distance to the goal where the slide began [m]; 0 where it does not count."""
GRACE = 8
"""Way that may be slid before the wall is beside the agent [m]: it was hit farther on."""
COLUMNS = 9

FAR = 1.0e30
"""Distance of a goal that is only a direction."""
HEAD_ON = 0.01
STANDING = 0.01
"""Share of the maximum speed below which an agent counts as standing."""
CORNERS = 3
"""Corners that one step can take, as at the end of a narrow passage."""


@kernel
def _recall(memory, i, first):
    """Three columns of an agent's memory as a vector."""
    return (
        np.float64(memory[i, first]),
        np.float64(memory[i, first + 1]),
        np.float64(memory[i, first + 2]),
    )


@kernel
def _keep(memory, i, first, v):
    """Write a vector to three columns of an agent's memory."""
    memory[i, first], memory[i, first + 1], memory[i, first + 2] = v


@kernel
def _goal(i, agents, world):
    """Where an agent wants to go: (direction, distance), zero and FAR when it does not."""
    j, offset = target_offset(i, agents, world)
    if j >= 0:
        return unit(offset), length(offset)
    return unit(on_ground(i, agents, world, load(agents.desired, i))), FAR


@kernel
def _motion(i, agents, world):
    """Direction of the ray ahead; zero for an agent that neither moves nor wants to."""
    slowest = max(EPSILON, STANDING * agents.max_speed[i])
    for v in (load(agents.velocity, i), load(agents.desired, i)):
        level = on_ground(i, agents, world, v)
        if length(level) >= slowest:
            return unit(level)
    return (0.0, 0.0, 0.0)


@kernel
def _open(world, origin, direction, reach):
    """Whether nothing is on a ray."""
    triangle, _distance, _normal = first_hit(world, origin, direction, reach)
    return triangle < 0


@kernel
def _in_sight(world, origin, goal, distance, begun, look_ahead):
    """Whether a sliding or turning agent may go for its goal."""
    reach = distance
    if distance < begun or distance >= FAR:
        reach = min(distance, look_ahead)
    wanted = distance < FAR or length(goal) > 0.5
    return wanted and _open(world, origin, goal, reach)


@kernel
def _face(i, agents, world, normal, direction):
    """The wall's normal in the plane of motion; against the ray where it has none there."""
    level = unit(on_ground(i, agents, world, normal))
    return level if length(level) > 0.5 else scale(direction, -1.0)


@kernel
def _along(i, agents, world, normal, motion):
    """The wall tangent on the side of the motion; head-on of the desired velocity, else by id."""
    for v in (motion, on_ground(i, agents, world, load(agents.desired, i))):
        tangent = project(v, normal)
        if length(tangent) > max(HEAD_ON * length(v), EPSILON):
            return unit(tangent)
    return tangent_by_id(i, agents, normal)


@kernel
def _look(i, agents, world, p, origin, goal, distance, memory):
    """The zone of an agent that is not sliding, and its push; a slide is made ready."""
    none = (0.0, 0.0, 0.0)
    motion = _motion(i, agents, world)
    slide_distance = pick(p.slide_distance, i)
    triangle, d, normal = first_hit(world, origin, motion, pick(p.look_ahead, i))
    if triangle < 0:
        return FREE, none
    if distance < FAR and (distance <= slide_distance or dot(motion, goal) * d >= distance):
        if _open(world, origin, goal, distance):
            return FREE, none
    normal = _face(i, agents, world, normal, motion)
    strength = pick(p.push_strength, i)
    if d <= slide_distance:
        _begin(i, agents, world, normal, motion, d, memory)
        memory[i, BEGUN] = 0.0 if int(p.slide_until[0]) == SLIDE_UNTIL.TWO_RADII else distance
        return SLIDING, none
    if d <= pick(p.pull_distance, i):
        return PULLING, scale(_along(i, agents, world, normal, motion), strength)
    excess = length(load(agents.velocity, i)) - pick(p.push_speed, i)
    return PUSHING, scale(normal, min(strength, max(excess, 0.0)))


@kernel
def _begin(i, agents, world, normal, motion, d, memory):
    """Make ready for a slide along what lies at distance d ahead."""
    tangent = _along(i, agents, world, normal, motion)
    _keep(memory, i, WAY, tangent)
    _keep(memory, i, SIDE, normal)
    memory[i, GRACE] = max(dot(motion, tangent), 0.0) * d + agents.radius[i]


@kernel
def _corner(i, agents, world, origin, way, side, reach):
    """The slide (way, side) taken around the inner corners that lie within reach."""
    for _ in range(CORNERS):
        triangle, _distance, normal = first_hit(world, origin, way, reach)
        if triangle < 0:
            break
        face = _face(i, agents, world, normal, way)
        turned = project(way, face)
        if length(turned) < HEAD_ON or dot(unit(turned), side) < -HEAD_ON:
            turned = project(side, face)
        # two walls face to face leave nothing but the way back
        way = unit(turned) if length(turned) > HEAD_ON else scale(way, -1.0)
        side = face
    return way, side


@kernel
def _slide(i, agents, world, p, origin, goal, distance, cruise, fresh, memory):
    """One step of sliding: (zone after it, direction)."""
    slide_distance, radius = pick(p.slide_distance, i), np.float64(agents.radius[i])
    way, side = _recall(memory, i, WAY), _recall(memory, i, SIDE)
    begun, plain = np.float64(memory[i, BEGUN]), int(p.slide_until[0]) == SLIDE_UNTIL.TWO_RADII
    done = fresh or plain
    if not done and _in_sight(world, origin, goal, distance, begun, pick(p.look_ahead, i)):
        # nothing is between: the short way, which may lie around the end of the wall
        short = unit(project(goal, way))
        _keep(memory, i, SIDE, short if length(short) > 0.0 else side)
        return TURNING, way
    lean = (0.0, 0.0, 0.0)
    reach = 2.0 * radius if plain else radius + max(radius, slide_distance)
    triangle, d, normal = first_hit(world, origin, scale(side, -1.0), reach)
    if triangle >= 0:
        memory[i, GRACE] = 0.0
        face = _face(i, agents, world, normal, scale(side, -1.0))
        gap = d * dot(side, face)
        if gap < radius and not plain:
            lean = scale(face, 1.0 - max(gap, 0.0) / radius)
        bent = project(way, face)
        if dot(way, face) > 0.0 and length(bent) > HEAD_ON:
            way, side = unit(bent), face
    elif memory[i, GRACE] > 0.0 and not plain:
        memory[i, GRACE] -= cruise * world.dt
    elif not (fresh and plain):
        _keep(memory, i, SIDE, scale(side, -1.0))
        return TURNING, way
    way, side = _corner(i, agents, world, origin, way, side, slide_distance)
    _keep(memory, i, WAY, way)
    _keep(memory, i, SIDE, side)
    return SLIDING, unit(add_scaled(way, lean, 1.0))


@kernel
def _turned(way, side, goal, most, plain):
    """(way, side) after a turn by `most` [rad] toward the goal.

    To one behind through `side`, unless the turn is a plain one.
    """
    short = unit(project(goal, way))
    if dot(way, goal) >= 0.0 or (plain and length(short) > 0.0):
        side = short
    c, s = math.cos(most), math.sin(most)
    turned = unit(add_scaled(scale(way, c), side, s))
    return turned, unit(project(add_scaled(scale(side, c), way, -s), turned))


@kernel
def _turn(i, agents, world, p, origin, goal, distance, memory):
    """One step of turning: the zone after it; a slide is made ready."""
    slide_distance = pick(p.slide_distance, i)
    most = min(math.radians(pick(p.turn_rate, i)) * world.dt, 0.5 * math.pi)
    way, side = _recall(memory, i, WAY), _recall(memory, i, SIDE)
    begun, plain = np.float64(memory[i, BEGUN]), int(p.slide_until[0]) == SLIDE_UNTIL.TWO_RADII
    if length(goal) < 0.5:
        return FREE
    if distance <= slide_distance and _open(world, origin, goal, distance):
        return FREE
    if dot(way, goal) < math.cos(most):
        way, side = _turned(way, side, goal, most, plain)
    elif plain:
        way = goal
    else:
        return FREE
    if plain or dot(way, goal) >= 0.0:
        if _in_sight(world, origin, goal, distance, begun, pick(p.look_ahead, i)):
            return FREE
    _keep(memory, i, WAY, way)
    _keep(memory, i, SIDE, side)
    triangle, d, normal = first_hit(world, origin, way, slide_distance)
    if triangle < 0:
        return TURNING
    _begin(i, agents, world, _face(i, agents, world, normal, way), way, d, memory)
    return SLIDING


@kernel
def obstacle_zones_kernel(start, stop, agents, world, p, memory, out, active):
    """Push in the outer zones, set the velocity in the inner ones."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        origin = eye(i, agents, world)
        goal, distance = _goal(i, agents, world)
        cruise = pick(p.cruise_speed, i)
        if cruise <= 0.0:
            cruise = np.float64(agents.max_speed[i])
        before = int(memory[i, ZONE])
        zone, value = before, (0.0, 0.0, 0.0)
        if before == TURNING:
            zone = _turn(i, agents, world, p, origin, goal, distance, memory)
            value = _recall(memory, i, WAY)
        elif before != SLIDING:
            zone, value = _look(i, agents, world, p, origin, goal, distance, memory)
        if zone == SLIDING:
            fresh = before != SLIDING
            zone, value = _slide(i, agents, world, p, origin, goal, distance, cruise, fresh, memory)
        memory[i, ZONE] = zone
        if zone >= SLIDING:
            store(out, i, scale(value, cruise))
            active[i] = SET
        elif zone != FREE and length(value) > 0.0:
            store_proposal(out, active, i, value)


@behavior(
    label="Obstacle Zones",
    output=PUSH,
    kernel=obstacle_zones_kernel,
    uses=(TARGETS, COLLIDERS),
    memory_width=COLUMNS,
    icon="MOD_DYNAMICPAINT",
    group="Obstacles",
    constraint=stop_before_walls,
    shows={"zone": ZONE},
)
class ObstacleZones(Behavior):
    """Brake before obstacles, slide along them, and turn back to the goal."""

    needs_target = False
    looks_by = ("look_ahead",)
    look_ahead: float = meters(
        4.0, soft_maximum=50.0, doc="Length of the ray along the motion; more reacts earlier"
    )
    pull_distance: float = meters(
        2.0,
        soft_maximum=50.0,
        doc="Nearer obstacles bend the way along them, farther ones brake; more bends earlier",
    )
    slide_distance: float = meters(
        0.8,
        soft_maximum=50.0,
        doc="Agents this near slide along the obstacle; more keeps farther away from it",
    )
    push_speed: float = meters_per_second(
        0.7,
        soft_maximum=50.0,
        doc="Agents brake before obstacles only above this speed; more brakes less",
    )
    push_strength: float = meters_per_second(
        1.4,
        soft_maximum=50.0,
        doc="Strongest push while braking and bending; more brakes and bends harder",
    )
    cruise_speed: float = meters_per_second(
        0.0,
        soft_maximum=50.0,
        doc="Speed while sliding and turning; more is faster, 0 takes the maximum speed",
        zero="Max Speed",
    )
    turn_rate: float = param(
        180.0,
        unit="deg/s",
        minimum=1.0,
        soft_maximum=720.0,
        doc="Fastest turn back to the goal; more makes tighter curves around the ends of walls",
    )
    slide_until: str = choice(
        "IN_SIGHT",
        SLIDE_UNTIL,
        doc="When agents stop sliding along a wall and turn to their goal",
    )
    target_choice: str = target_choice()
