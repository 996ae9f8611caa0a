"""Benchmarks of ways: the walkable surface, fields to goals, and agents who go by them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scripts.bench.core import stepper
from scripts.bench.crowds import DT, pedestrians
from scripts.bench.plain_field import plain_field
from scripts.bench.table import Row, median, medians, seconds_of, timed
from steer_addon.core.geometry import bvh
from steer_addon.core.views import BvhView, RoomView
from steer_addon.core.ways.islands import Roots, label_islands
from steer_addon.core.ways.known import Blocks
from steer_addon.core.ways.lattice import middles_of
from steer_addon.core.ways.room import OPEN, make_room, passable
from steer_addon.core.ways.searching import Scratch, fill_field
from steer_addon.core.ways.surface import Shape, Surface, bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

F32 = NDArray[np.float32]

SHAPE = Shape(cell_size=0.25, step_height=0.35, max_slope=45.0, height=1.75, reach=0.5)
RADIUS = 0.3
NOWHERE = np.zeros((0, 3), np.float32)
SIDE, BOXES = 100.0, 1_333
"""Side of the square [m], and boxes on it: 16,000 triangles."""
PLAIN_BOXES = 60
TABLES = 20_000
"""Table tops in the ground of a square: 240,000 triangles."""
TOWN, HOUSES = 1_000.0, 1_667
"""Side of a town [m], and its houses: 20,000 triangles."""
SPEED = 1.3
"""How fast agents with goals of their own go [m/s]."""
STEPS = 500


def _boxes(count: int, side: float, low: float, high: float, seed: int = 3) -> list[F32]:
    """Boxes on a square, their triangles."""
    rng = np.random.default_rng(seed)
    corners = np.array([[k & 1, k >> 1 & 1, k >> 2] for k in range(8)], float)
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    found = []
    for _ in range(count):
        size = rng.uniform(low, high, 2)
        begin = [*rng.uniform(2.0, side - 2.0 - size), -1.0]
        points = begin + corners * [*size, 4.0]
        parts = [points[[a, b, c]] for a, b, c, d in faces] + [
            points[[a, c, d]] for a, b, c, d in faces
        ]
        found.append(np.array(parts, np.float32))
    return found


def _square(side: float) -> BvhView:
    a, b, c, d = (0.0, 0.0, 0.0), (side, 0.0, 0.0), (side, side, 0.0), (0.0, side, 0.0)
    return bvh.build(np.array([[a, b, c], [a, c, d]], np.float32))


def _surface(ground: BvhView, walls: BvhView) -> Surface:
    return make_surface(SHAPE, ground, walls, bounds_of(ground, walls, NOWHERE))


def _plain() -> tuple[BvhView, BvhView, Surface, RoomView]:
    """Ground with few boxes: it, the boxes, the surface, and where bodies have room on it."""
    ground, walls = _square(SIDE), bvh.build(np.concatenate(_boxes(PLAIN_BOXES, SIDE, 0.5, 8.0)))
    surface = _surface(ground, walls)
    return ground, walls, surface, make_room(surface, ground, walls, RADIUS)


def _surfaces() -> Iterator[Row]:
    """A surface found at once, and again around a door."""
    ground = _square(SIDE)
    boxes = _boxes(BOXES, SIDE, 0.3, 1.5)
    walls = bvh.build(np.concatenate(boxes))
    count = len(walls.triangles)
    name = f"walkable surface of 100 × 100 m among {count:,} triangles"
    yield timed(name, median(lambda: _surface(ground, walls), 5, 1), "s", 0.3)
    (door,) = _boxes(1, 0.5 * SIDE, 1.0, 1.2)
    trees = {"Walls": walls, "Door": bvh.build(door)}
    places = iter(range(1_000))
    ways = Ways()

    def moved() -> None:
        tree = bvh.build(door + np.float32([0.01 * next(places), 0.0, 0.0]))
        both = bvh.build(np.concatenate([*boxes, tree.triangles]))
        blocks.append(Blocks(ground, both, {"Walls": walls, "Door": tree}))

    blocks = [Blocks(ground, walls, trees)]
    ways.surface(SHAPE, blocks[-1], NOWHERE)
    (found,) = medians([lambda: ways.surface(SHAPE, blocks[-1], NOWHERE)], 15, between=moved)
    yield timed("… found again as a door moves", found, "ms", 20.0)


def _fields() -> Iterator[Row]:
    """Fields of next corners against a plain one, and with costs."""
    _ground, _walls, surface, room = _plain()
    view, cells = surface.view, surface.count
    goal = int(np.flatnonzero(room.state == OPEN)[cells // 3])
    field = np.zeros(cells, np.int32), np.zeros(cells, np.float32)
    scratch, roots = Scratch(), Roots(goal, np.array([goal]), np.zeros(1))
    free = np.zeros((view.ny, view.nx), np.bool_)
    # one floor a column: cells have the numbers of their columns
    free.flat = room.state > 0
    plain, lengths = plain_field(free, goal)
    cost = np.ones(cells, np.float32)
    ours, other, costly = medians(
        [
            lambda: fill_field(view, room, roots, None, field, scratch),
            plain,
            lambda: fill_field(view, room, roots, cost, field, scratch),
        ],
        15,
    )
    fill_field(view, room, roots, None, field, scratch)
    reached = int(np.isfinite(field[1]).sum())
    if reached != int(np.isfinite(lengths).sum()) or reached < cells // 2:
        raise RuntimeError(f"{reached:,} of {cells:,} cells have ways")
    note = f"{reached:,} cells, one thread"
    yield Row("field of next corners: a cell", ours / reached * 1e9, "ns", 400.0, note=note)
    yield Row(
        "… our time in that of the plain search",
        ours / other,
        "×",
        note=f"Lazy Theta* on a plain lattice: {other / reached * 1e9:.0f} ns a cell",
    )
    yield Row("field of next corners with costs: a cell", costly / reached * 1e9, "ns", 120.0)


def _crowds() -> Iterator[Row]:
    """Agents who are led to few goals, and to one each."""
    ground, walls, surface, room = _plain()
    open_cells = np.flatnonzero(room.state == OPEN)
    rng = np.random.default_rng(7)

    def places(count: int) -> F32:
        cells = rng.choice(open_cells, count)
        return middles_of(surface.view, cells).astype(np.float32)

    blocks = Blocks(ground, walls, {"Walls": walls})
    ways, goals, starts = Ways(), places(20), places(10_000)
    row = rng.integers(0, 20, len(starts))
    told = starts, np.arange(len(starts)), np.full(len(starts), RADIUS, np.float32)
    step, led = medians(
        [stepper(*pedestrians(10_000)), lambda: ways.lead(SHAPE, blocks, goals, row, told)], 15
    )
    yield Row(
        "10,000 agents with 20 goals: ways, as a share of a step with them",
        100.0 * led / (step + led),
        "%",
        15.0,
        note=f"{led * 1e3:.1f} of {(step + led) * 1e3:.0f} ms",
    )
    ways, goals, here, kept = Ways(), places(1_000), places(1_000), None
    rows, bodies = np.arange(1_000), np.full(1_000, RADIUS, np.float32)
    # kernels are compiled
    Ways().lead(SHAPE, blocks, goals, rows, (here, rows, bodies))
    total = 0.0
    for _ in range(STEPS):
        begin = time.perf_counter()
        via, _rest, kept = ways.lead(SHAPE, blocks, goals, rows, (here, rows, bodies), None, kept)
        total += time.perf_counter() - begin
        way = via - here
        far = np.linalg.norm(way, axis=1, keepdims=True)
        here = here + way * np.minimum(SPEED * DT / np.maximum(far, 1.0e-6), 1.0)
    note = f"mean of {STEPS} steps, with the first searches"
    yield timed(
        "1,000 agents with goals of their own: ways of a step", total / STEPS, "ms", 2.0, note
    )


def _furnished() -> Iterator[Row]:
    """Ground that has its furniture in it, as a scanned building has."""
    tables = np.concatenate(_boxes(TABLES, SIDE, 0.4, 0.8))
    tables[..., 2] = np.where(tables[..., 2] < 0.0, 0.66, 0.7)
    ground = bvh.build(np.concatenate([_square(SIDE).triangles, tables]))
    walls, found = bvh.empty(), []
    seconds = seconds_of(lambda: found.append(_surface(ground, walls)))
    name = f"walkable surface of 100 × 100 m with {TABLES:,} tables in its ground"
    note = f"{len(ground.triangles):,} triangles"
    yield timed(name, seconds, "s", note=note)
    seconds = seconds_of(lambda: make_room(found[0], ground, walls, RADIUS))
    yield timed("… the room on it", seconds, "s", note="once a body size")


def _town() -> Iterator[Row]:
    """A square kilometer of houses."""
    ground, walls = _square(TOWN), bvh.build(np.concatenate(_boxes(HOUSES, TOWN, 4.0, 16.0)))
    found = []
    seconds = seconds_of(lambda: found.append(_surface(ground, walls)))
    surface = found[0]
    name = f"walkable surface of 1 km² among {len(walls.triangles):,} triangles"
    note = f"{surface.count:,} cells of {surface.view.size:g} m"
    yield timed(name, seconds, "s", note=note)
    yield Row("… its memory", surface.bytes / 1e6, "MB", 100.0)
    room = make_room(surface, ground, walls, RADIUS)
    label, _count = label_islands(passable(surface, room).view, room)
    more = sum(array.nbytes for array in (*room, *label))
    yield Row("… that of the room on it, with islands", more / 1e6, "MB", note="once a body size")
    blocks, people = Blocks(ground, walls, {"walls": walls}), 100
    rows, bodies = np.zeros(people, np.int64), np.full(people, RADIUS, np.float32)
    rng, known = np.random.default_rng(5), Ways()
    for far in (0.1 * TOWN, 0.9 * TOWN):
        # along the edge, beside the houses
        goal = np.array([[0.95 * TOWN, 1.0, 0.0]], np.float32)
        here = goal + rng.uniform([-far, -0.5, 0.0], [0.0, 0.5, 0.0], (people, 3))
        told = goal, rows, (here.astype(np.float32), np.arange(people), bodies)
        # the surface, and what else does not depend on the goal
        known.lead(SHAPE, blocks, goal + np.float32([1.0, 0.0, 0.0]), *told[1:])
        ways = seconds_of(lambda told=told: known.lead(SHAPE, blocks, *told))
        yield timed(f"… ways of {people} agents up to {far:g} m from their goal", ways, "s")


def ways() -> Iterator[Row]:
    """All benchmarks of ways."""
    yield from _surfaces()
    yield from _fields()
    yield from _crowds()
    yield from _furnished()
    yield from _town()
