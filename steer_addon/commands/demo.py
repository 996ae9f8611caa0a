"""Make a .blend file of one of Steer's own scenes: something to learn from."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import arguments
from .output import Result
from .work import demo as work

NAME = "demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="which scene; without it, all are listed"
    )
    parser.add_argument(
        "--save", metavar="FILE.blend", type=Path, help="file to write (default: NAME.blend)"
    )
    arguments.add_frames(parser, "frame range of the scene (default: its own)")


def run(options: argparse.Namespace) -> Result:
    """Make the scene and save it, or list what there is."""
    return work.run(options)
