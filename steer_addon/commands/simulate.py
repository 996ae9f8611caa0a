"""Simulate a crowd of a .blend file and write its frames as arrays."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import arguments
from .output import Result
from .work import simulate as work

NAME = "simulate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        required=True,
        help="folder for positions.npy, velocities.npy, rotations.npy (frames, agents, 3 or 4), "
        "alive.npy (frames, agents), ids.npy, frames.npy and report.json",
    )
    arguments.add_crowd(parser, "needed when the file has several")
    arguments.add_frames(
        parser, "frames to write; those before are simulated too (default: the crowd's range)"
    )
    arguments.add_settings(parser)


def run(options: argparse.Namespace) -> Result:
    """Simulate and write."""
    return work.run(options)
