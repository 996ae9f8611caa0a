"""Ways: keeps surfaces and fields from step to step, and leads the agents of crowds by them.

All that is kept follows from the world of the step alone: what was looked up before only saves
time, so that resumed runs have the same bits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..compiled import jit
from ..compiled.jit import parallel_for
from ..errors import NotReadyError, SurfaceMissingError
from . import outs, own
from .ahead import found as ahead
from .ahead import stored
from .ahead.digests import digest_of
from .ahead.progress import Progress, TooLongError, found_surface
from .areas.declared import Rules
from .areas.keeping_out import keep_out_kernel
from .areas.marking import Marker
from .classes import Class, class_radii
from .known import Blocks, Kind, Known, boxes_of, renew, same_lattice
from .portals.gates import Gates, no_gates
from .portals.links import fault_of
from .room import make_room
from .searching import Scratch
from .surface import Bounds, Shape, Surface, Told, bounds_of, make_surface

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

Wanted = tuple[F32, I64, tuple[F32, I64, F32], F32 | None, F32 | None]
"""`goals`, `row`, `agents`, `seen` and `kept` of `Ways.lead`."""

MOST_GOALS = 64
"""Goals to which fields lead; where there are more, each agent keeps a way of its own."""
MOST_SURFACES = 4
"""Surfaces that are kept: crowds of a scene differ in step height, slope or height."""


class Ways:
    """Surfaces of a world, and the fields to goals on them."""

    def __init__(self, told: Told | None = None) -> None:
        """Begin with none.

        Args:
            told: Called by those that find things ahead, with the share of a surface that is found,
                0 to 1, and 1 and the share of the ways on it that are; None for all others, which
                may have to wait for them.
        """
        self._told = told
        self._lock = threading.RLock()
        self._known: OrderedDict[Shape, Known] = OrderedDict()
        self._progress = Progress(None if told is None else lambda share: told(1.0 + share))
        self._scratch = Scratch(self._progress)
        self._waits = b""
        """The surface that is found ahead for these ways."""

    def surface(self, shape: Shape, blocks: Blocks, goals: F32) -> Surface:
        """The walkable surface, found again only where colliders moved.

        Args:
            shape: What it is made for.
            blocks: What it is found on.
            goals: Places that it has to hold where there is neither terrain nor collider [m].
        """
        with self._lock:
            return self._found(shape, blocks, goals).surface

    def _found(
        self, shape: Shape, blocks: Blocks, goals: F32, then: Callable[[Ways], object] | None = None
    ) -> Known:
        """A surface; `then` looks up what is needed of it, where it is found ahead."""
        known = self._known.get(shape)
        bounds = bounds_of(blocks.ground, blocks.colliders, goals, boxes_of(blocks.areas))
        if known is None or not same_lattice(known, blocks, bounds):
            known = self._known[shape] = self._new(shape, blocks, bounds, then)
        else:
            renew(known, blocks)
        self._known.move_to_end(shape)
        while len(self._known) > MOST_SURFACES:
            self._known.popitem(last=False)
        return known

    def _new(
        self,
        shape: Shape,
        blocks: Blocks,
        bounds: Bounds,
        then: Callable[[Ways], object] | None,
    ) -> Known:
        """Find a surface, or take one that was found ahead.

        Raises:
            SurfaceMissingError: It takes long, and may be found ahead.
        """
        long = ahead.takes_long(shape, bounds)
        key = ahead.key_of(shape, blocks, bounds) if long or ahead.holds_any() else b""
        taken = ahead.take(key) if key and self._told is None else None
        if taken is not None:
            if key != self._waits:
                # a run that begins again reads all its frames again: it waits less and less
                taken.patience *= 2
            # trees of the same colliders, whose areas may differ
            taken.blocks = replace(blocks, rules=taken.blocks.rules)
            renew(taken, blocks)
            return taken
        if long and self._told is None and ahead.may_wait(key):
            self._waits = key
            options = key, shape, blocks, bounds, then, None
            raise SurfaceMissingError(partial(_find_ahead, *options))
        solid, told = (blocks.ground, blocks.colliders), self._told or found_surface
        find = partial(make_surface, shape, *solid, bounds, blocks.level, told)
        made = stored.read_or_found(key, shape, find) if long else find()
        return Known(blocks, bounds, made, Marker(made, blocks.ground))

    def _class(self, known: Known, kind: Kind) -> Class:
        if kind not in known.classes:
            blocks, surface, radius = known.blocks, known.surface, kind[0]
            same = [kept.plain for other, kept in known.classes.items() if other[0] == radius]
            # areas differ, walls do not
            room = same or [make_room(surface, blocks.ground, blocks.colliders, radius)]
            known.classes[kind] = Class(surface, room[0], radius, known.marks(kind))
        return known.classes[kind]

    def lead(
        self,
        shape: Shape,
        blocks: Blocks,
        goals: F32,
        row: I64,
        agents: tuple[F32, I64, F32],
        seen: F32 | None = None,
        kept: F32 | None = None,
        *,
        each: bool = False,
        gates: Gates | None = None,
    ) -> tuple[F32, F32, F32 | None]:
        """Where agents head for on the way to their goals.

        Args:
            shape: What the surface is made for.
            blocks: What it is found on.
            goals: Places of the goals [m], shape (goals, 3).
            row: Each agent's goal, -1 for none, shape (agents,).
            agents: (positions [m], ids, radii [m]).
            seen: The people that make ways seem longer, see `costs.crowding`; None for the shortest
                ways.
            kept: The ways that agents kept, see `own`; None for none. It is not changed.
            each: Whether each agent keeps a way of its own, however few goals there are.
            gates: The portals that agents head for; written.

        Returns:
            (places that agents head for [m], shape (agents, 3); lengths of the ways from there to
            the goals [m], shape (agents,), 0 where the place is the goal itself; the ways that
            agents keep, shape (agents, own.WIDTH), None where fields lead them).
        """
        if not len(row) or not (row >= 0).any():
            via = goals[np.maximum(row, 0)].astype(np.float32)
            return via, np.zeros(len(row), np.float32), None
        many = each or len(np.unique(row[row >= 0])) > MOST_GOALS
        kept = None if not many else _kept_or_new(kept, len(row))
        gates = no_gates(len(row)) if gates is None else gates
        wanted = goals, row, agents, seen, kept

        def then(ways: Ways) -> object:
            return ways.lead(shape, blocks, goals, row, agents, seen, kept, each=each)

        with self._lock:
            known = self._found(shape, blocks, goals, then)
            try:
                self._progress.begin(self._patience(known, wanted))
                return self._led(known, wanted, gates)
            except TooLongError:
                self._wait_for_ways(shape, known, then, wanted)
            self._progress.begin(None)
            return self._led(known, wanted, gates)

    def _led(self, known: Known, wanted: Wanted, gates: Gates) -> tuple[F32, F32, F32 | None]:
        """See `lead`."""
        goals, row, (position, ids, radius), seen, kept = wanted
        via = goals[np.maximum(row, 0)].astype(np.float32)
        rest = np.zeros(len(row), np.float32)
        kept = None if kept is None else kept.copy()
        told, aims = (goals, row, position, ids), (via, rest, gates)
        kinds, progress = self._kinds(known.blocks.rules, row, radius), self._progress
        for number, (kind, rows) in enumerate(kinds):
            with progress.part(number / len(kinds), (number + 1) / len(kinds)):
                progress.tell(0.0)
                found = self._class(known, kind)
                if kept is None:
                    found.lead_all(rows, told, seen, self._scratch, aims)
                else:
                    found.lead_singles(rows, told, seen, kept, self._scratch, aims)
        return via, rest, kept

    def _patience(self, known: Known, wanted: Wanted) -> int | None:
        """Cells that a step searches for ways before it waits; None where it cannot."""
        if self._told is not None or not jit.is_deferring():
            return None
        asked = known.waited and digest_of(wanted) in known.waited
        return None if asked else known.patience

    def _wait_for_ways(
        self, shape: Shape, known: Known, then: Callable[[Ways], object], wanted: Wanted
    ) -> None:
        """Let ways be found ahead, unless they cannot.

        Raises:
            SurfaceMissingError: They can.
        """
        key = ahead.key_of(shape, known.blocks, known.bounds)
        if ahead.may_wait(key):
            # once only: what else the step looks up may take the place of what is found
            known.waited.add(digest_of(wanted))
            del self._known[shape]
            self._waits = key
            options = key, shape, known.blocks, known.bounds, then, known
            raise SurfaceMissingError(partial(_find_ahead, *options))

    def look_out(
        self, shape: Shape, blocks: Blocks, flight: outs.Flight, agents: tuple[F32, I64, F32]
    ) -> None:
        """Let agents that are cornered find ways out, see `outs`; what they keep is written.

        Args:
            shape: What the surface is made for.
            blocks: What it is found on.
            flight: Those that run away, and from what.
            agents: (positions [m], ids, radii [m]).
        """
        position, _ids, radius = agents
        flight.kept[~flight.runs] = 0.0
        row = np.where(flight.runs, 0, -1)
        cornered = np.zeros(len(row), np.uint8)
        with self._lock:
            known = self._found(shape, blocks, np.zeros((0, 3), np.float32))
            for found, rows in self._classes(known, blocks.rules, row, radius):
                seen = found.surface.view, found.room, position, flight.threat, cornered
                parallel_for(outs.cornered_kernel, len(rows), rows, *seen)
                goes = flight.kept[:, outs.ON] > 0.0
                looks = rows[np.where(goes[rows], flight.due[rows], cornered[rows] != 0)].tolist()
                on = found.surface.view, found.room, looks, position, flight, self._scratch
                outs.look_for_outs(*on)

    def keep_out(
        self, shape: Shape, blocks: Blocks, before: Agents, after: Agents, dt: float
    ) -> None:
        """Take back what leads agents into forbidden areas, see `keeping_out`.

        Args:
            shape: What the surface is made for.
            blocks: What it is found on.
            before: The agents at the start of the step.
            after: The same ones where they went; changed.
            dt: Length of the step [s].
        """
        if blocks.areas is None:
            return
        row = np.zeros(before.count, np.int64)
        with self._lock:
            known = self._found(shape, blocks, np.zeros((0, 3), np.float32))
            for found, rows in self._classes(known, blocks.rules, row, before.radius):
                if found.depth is not None:
                    seen = found.surface.view, found.depth, before.position, after.normal, float(dt)
                    went = after.position, after.velocity
                    parallel_for(keep_out_kernel, len(rows), rows, *seen, *went)

    def empty_areas(self, shape: Shape, blocks: Blocks) -> list[str]:
        """Names of the areas in which no walkable cell lies; see `surface`."""
        if blocks.areas is None or not blocks.areas.areas:
            return []
        with self._lock:
            known = self._found(shape, blocks, np.zeros((0, 3), np.float32))
            there = [(a, known.marker.covered(a, known.surface)) for a in blocks.areas.areas]
        return [area.name for area, cells in there if not len(cells)]

    def loose_portals(
        self, shape: Shape, blocks: Blocks, agents: tuple[F32, I64, F32]
    ) -> list[tuple[str, str]]:
        """Names of the portals that join nothing for agents that may use them, and why."""
        if blocks.areas is None or not blocks.areas.portals:
            return []
        found: dict[str, str] = {}
        row = np.zeros(len(agents[0]), np.int64)
        with self._lock:
            known = self._found(shape, blocks, np.zeros((0, 3), np.float32))
            for each, _rows in self._classes(known, blocks.rules, row, agents[2]):
                for portal in () if each.marks is None else each.marks.portals:
                    why = fault_of(each.surface.view, each.room, portal)
                    if why:
                        found.setdefault(portal.name, why)
        return list(found.items())

    def without_way(
        self, shape: Shape, blocks: Blocks, goals: F32, row: I64, agents: tuple[F32, I64, F32]
    ) -> Mask:
        """Which agents have no way to their goals, shape (agents,); see `lead`."""
        position, _ids, radius = agents
        cells, ends = np.full((2, len(row)), -1, np.int64)
        lost: Mask = np.zeros(len(row), np.bool_)
        with self._lock:
            known = self._found(shape, blocks, goals)
            for found, rows in self._classes(known, blocks.rules, row, radius):
                seen = found.surface.view, found.room, found.label, goals, row, position
                parallel_for(own.ends_kernel, len(rows), rows, *seen, cells, ends)
                if found.strict:
                    _drop_unreached(found, rows, cells, ends)
                # there is no room for them anywhere
                lost[rows] = found.islands == 0
        lost |= (cells >= 0) & (ends < 0)
        return lost

    def _classes(
        self, known: Known, rules: Rules | None, row: I64, radius: F32
    ) -> Iterator[tuple[Class, I64]]:
        """The classes of bodies that have goals, and the rows of their agents."""
        for kind, rows in self._kinds(rules, row, radius):
            yield self._class(known, kind), rows

    def _kinds(self, rules: Rules | None, row: I64, radius: F32) -> list[tuple[Kind, I64]]:
        """The kinds of bodies that have goals, and the rows of their agents."""
        found: list[tuple[Kind, I64]] = []
        sizes, costs = class_radii(radius), rules is not None and rules.costs
        portals = rules is not None and rules.areas.portals
        speed = rules.speed if rules is not None and portals else 0.0
        bits = np.zeros(len(row), np.int64) if rules is None else rules.bits
        for size in np.unique(sizes[row >= 0]):
            alike = (row >= 0) & (sizes == size)
            for each in np.unique(bits[alike]).tolist():
                kind = float(size), each, costs, speed
                found.append((kind, np.flatnonzero(alike & (bits == each))))
        return found


def _find_ahead(
    key: bytes,
    shape: Shape,
    blocks: Blocks,
    bounds: Bounds,
    then: Callable[[Ways], object] | None,
    known: Known | None,
    told: Told,
) -> None:
    """Find a surface, where it is not known, and what `then` looks up on it, for the next step."""
    ways = Ways(told)
    try:
        known = known or ways._new(shape, blocks, bounds, None)
        ways._known[shape] = known
        told(1.0)
        if then is not None:
            then(ways)
    except NotReadyError:
        raise
    except Exception:
        ahead.fail(key)
        raise
    ahead.give(key, ways._known.get(shape, known))


def _drop_unreached(found: Class, rows: I64, cells: I64, ends: I64) -> None:
    """Let ways to which areas let no agent come have no end; of `MOST_GOALS` goals only."""
    for end in np.unique(ends[rows][ends[rows] >= 0])[:MOST_GOALS].tolist():
        there = rows[(ends[rows] == end) & (cells[rows] >= 0)]
        ends[there[~found.reaching(cells[there], end)]] = -1


def _kept_or_new(kept: F32 | None, count: int) -> F32:
    """What agents keep of their ways."""
    if kept is None or kept.shape != (count, own.WIDTH):
        return np.zeros((count, own.WIDTH), np.float32)
    return kept
