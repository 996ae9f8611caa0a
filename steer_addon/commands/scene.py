"""Make a .blend file with a crowd, ready to simulate and to look at."""

from __future__ import annotations

import argparse
import time

from ..blender.headless import batch
from ..blender.making import scene_maker, spawning
from ..core.cache.layout import MOST_AGENTS
from ..core.crowd.presets import DEFAULT
from ..process import tell
from . import arguments
from .output import Result

NAME = "scene"
WORDS = ("whole", "corner")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ground",
        metavar="FILE",
        type=arguments.path,
        help="mesh to walk on: .obj, .ply, .stl, .usd, .gltf, .glb, .fbx or .abc; "
        "without one, a plaza with pillars, planters and a fountain is made",
    )
    parser.add_argument(
        "--colliders",
        metavar="FILE",
        type=arguments.path,
        nargs="+",
        default=[],
        help="meshes that block; without them the ground's own walls and steep faces do",
    )
    parser.add_argument(
        "--agents",
        metavar="N",
        type=arguments.whole_number(MOST_AGENTS),
        default=300,
        help=f"number of agents, up to {MOST_AGENTS}",
    )
    parser.add_argument(
        "--spawn",
        metavar="WHERE",
        type=_spawn,
        default="whole",
        help="where agents start: whole (all over the walkable ground, but for the target's "
        "surroundings), corner (close together, as far from the target as can be) or "
        "x,y,z,radius",
    )
    parser.add_argument(
        "--target",
        metavar="WHERE",
        type=_target,
        action="append",
        help="where agents go: auto (the far side of the walkable ground) or x,y,z; given several "
        "times, agents share the targets out among them (default: auto)",
    )
    parser.add_argument(
        "--preset", metavar="NAME", default=DEFAULT, help="preset, or a .json file of one"
    )
    parser.add_argument(
        "--seed", metavar="N", type=arguments.seed_number, default=0, help="random seed"
    )
    _add_bodies(parser)
    arguments.add_frames(parser, "frame range of the scene (default: 1-250)")
    parser.add_argument(
        "--save",
        metavar="FILE.blend",
        type=arguments.path,
        default="crowd.blend",
        help="file to write",
    )


def _add_bodies(parser: argparse.ArgumentParser) -> None:
    """Declare what agents look like."""
    parser.add_argument(
        "--radius", metavar="M", type=arguments.positive_float,
        help="body radius in meters; people grow with it (default: the preset's)",
    )  # fmt: skip
    parser.add_argument(
        "--character", metavar="FILE.blend", type=arguments.path, action="append", default=[],
        help="file of `steer character make`, whose characters agents are shown as; given several "
        "times, agents take one each (default: the built-in people)",
    )  # fmt: skip


def _spawn(text: str) -> str | tuple[float, ...]:
    if text in WORDS:
        return text
    values = arguments.numbers(text, 4, f"{', '.join(WORDS)} or x,y,z,radius")
    if values[3] <= 0.0:
        raise argparse.ArgumentTypeError(f"the radius {values[3]:g} is too small: give one above 0")
    return values


def _target(text: str) -> tuple[float, ...] | None:
    return None if text == "auto" else arguments.numbers(text, 3, "auto or x,y,z")


def run(options: argparse.Namespace) -> Result:
    """Make the scene and save it."""
    start, frames = time.perf_counter(), options.frames or range(1, 251)
    inputs = [*filter(None, [options.ground]), *options.colliders, *options.character]
    batch.check_new_file(options.save, ".blend", inputs)
    batch.ensure_registered()
    if not options.quiet:
        tell(f"Making a scene with {options.agents} agents")
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
            frames=frames,
            characters=tuple(options.character),
        )
    )
    batch.save_file(options.save)
    count = len(made.crowd.data.vertices)
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


def _make_spawn(value: str | tuple[float, ...]) -> spawning.Spawn:
    if isinstance(value, str):
        return spawning.Spawn(value)
    return spawning.Spawn(spawning.DISC, (value[0], value[1], value[2]), value[3])
