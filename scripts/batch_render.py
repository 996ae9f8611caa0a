"""Simulate, bake and render the crowds of a file in one run, without a screen.

Run it inside Blender or with Blender's module::

    blender -b FILE.blend -P scripts/batch_render.py -- --out DIR [--frames A-B] [--crowd NAME] …
    python scripts/batch_render.py -- FILE.blend --out DIR …

With `batch` and a job file in place of a .blend file it makes the variations of that job, as
`steer batch` does, and any other command of `steer` runs in the same way::

    blender -b -P scripts/batch_render.py -- batch JOB.toml …

`--` comes before the arguments of this script. DIR gets `simulation/` (arrays and report.json),
`baked.blend`, which plays without Steer, and `frames/` (pictures, and a video with `--video`).
Exit codes are those of `steer`: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def find_package() -> str:
    """Name of the package to use: that of the enabled extension, else the one beside this file."""
    for name in list(sys.modules):
        if name.startswith("bl_ext.") and name.endswith(".steer_addon"):
            return name
    root = str(Path(__file__).resolve().parent.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    return "steer_addon"


PACKAGE = find_package()


def module(name: str) -> ModuleType:
    """A module of Steer."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def script_arguments(words: list[str]) -> list[str]:
    """Arguments after the first `--`; all arguments if there is none."""
    return words[words.index("--") + 1 :] if "--" in words else words


def open_file() -> Path | None:
    """The file that Blender was started with."""
    bpy = sys.modules.get("bpy")
    return Path(bpy.data.filepath) if bpy is not None and bpy.data.filepath else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Parser of the script's arguments."""
    arguments = module("commands.arguments")
    opened = open_file()
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        default=opened,
        help="file with a crowd (default: the one that Blender has open)",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for it all")
    arguments.add_crowd(parser)
    arguments.add_frames(parser, "frames to simulate, bake and render")
    parser.add_argument("--engine", default="CYCLES", help="CYCLES, WORKBENCH or EEVEE")
    parser.add_argument("--samples", metavar="N", default="16", help="samples per pixel")
    parser.add_argument("--size", metavar="WxH", default="640x360", help="size of the pictures")
    parser.add_argument("--video", action="store_true", help="make an .mp4 of the pictures too")
    arguments.add_settings(parser)


def run(options: argparse.Namespace) -> Any:
    """Run the three steps, each through its own command; returns their reports."""
    if options.file is None:
        raise module("core.errors").UsageError(
            "no file is given: name one after `--`, or open it with `blender -b FILE.blend`"
        )
    common = ["--quiet"] if options.quiet else []
    changes = [word for text in options.set for word in ("--set", text)]
    changes += [] if options.preset is None else [f"--preset={options.preset}"]
    changes += [] if options.seed is None else [f"--seed={options.seed}"]
    crowd = [f"--crowd={name}" for name in options.crowd]
    frames = options.frames
    until = [] if frames is None else [f"--frames={frames[0]}-{frames[-1]}"]
    baked = options.out / "baked.blend"
    steps = {
        "simulate": [str(options.file), f"--out={options.out / 'simulation'}"]
        + [*crowd, *until, *changes],
        "bake": [str(options.file), "--to=cache", f"--cache={options.out / 'cache'}"]
        + [f"--save={baked}", *crowd, *until, *changes],
        "render": [str(baked), f"--out={options.out / 'frames'}", f"--engine={options.engine}"]
        + [f"--samples={options.samples}", f"--size={options.size}", *until]
        + (["--video"] if options.video else []),
    }
    parser = module("cli").make_parser()
    results = {}
    for name, words in steps.items():
        step = parser.parse_args([name, *words, *common])
        results[name] = step.run(step)
    data = {"command": "batch_render", **{name: made.data for name, made in results.items()}}
    for key in ("agents", "frames", "seconds_per_step"):
        data[key] = results["simulate"].data[key]
    lines = [line for made in results.values() for line in made.lines]
    return module("commands.output").Result(data, lines)


def main() -> int:
    """Run the script as a command of its own; returns the exit code."""
    cli = module("cli")
    words = script_arguments(sys.argv[1:])
    if words and words[0] in {known.NAME for known in module("commands").MODULES}:
        return cli.run_command(cli.make_parser(), words, keep=True)
    command = argparse.Namespace(
        NAME="batch_render", __doc__=__doc__, add_arguments=add_arguments, run=run
    )
    parser = cli.make_parser([command])
    return cli.run_command(parser, [command.NAME, *words], keep=True)


if __name__ == "__main__":
    code = main()
    module("process").leave(code)
    if code:
        sys.exit(code)
