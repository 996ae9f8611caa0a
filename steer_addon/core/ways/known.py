"""What is known of a world: its walkable surfaces, and what was found on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..views import BvhView
from .areas.declared import Areas, Rules
from .areas.marking import Marker, Marks, same_marks
from .classes import Class
from .room import same_room, updated_room
from .surface import Bounds, Surface

I64 = NDArray[np.int64]

FEW, TILE = 4, 4
"""Boxes that are looked at one by one; columns to a tile along each axis where there are more."""
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
    linked = np.array_equal(before.links_of(cells), known.surface.links_of(cells))
    for kind, kept in list(known.classes.items()):
        old = kept.plain
        room = updated_room(old, cells, known.surface, *solid, kind[0])
        if linked and same_room(room, old, cells):
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
            moved += _moved(old, new)
    margin = surface.shape.reach + 2.0 * surface.view.size
    boxes = np.concatenate([np.zeros((0, 4)), *moved])
    boxes += [-margin, -margin, margin, margin]
    if len(boxes) > FEW:
        boxes = _outline(boxes, surface)
    parts = [surface.within(box[:2], box[2:]) for box in boxes]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _moved(old: BvhView | None, new: BvhView | None) -> list[Any]:
    """Low and high x and y [m] of what moved of a collider, before and after, shape (n, 4) each."""
    trees = [tree for tree in (old, new) if tree is not None and len(tree.box)]
    if len(trees) == 2 and len(trees[0].triangles) == len(trees[1].triangles):
        # most of it may stand still: one mesh of parked cars and one that drives
        a, b = (tree.triangles for tree in trees)
        rows = np.flatnonzero((a != b).any(axis=(1, 2)))
        ends = [tree.triangles[rows, :, :2] for tree in trees]
        return [np.hstack([part.min(axis=1), part.max(axis=1)]) for part in ends]
    return [tree.box[:1, [0, 1, 3, 4]] for tree in trees]


def _outline(boxes: Any, surface: Surface) -> Any:
    """Rectangles of tiles that cover some boxes; both as low and high x and y [m]."""
    view, size = surface.view, TILE * surface.view.size
    count = np.array([view.nx, view.ny]) // TILE + 1
    tiles = np.floor((boxes.reshape(-1, 2, 2) - view.low) / size).clip(0, count - 1)
    (left, below), (right, above) = (tiles.astype(np.int64) + [[0], [1]]).transpose(1, 2, 0)
    # how many more boxes there are in a tile than before it
    more = np.zeros(count[::-1] + 1, np.int32)
    np.add.at(more, (below, left), 1)
    np.add.at(more, (above, right), 1)
    np.add.at(more, (below, right), -1)
    np.add.at(more, (above, left), -1)
    there = more.cumsum(axis=0).cumsum(axis=1) > 0
    y, first = np.nonzero(there & ~np.roll(there, 1, axis=1))
    last = np.nonzero(there & ~np.roll(there, -1, axis=1))[1]
    # not their edges, which are those of the tiles beside them
    low = np.column_stack([first, y]) * size + 0.5 * view.size
    high = np.column_stack([last + 1, y + 1]) * size - 0.5 * view.size
    return np.hstack([low + view.low, high + view.low])
