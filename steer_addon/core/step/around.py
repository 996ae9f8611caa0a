"""Around: the neighbors of every agent, of one crowd or of several that see one another.

One search serves all behaviors with the same field of view, and all crowds that see the same
agents; each behavior reads its part of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..contacts import Known
from ..geometry import fewer, neighbors
from ..inputs.others import Others, merged
from ..sensing.declare import NEIGHBORS, Behavior, acts_for, per_agent
from ..views import NeighborView

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

ALL_AROUND = 360.0
"""Field of view [deg] in which an agent sees all others."""

_NOBODY = (np.zeros(1, np.float32), np.zeros(1, np.float32), np.full(1, ALL_AROUND, np.float32))
"""What agents ask for that look for no one."""

Asked = tuple[F32, F32, F32]
"""Neighbor distance [m], most neighbors, and field of view [deg], shape (1,) or (agent_count,)."""


@dataclass(eq=False, repr=False)
class Around:
    """The neighbors of a crowd.

    Attributes:
        lists: Neighbors by the name of the behavior; rows are those of the kernels' view.
        known: The lists of agents that see all around, where there are such: see `contacts`.
        among: The crowds, by their places in the list that was given, whose agents `known` counts.
    """

    lists: dict[str, NeighborView]
    known: Known | None = None
    among: tuple[int, ...] = ()


@dataclass(eq=False, repr=False)
class _Looker:
    """A crowd among those that one search serves."""

    agents: Agents
    around: Around
    first: int
    """Place of its first agent among all."""
    height: float = 0.0
    """Height of its bodies for those that fly [m]; 0 where they fly."""
    searches: list[tuple[Asked, list[str]]] = field(default_factory=list)
    """What it asks for in each search, and the behaviors that do; all around comes first."""

    def asks(self, number: int) -> Asked:
        """What its agents ask for in a search."""
        return self.searches[number][0] if number < len(self.searches) else _NOBODY


def look_around(
    stack: Sequence[Behavior],
    agents: Agents,
    others: Others | None = None,
    height: float = 0.0,
) -> Around:
    """The neighbors of one crowd.

    Args:
        stack: Its behaviors that act.
        agents: The crowd.
        others: Agents of other crowds that it sees.
        height: Height of its bodies for those that fly [m]; 0 where they fly.
    """
    looker = _looker(stack, agents, 0, height)
    if others is None:
        _search([looker], agents)
        return looker.around
    heights = np.concatenate([np.full(agents.count, height, np.float32), others.height])
    _search([looker], merged([agents, others.agents]), heights)
    looker.around.known = None
    return looker.around


def look_around_together(
    stacks: Sequence[Sequence[Behavior]],
    crowds: Sequence[Agents],
    sees: NDArray[np.bool_],
    heights: Sequence[float],
) -> list[Around]:
    """The neighbors of several crowds, of which each sees itself and some others.

    Args:
        stacks: The behaviors of each that act.
        crowds: The crowds.
        sees: Whether the one of a row sees the one of a column, shape (crowd_count, crowd_count).
        heights: Height of the bodies of each for those that fly [m]; 0 where they fly.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for k in range(len(crowds)):
        among = tuple(n for n in range(len(crowds)) if n == k or sees[k, n])
        groups.setdefault(among, []).append(k)
    found: dict[int, Around] = {}
    for among, looking in groups.items():
        starts = np.cumsum([0, *(crowds[n].count for n in among)]).tolist()
        places = dict(zip(among, starts, strict=False))
        lookers = [_looker(stacks[k], crowds[k], places[k], heights[k]) for k in looking]
        counts = [crowds[n].count for n in among]
        tall = np.repeat(np.array([heights[n] for n in among], np.float32), counts)
        _search(lookers, merged([crowds[n] for n in among]), tall)
        for k, looker in zip(looking, lookers, strict=True):
            found[k] = looker.around
            looker.around.among = among
            if len(looking) < len(among):
                looker.around.known = None
    return [found[k] for k in range(len(crowds))]


