"""Tell where walkers can go: size and islands of the walkable surface, and times to find ways."""

from __future__ import annotations

import argparse
from typing import Any

from ..blender.headless import batch, surfaces
from ..core.ways.ahead.progress import watch
from . import arguments
from .output import Result, WaysLine

NAME = "ways"
MEGABYTE, GIGABYTE = 1.0e6, 1.0e9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend(parser)
    arguments.add_crowd(parser)
    arguments.add_changes(parser)


def run(options: argparse.Namespace) -> Result:
    """Open the file, find the surfaces and tell; nothing is simulated, and nothing written."""
    scene = batch.open_file(options.file)
    found = batch.find_crowds(scene, options.crowd)
    watch(WaysLine(options.quiet))
    ready = [
        (crowd, batch.override(crowd, options.set, None, options.preset, scene)) for crowd in found
    ]
    rows = [surfaces.surface_of(crowd, scene, settings) for crowd, settings in ready]
    data = {"command": "ways", "file": options.file.name, "crowds": rows}
    return Result(data, [line for row in rows for line in _lines(row)])


def _lines(row: dict[str, Any]) -> list[str]:
    """What people are told of a crowd."""
    head, surface = f"{row['crowd']}: {row['agents']} agents, ways {row['ways']}", row["surface"]
    if surface is None:
        return [head, "  it flies: ways are for walkers (motion GROUND)"]
    lines = [head]
    if row["ways"] == "NONE":
        lines.append("  agents head straight for their targets; ways AROUND would lead them")
    size = f"{surface['cell_size']:.3g} m"
    lines.append(
        f"  surface: {surface['cells']:,} cells of {size} in {surface['columns']:,} columns, at "
        f"most {surface['layers']} above one another, {surface['bytes'] / MEGABYTE:.1f} MB"
    )
    asked = row["asked_cell_size"]
    if surface["cell_size"] > asked * 1.001:
        memory = surface["bytes"] * (surface["cell_size"] / asked) ** 2 / GIGABYTE
        lines.append(f"  cells of {asked:g} m, as set, would take {memory:.3g} GB")
    for each in surface["classes"]:
        bodies = f"bodies with a radius of up to {each['radius']:.3g} m ({each['agents']})"
        islands = f"{each['islands']} island{'s' if each['islands'] != 1 else ''}"
        more = f", the largest {each['largest']:,.1f} m2" if each["islands"] else ": no room at all"
        joined = f", {each['portals']} of {row['portals']} portals" if row["portals"] else ""
        lines.append(f"  {bodies}: {islands}{more}{joined}")
    times = surface["seconds"]
    lines.append(
        f"  times: surface {times['surface']:.3f} s, room and islands {times['room']:.3f} s, all "
        f"ways to a goal {times['field']:.3f} s and {surface['field_bytes'] / MEGABYTE:.1f} MB"
    )
    return lines
