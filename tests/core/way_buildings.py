"""Buildings, ramps and a train on which ways are looked for.

Where the exact length of a way is known, it is for the middle of a body of a radius, measured along
the surface.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from restated_ways import Building, Joint, helicoid
from way_scenes import Scene, boxes, fence, floor, joined, quad, rectangle

from steer_addon.core.geometry.meshes import Mesh

STOREY = 3.2
"""From floor to floor [m]."""
WIDE, DEEP = 30.0, 20.0
"""Size of the building of three storeys [m]."""
FOOT, HEAD = 6.0, 12.4
"""Where flights of stairs begin and end along y [m]."""
WELLS = {"left": (2.0, 4.0), "right": (26.0, 28.0)}
"""Where the two flights of a storey lie along x [m]."""
RAIL = 0.1
"""Thickness of the walls beside flights [m]."""
STOREYS = 3


def three_storeys(steps: int = 0, wells: Sequence[str] = ("left", "right")) -> Scene:
    """Three floors of 30 × 20 m with two stairs, which lie above each other from floor to floor.

    Walls of 1.1 m above the upper floor stand beside each flight, and where the floor ends.

    Args:
        steps: Number of steps of a flight; 0 for ramps.
        wells: Which of the two stairs are there.
    """
    low, high, ramps = [], [], []
    for storey in range(STOREYS):
        z = storey * STOREY
        ends = [0.0, *(x for well in sorted(wells) for x in WELLS[well]), WIDE]
        if storey == 0:
            ends = [0.0, WIDE]
        for x0, x1 in zip(ends[::2], ends[1::2], strict=True):
            low.append((x0, 0.0, z - 0.2))
            high.append((x1, DEEP, z))
        for well in wells if storey else ():
            x0, x1 = WELLS[well]
            low += [(x0, 0.0, z - 0.2), (x0, HEAD, z - 0.2)]
            high += [(x1, FOOT, z), (x1, DEEP, z)]
        for well in wells if storey < STOREYS - 1 else ():
            ramps.append(_flight(*WELLS[well], z, steps))
    ground = joined("ground", boxes(low, high), *ramps)
    places = {"start": np.array([15.0, 3.0, 0.0]), "goal": np.array([15.0, 17.0, 2 * STOREY])}
    for storey in range(STOREYS):
        places[f"middle {storey}"] = np.array([15.0, 10.0, storey * STOREY])
    return Scene(ground, (_rails(wells), _around()), (), places)


def _flight(x0: float, x1: float, z: float, steps: int) -> Mesh:
    """A flight from FOOT up to HEAD, as a ramp or as steps."""
    if not steps:
        corners = (x0, FOOT, z), (x1, FOOT, z), (x1, HEAD, z + STOREY), (x0, HEAD, z + STOREY)
        return Mesh("ramp", quad(*corners).astype(np.float32))
    k = np.arange(steps)
    # the last step is the upper floor
    tread, rise = (HEAD - FOOT) / steps, STOREY / (steps + 1)
    y, top = FOOT + k * tread, z + (k + 1) * rise
    low = np.column_stack([np.full(steps, x0), y, top - 0.3])
    high = np.column_stack([np.full(steps, x1), y + tread, top])
    return boxes(low, high, "steps")


def _rails(wells: Sequence[str]) -> Mesh:
    """Walls beside the flights, and where the uppermost floor would end above them."""
    low, high, top = [], [], (STOREYS - 1) * STOREY
    for well in wells:
        x0, x1 = WELLS[well]
        for a, b in ((x0 - RAIL, x0), (x1, x1 + RAIL)):
            low.append((a, FOOT, -0.2))
            high.append((b, HEAD, top + 1.1))
        low.append((x0 - RAIL, FOOT - RAIL, top - 0.2))
        high.append((x1 + RAIL, FOOT, top + 1.1))
    return boxes(low, high, "rails")


def _around() -> Mesh:
    """The outer walls."""
    low, high = [], []
    for outline in fence(0.0, 0.0, WIDE, DEEP):
        low.append((*outline.min(axis=0), -0.5))
        high.append((*outline.max(axis=0), STOREYS * STOREY))
    return boxes(low, high, "outer walls")


def storeys_unfolded(radius: float, wells: Sequence[str] = ("left", "right")) -> Building:
    """The building of three storeys with ramps as sheets `floor 0` to `floor 2`, for exact ways."""
    sheets: dict[str, list[np.ndarray]] = {}
    joints = []
    size = float(np.hypot(HEAD - FOOT, STOREY))
    body = radius / np.cos(np.pi / 32) + 1.0e-4
    for storey in range(STOREYS):
        name = f"floor {storey}"
        sheets[name] = fence(0.0, 0.0, WIDE, DEEP)
        for well in wells:
            x0, x1 = WELLS[well]
            foot = FOOT if storey < STOREYS - 1 else FOOT - RAIL
            sheets[name] += [
                rectangle(x0 - RAIL, foot, x0, HEAD),
                rectangle(x1, foot, x1 + RAIL, HEAD),
                # nobody walks where the floor is open: as far as its ends
                rectangle(x0, FOOT + body, x1, HEAD - body),
            ]
            if storey == STOREYS - 1:
                sheets[name].append(rectangle(x0 - RAIL, FOOT - RAIL, x1 + RAIL, FOOT))
            else:
                flight = f"{well} {storey}"
                sheets[flight] = [
                    rectangle(x0 - RAIL, 0, x0, size),
                    rectangle(x1, 0, x1 + RAIL, size),
                ]
                ends = [np.array([(x0, y), (x1, y)]) for y in (FOOT, 0.0, size, HEAD)]
                joints.append(Joint((name, flight), (ends[0], ends[1])))
                joints.append(Joint((flight, f"floor {storey + 1}"), (ends[2], ends[3])))
    return Building(sheets, joints, radius, places=21)


INNER, OUTER, RISE, TURNS = 3.0, 6.0, 4.0 / (2.0 * np.pi), 2.0
"""Radii of the spiral ramp [m], its rise per radian [m], and its turns."""


def spiral_ramp(pieces: int = 96) -> Scene:
    """A ramp that rises 4 m a turn for two turns, without walls, between circles of 3 and 6 m.

    Args:
        pieces: Number of pieces a turn.
    """
    angle = np.linspace(0.0, 2.0 * np.pi * TURNS, int(pieces * TURNS) + 1)
    edges = [_on_spiral(rho, angle) for rho in (INNER, OUTER)]
    a, b, c, d = edges[0][:-1], edges[1][:-1], edges[1][1:], edges[0][1:]
    triangles = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3, 3)
    ends = _on_spiral(4.5, np.array([0.2, 2.0 * np.pi * TURNS - 0.2]))
    ground = Mesh("ground", triangles.astype(np.float32))
    return Scene(ground, (), (), {"start": ends[0], "goal": ends[1]})


def _on_spiral(rho: float, angle: np.ndarray) -> np.ndarray:
    return np.column_stack([rho * np.cos(angle), rho * np.sin(angle), RISE * angle])


def spiral_length(radius: float) -> float:
    """Length of the way up the spiral ramp from its start to its goal [m]."""
    return helicoid(INNER + radius, RISE, (4.5, 4.5), 2.0 * np.pi * TURNS - 0.4)


DECK, SLOPE_END = 10.0, 25.0
"""Half lengths of the bridge's deck and of the whole bridge [m]."""
ABOVE = 5.0
"""Height of the deck [m]."""


