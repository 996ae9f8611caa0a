"""The rooms of the program and their dependencies, from the imports of its files.

A room is a folder of `steer_addon/core` or `steer_addon/blender`, or a module beside
those folders. `scripts/docs/render.py` makes docs/images/architecture.svg of them, and the table of
rooms in docs/architecture.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "steer_addon"
HOUSES = ("commands", "blender", "core")
"""Parts of the program, from the roof down: each may import those below it."""
ASIDE, ROW, BOX, ROOF = 560, 58, 30, 56
"""Sizes of the picture [px]: the width of a house, heights of a row, a box and the roof."""
LETTER = 7.4
"""Width of a letter [px]."""
INK, LINE, PAPER = "#3B3A40", "#9AA7B0", "#FFFFFF"
WALLS = {"commands": "#F3E3DD", "blender": "#FBF3E4", "core": "#E6EEF2"}
ROOMS = {"commands": "#B5482F", "blender": "#B98A2F", "core": "#4F7C92"}

Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Modules of the program that a module imports, anywhere in it, including for annotations."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = package[: len(package) + 1 - node.level] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            full = f"{module}.{alias.name}"
            if full in known or module in known:
                yield full if full in known else module


def room_of(module: str) -> str:
    """The room of a module, as `core/step`; empty for the package itself and its doors."""
    parts = module.split(".")[1:]
    if not parts or parts[0] not in HOUSES:
        return ""
    return "/".join(parts[:2]) if parts[0] != "commands" and len(parts) > 1 else ""


def rooms() -> Graph:
    """Imports of each room of the core and of the Blender side, within the same house."""
    known = modules()
    graph: Graph = {room_of(module): set() for module in known}
    for module, path in known.items():
        here = room_of(module)
        for other in imported(module, path, known):
            there = room_of(other)
            if there != here and there.partition("/")[0] == here.partition("/")[0]:
                graph[here].add(there)
    graph.pop("")
    return {room: targets - {""} for room, targets in graph.items()}


def rooms_table(house: str) -> str:
    """Contents of a house's folders, the lowest last: first sentences of their docstrings."""
    graph = rooms()
    rows = ["| room | what it holds |", "|---|---|"]
    for room, _level in sorted(levels(graph).items(), key=lambda item: (-item[1], item[0])):
        file = ROOT / PACKAGE / room / "__init__.py"
        if room.startswith(f"{house}/") and file.is_file():
            text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            sentence = " ".join(text.split("\n\n")[0].split())
            rows.append(f"| `{room.partition('/')[2]}/` | {sentence.rstrip('.')} |")
    return "\n".join(rows) + "\n"


def reach(graph: Graph, start: str, without: str = "") -> set[str]:
    """All rooms that a room depends on, directly or not, without one of its own arrows."""
    found: set[str] = set()
    left = [target for target in graph[start] if target != without]
    while left:
        room = left.pop()
        if room not in found:
            found.add(room)
            left += graph[room]
    return found


def levels(graph: Graph) -> dict[str, int]:
    """Depth of the rooms below each room; rooms of a circle count once."""
    found: dict[str, int] = {}

    def level(room: str, above: frozenset[str]) -> int:
        if room not in found:
            below = [level(t, above | {room}) for t in sorted(graph[room]) if t not in above]
            found[room] = 1 + max(below, default=-1)
        return found[room]

    for room in sorted(graph):
        level(room, frozenset({room}))
    return found


Line = list[str]
"""An arrow's way through the rows: a room, places left free in the rows between, a room."""


def shown(house: str, graph: Graph) -> list[tuple[str, str]]:
    """Arrows between the rooms of a house that do not follow from others."""
    return [
        (room, target)
        for room in sorted(graph)
        if room.startswith(f"{house}/")
        for target in sorted(graph[room])
        if target not in reach(graph, room, without=target) or room in reach(graph, target)
    ]


