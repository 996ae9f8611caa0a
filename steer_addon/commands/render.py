"""Render frames of a .blend file to pictures, and to a video."""

from __future__ import annotations

import argparse
import statistics
import time

from .. import words
from ..blender.checks import advice
from ..blender.headless import batch, render
from ..core.diagnoses import add_new
from . import arguments
from .output import ProgressLine, Result
from .pipeline import check_compiled

NAME = "render"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend(parser)
    arguments.add_crowd(
        parser,
        "name of a crowd to show; may be given several times, and other crowds are hidden, though "
        "those that are shown still meet them (default: all crowds of the file)",
    )
    arguments.add_frames(parser, "frames to render (default: the scene's range)")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=arguments.path,
        default="render",
        help="folder for frame_0001.png and so on",
    )
    parser.add_argument(
        "--engine",
        choices=words.ENGINES,
        type=str.upper,
        default="CYCLES",
        help="CYCLES works everywhere; the others need a graphics driver",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=arguments.whole_number(words.MOST_SAMPLES),
        default=16,
        help="samples per pixel",
    )
    parser.add_argument(
        "--size",
        metavar="WxH",
        type=words.picture_size,
        default="640x360",
        help="width and height in pixels, or a share such as 50%% of the file's own size",
    )
    arguments.add_compiled(parser)
    parser.add_argument("--video", action="store_true", help="make an .mp4 of the pictures too")


def run(options: argparse.Namespace) -> Result:
    """Render."""
    start = time.perf_counter()
    scene = batch.open_file(options.file)
    if options.crowd:
        render.show_only(scene, batch.find_crowds(scene, options.crowd))
    # bakes need nothing of Steer
    simulated = render.simulated(scene)
    warnings = check_compiled(options.require_compiled) if simulated else []
    for crowd in simulated:
        add_new(warnings, advice.of_run(crowd))
    frames = options.frames or range(scene.frame_start, scene.frame_end + 1)
    add_new(warnings, render.told(scene, frames))
    render.prepare(scene, options.out, options.engine, options.samples, options.size)
    video = options.out / f"{options.file.stem}.mp4" if options.video else None
    if video is not None:
        render.check_video()
    pictures = [render.picture_path(options.out, number) for number in frames]
    render.check_pictures([*pictures, *([video] if video else [])])
    progress = ProgressLine("Rendering", options.quiet)
    pictures, seconds = render.render_frames(scene, frames, options.out, progress)
    size = render.picture_size(scene)
    if video is not None:
        fps = scene.render.fps / scene.render.fps_base
        render.encode_video(pictures, video, size, fps)
    return Result(
        {
            "command": "render",
            "agents": batch.agent_count(scene, options.crowd),
            "frames": len(pictures),
            "frame_start": frames[0],
            "frame_end": frames[-1],
            "engine": options.engine,
            "size": list(size),
            "seconds": round(time.perf_counter() - start, 3),
            "seconds_per_frame": round(statistics.median(seconds), 4),
            "video": str(video) if video else None,
            "warnings": warnings,
            "outputs": [str(path) for path in (*pictures, *([video] if video else []))],
        },
        [
            *warnings,
            f"{options.out}: {len(pictures)} pictures of {size[0]}x{size[1]}"
            + (f", {video.name}" if video else ""),
        ],
    )
