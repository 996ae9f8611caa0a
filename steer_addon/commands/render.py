"""Render frames of a .blend file to pictures, and to a video."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from . import arguments
from .output import Result
from .work import render as work

NAME = "render"
ENGINES = ("CYCLES", "WORKBENCH", "EEVEE")
_LARGEST = 16384


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    arguments.add_blend(parser)
    arguments.add_frames(parser, "frames to render (default: the scene's range)")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("render"),
        help="folder for frame_0001.png and so on",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        type=str.upper,
        default="CYCLES",
        help="CYCLES works everywhere; the others need a graphics driver",
    )
    parser.add_argument(
        "--samples", metavar="N", type=arguments.positive_int, default=16, help="samples per pixel"
    )
    parser.add_argument(
        "--size",
        metavar="WxH",
        type=_size,
        default="640x360",
        help="width and height in pixels, or a share such as 50%% of the file's own size",
    )
    parser.add_argument("--video", action="store_true", help="make an .mp4 of the pictures too")


def _size(text: str) -> tuple[int, int] | float:
    if text.endswith("%"):
        share = arguments.positive_float(text[:-1])
        if not 1.0 <= share <= 1000.0:
            raise argparse.ArgumentTypeError(f"{text} is no size: give 1% to 1000%")
        return share / 100.0
    match = re.fullmatch(r"(\d+)[xX](\d+)", text)
    if match is None or not all(4 <= int(value) <= _LARGEST for value in match.groups()):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size: give WxH from 4x4 to {_LARGEST}x{_LARGEST}, such as 640x360, "
            "or a share such as 50%"
        )
    return int(match[1]), int(match[2])


def run(options: argparse.Namespace) -> Result:
    """Render."""
    return work.run(options)