def rows_of(house: str, graph: Graph) -> tuple[list[list[str]], list[Line]]:
    """The rooms of a house in rows, the lowest first, and the arrows between them."""
    level = {room: height for room, height in levels(graph).items() if room.startswith(house)}
    rows: list[list[str]] = [[] for _height in range(max(level.values()) + 1)]
    below: dict[str, list[str]] = {room: [] for room in level}
    lines = []
    for room, height in sorted(level.items()):
        rows[height].append(room)
    for room, target in shown(house, graph):
        between = range(level[target] + 1, level[room])
        line = [target, *(f"{room}>{target}>{height}" for height in between), room]
        for name, height in zip(line[1:-1], between, strict=True):
            rows[height].append(name)
        for low, high in zip(line, line[1:], strict=False):
            below.setdefault(high, []).append(low)
        lines.append(line)
    place: dict[str, float] = {}
    for row in rows:
        row.sort(key=lambda name: (_mean([place[t] for t in below[name] if t in place]), name))
        place.update({name: (i + 0.5) / len(row) for i, name in enumerate(row)})
    return rows, lines


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def picture() -> str:
    """docs/images/architecture.svg: rooms as boxes, imports as arrows.

    Arrows that follow from others are left out; one that leads up would be red.
    """
    graph = rooms()
    houses = {house: rows_of(house, graph) for house in ("blender", "core")}
    tall = max(len(rows) for rows, _lines in houses.values()) * ROW + 50
    width, height = 2 * ASIDE + 48, ROOF + tall + 40
    middle = ROOF + 16 + tall / 2
    parts = [_wall("commands", 8, 8, width - 16, ROOF - 8)]
    for x, (house, (rows, lines)) in zip((8, ASIDE + 40), houses.items(), strict=True):
        parts.append(_arrow([(x + ASIDE / 2, ROOF), (x + ASIDE / 2, ROOF + 22)], 3))
        parts.append(_wall(house, x, ROOF + 24, ASIDE, tall))
        places = _places(rows, x, ROOF + 24 + tall - 14)
        for line in lines:
            parts.append(_arrow(_way([places[name] for name in reversed(line)])))
        parts += [_box(name, *places[name], house) for name in rooms_in(rows)]
    parts.append(
        f'<path d="M{ASIDE + 10},{middle:g} h26 m-8,-7 l8,7 l-8,7" fill="none" '
        f'stroke="{LINE}" stroke-width="3"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        'font-family="sans-serif" font-size="13">\n'
        "<!-- Made by scripts/docs/render.py from the imports: change those. -->\n"
        f'<rect width="100%" height="100%" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def rooms_in(rows: list[list[str]]) -> list[str]:
    """The rooms in rows, without the places that are left free for arrows."""
    return [name for row in rows for name in row if ">" not in name]


def _wall(house: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        f'fill="{WALLS[house]}"/>\n'
        f'<text x="{x + 14:g}" y="{y + 27:g}" font-weight="bold" fill="{INK}">{house}</text>'
    )


def _places(rows: list[list[str]], left: float, foot: float) -> dict[str, tuple[float, float]]:
    """The middle of each box's upper edge [px], with rows stacked from the bottom up."""
    places = {}
    for number, row in enumerate(rows):
        widths = [_width(name) for name in row]
        gap = (ASIDE - sum(widths)) / (len(row) + 1)
        x = left + gap
        for name, width in zip(row, widths, strict=True):
            places[name] = (x + width / 2, foot - number * ROW - BOX)
            x += width + gap
    return places


def _width(name: str) -> float:
    return 8.0 if ">" in name else len(name.rpartition("/")[2]) * LETTER + 22


def _box(name: str, x: float, y: float, house: str) -> str:
    width = _width(name)
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX}" rx="4" '
        f'fill="{ROOMS[house]}"/>\n<text x="{x:.1f}" y="{y + 20:.1f}" fill="{PAPER}" '
        f'text-anchor="middle">{name.rpartition("/")[2]}</text>'
    )


def _way(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of an arrow: below its first box, past free places, onto its last box."""
    (x, y), *more = places
    way = [(x, y + BOX)]
    for x, y in more[:-1]:
        way += [(x, y), (x, y + BOX)]
    return [*way, more[-1]]


def _arrow(way: list[tuple[float, float]], wide: float = 1.2) -> str:
    (x0, y0), (x1, y1) = way[0], way[-1]
    path = [f"M{x0:.1f},{y0:.1f}"]
    for (xa, ya), (xb, yb) in zip(way, way[1:], strict=False):
        half = (ya + yb) / 2
        path.append(f"C{xa:.1f},{half:.1f} {xb:.1f},{half:.1f} {xb:.1f},{yb:.1f}")
    path.append(f"M{x1 - 4:.1f},{y1 - 6:.1f} L{x1:.1f},{y1:.1f} L{x1 + 4:.1f},{y1 - 6:.1f}")
    color = LINE if y1 > y0 else "#D03020"
    return f'<path d="{" ".join(path)}" fill="none" stroke="{color}" stroke-width="{wide}"/>'
