"""Make a .blend file of one of Steer's own scenes: something to learn from."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..blender.headless import batch
from ..blender.making import demos
from . import arguments
from .output import Result

NAME = "demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="which scene; without it, all are listed"
    )
    parser.add_argument(
        "--save",
        metavar="FILE.blend",
        type=arguments.path,
        help="file to write (default: NAME.blend)",
    )
    arguments.add_frames(parser, "frame range of the scene (default: its own)")


def run(options: argparse.Namespace) -> Result:
    """Make the scene and save it, or list what there is."""
    if options.name is None:
        found = {name: demos.summary(name) for name in demos.demo_names()}
        width = max(map(len, found), default=0)
        lines = [f"{name:<{width}}  {text}" for name, text in found.items()]
        return Result({"command": "demo", "demos": found}, lines)
    demos.check_name(options.name)
    start = time.perf_counter()
    path = options.save or Path(f"{options.name}.blend")
    batch.check_new_file(path, ".blend")
    batch.ensure_registered()
    made = demos.make_demo(options.name, options.frames)
    batch.save_file(path)
    agents = sum(len(crowd.data.vertices) for crowd in made)
    names = ", ".join(repr(crowd.name) for crowd in made)
    return Result(
        {
            "command": "demo",
            "demo": options.name,
            "crowds": [crowd.name for crowd in made],
            "agents": agents,
            "seconds": round(time.perf_counter() - start, 3),
            "outputs": [str(path)],
        },
        [f"{path}: {agents} agents in {names}"],
    )
