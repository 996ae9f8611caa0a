"""Bake crowds of a .blend file to what plays without Steer, or to files of other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..blender.export.names import FORMATS
from ..core.errors import UsageError
from . import arguments
from .output import Result
from .work import bake as work

NAME = "bake"
_KEYFRAMES_ONLY = ("step", "tolerance", "actions", "object", "collection", "empties")
"""Options that do not go with a cache."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--to",
        choices=("keyframes", "cache", *FORMATS),
        default="keyframes",
        help="keyframes: one keyed object per agent; cache: files of frames that can be gone on "
        "with, and that Blender plays; "
        + "; ".join(f"{entry.name}: {entry.label} ({entry.suffix})" for entry in FORMATS.values()),
    )
    parser.add_argument(
        "--out",
        metavar="PATH",
        type=Path,
        help="file or folder to write to, for files of other programs; in a folder the name is "
        "that of the .blend file and the crowd",
    )
    parser.add_argument(
        "--save",
        metavar="OUT.blend",
        type=Path,
        help="file to write; the file that is read stays as it is, unless it is named here again; "
        "not needed for --to cache, nor for files of other programs",
    )
    arguments.add_crowd(parser, "without it all of them are baked")
    arguments.add_frames(parser, "frames to bake (default: the crowd's range)")
    _add_keyframe_options(parser)
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=Path,
        help="folder in which each crowd gets a folder of its name, for --to cache "
        "(default: what the file says, else steer_cache beside it)",
    )
    parser.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="continue a cache that was cut short; the same command may be run again and again",
    )
    arguments.add_settings(parser)


def _add_keyframe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--step", metavar="N", type=arguments.positive_int, help="frames from key to key"
    )
    parser.add_argument(
        "--tolerance",
        metavar="M",
        type=arguments.non_negative_float,
        help="leave keys out while positions stay this near to the simulated ones, in meters",
    )
    parser.add_argument(
        "--actions",
        choices=("PER_AGENT", "SHARED"),
        type=str.upper,
        help="an action for each agent, or one for all with a slot for each",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--object", metavar="NAME", help="make a linked copy of it per agent")
    group.add_argument("--collection", metavar="NAME", help="make an instance of it per agent")
    group.add_argument(
        "--empties", action="store_true", help="make empties, whatever the file says"
    )


def run(options: argparse.Namespace) -> Result:
    """Check that the options go together, then bake."""
    to = options.to
    if to == "cache":
        given = [name for name in _KEYFRAMES_ONLY if getattr(options, name)]
        if given:
            raise UsageError(f"--{given[0]} does not go with --to cache: leave it out")
    elif options.cache is not None or options.go_on:
        name = "--cache" if options.cache is not None else "--continue"
        raise UsageError(f"{name} does not go with --to {to}: give --to cache")
    if to in FORMATS:
        if options.out is None:
            raise UsageError(f"--to {to} writes a file: give --out FILE or --out FOLDER")
        if options.save is not None:
            raise UsageError(f"--to {to} changes no .blend file: give --out in place of --save")
    elif options.out is not None:
        raise UsageError(f"--out does not go with --to {to}: leave it out")
    elif to == "keyframes" and options.save is None:
        raise UsageError("give --save OUT.blend, the file to write")
    return work.run(options)
