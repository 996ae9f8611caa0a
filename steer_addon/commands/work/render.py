"""`steer render`: pictures of a scene, and a video."""

from __future__ import annotations

import argparse
import statistics
import time

from ...blender.crowd import crowds
from ...blender.headless import batch, render
from ..output import ProgressLine, Result


def run(options: argparse.Namespace) -> Result:
    """Render."""
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
            "command": "render",
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
