"""Run tests/gui/session.py in a real window: `python scripts/test_gui.py [--blender PROGRAM]`.

Without --blender, and without the shared tool that brings one, it says so and ends well: there are
machines that have no window. Pictures and results stay in out/gui.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import build_extension  # noqa: E402
from steer_addon.core.errors import SteerError  # noqa: E402

OUT = ROOT / "out" / "gui"
TOOL = ROOT.parent / "shared" / "tools" / "blender_app.sh"
SESSION = Path("tests") / "gui" / "session.py"
SECONDS = 600
BAD = ("Traceback", "Error:", "Exception", "Segmentation", "Writing: /tmp")
"""What the console must not say; the last one is a report of a crash."""


def command(program: str | None) -> list[str] | None:
    """What runs Blender with arguments added, or None where there is none."""
    if program:
        return [program, "--factory-startup"]
    if not TOOL.is_file():
        print(f"Skipped: no window, as {TOOL.name} is absent and no BLENDER is given")
        return None
    done = subprocess.run(["sh", str(TOOL), "install"], check=False, timeout=SECONDS)
    if done.returncode:
        print("Skipped: no window, as Blender could not be installed")
        return None
    return ["sh", str(TOOL), "blender"]


def run(words: list[str], package: Path) -> tuple[str, bool]:
    """Run the session; returns what the console said, and whether it ended in time."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    arguments = ["-P", str(SESSION), "--", str(package.relative_to(ROOT)), "out/gui"]
    log = OUT / "console.txt"
    in_time = True
    with log.open("w", encoding="utf-8") as file:
        try:
            subprocess.run(
                [*words, *arguments],
                cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False, timeout=SECONDS,
                env=os.environ,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            in_time = False
    return log.read_text(encoding="utf-8", errors="replace"), in_time


def report(console: str, in_time: bool) -> int:
    """Say what came out; returns the exit code."""
    path = OUT / "result.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"checks": []}
    failed = [row for row in found["checks"] if not row["passed"]]
    for row in found["checks"]:
        print(f"{'ok  ' if row['passed'] else 'FAIL'} {row['what']} {row['note']}")
    bad = [line for line in console.splitlines() if any(word in line for word in BAD)]
    for line in bad:
        print(f"FAIL console: {line}")
    if not in_time:
        print(f"FAIL it took more than {SECONDS} s")
    if not path.is_file() or found.get("error"):
        print(f"FAIL the session ended early\n{found.get('error', '')}")
    good = path.is_file() and in_time and not (failed or bad or found.get("error"))
    print(f"{len(found['checks'])} checks, {len(found.get('pictures', []))} pictures in out/gui")
    return 0 if good else 1


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Try the built extension in a real window.")
    parser.add_argument("--blender", default="", help="a Blender program that can open a window")
    options = parser.parse_args(argv)
    words = command(options.blender or None)
    if words is None:
        return 0
    try:
        # the program of the tool has a newer Python than the wheels, and numba beside it
        name = build_extension.current_platform() if options.blender else "any"
        package = build_extension.build(name)
    except SteerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return report(*run(words, package))


if __name__ == "__main__":
    sys.exit(main())
