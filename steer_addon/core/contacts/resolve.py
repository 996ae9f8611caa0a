"""The contacts of one step: from the agents that each may meet to the places that they reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..bounds import lengths
from ..compiled import jit
from ..crowd.heights import tall
from ..crowd.settings import CrowdSettings
from ..geometry import ground
from ..inputs.world import Colliders
from ..views import F32
from .free import free_kernel
from .heaps import HEAP, heap_levels
from .moved import MovedView, carry_kernel, hold_kernel
from .near import Kinds, Known, NearView, Touching, find_near, touching
from .parties import Party, bodies_of, column, kinds_of, part_of, rows_of, runs_of, spread
from .passes import BodyView, SpaceView, correct_kernel, pass_kernel, prepare_kernel, walled_kernel
from .pushes import pushed

JUMP = 1.5
"""An agent this many times farther away than its velocity leads did not walk there."""


def resolve(
    parties: Sequence[Party],
    known: Known | None = None,
    touches: NDArray[np.bool_] | None = None,
) -> None:
    """Undo the part of a step that bodies and walls do not allow.

    Args:
        parties: Crowds whose bodies touch each other; one alone, or several that all have bodies.
        known: Neighbors of all agents before the step, party after party.
        touches: Whether the bodies of two parties touch, shape (party_count, party_count); None
            where all do.
    """
    spaces, rows = [party.space for party in parties], rows_of(parties)
    together = spaces[0].together
    if rows[-1].stop == 0 or not (together or len(spaces[0].walls.link)):
        return
    touched = np.zeros(rows[-1].stop, np.uint8)
    bodies = _started(parties, spaces, rows, touched, kinds_of(parties, touches))
    if bodies.start is not bodies.origin:
        known = None
    passes = max(party.settings.bodies.iterations for party in parties)
    bodies, near, touch = _near(bodies, parties, spaces, passes, known)
    if touch.deepest > HEAP:
        levels = heap_levels(near, bodies.start, bodies.radius, bodies.flat, bodies.kinds)
        bodies = bodies._replace(level=levels)
    walled = np.zeros(len(touched), np.uint8)
    for party, space, own in zip(parties, spaces, rows, strict=True):
        if len(space.walls.link) and not party.fixed:
            part = (part_of(bodies, own), space, near.span[own], walled[own])
            jit.parallel_for(walled_kernel, own.stop - own.start, *part)
    held = any(party.moved is not None for party in parties) and bool(touched.any())
    if not (held or len(touch.rows) or walled.any()):
        return
    if together:
        goal, shifted = pushed(bodies, runs_of(parties, spaces, rows), near, touch, walled)
        bodies = bodies._replace(goal=goal, shifted=shifted)
    place, normal = _passed(parties, spaces, rows, bodies, near, walled, touched, held, passes)
    for party, space, own in zip(parties, spaces, rows, strict=True):
        if not party.fixed:
            after = party.after
            outcome = (party.before.position, place[own], normal[own], space.flat, party.sees.dt)
            result = (after.position, after.velocity, after.normal)
            jit.parallel_for(correct_kernel, after.count, *outcome, *result, chunk=jit.MANY)


def _started(
    parties: Sequence[Party],
    spaces: Sequence[SpaceView],
    rows: Sequence[slice],
    touched: NDArray[np.uint8],
    kinds: Kinds,
) -> BodyView:
    """The bodies where the step begins: carried by colliders, or put elsewhere by a behavior.

    Args:
        parties: The crowds.
        spaces: What the bodies of each can meet.
        rows: The rows of each.
        touched: Set to 1 for agents that a moving collider may touch, shape (n,).
        kinds: What tells the bodies apart.
    """
    bodies = bodies_of(parties, kinds)
    carried = [
        _carried(party.before, party.after, party.moved, space, bodies.tall[own], touched[own])
        if party.moved is not None and party.settings.bodies.collide_colliders
        else party.before.position
        for party, space, own in zip(parties, spaces, rows, strict=True)
    ]
    if any(c is not p.before.position for c, p in zip(carried, parties, strict=True)):
        bodies = bodies._replace(start=spread(carried, rows))
    for party, own in zip(parties, rows, strict=True):
        if party.lands and not party.fixed:
            bodies = _landed(bodies, own, party, touched)
    return bodies


def _passed(
    parties: Sequence[Party],
    spaces: Sequence[SpaceView],
    rows: Sequence[slice],
    bodies: BodyView,
    near: NearView,
    walled: NDArray[np.uint8],
    touched: NDArray[np.uint8],
    held: bool,
    passes: int,
) -> tuple[NDArray[np.float64], F32]:
    """The places that bodies reach in some passes, and the normals of the ground there."""
    place, normal = bodies.start.astype(np.float64), column(parties, "before", "normal").copy()
    runs = [
        (space, np.arange(own.start, own.stop)) for space, own in runs_of(parties, spaces, rows)
    ]
    busy = np.ones(len(walled), np.uint8)
    while passes > 0:
        alone = len(runs) == 1 and jit.runs_alone(len(runs[0][1])) and not held
        at_once = passes if alone else 1
        gone, turned = place.copy(), normal.copy()
        for space, some in runs:
            state = (bodies, space, near, walled, place, turned, gone, busy, at_once)
            jit.parallel_for(pass_kernel, len(some), some, *state)
        for party, space, own in zip(parties, spaces, rows, strict=True):
            if party.moved is not None and held:
                before, radius = party.before.position, party.before.radius
                body = (space.eye, radius, bodies.tall[own], space.flat)
                seen = (party.moved, *body, before, touched[own])
                ways = (place[own], normal[own], gone[own], turned[own])
                jit.parallel_for(hold_kernel, len(radius), *seen, *ways)
        place, normal = gone, turned
        passes -= at_once
        if passes > 0:
            runs = [(space, some[busy[some] != 0]) for space, some in runs]
    return place, normal


def _landed(bodies: BodyView, own: slice, party: Party, touched: NDArray[np.uint8]) -> BodyView:
    """Bodies, of which those that a behavior has put elsewhere start at their new place.

    An agent does not walk to the far side of a container: what lies between does not count.
    """
    after = party.after
    way = bodies.goal[own] - bodies.start[own]
    step = lengths(after.velocity) * party.sees.dt
    far = step + 2.0 * party.settings.motion.step_height
    rows = np.flatnonzero(lengths(way) > JUMP * far + after.radius)
    if not len(rows):
        return bodies
    touched[own.start + rows] = 0
    start, origin = bodies.start.copy(), bodies.origin.copy()
    start[own.start + rows] = origin[own.start + rows] = after.position[rows]
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
    body = (agents.radius, tall(agents, settings), flat)
    jit.parallel_for(free_kernel, agents.count, *shape, none, eye, *body, agents.position, moved)
    return moved


def _carried(
    before: Agents,
    after: Agents,
    moved: MovedView,
    space: SpaceView,
    high: F32,
    touched: NDArray[np.uint8],
) -> F32:
    """Where agents are after moving colliders have pushed them, on their ground.

    Those that a collider may have touched are marked.
    """
    start = np.empty_like(before.position)
    ways = (before.position, after.position)
    options = (moved, space.eye, before.radius, high, space.flat, *ways)
    jit.parallel_for(carry_kernel, before.count, *options, start, touched)
    rows = np.flatnonzero((start != before.position).any(axis=1))
    if len(rows) and space.flat and len(space.ground.link):
        feet, _normal, found = ground.place_many(space.ground, start[rows], space.min_up)
        start[rows[found], 2] = feet[found, 2]
    return start


def _near(
    bodies: BodyView,
    parties: Sequence[Party],
    spaces: Sequence[SpaceView],
    passes: int,
    known: Known | None,
) -> tuple[BodyView, NearView, Touching]:
    """Bodies with how far each may go, the agents that each may touch, and those that touch any."""
    count, rows = len(bodies.id), rows_of(parties)
    wish, backing, give, back = np.empty((4, count))
    for party, space, own in zip(parties, spaces, rows, strict=True):
        before, part = party.before, part_of(bodies, own)
        options = (before.max_speed, before.mass, space.flat, party.sees.dt, passes)
        written = (wish[own], backing[own], give[own], back[own])
        jit.parallel_for(prepare_kernel, before.count, part, *options, *written, chunk=jit.MANY)
        if party.fixed:
            give[own] = back[own] = 0.0
    bodies = bodies._replace(give=give, back=back)
    if not spaces[0].together:
        none, index = np.zeros(count, np.int32), np.zeros((count, 0), np.int32)
        near = NearView(none, index, wish, wish, none, np.zeros(count), wish)
        return bodies, near, touching(near)
    rise = max(space.rise for space in spaces)
    seen = (bodies.start, bodies.id, bodies.radius, wish, backing, rise, bodies.flat)
    return bodies, *find_near(*seen, known, bodies.kinds)
