"""Parties: the crowds of one contact pass, each with what only its own agents meet.

Bodies of all parties are rows of the same arrays, one party after another. What needs no look at
others is done with a party's part of these arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..crowd.heights import heights, tall
from ..crowd.settings import CrowdSettings
from ..geometry import bvh
from ..views import F32, I64, WorldView
from .heaps import FARTHEST
from .moved import MovedView
from .near import ALIKE, Kinds
from .passes import BodyView, SpaceView

_MOST_ID = 2**62
"""Ids below this, over the number of parties, become unique by a product."""


@dataclass(eq=False, repr=False)
class Party:
    """One crowd in a contact pass.

    Attributes:
        before: The crowd before the step.
        after: The crowd after it; positions, velocities and normals are corrected.
        settings: Settings of the crowd.
        sees: The world after the step.
        moved: The colliders that moved in it, from `find_moved`.
        fixed: Whether its agents go where they go: others make way for them.
    """

    before: Agents
    after: Agents
    settings: CrowdSettings
    sees: WorldView
    moved: MovedView | None = None
    fixed: bool = False

    @property
    def space(self) -> SpaceView:
        """What its bodies can meet."""
        told, motion = self.settings.bodies, self.settings.motion
        count = len(self.sees.collider_radius)
        return SpaceView(
            walls=self.sees.colliders if told.collide_colliders else bvh.empty(),
            first=self.sees.collider_first,
            still=np.ones(count, np.uint8) if self.moved is None else self.moved.still,
            ground=self.sees.ground,
            eye=self.sees.eye_height,
            rise=float(motion.step_height),
            min_up=self.sees.min_up,
            flat=self.sees.flat,
            together=told.collide_agents,
        )

    @property
    def tall(self) -> F32:
        """How far each body reaches above where colliders count [m]; 0 where nothing hangs."""
        if not self.sees.tall:
            return np.zeros(self.before.count, np.float32)
        return tall(self.before, self.settings)

    @property
    def lands(self) -> bool:
        """Whether a behavior may put its agents elsewhere."""
        return any(
            b.enabled and b.definition.constraint is not None for b in self.settings.behaviors
        )


def column(parties: Sequence[Party], moment: str, name: str) -> NDArray[Any]:
    """An array of all agents; that of a single party itself.

    Args:
        parties: The crowds.
        moment: "before" or "after".
        name: Name of the array.
    """
    arrays: list[NDArray[Any]] = [getattr(getattr(party, moment), name) for party in parties]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def unique_ids(parties: Sequence[Party]) -> I64:
    """Ids that tell all agents apart, in the order of their own, and of equal ones by the party."""
    ids = column(parties, "before", "id")
    if len(parties) == 1:
        return ids
    rank = np.repeat(np.arange(len(parties)), [party.before.count for party in parties])
    if len(ids) and np.abs(ids).max() < _MOST_ID // len(parties):
        return ids * len(parties) + rank
    unique = np.empty(len(ids), np.int64)
    unique[np.lexsort((rank, ids))] = np.arange(len(ids))
    return unique


def kinds_of(parties: Sequence[Party], touches: NDArray[np.bool_] | None) -> Kinds:
    """What tells the bodies of several crowds apart.

    Args:
        parties: The crowds.
        touches: Whether the bodies of two of them touch; None where all do.
    """
    counts = [party.before.count for party in parties]
    high, crowd, all_touch = ALIKE
    if len({party.sees.flat for party in parties}) > 1:
        high = spread([heights(p.before, p.settings) for p in parties], rows_of(parties))
    if touches is not None and not touches.all():
        crowd, all_touch = np.repeat(np.arange(len(parties)), counts), touches
    return Kinds(high, crowd, all_touch)


def bodies_of(parties: Sequence[Party], kinds: Kinds) -> BodyView:
    """The agents as bodies, before it is known how far each may go."""
    start = column(parties, "before", "position")
    goal, normal = column(parties, "after", "position"), column(parties, "after", "normal")
    if len(parties) == 1:
        goal, normal = goal.copy(), normal.copy()
    unknown, count = np.zeros(0), len(start)
    talls = spread([party.tall for party in parties], rows_of(parties))
    return BodyView(
        id=unique_ids(parties),
        radius=column(parties, "before", "radius"),
        tall=talls,
        give=unknown,
        back=unknown,
        origin=start,
        start=start,
        goal=goal,
        goal_normal=normal,
        level=np.full(count, FARTHEST, np.uint8),
        shifted=np.zeros(count, np.uint8),
        flat=all(party.sees.flat for party in parties),
        kinds=kinds,
    )


def part_of(bodies: BodyView, rows: slice) -> BodyView:
    """The bodies of one party; arrays that are not known yet stay as they are."""
    count = len(bodies.id)
    if rows == slice(0, count):
        return bodies
    arrays = {k: a for k, a in bodies._asdict().items() if isinstance(a, np.ndarray)}
    own: dict[str, Any] = {k: a[rows] for k, a in arrays.items() if len(a) == count}
    return bodies._replace(**own)


def rows_of(parties: Sequence[Party]) -> list[slice]:
    """The rows of each party."""
    ends = np.cumsum([0, *(party.before.count for party in parties)]).tolist()
    return [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]


def same_space(a: SpaceView, b: SpaceView) -> bool:
    """Whether bodies of two parties meet the very same, so that they can move at once."""
    numbers = (a.eye, a.rise, a.min_up, a.flat, a.together)
    if numbers != (b.eye, b.rise, b.min_up, b.flat, b.together):
        return False
    trees = ((a.walls, b.walls), (a.ground, b.ground))
    if any(x is not y and (len(x.link) or len(y.link)) for x, y in trees):
        return False
    return np.array_equal(a.first, b.first) and np.array_equal(a.still, b.still)


def runs_of(
    parties: Sequence[Party], spaces: Sequence[SpaceView], rows: Sequence[slice]
) -> list[tuple[SpaceView, slice]]:
    """Rows one after another of parties that meet the same, each run with what it meets.

    Those of fixed parties are left out: they do not move.
    """
    runs: list[tuple[SpaceView, slice]] = []
    for party, space, own in zip(parties, spaces, rows, strict=True):
        if party.fixed:
            continue
        if runs and runs[-1][1].stop == own.start and same_space(runs[-1][0], space):
            runs[-1] = (runs[-1][0], slice(runs[-1][1].start, own.stop))
        else:
            runs.append((space, own))
    return runs


def spread(parts: Sequence[F32], rows: Sequence[slice]) -> F32:
    """Arrays of parties as one; that of a single party itself."""
    return parts[0] if len(rows) == 1 else np.concatenate(parts)
