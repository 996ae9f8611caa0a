"""The formulas of the behaviors once more, in plain Python: what the solver is compared with.

Written from the formulas and from definitions in docstrings alone, with lists, tuples and `math`;
nothing here comes from steer_addon, so that a mistake there cannot hide here. Slow on purpose:
all pairs, all triangles.

Flocks are chaotic: one last bit becomes meters within seconds. Two runs can only be compared if
they round in the same places, and those are documented: arrays hold 32-bit floats, kernels compute
in 64 bits and round once, when they store (core/numeric/vec.py). Arrays are the state, the
parameters, the proposals, their sum, and the distances in neighbor lists (core/views.py). `exact`
leaves out all of it but the state.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)


def f32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def stored(a: Vector) -> Vector:
    return (f32(a[0]), f32(a[1]), f32(a[2]))


def plus(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def times(a: Vector, s: float) -> Vector:
    return (a[0] * s, a[1] * s, a[2] * s)


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def size(a: Vector) -> float:
    return math.sqrt(dot(a, a))


def direction(a: Vector) -> Vector:
    """dir(x) = x/|x|, and the zero vector for |x| < 1e-6."""
    length = size(a)
    return ZERO if length < 1e-6 else (a[0] / length, a[1] / length, a[2] / length)


def total(vectors: list[Vector]) -> Vector:
    result = ZERO
    for vector in vectors:
        result = plus(result, vector)
    return result


# --- smooth noise, as the docstring of core/numeric/noise.py defines it -----------------

MOD = 1 << 32


def mix(h: int) -> int:
    h = (h ^ (h >> 16)) * 0x85EBCA6B % MOD
    h = (h ^ (h >> 13)) * 0xC2B2AE35 % MOD
    return h ^ (h >> 16)


def lattice(i: int, j: int, k: int) -> float:
    h = 0
    for coordinate in (i, j, k):
        h = mix((h + coordinate + 0x9E3779B9) % MOD)
    return h / MOD


def noise(x: float, y: float, z: float) -> float:
    cell = [math.floor(x), math.floor(y), math.floor(z)]
    rest = [x - cell[0], y - cell[1], z - cell[2]]
    u, v, w = (min(1.0, t**3 * (t * (6 * t - 15) + 10)) for t in rest)
    value = 0.0
    # the three lerps, written out as a weight for each corner of the cell
    for i, wi in ((0, 1 - u), (1, u)):
        for j, wj in ((0, 1 - v), (1, v)):
            for k, wk in ((0, 1 - w), (1, w)):
                value += wi * wj * wk * lattice(cell[0] + i, cell[1] + j, cell[2] + k)
    return value


# --- state and neighbors ----------------------------------------------------------------------


@dataclass
class State:
    """Positions, velocities and headings; agent number i has the id i."""

    p: list[Vector]
    v: list[Vector]
    h: list[Vector]

    @classmethod
    def start(cls, positions, velocities) -> State:
        p = [stored(tuple(map(float, row))) for row in positions]
        v = [stored(tuple(map(float, row))) for row in velocities]
        return cls(p, v, [stored(direction(row)) for row in v])

    def moved(self, velocities: list[Vector], dt: float) -> State:
        """p ← p + v·dt; the heading is v/|v|, or the last one when |v| < 1e-6."""
        p = [stored(plus(a, times(b, dt))) for a, b in zip(self.p, velocities, strict=True)]
        h = [
            stored(direction(v)) if size(v) >= 1e-6 else old
            for v, old in zip(velocities, self.h, strict=True)
        ]
        return State(p, [stored(v) for v in velocities], h)


@dataclass(frozen=True)
class Neighbor:
    """Another agent and how far it is."""

    row: int
    distance: float


def neighbors(i: int, state: State, reach: float, most: int, view: float) -> list[Neighbor]:
    """N(i): the nearest `most` within `reach` and the field of view [deg]; ties broken by id."""
    found = []
    for j, q in enumerate(state.p):
        offset = minus(q, state.p[i])
        distance = size(offset)
        if j == i or distance > reach:
            continue
        if view < 360.0 and distance > 0.0:
            cosine = dot(offset, state.h[i]) / distance
            if math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) > view / 2:
                continue
        found.append((distance, j))
    return [Neighbor(j, distance) for distance, j in sorted(found)[:most]]


def kept(near: list[Neighbor], keep: Callable[[float], float]) -> list[Neighbor]:
    return [Neighbor(other.row, keep(other.distance)) for other in near]


def nearest(p: Vector, targets: list[Vector]) -> Vector:
    return min(targets, key=lambda t: size(minus(t, p)))


def fade(distance: float, reach: float) -> float:
    """w(d) = (1 - d/neighbor_distance)², clamped to [0, 1]."""
    share = min(1.0, max(0.0, 1.0 - distance / reach))
    return share * share


# --- goals ------------------------------------------------------------------------------------


def seek(p: Vector, target: Vector, v_max: float) -> Vector:
    return times(direction(minus(target, p)), v_max)


def arrive(p: Vector, target: Vector, v_max: float, slow: float, stop: float) -> Vector:
    d = size(minus(target, p))
    if d <= stop:
        return ZERO
    return times(direction(minus(target, p)), v_max * min(1.0, d / slow))


def flee(p: Vector, target: Vector, v_max: float, panic: float, linear: bool) -> Vector | None:
    d = size(minus(target, p))
    if panic > 0.0 and d > panic:
        return None
    k = 1.0 - d / panic if linear and panic > 0.0 else 1.0
    return times(direction(minus(target, p)), -v_max * k)


def noise_wander(p: Vector, h: Vector, speed: float) -> Vector:
    theta = 2 * math.pi * noise(37 * p[0], 37 * p[1], 37 * p[2])
    phi = math.pi * noise(10 * p[0] + 234, 10 * p[1] + 234, 10 * p[2] + 234)
    displacement = (
        math.sin(theta) * math.cos(phi),
        math.sin(theta) * math.sin(phi),
        math.cos(theta),
    )
    return times(direction(plus(times(h, 2.0), displacement)), speed)


# --- neighbors' three -------------------------------------------------------------------------


def separation(i: int, state: State, near: list[Neighbor], reach: float, strength: float) -> Vector:
    pushes = [
        times(direction(minus(state.p[i], state.p[q.row])), fade(q.distance, reach)) for q in near
    ]
    return times(direction(total(pushes)), strength)


def cohesion(i: int, state: State, near: list[Neighbor], reach: float, strength: float) -> Vector:
    mean = times(total([state.p[q.row] for q in near]), 1.0 / len(near))
    offset = minus(mean, state.p[i])
    return times(direction(offset), strength * fade(size(offset), reach))


def alignment(i: int, state: State, near: list[Neighbor], reach: float, strength: float) -> Vector:
    ways = [times(direction(state.v[q.row]), fade(q.distance, reach)) for q in near]
    return times(direction(total(ways)), strength)


# --- obstacles --------------------------------------------------------------------------------

Triangle = tuple[Vector, Vector, Vector]


def hit_distance(origin: Vector, ray: Vector, triangle: Triangle) -> float:
    """Distance along a unit ray to a triangle, infinity for a miss; both sides are solid."""
    a, b, c = triangle
    n = cross(minus(b, a), minus(c, a))
    slope = dot(n, ray)
    if slope == 0.0:
        return math.inf
    d = dot(n, minus(a, origin)) / slope
    if d < 0.0:
        return math.inf
    x = plus(origin, times(ray, d))
    for start, end in ((a, b), (b, c), (c, a)):
        if dot(n, cross(minus(end, start), minus(x, start))) < 0.0:
            return math.inf
    return d


def cast(origin: Vector, ray: Vector, meshes: list[list[Triangle]]) -> tuple[float, Vector]:
    """Distance of the nearest hit and its unit normal, turned against the ray."""
    best, found = math.inf, None
    for mesh in meshes:
        for triangle in mesh:
            d = hit_distance(origin, ray, triangle)
            if d < best:
                best, found = d, triangle
    if found is None:
        return math.inf, ZERO
    n = direction(cross(minus(found[1], found[0]), minus(found[2], found[0])))
    return best, (times(n, -1.0) if dot(n, ray) > 0.0 else n)


def fly_around(
    p: Vector, ray: Vector, reach: float, desired: Vector, meshes: list[list[Triangle]]
) -> Vector:
    """dir((x - p) × n), faded by the distance; the tangent of u where the product vanishes."""
    d, n = cast(p, ray, meshes)
    if d > reach:
        return ZERO
    side = direction(cross(times(ray, d), n))
    if side == ZERO:
        side = direction(minus(desired, times(n, dot(desired, n))))
    return times(side, 1.0 - d / reach)


def box_center(mesh: list[Triangle]) -> Vector:
    """Center of the bounding sphere, which is that of the bounding box."""
    corners = [corner for triangle in mesh for corner in triangle]
    low = [min(c[k] for c in corners) for k in range(3)]
    high = [max(c[k] for c in corners) for k in range(3)]
    return ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2)
