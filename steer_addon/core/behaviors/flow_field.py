"""Flow field: u = v_max · dir(f) with the field f at the nearest point of its mesh or lines.

f = Σ bₖ·fₖ over the corners of the nearest triangle, bₖ the barycentric coordinates of its point
next to p; on lines it is linear. No proposal beyond max_distance, and where f is shorter than 1e-6.
In GROUND motion f is projected onto the plane of the agent's ground first.

Symbols: p position [m], v_max maximum speed [m/s]; f in any unit, only its direction counts.
Source: Reynolds 1999, Flow Field Following; barycentric coordinates: Ericson 2005, 3.4.
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import kernel
from ..geometry.bvh_points import nearest_point, triangle_corners
from ..numeric.vec import add_scaled, cross, dot, load, pick, project, scale, sub, unit
from ..parameters import param
from ..sensing.declare import FIELD, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.units import meters

FLAT = 1.0e-10
"""Squared sine, about, below which a triangle's corners are on one line."""


@kernel
def _share(along, whole, way):
    """Share of a line at the end of a way from its start; `whole` is its squared length [m²]."""
    if whole <= 0.0:
        return 0.0
    return min(1.0, max(0.0, dot(way, along) / whole))


@kernel
def barycentric(a, b, c, x):
    """Weights of the corners for a point x of a triangle, or of a line or point that it folds to.

    None is below 0, and their sum is 1.
    """
    ab, bc, ca = sub(b, a), sub(c, b), sub(a, c)
    ab2, bc2, ca2 = dot(ab, ab), dot(bc, bc), dot(ca, ca)
    normal = cross(ab, sub(c, a))
    area = dot(normal, normal)
    longest = max(ab2, bc2, ca2)
    if area <= FLAT * longest * longest:
        if ab2 >= longest:
            share = _share(ab, ab2, sub(x, a))
            return 1.0 - share, share, 0.0
        if bc2 >= longest:
            share = _share(bc, bc2, sub(x, b))
            return 0.0, 1.0 - share, share
        share = _share(ca, ca2, sub(x, c))
        return share, 0.0, 1.0 - share
    at_a = max(0.0, dot(cross(bc, sub(x, b)), normal) / area)
    at_b = max(0.0, dot(cross(ca, sub(x, c)), normal) / area)
    at_c = max(0.0, dot(cross(ab, sub(x, a)), normal) / area)
    total = at_a + at_b + at_c
    return at_a / total, at_b / total, at_c / total


@kernel
def _field_at(tree, vector, triangle, x):
    """The field at a point of a triangle."""
    a, b, c = triangle_corners(tree, triangle)
    at_a, at_b, at_c = barycentric(a, b, c, x)
    corners = vector[triangle]
    wish = add_scaled(scale(load(corners, 0), at_a), load(corners, 1), at_b)
    return add_scaled(wish, load(corners, 2), at_c)


@kernel
def flow_field_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity along the field."""
    tree = p.field.tree
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        reach = pick(p.max_distance, i)
        if reach <= 0.0:
            reach = np.inf
        triangle, x, _ = nearest_point(tree, load(agents.position, i), reach)
        if triangle < 0:
            continue
        wish = _field_at(tree, p.field.vector, triangle, x)
        if world.flat:
            wish = project(wish, load(agents.normal, i))
        wish = unit(wish)
        if dot(wish, wish) > 0.0:
            store_proposal(out, active, i, scale(wish, agents.max_speed[i] * 1.0))


@behavior(
    label="Flow Field",
    output=VELOCITY,
    kernel=flow_field_kernel,
    uses=(FIELD,),
    icon="FORCE_FLUIDFLOW",
    group="Paths",
)
class FlowField(Behavior):
    """Go where the vectors on a mesh, or the tangents of guide curves, point."""

    attribute: str = param(
        "flow", doc="Name of the vector attribute on the points or faces of the mesh"
    )
    max_distance: float = meters(
        0.0,
        soft_maximum=100.0,
        doc="Agents nearer to the field than this follow it; more reaches farther, 0 is no limit",
        zero="No Limit",
    )