def _looker(stack: Sequence[Behavior], agents: Agents, first: int, height: float) -> _Looker:
    around = Around(dict.fromkeys((entry.key for entry in stack), neighbors.NONE))
    looker = _Looker(agents, around, first, height)
    groups: dict[bytes, list[tuple[str, Asked]]] = {}
    for entry in stack:
        if NEIGHBORS not in entry.definition.uses:
            continue
        reach, most, view = (
            per_agent(entry, name, agents)
            for name in ("neighbor_distance", "max_neighbors", "field_of_view")
        )
        acts = acts_for(entry, agents)
        if acts is not None:
            most = np.where(acts, most, np.float32(0.0))
        groups.setdefault(view.tobytes(), []).append((entry.key, (reach, most, view)))
    for members in groups.values():
        radius, most, view = members[0][1]
        for _, (more_radius, more, _) in members[1:]:
            radius = np.maximum(radius, more_radius)
            most = np.maximum(most, more)
        looker.searches.append(((radius, most, view), [key for key, _ in members]))
    looker.searches.sort(key=lambda search: bool(search[0][2].min() < ALL_AROUND))
    return looker


def _search(lookers: Sequence[_Looker], everyone: Agents, heights: F32 | None = None) -> None:
    """Fill in the lists of crowds that see the same agents.

    Args:
        lookers: The crowds.
        everyone: The agents that they see.
        heights: Heights of all bodies for those that fly [m]; None where all are alike.
    """
    asked = [search for looker in lookers for search, _ in looker.searches]
    if not asked or everyone.count < 2:
        for looker in lookers:
            empty = neighbors.empty(looker.agents.count)
            for _, keys in looker.searches:
                looker.around.lists.update(dict.fromkeys(keys, empty))
        return
    longest = max(float(reach.max()) for reach, _, _ in asked)
    kept = max(int(most.max()) for _, most, _ in asked)
    grid = neighbors.build_grid(everyone.position, longest, kept)
    known = None
    for number in range(max(len(looker.searches) for looker in lookers)):
        radius, most, view = _spread(lookers, number, everyone.count)
        seen = (everyone.position, everyone.heading, everyone.id, radius, most, view)
        found = neighbors.find(grid, *seen)
        if number == 0 and view.min() >= ALL_AROUND:
            known = Known(found, radius, most)
        for looker in lookers:
            if number < len(looker.searches):
                part = found
                if heights is not None and looker.height > 0.0 and not heights.all():
                    part = _beside(found, looker, everyone, heights)
                keys = looker.searches[number][1]
                looker.around.lists.update(dict.fromkeys(keys, _own_part(part, looker)))
    for looker in lookers:
        looker.around.known = known


def _spread(lookers: Sequence[_Looker], number: int, count: int) -> Asked:
    """What all agents ask for in a search: those of no crowd that looks ask for nobody."""
    if len(lookers) == 1 and lookers[0].agents.count == count:
        return lookers[0].asks(number)
    spread = tuple(np.full(count, none[0], np.float32) for none in _NOBODY)
    for looker in lookers:
        for column, value in zip(spread, looker.asks(number), strict=True):
            column[looker.first : looker.first + looker.agents.count] = value
    return spread[0], spread[1], spread[2]


def _own_part(found: NeighborView, looker: _Looker) -> NeighborView:
    """The lists of one crowd, with its own agents as the first rows and all others behind.

    Those that stand before it among all come last: see `together.Ring`.
    """
    count, first, total = looker.agents.count, looker.first, len(found.count)
    if total == count:
        return found
    own = slice(first, first + count)
    index = found.index[own]
    if first:
        there = index - np.int32(first)
        there[there < 0] += total
        index = np.where(index < 0, index, there)
    return NeighborView(found.count[own], index, found.distance[own])


def _beside(found: NeighborView, looker: _Looker, everyone: Agents, heights: F32) -> NeighborView:
    """The lists of those that walk without flyers above their heads, or below their feet."""
    own = slice(looker.first, looker.first + looker.agents.count)
    index, count = found.index[own], found.count[own]
    rise = everyone.position[index, 2] - everyone.position[own, 2][:, None]
    room = everyone.radius[index] + everyone.radius[own][:, None]
    apart = (rise > looker.height + room) | (rise < -room)
    listed = np.arange(index.shape[1]) < count[:, None]
    keep = listed & ~((heights[index] == 0.0) & apart)
    view = NeighborView(found.count.copy(), found.index.copy(), found.distance.copy())
    part = fewer.only(NeighborView(count, index, found.distance[own]), keep)
    for column, kept in zip(view, part, strict=True):
        column[own] = kept
    return view
