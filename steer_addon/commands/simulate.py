"""Simulate crowds of a .blend file, or of an extracted world, and write their frames as arrays."""

from __future__ import annotations

import argparse

from . import arguments
from .output import Result
from .pipeline import Pipeline
from .simulating.tracks import writing
from .simulating.world_pipeline import WorldPipeline, in_blender

NAME = "simulate"
IN_BLENDER = in_blender


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend_or_world(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=arguments.path,
        required=True,
        help="folder for positions.npy, velocities.npy, rotations.npy (frames, agents, 3 or 4), "
        "alive.npy (frames, agents), ids.npy (agents, or frames by agents where rows go on as "
        "others), frames.npy and report.json; of several crowds each "
        "gets such a folder in it, named by the crowd, beside a report.json of them all",
    )
    arguments.add_crowd(parser)
    arguments.add_frames(
        parser, "frames to write; those before are simulated too (default: each crowd's range)"
    )
    arguments.add_settings(parser)


def run(options: argparse.Namespace) -> Result:
    """Simulate and write; what was simulated before a failure is kept."""
    work = Pipeline(options) if in_blender(options) else WorldPipeline(options)
    jobs = list(work.jobs("Simulating"))
    with writing(work, jobs, options.out) as these:
        try:
            these.simulate()
        except BaseException as error:
            these.keep_part({"error": str(error) or type(error).__name__})
            raise
        return these.keep_whole()
