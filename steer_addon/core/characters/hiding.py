"""From which ways of a step on a change between two gaits is hidden, for many pairs of poses."""

from __future__ import annotations

import math

from ..compiled.jit import kernel


@kernel
def _shift_of(one, other, bears, others_bear):
    """How far what is planted in both of two poses is from one to the other [m]: x, y."""
    x, y, total = 0.0, 0.0, 1.0e-9
    for v in range(len(one)):
        both = min(bears[v], others_bear[v])
        if both > 0.0:
            x += both * (other[v, 0] - one[v, 0])
            y += both * (other[v, 1] - one[v, 1])
            total += both
    return x / total, y / total


@kernel
def _lean_of(one, other, stands, others_stand, x, y):
    """By which shares of its height each vertex is shifted so that both poses are most alike: x, y.

    Vertices whose own poses say less count more.
    """
    lean_x, lean_y, total = 0.0, 0.0, 1.0e-12
    for v in range(len(one)):
        high = 0.5 * (one[v, 2] + other[v, 2])
        weight = high / max(stands[v, 0], others_stand[v, 0]) ** 2
        lean_x += weight * (other[v, 0] - one[v, 0] - x)
        lean_y += weight * (other[v, 1] - one[v, 1] - y)
        total += weight * high
    return lean_x / total, lean_y / total


@kernel
def hidden_kernel(start, stop, points, bears, said, stands, pairs, ways, floor, found):
    """For each pair of poses, find from which way of a step on the change is hidden, and how.

    Args:
        start: First pair of poses.
        stop: Pair after the last.
        points: Vertices of the poses of both gaits [m], each of shape (poses, vertices, 3).
        bears: How much vertices bear in them, see `bearing`, each of shape (poses, vertices).
        said: Ways of vertices that they say, each of shape (poses, vertices, steps).
        stands: The same for a body that stands, by which leans are found.
        pairs: Numbers of both poses of each pair, shape (n, 2).
        ways: Ways of the steps [m].
        floor: How far a vertex may move although its pose says nothing [m].
        found: Gets the least way of each pair [m], how far a vertex is apart at most, and the shift
            of the body along x and y by which planted ones are together [m], and by which share of
            its height each vertex is shifted further; then the way that each of the steps asks for
            [m], shape (n, 6 + steps).
    """
    for k in range(start, stop):
        a, b = pairs[k, 0], pairs[k, 1]
        one, other = points[0][a], points[1][b]
        x, y = _shift_of(one, other, bears[0][a], bears[1][b])
        lean_x, lean_y = _lean_of(one, other, stands[0][a], stands[1][b], x, y)
        most, least = 0.0, math.inf
        for s in range(len(ways)):
            found[k, 6 + s] = ways[s]
        for v in range(len(one)):
            high = 0.5 * (one[v, 2] + other[v, 2])
            p = other[v, 0] - one[v, 0] - x - lean_x * high
            q = other[v, 1] - one[v, 1] - y - lean_y * high
            r = other[v, 2] - one[v, 2]
            away = math.sqrt(p * p + q * q + r * r)
            most = max(most, away)
            if away > floor:
                for s in range(len(ways)):
                    way = (away - floor) / max(said[0][a, v, s], said[1][b, v, s])
                    found[k, 6 + s] = max(found[k, 6 + s], way)
        for s in range(len(ways)):
            least = min(least, found[k, 6 + s])
        found[k, 0], found[k, 1], found[k, 2], found[k, 3] = least, most, x, y
        found[k, 4], found[k, 5] = lean_x, lean_y