def bridge() -> Scene:
    """A road along x between two walls, and a bridge along y over both."""
    half = 2.0
    rising = [
        quad(
            (-half, -SLOPE_END, 0),
            (half, -SLOPE_END, 0),
            (half, -DECK, ABOVE),
            (-half, -DECK, ABOVE),
        ),
        quad(
            (-half, DECK, ABOVE), (half, DECK, ABOVE), (half, SLOPE_END, 0), (-half, SLOPE_END, 0)
        ),
    ]
    ramps = Mesh("ramps", np.concatenate(rising).astype(np.float32))
    deck = boxes([(-half, -DECK, ABOVE - 0.3)], [(half, DECK, ABOVE)])
    ground = joined("ground", floor(-30, -30, 30, 30), deck, ramps)
    y0, y1 = -SLOPE_END, SLOPE_END
    walls = boxes(
        [(-31, y, -0.5) for y in (-6.2, 6.0)], [(31, y, 2.0) for y in (-6.0, 6.2)], "walls"
    )
    rails = boxes(
        [(x, y0 + 4.0, 0.0) for x in (-half - 0.1, half)],
        [(x + 0.1, y1 - 4.0, ABOVE + 1.1) for x in (-half - 0.1, half)],
        "rails",
    )
    # beside the road they would be walls across it
    rails = _cut(rails, 6.0)
    places = {
        "south": np.array([0.0, -28.0, 0.0]),
        "north": np.array([0.0, 28.0, 0.0]),
        "west": np.array([-28.0, 0.0, 0.0]),
        "east": np.array([28.0, 0.0, 0.0]),
    }
    return Scene(ground, (walls, rails), (), places)


