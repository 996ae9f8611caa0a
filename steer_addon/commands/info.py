"""Tell which crowds a .blend file, or an extracted world, has: agents, frames, behaviors, bakes."""

from __future__ import annotations

import argparse
from typing import Any

from ..blender.headless import batch, contents, unshown
from . import arguments
from .output import Result
from .simulating import world_pipeline

NAME = "info"
IN_BLENDER = world_pipeline.in_blender


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend_or_world(parser)
    arguments.add_crowd(parser)


def run(options: argparse.Namespace) -> Result:
    """Open the file and tell; nothing is simulated, and nothing written."""
    if not IN_BLENDER(options):
        return _of_world(options)
    with unshown.crowds_unshown():
        scene = batch.open_file(options.file)
        found = contents.scene_contents(scene, options.file.name, options.crowd)
    lines = [line for row in found["crowds"] for line in _lines(row)]
    lines += [f"not there, though the file links from it: {path}" for path in found["lost"]]
    lines += found["lacking"]
    return Result({"command": "info", **found}, lines)


def _of_world(options: argparse.Namespace) -> Result:
    """What an extracted world holds."""
    source = world_pipeline.WorldSource(options.file)
    world, rows = source.world, [source.contents(crowd) for crowd in source.find(options.crowd)]
    data = {
        "command": "info",
        "file": options.file.name,
        "extracted": {"file": world.file, "steer": world.steer},
        "scene": world.scene,
        "fps": world.fps,
        "agents": sum(row["agents"] for row in rows),
        "crowds": rows,
    }
    head = f"extracted from {world.file} by Steer {world.steer}"
    return Result(data, [head, *(line for row in rows for line in _lines(row))])


def _lines(row: dict[str, Any]) -> list[str]:
    """What people are told of a crowd."""
    told = {
        "groups": [f"{name} ({count})" for name, count in row["groups"].items()],
        "behaviors": row["behaviors"],
        "sees": row["sees"],
        "seen by": row.get("seen_by"),
        "touches": row["touches"],
        "steers by": row["steers_by"],
    }
    more = f" and up to {row['capacity']} born" if row["capacity"] else ""
    frames = f"frames {row['frame_start']}-{row['frame_end']}"
    head = f"{row['crowd']}: {row['agents']} agents{more}, {frames}"
    lists = [f"  {name}: {', '.join(names)}" for name, names in told.items() if names]
    return [head, *lists, *([f"  {_baked(row['bake'])}"] if "bake" in row else [])]


def _baked(bake: dict[str, Any] | None) -> str:
    if bake is None:
        return "not baked"
    if bake["to"] == "keyframes":
        return f"baked to keyframes: {bake['objects']} objects"
    if bake["frame_start"] is None:
        return f"baked to a cache whose frames are not there: {bake['folder']}"
    rest = "" if bake["complete"] else ", not all of it"
    frames = f"frames {bake['frame_start']}-{bake['frame_end']}{rest}"
    return f"baked to a cache: {frames}, in {bake['folder']}"
