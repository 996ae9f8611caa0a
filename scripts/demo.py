"""Run the main workflow from end to end and keep its results: `make demo`.

A scene with a crowd is made, simulated, baked to a cache and rendered. Results in out/demo:
demo.blend with the folder cache (they play without Steer), demo.png, demo.mp4 if this Blender can
write one, and report.json. Another folder can be given as the only argument.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from steer_addon import cli, process  # noqa: E402 - the checkout comes first
from steer_addon.commands.output import Result  # noqa: E402

AGENTS = 400
FRAMES = "1-160"
PICTURE = 84
VIDEO_START = 40
VIDEO_SECONDS = 60.0
"""Time that rendering the video may take [s]; a slow computer makes a shorter one."""
SHORTEST, LONGEST = 16, 96
"""Frames of the video."""
STILL = ("--samples", "24", "--size", "960x540")
MOVING = ("--samples", "4", "--size", "480x270")
GOALS = ((-25, 14), (25, -14), (26, 13), (-26, -13), (0, 16), (2, -16))
"""Targets [m] all around the plaza, so that people cross each other's ways."""


def steer(*words: str) -> dict[str, Any]:
    """Run one command of `steer`; returns its report."""
    print(f"steer {' '.join(words)}", file=sys.stderr)
    options = cli.make_parser().parse_args(words)
    result: Result = options.run(options)
    return result.data


def place_camera(blend: Path) -> None:
    """Move the camera nearer than `steer scene` does, to show people, not the whole crowd."""
    from mathutils import Vector

    from steer_addon.blender.headless import batch

    scene = batch.open_file(blend)
    camera = scene.camera
    camera.location = (-17.0, -33.0, 11.5)
    camera.rotation_euler = (
        (Vector((1.5, -3.0, 0.0)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    )
    camera.data.lens = 38.0
    batch.save_file(blend)


def render_video(blend: Path, folder: Path, per_frame: float) -> dict[str, Any]:
    """Render the frames that fit in the time, and make the video of them."""
    count = round(min(max(VIDEO_SECONDS / per_frame, SHORTEST), LONGEST))
    frames = f"{VIDEO_START}-{VIDEO_START + count - 1}"
    where = ("--frames", frames, "--out", str(folder))
    return steer("render", str(blend), *where, *MOVING, "--video")


def make_demo(out: Path, work: Path) -> tuple[dict[str, Any], list[Path]]:
    """Run all steps; returns the report and the resulting files."""
    start = time.perf_counter()
    scene, demo = work / "scene.blend", out / "demo.blend"
    goals = [word for x, y in GOALS for word in ("--target", f"{x},{y},0")]
    count = ("--agents", str(AGENTS), "--frames", FRAMES, "--seed", "3")
    report: dict[str, Any] = {"scene": steer("scene", *count, *goals, "--save", str(scene))}
    place_camera(scene)
    report["simulate"] = steer("simulate", str(scene), "--out", str(work / "simulation"))
    cache = out / "cache"
    where = ("--cache", str(cache), "--save", str(demo))
    report["bake"] = steer("bake", str(scene), "--to", "cache", *where)
    still = ("--frames", str(PICTURE), "--out", str(work / "still"))
    report["render"] = steer("render", str(demo), *still, *STILL)
    shutil.copyfile(report["render"]["outputs"][0], out / "demo.png")
    # a picture of the video takes about a 14th of the time of the large one
    report["video"] = render_video(demo, work / "frames", report["render"]["seconds"] / 14.0)
    made = [demo, cache, out / "demo.png"]
    if report["video"]["video"]:
        made.append(out / "demo.mp4")
        shutil.copyfile(report["video"]["video"], made[-1])
    for name, data in report.items():
        # the working folder is removed at the end
        report[name] = {key: value for key, value in data.items() if key != "outputs"}
    for key in ("agents", "frames", "seconds_per_step"):
        report[key] = report["simulate"][key]
    report["seconds"] = round(time.perf_counter() - start, 1)
    path = out / "report.json"
    path.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    return report, [*made, path]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Parser of the script's arguments."""
    parser.add_argument(
        "out", nargs="?", type=Path, default=ROOT / "out" / "demo", help="folder for it all"
    )


def run(options: argparse.Namespace) -> Result:
    """Make the demo in a working folder, and keep the resulting files."""
    from steer_addon.blender.headless import batch

    batch.check_folder(options.out)
    with tempfile.TemporaryDirectory(prefix="steer-demo-") as work:
        report, made = make_demo(options.out, Path(work))
    lines = [f"{report['agents']} people, {report['seconds']:.0f} s in all:"]
    lines += [*(f"  {path}" for path in made), *report["video"]["warnings"]]
    return Result({**report, "outputs": [str(path) for path in made]}, lines)


def main() -> int:
    """Run the demo; returns the exit code."""
    command = argparse.Namespace(NAME="demo", __doc__=__doc__, add_arguments=add_arguments, run=run)
    words = [command.NAME, *sys.argv[1:]]
    return cli.run_command(cli.make_parser([command]), words, keep=True)


if __name__ == "__main__":
    code = main()
    process.leave(code)
    sys.exit(code)
