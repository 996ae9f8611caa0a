"""Avoid neighbors: choose a way by time to collision (draft)."""

from __future__ import annotations

import math

from ..jit import kernel, scratch
from ..parameters import choice, param
from ..vec import EPSILON, add_scaled, dot, length, load, pick, scale, store, sub, unit
from .base import NEIGHBORS, PUSH, Behavior, behavior
from .flock import parting, seen_neighbors
from .sight import eye, first_hit, sides
from .targeting import on_ground

MOST = 32
TURNS = 8
CANDIDATES = 17
STEP = math.radians(15.0)
X, Y, Z, U, V, W, REACH, CARE, YIELD, THEIRS = range(10)


@kernel
def _cost(rows, count, cx, cy, cz, horizon, speed):
    """Largest threat [0..1] of a candidate velocity in the agent's own frame."""
    worst = 0.0
    for n in range(count):
        care = rows[n, CARE]
        if care <= worst:
            continue
        x, y, z = rows[n, X], rows[n, Y], rows[n, Z]
        wx, wy, wz = cx - rows[n, U], cy - rows[n, V], cz - rows[n, W]
        b = x * wx + y * wy + z * wz
        if b <= 0.0:
            continue
        d2 = x * x + y * y + z * z
        c = d2 - rows[n, REACH]
        a = wx * wx + wy * wy + wz * wz
        if c <= 0.0:
            soft = b * b / (d2 * (0.3 * speed) ** 2 + 1e-12)
            worst = max(worst, care * min(1.0, soft))
            continue
        disc = b * b - a * c
        if disc <= 0.0:
            continue
        t = c / (b + math.sqrt(disc))
        if t < horizon:
            threat = care * (1.0 - t / horizon)
            soft = b * b / (d2 * (0.3 * speed) ** 2 + 1e-12)
            worst = max(worst, threat * min(1.0, soft))
    return worst


@kernel
def _room(rows, count, ex, ey, ez, spare):
    """Least gap [m] to those ahead in a direction to whom the agent yields."""
    room = 1.0e9
    for n in range(count):
        if rows[n, YIELD] <= 0.0:
            continue
        x, y, z = rows[n, X], rows[n, Y], rows[n, Z]
        along = x * ex + y * ey + z * ez
        if along <= 0.0 or along + rows[n, THEIRS] <= 0.0:
            continue
        side2 = rows[n, REACH] - (x * x + y * y + z * z - along * along)
        if side2 > 0.0:
            room = min(room, along - math.sqrt(side2) - spare)
    return max(room, 0.0)


@kernel
def _before(a, b):
    x, y = (a * 2654435761) % 4294967296, (b * 2654435761) % 4294967296
    return x < y or (x == y and a < b)


@kernel
def _gather(i, agents, world, seen, ahead, right, above, speed, horizon, yields, rows, spare, delay, alike):
    position = load(agents.position, i)
    count, unlike = 0, 0.0
    sx, sy = 0.0, 0.0
    for n in range(seen):
        if count >= MOST:
            break
        j = world.neighbors.index[i, n]
        offset = on_ground(i, agents, world, sub(load(agents.position, j), position))
        reach = agents.radius[i] * 1.0 + agents.radius[j]
        other = on_ground(i, agents, world, load(agents.velocity, j))
        d = length(offset)
        if d - reach > (speed + length(other)) * horizon:
            continue
        x = dot(offset, ahead)
        if x < -reach:
            continue
        if d < EPSILON:
            offset = scale(parting(i, j, agents, world), -1.0e-3)
            x = dot(offset, ahead)
        theirs = unit(on_ground(i, agents, world, load(agents.desired, j)))
        like = dot(theirs, ahead)
        rows[count, X] = x
        rows[count, Y] = dot(offset, right)
        rows[count, Z] = dot(offset, above)
        rows[count, U] = dot(other, ahead)
        rows[count, V] = dot(other, right)
        rows[count, W] = dot(other, above)
        rows[count, REACH] = reach * reach
        rows[count, CARE] = 0.5 * (1.0 + alike) - 0.5 * (1.0 - alike) * like
        first = dot(offset, ahead) + dot(offset, theirs)
        if abs(first) < 0.5 * reach:
            first = 1.0 if _before(agents.id[j], agents.id[i]) else -1.0
        rows[count, YIELD] = 1.0 if like > yields else 0.0
        rows[count, THEIRS] = dot(offset, on_ground(i, agents, world, load(agents.heading, j)))
        gap = d - reach
        if gap < spare and first > 0.0:
            back = (spare - max(gap, 0.0)) / (delay * max(d, 1e-9))
            sx -= back * rows[count, X]
            sy -= back * rows[count, Y]
        unlike = max(unlike, 0.5 * (1.0 - like) * min(1.0, max(0.0, 1.0 - gap / ((speed + length(other)) * horizon))))
        count += 1
    return count, unlike, (sx, sy)


@kernel
def _wall(world, origin, direction, across, reach, body):
    """Share of the reach that is not free for a body as wide as it is."""
    free = reach
    for side in range(-1, 2):
        start = add_scaled(origin, across, 0.9 * side * body)
        length_on = body if side == 0 else 0.436 * body
        triangle, distance, _normal = first_hit(world, start, direction, free + length_on)
        if triangle >= 0:
            free = min(free, max(0.0, distance - length_on))
    return 1.0 - free / reach


