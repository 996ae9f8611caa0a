"""`steer render`: pictures of a scene, and a video."""

from __future__ import annotations

import argparse
import statistics
import time

from ...blender.crowd import crowds
from ...blender.headless import batch, render
from ...core.diagnoses import diagnose
from ..output import ProgressLine, Result


def run(options: argparse.Namespace) -> Result:
    """Render."""
    start = time.perf_counter()
    scene = batch.open_file(options.file)
    frames = options.frames or range(scene.frame_start, scene.frame_end + 1)
    render.prepare(scene, options.out, options.engine, options.samples, options.size)
    progress = ProgressLine("Rendering", options.quiet)
    pictures, seconds = render.render_frames(scene, frames, options.out, progress)
    size, video, warnings = render.picture_size(scene), None, []
    if options.video and pictures:
        video = options.out / f"{options.file.stem}.mp4"
        fps = scene.render.fps / scene.render.fps_base
        problem = render.encode_video(pictures, video, size, fps)
        if problem:
            warnings = [diagnose("NO_VIDEO", reason=problem, folder=str(options.out))]
            video = None
    return Result(
        {
            "command": "render",
            "agents": sum(len(obj.data.vertices) for obj in crowds.crowds(scene)),
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