def _cut(rails: Mesh, half: float) -> Mesh:
    """Rails along y, hung up above the road as far as it is wide."""
    corners = rails.triangles.reshape(-1, 12, 3, 3)
    low, high = corners.min(axis=(1, 2)), corners.max(axis=(1, 2))
    parts = []
    for y0, y1, z in ((None, -half, None), (-half, half, ABOVE - 0.3), (half, None, None)):
        a, b = low.copy(), high.copy()
        a[:, 1] = low[:, 1] if y0 is None else y0
        b[:, 1] = high[:, 1] if y1 is None else y1
        a[:, 2] = low[:, 2] if z is None else z
        parts.append(boxes(a, b).triangles)
    return Mesh(rails.name, np.concatenate(parts))


def bridge_length() -> float:
    """Length of the way over the bridge from south to north [m]."""
    return 2.0 * float(np.hypot(SLOPE_END - DECK, ABOVE)) + 2.0 * DECK + 2.0 * (28.0 - SLOPE_END)


DOORS = (-4.0, 0.0, 4.0)
"""Middles of the train's doors along it [m]."""
CAR = 12.0, 3.0
"""Length and width of its car [m]."""
GAP = 0.0
"""Between the platform and the train [m]."""


PLATFORM = floor(-20, -8, 20, 0)
"""A platform along x, at whose edge y = 0 the train stops."""


def platform() -> Scene:
    """The platform, and places on it and in the train when that stands."""
    inside = np.array([2.0, 1.5, 0.1])
    return Scene(PLATFORM, (), (), {"start": np.array([-6.0, -5.0, 0.0]), "goal": inside})


def with_train(x: float) -> Scene:
    """The platform with the train at x, whose floor is walked on: it is a part of the ground."""
    scene = platform()
    low, high = [(x - CAR[0] / 2, GAP, -0.9)], [(x + CAR[0] / 2, GAP + CAR[1], 0.1)]
    ground = joined("ground", PLATFORM, boxes(low, high))
    return Scene(ground, (train(x),), (), scene.places)


def train(x: float) -> Mesh:
    """A car whose middle is at x, with its floor 0.1 m above the platform and three open doors."""
    (long, wide), half, thick = CAR, 0.7, 0.1
    y0, y1 = GAP, GAP + wide
    low, high = [], []
    ends = [-long / 2, *(at + side for at in DOORS for side in (-half, half)), long / 2]
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        low.append((a, y0, 0.1))
        high.append((b, y0 + thick, 2.3))
    low += [(-long / 2, y1 - thick, 0.1), (-long / 2, y0, 0.1), (long / 2 - thick, y0, 0.1)]
    high += [(long / 2, y1, 2.3), (-long / 2 + thick, y1, 2.3), (long / 2, y1, 2.3)]
    low.append((-long / 2, y0, 2.3))
    high.append((long / 2, y1, 2.4))
    moved = [np.array(ends) + [x, 0.0, 0.0] for ends in (low, high)]
    return Mesh("train", boxes(*moved).triangles, moving=True)


def train_place(frame: int, stops: int = 100, leaves: int = 600, speed: float = 0.4) -> float:
    """Where the middle of the train is: it comes from x < 0, stands at x = 0, and leaves [m].

    Args:
        frame: The frame.
        stops: Frame at which it comes to stand.
        leaves: Frame at which it sets off again.
        speed: Its way in a frame [m].
    """
    return speed * (min(frame - stops, 0) + max(frame - leaves, 0))