@kernel
def _direction(k, flat, side):
    """Candidate k as (ahead, right, above) parts: the turn is k steps, to both sides by turns."""
    turn = (k + 1) // 2
    sign = side if k % 2 == 1 else -side
    angle = STEP * turn
    return math.cos(angle), sign * math.sin(angle), 0.0


@kernel
def avoid_neighbors_kernel(start, stop, agents, world, p, memory, out, active):
    """Push from the desired velocity to the one that was chosen."""
    rows = scratch(MOST, 10)
    costs = scratch(1, CANDIDATES)
    for i in range(start, stop):
        wish = on_ground(i, agents, world, load(agents.desired, i))
        speed = min(length(wish), agents.max_speed[i] * 1.0)
        if speed < 1.0e-4:
            continue
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        if seen == 0 and len(world.colliders.link) == 0:
            continue
        horizon = pick(p.anticipation_time, i)
        ahead = unit(wish)
        right, above = sides(ahead, load(agents.normal, i), world.flat)
        count, unlike, apart = _gather(i, agents, world, seen, ahead, right, above, speed, horizon, 0.0, rows, pick(p.personal_space, i), pick(p.time_headway, i), pick(p.alike, i))
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        vx, vy, vz = dot(velocity, ahead), dot(velocity, right), dot(velocity, above)
        keep = pick(p.keep, i) / max(speed, 1e-9)
        weight = pick(p.care, i)
        bias = pick(p.bias, i) * unlike
        walls = len(world.colliders.link) > 0
        origin = eye(i, agents, world)
        body = agents.radius[i] * 1.0
        wall_care = pick(p.wall_care, i)
        best, best_k = 1.0e9, 0
        swing = keep * length(velocity) + abs(bias)
        for k in range(CANDIDATES):
            costs[0, k] = -1.0
        for s in range(CANDIDATES):
            turn = (s + 1) // 2
            k = TURNS + (turn if s % 2 == 1 else -turn)
            angle = STEP * (k - TURNS)
            ex, ey = math.cos(angle), math.sin(angle)
            if 1.0 - ex - swing > best:
                break
            base = (1.0 - ex) - keep * (ex * vx + ey * vy) - bias * ey
            threat = weight * _cost(rows, count, ex * speed, ey * speed, 0.0, horizon, speed)
            if walls and base + threat < best:
                threat = max(threat, wall_care * _wall(world, origin, add_scaled(scale(ahead, ex), right, ey), add_scaled(scale(ahead, -ey), right, ex), horizon * speed, body))
            cost = base + threat
            costs[0, k] = cost
            if cost < best:
                best, best_k = cost, k
        angle = STEP * (best_k - TURNS)
        if 0 < best_k < CANDIDATES - 1:
            low, high = costs[0, best_k - 1], costs[0, best_k + 1]
            bend = low + high - 2.0 * best
            if costs[0, best_k - 1] > -0.9 and costs[0, best_k + 1] > -0.9 and bend > 1e-9:
                angle += STEP * 0.5 * (low - high) / bend
        ex, ey = math.cos(angle), math.sin(angle)
        room = _room(rows, count, ex, ey, 0.0, pick(p.personal_space, i))
        pace = min(speed, max(room / pick(p.time_headway, i), pick(p.push, i) * unlike * speed))
        chosen = add_scaled(scale(ahead, pace * ex), right, pace * ey)
        chosen = add_scaled(add_scaled(chosen, ahead, apart[0]), right, apart[1])
        push = sub(chosen, wish)
        if length(push) > EPSILON:
            store(out, i, push)
            active[i] = 1


@behavior(
    label="Avoid Neighbors",
    output=PUSH,
    kernel=avoid_neighbors_kernel,
    uses=(NEIGHBORS,),
    icon="COMMUNITY",
    group="Neighbors",
)
class AvoidNeighbors(Behavior):
    """Foresee collisions with others."""

    anticipation_time: float = param(3.0, unit="s", minimum=0.01, soft_maximum=10.0, doc="x")
    neighbor_distance: float = param(5.0, unit="m", minimum=0.0, soft_maximum=50.0, doc="x")
    max_neighbors: int = param(12, minimum=1, maximum=1000, soft_maximum=50, doc="x")
    field_of_view: float = param(360.0, unit="deg", minimum=0.0, maximum=360.0, doc="x")
    time_headway: float = param(0.35, unit="s", minimum=0.01, soft_maximum=5.0, doc="x")
    personal_space: float = param(0.06, unit="m", minimum=0.0, soft_maximum=1.0, doc="x")
    wall_care: float = param(1.5, minimum=0.0, doc="x")
    alike: float = param(0.15, minimum=0.0, doc="x")
    keep: float = param(0.15, minimum=0.0, doc="x")
    care: float = param(1.8, minimum=0.0, doc="x")
    push: float = param(1.0, minimum=0.0, doc="x")
    bias: float = param(0.25, minimum=-10.0, doc="x")
