"""What is known of a world: its walkable surfaces, and what was found on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..views import BvhView, RoomView
from .areas.declared import Areas, Rules
from .areas.marking import Marker, Marks, same_marks
from .classes import Class
from .room import update_room
from .surface import Bounds, Surface

I64 = NDArray[np.int64]

PATIENCE = 1 << 22
"""Cells that a step searches for ways before it waits, at first: a second, or so."""


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """What surfaces are found on.

    Attributes:
        ground: The terrain; empty for a plane.
        colliders: What blocks.
        trees: Each collider's own tree, by its name; the same instance while it does not move.
        level: Height of the plane where there is no terrain [m].
    """

    ground: BvhView
    colliders: BvhView
    trees: dict[str, BvhView]
    level: float = 0.0
    rules: Rules | None = None
    """What areas mean for the agents; None where there are no areas."""

    @property
    def areas(self) -> Areas | None:
        """The areas."""
        return None if self.rules is None else self.rules.areas


Kind = tuple[float, int, bool, float]
"""Bodies of a class: their radius [m], the bits of the areas that are for them, whether costs
count, and how fast they walk [m/s], see `areas.Rules`."""


@dataclass(eq=False, repr=False)
class Known:
    """A surface, and what was found on it."""

    blocks: Blocks
    bounds: Bounds
    surface: Surface
    marker: Marker
    classes: dict[Kind, Class] = field(default_factory=dict)
    patience: int = field(default_factory=lambda: PATIENCE)
    """Cells that a step searches for ways before it waits until they are found ahead."""
    waited: set[bytes] = field(default_factory=set)
    """Digests of the ways that were found ahead."""

    def marks(self, kind: Kind) -> Marks | None:
        """What areas mean for bodies of a kind."""
        _radius, bits, costs, speed = kind
        return self.marker.marks(self.blocks.areas, bits, costs, self.surface, speed)


def boxes_of(areas: Areas | None) -> list[Any]:
    """Low and high corners of areas [m], shape (6,) each."""
    if areas is None:
        return []
    lines = [each.points for each in areas.portals]
    ends = [np.concatenate([line.min(axis=0), line.max(axis=0)]) for line in lines]
    return [*(area.tree.box[0] for area in areas.areas), *ends]


def same_lattice(known: Known, blocks: Blocks, bounds: Bounds) -> bool:
    """Whether the cells of a surface are those of a world, wherever its colliders are."""
    if known.blocks.ground is not blocks.ground or known.blocks.level != blocks.level:
        return False
    return all(np.array_equal(a, b) for a, b in zip(known.bounds, bounds, strict=True))


def renew(known: Known, blocks: Blocks) -> None:
    """Find again what colliders changed that moved, came or went."""
    cells = _touched(known.surface, known.blocks, blocks)
    marked_again = known.blocks.areas is not blocks.areas
    known.blocks = blocks
    if marked_again:
        known.marker.forget(blocks.areas)
        _mark_again(known)
    if not len(cells):
        return
    before, solid = known.surface, (blocks.ground, blocks.colliders)
    known.surface = before.updated(cells, *solid)
    linked = np.array_equal(before.view.link[cells], known.surface.view.link[cells])
    for kind, kept in list(known.classes.items()):
        old = kept.plain
        room = RoomView(old.state.copy(), old.shift.copy(), old.leap.copy())
        update_room(room, cells, known.surface, *solid, kind[0])
        same = np.array_equal(room.state[cells], old.state[cells])
        if linked and same and np.array_equal(room.shift[cells], old.shift[cells]):
            kept.moved_to(known.surface)
        else:
            known.classes[kind] = Class(known.surface, room, kind[0], kept.marks)
            known.classes[kind].singles.begin_with(kept.singles, cells)


def _mark_again(known: Known) -> None:
    """Find again what areas changed that moved, came or went."""
    for kind, kept in list(known.classes.items()):
        marks = known.marks(kind)
        if not same_marks(marks, kept.marks):
            known.classes[kind] = Class(known.surface, kept.plain, kind[0], marks)


def _touched(surface: Surface, before: Blocks, after: Blocks) -> I64:
    """Cells near colliders that moved, came or went."""
    moved: list[Any] = []
    for name in {**before.trees, **after.trees}:
        old, new = before.trees.get(name), after.trees.get(name)
        if old is not new:
            moved += [tree.box[0] for tree in (old, new) if tree is not None and len(tree.box)]
    margin = surface.shape.reach + 2.0 * surface.view.size
    parts = [surface.within(box[:2] - margin, box[3:5] + margin) for box in moved]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