def large_house(storeys: int = 10, across: int = 10, along: int = 6, tables: int = 6) -> Scene:
    """A house of some 220,000 triangles: floors, rooms with doors, stairs of steps, and tables.

    Rooms are 6 × 6 m with doors of 1 m in each wall between two; the first room of each floor has
    the stairs instead of tables.

    Args:
        storeys: Number of floors.
        across: Number of rooms along x.
        along: Number of rooms along y.
        tables: Number of tables in a room, 60 triangles each.
    """
    size, low, high, parts = 6.0, [], [], []
    wide, deep = across * size, along * size
    for storey in range(storeys):
        z = storey * STOREY
        hole = (1.0, 1.0, 2.2, 5.0) if storey else None
        for x0, y0, x1, y1 in _floor_around(hole, wide, deep):
            low.append((x0, y0, z - 0.2))
            high.append((x1, y1, z))
        for x0, y0, x1, y1 in _walls_of_rooms(across, along, size):
            low.append((x0, y0, z))
            high.append((x1, y1, z + STOREY - 0.2))
        for i in range(across):
            for j in range(along):
                if i or j:
                    parts.append(_tables(tables, i * size, j * size, z))
        if storey < storeys - 1:
            parts.append(_steps(1.0, 2.2, 1.0, 5.0, z))
    walls = boxes(low, high).triangles
    ground = Mesh("house", np.concatenate([walls, *(part.triangles for part in parts)]))
    top = (storeys - 1) * STOREY
    places = {"start": np.array([3.0, 0.5, 0.0]), "goal": np.array([wide - 0.5, deep - 0.5, top])}
    return Scene(ground, (), (), places)


def _floor_around(
    hole: tuple[float, float, float, float] | None, wide: float, deep: float
) -> list[tuple[float, float, float, float]]:
    """Rectangles of a floor with a hole."""
    if hole is None:
        return [(0.0, 0.0, wide, deep)]
    x0, y0, x1, y1 = hole
    return [(0.0, 0.0, x0, deep), (x1, 0.0, wide, deep), (x0, 0.0, x1, y0), (x0, y1, x1, deep)]


def _walls_of_rooms(
    across: int, along: int, size: float
) -> list[tuple[float, float, float, float]]:
    """Walls between rooms with doors of 1 m in their middles, and the outer ones."""
    half, found = 0.05, []
    for i in range(across + 1):
        for j in range(along):
            x, y = i * size, j * size
            ends = [(y, y + 2.5), (y + 3.5, y + size)] if 0 < i < across else [(y, y + size)]
            found += [(x - half, a, x + half, b) for a, b in ends]
    for j in range(along + 1):
        for i in range(across):
            x, y = i * size, j * size
            ends = [(x, x + 2.5), (x + 3.5, x + size)] if 0 < j < along else [(x, x + size)]
            found += [(a, y - half, b, y + half) for a, b in ends]
    return found


def _tables(count: int, x: float, y: float, z: float) -> Mesh:
    """Tables of 0.8 × 0.8 m on four legs in a room, in two rows clear of its doors."""
    low, high = [], []
    for k in range(count):
        a, b = x + 0.9 + 1.7 * (k // 2), y + (0.7 if k % 2 == 0 else 4.5)
        low.append((a, b, z + 0.7))
        high.append((a + 0.8, b + 0.8, z + 0.75))
        for i in (0.0, 0.75):
            for j in (0.0, 0.75):
                low.append((a + i, b + j, z))
                high.append((a + i + 0.05, b + j + 0.05, z + 0.7))
    return boxes(low, high)


def _steps(x0: float, x1: float, y0: float, y1: float, z: float, count: int = 16) -> Mesh:
    """Steps up along y."""
    k = np.arange(count)
    tread, rise = (y1 - y0) / count, STOREY / (count + 1)
    low = np.column_stack([np.full(count, x0), y0 + k * tread, z + (k + 1) * rise - 0.3])
    high = np.column_stack([np.full(count, x1), y0 + (k + 1) * tread, z + (k + 1) * rise])
    return boxes(low, high)
