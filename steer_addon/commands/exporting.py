"""`steer bake --to FORMAT` for the formats of other programs: no .blend file comes of it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from .output import ProgressLine, Result

FORMATS = {
    "usd": "USD points with all that agents know",
    "pointinstancer": "USD instances of what agents are shown as",
    "alembic": "vertices with velocities",
    "mdd": "positions, with times in seconds",
    "pc2": "positions, frame by frame",
    "csv": "trajectories as PedPy and JuPedSim read them",
    "glb": "glTF with a keyed object per agent",
    "fbx": "the same as FBX",
}
"""What `--to` takes for files of other programs; the same as `blender.export.formats`."""


def run(options: argparse.Namespace) -> Result:
    """Export the crowds of a file."""
    from ..blender.export import formats
    from ..blender.headless import batch

    if options.out is None:
        raise UsageError(f"--to {options.to} writes a file: give --out FILE or --out FOLDER")
    if options.save is not None:
        raise UsageError(f"--to {options.to} changes no .blend file: give --out in place of --save")
    start = time.perf_counter()
    chosen = formats.FORMATS[options.to]
    scene = batch.open_file(options.file)
    found = batch.find_crowds(scene, options.crowd)
    paths = _paths(options.out, found, chosen)
    bake = batch.BakeOptions(
        step=options.step,
        tolerance=options.tolerance,
        source=batch.find_source(options.object, options.collection),
        empties=options.empties,
    )
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for crowd, path in zip(found, paths, strict=True):
        batch.check_new_file(path, chosen.suffix)
        batch.override(crowd, options.set, options.seed)
        batch.apply_bake_options(crowd, bake)
        numbers = batch.frames_of(crowd, options.frames)
        progress = ProgressLine(f"Exporting {crowd.name}", options.quiet)
        made = formats.export_crowd(
            crowd,
            scene,
            chosen,
            path,
            numbers=numbers,
            progress=progress.share,
            warnings=warnings,
            # a bake knows nothing of settings that are only for this run
            anew=bool(options.set) or options.seed is not None,
        )
        rows.append(_row(crowd.name, made, numbers))
    return Result(
        {
            "command": "bake",
            "to": options.to,
            "agents": sum(row["agents"] for row in rows),
            "frames": rows[0]["frames"],
            "frame_start": rows[0]["frame_start"],
            "frame_end": rows[0]["frame_end"],
            "seconds": round(time.perf_counter() - start, 3),
            "crowds": rows,
            "warnings": warnings,
            "outputs": [str(path) for path in paths],
        },
        [*warnings, *(_line(row) for row in rows)],
    )


def _paths(out: Path, crowds: list[Any], chosen: Any) -> list[Path]:
    """A file for every crowd."""
    from ..blender.export import formats

    if out.suffix.lower() != chosen.suffix or out.is_dir():
        paths: list[Path] = []
        for crowd in crowds:
            first = path = out / formats.default_name(crowd, chosen)
            # names that differ only in what a file's name cannot hold
            for number in range(2, len(crowds) + 1):
                if path not in paths:
                    break
                path = first.with_stem(f"{first.stem}_{number}")
            paths.append(path)
        return paths
    if len(crowds) > 1:
        raise UsageError(
            f"The file has {len(crowds)} crowds: give a folder with --out, or one with --crowd"
        )
    return [out]


def _row(name: str, made: Any, numbers: range) -> dict[str, Any]:
    return {
        "crowd": name,
        "agents": made.agents,
        "frames": made.frames,
        "frame_start": numbers[0],
        "frame_end": numbers[-1],
        "seconds": round(made.seconds, 3),
        "bytes": made.size,
        "file": str(made.path),
    }


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['file']}: {row['agents']} agents, frames {row['frame_start']}-{row['frame_end']}, "
        f"{row['bytes'] / 1e6:.1f} MB"
    )
