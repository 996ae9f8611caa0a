"""`steer scene`: a .blend file with a crowd."""

from __future__ import annotations

import argparse
import time

from ...blender.headless import batch
from ...blender.making import scene_maker
from ...blender.making.spawning import DISC, Spawn
from ..output import Result


def run(options: argparse.Namespace) -> Result:
    """Make the scene and save it."""
    start = time.perf_counter()
    batch.check_new_file(options.save, ".blend")
    batch.ensure_registered()
    made = scene_maker.make_scene(
        scene_maker.SceneOptions(
            ground=options.ground,
            colliders=tuple(options.colliders),
            agents=options.agents,
            spawn=_make_spawn(options.spawn),
            targets=tuple(place for place in options.target or [] if place is not None),
            preset=options.preset,
            seed=options.seed,
            radius=options.radius,
            frames=options.frames or range(1, 251),
        )
    )
    batch.save_file(options.save)
    count = len(made.crowd.data.vertices)
    frames = options.frames or range(1, 251)
    return Result(
        {
            "command": "scene",
            "agents": count,
            "frames": len(frames),
            "frame_start": frames[0],
            "frame_end": frames[-1],
            "preset": options.preset,
            "seed": options.seed,
            "crowd": made.crowd.name,
            "targets": [[round(v, 4) for v in target.location] for target in made.targets],
            "seconds": round(time.perf_counter() - start, 3),
            "warnings": made.warnings,
            "outputs": [str(options.save)],
        },
        [*made.warnings, f"{options.save}: {count} agents, frames {frames[0]}-{frames[-1]}"],
    )


def _make_spawn(value: str | tuple[float, ...]) -> Spawn:
    if isinstance(value, str):
        return Spawn(value)
    return Spawn(DISC, (value[0], value[1], value[2]), value[3])
