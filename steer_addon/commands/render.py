"""Render frames of a .blend file to pictures, and to a video."""

from __future__ import annotations

import argparse
import re
import statistics
import time
from pathlib import Path

from . import arguments
from .output import ProgressLine, Result

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
    from ..blender.crowd import crowds
    from ..blender.headless import batch, render

    start = time.perf_counter()
    scene = batch.open_file(options.file)
    frames = options.frames or range(scene.frame_start, scene.frame_end + 1)
    progress = ProgressLine("Rendering", options.quiet)
    made = render.render_frames(
        scene,
        render.RenderOptions(
            frames=frames,
            folder=options.out,
            engine=options.engine,
            samples=options.samples,
            size=options.size,
            video=options.video,
            name=options.file.stem,
        ),
        progress,
    )
    outputs = [*made.pictures, *([made.video] if made.video else [])]
    agents = sum(len(obj.data.vertices) for obj in crowds.crowds(scene))
    return Result(
        {
            "command": NAME,
            "agents": agents,
            "frames": len(made.pictures),
            "frame_start": frames[0],
            "frame_end": frames[-1],
            "engine": options.engine,
            "size": list(made.size),
            "seconds": round(time.perf_counter() - start, 3),
            "seconds_per_frame": round(statistics.median(made.seconds), 4),
            "video": str(made.video) if made.video else None,
            "warnings": made.warnings,
            "outputs": [str(path) for path in outputs],
        },
        [
            *made.warnings,
            f"{options.out}: {len(made.pictures)} pictures of {made.size[0]}x{made.size[1]}"
            + (f", {made.video.name}" if made.video else ""),
        ],
    )
