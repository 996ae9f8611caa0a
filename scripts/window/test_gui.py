"""Run tests/gui/session.py in a real window.

    python scripts/window/test_gui.py [--blender PROGRAM]

Without --blender, and without the shared tool that provides one, the script says so and succeeds:
some machines have no window. Pictures, the log of all steps and the console output stay in
out/gui, with separate settings of Blender: no settings of the user are read or changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.release import build_extension  # noqa: E402
from steer_addon.core.errors import SteerError  # noqa: E402

OUT = ROOT / "out" / "gui"
TOOL = ROOT.parent / "shared" / "tools" / "blender_app.sh"
SESSION = Path("tests") / "gui" / "session.py"
LOG = "steps.jsonl"
SECONDS = 900
"""Longest time of the whole session [s]; on an idle machine it takes about 3 min."""
INSTALL_SECONDS = 900
ASK_SECONDS = 120
FLAGS = (
    "--factory-startup",
    "--enable-event-simulate",
    *("--window-geometry", "0", "0", "1280", "800"),
    *("--python-exit-code", "3"),
)
OPENGL = ("blender", "--gpu-backend", "opengl")
ALONE = ("unshare", "--net")
"""The tool's screens all have the same number, and programs find them by it. A second screen at the
same time would be confused with ours: Blender would end with it, and its windows would be in the
pictures. The session needs no network, and this way it cannot use one."""
BAD = ("Traceback", "Error:", "Exception", "Segmentation", "Writing: ", "EXCEPTION_")
"""Texts that the console must not contain; the last ones are reports of a crash."""


class GuiError(SteerError):
    """The session cannot be started."""


def command(program: str | None) -> list[str] | None:
    """Command that runs Blender, or None if there is none.

    Raises:
        GuiError: The named program cannot be run.
    """
    if program:
        found = shutil.which(program)
        if found is None:
            raise GuiError(
                f"BLENDER={program} is no program that can be run: give the path of a Blender, or "
                "leave it out"
            )
        # the session runs from the checkout, from any working directory
        return [str(Path(found).absolute()), *FLAGS]
    if not TOOL.is_file():
        print(f"Skipped: no window, as {TOOL.name} is absent and no BLENDER is given")
        return None
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        print(f"Skipped: no window, as {TOOL.name} needs root and no BLENDER is given")
        return None
    try:
        done = subprocess.run(["sh", str(TOOL), "install"], check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"Skipped: no window, as Blender could not be installed: {error}")
        return None
    if done.returncode:
        print("Skipped: no window, as Blender could not be installed (root and a mirror needed)")
        return None
    # inside, the working directory is /here, and the environment is empty
    kept = [f"{name}={value}" for name, value in surroundings(Path("/here/out/gui")).items()]
    return [*ALONE, "sh", str(TOOL), "exec", "env", *kept, *OPENGL, *FLAGS]


def surroundings(folder: Path) -> dict[str, str]:
    """Environment variables that redirect Blender's files to a folder."""
    return {"BLENDER_USER_RESOURCES": str(folder / "user"), "TMPDIR": str(folder / "tmp")}


def platform_for(words: list[str]) -> str:
    """The package for a program: that of this platform, or one without wheels.

    Builds of distributions may have another Python than the wheels; numba is beside them then, or
    kernels run uncompiled.
    """
    ask = "import sys; print('PYTHON', '%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [words[0], "--background", "--factory-startup", "--python-expr", ask],
            capture_output=True,
            text=True,
            check=False,
            timeout=ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GuiError(f"{words[0]} cannot be run: {error}") from None
    found = re.search(r"^PYTHON (\d+\.\d+)$", done.stdout, re.M)
    if found is None:
        raise GuiError(f"{words[0]} is no Blender: it does not tell its version of Python")
    if found[1] in build_extension.read_project()["python-versions"]:
        return build_extension.current_platform()
    print(f"{words[0]} has Python {found[1]}, for which there are no wheels: it has to have numba")
    return build_extension.WITHOUT_WHEELS


def run(words: list[str], package: Path, acts: list[str]) -> tuple[str, int | None]:
    """Run the session; returns the console output and the exit code, None after a timeout."""
    shutil.rmtree(OUT, ignore_errors=True)
    for name in ("user", "tmp"):
        (OUT / name).mkdir(parents=True)
    arguments = ["-P", str(SESSION), "--", str(package.relative_to(ROOT)), "out/gui", *acts]
    console = OUT / "console.txt"
    with console.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [*words, *arguments],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **surroundings(OUT)},
        )
        try:
            code: int | None = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # no process of the tool outlives this one
            process.kill()
            process.wait()
    return console.read_text(encoding="utf-8", errors="replace"), code


def read_log() -> list[dict[str, Any]]:
    """Log of the session, up to where it stopped."""
    path = OUT / LOG
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def report(console: str, code: int | None, seconds: float) -> int:
    """Print the results; returns the exit code."""
    rows = read_log()
    step, problems = "start", []
    for row in rows:
        if "step" in row:
            step = row["step"]
            print(f"{row['seconds']:6.1f} s  {step}")
        elif "check" in row:
            word = "ok  " if row["passed"] else "FAIL"
            print(f"          {word} {row['check']} {row['note']}")
            problems += [] if row["passed"] else [f"{step}: {row['check']} {row['note']}"]
        elif "pauses" in row:
            print(f"          longest pause while {row['pauses']}: {row['longest']} s")
        elif "took" in row:
            print(f"          {row['waited']:5.2f} s  {row['took']}")
        elif "error" in row:
            problems.append(f"{step}: {row['error']}")
    problems += [
        f"console: {line}" for line in console.splitlines() if any(word in line for word in BAD)
    ]
    if code is None:
        problems.append(f"{step}: not done after {SECONDS} s")
    elif code or not any("end" in row or "error" in row for row in rows):
        problems.append(f"{step}: Blender ended early, with exit code {code}")
    checks, pictures = (sum(kind in row for row in rows) for kind in ("check", "picture"))
    for problem in problems:
        print(f"FAIL {problem}", file=sys.stderr)
    if problems:
        print("The output of Blender is in out/gui/console.txt", file=sys.stderr)
    print(f"{checks} checks, {pictures} pictures in out/gui, {seconds:.0f} s")
    return 1 if problems else 0


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Try the built extension in a real window.")
    parser.add_argument("--blender", default="", help="a Blender program that can open a window")
    parser.add_argument("--acts", default="", help="only these acts, separated by commas")
    options = parser.parse_args(argv)
    try:
        words = command(options.blender or None)
        if words is None:
            return 0
        if options.blender:
            package = build_extension.build(platform_for(words))
        else:
            # the program of the tool has a newer Python than the wheels, and numba beside it
            python = [*ALONE, "sh", str(TOOL), "exec", "env", "PYTHONPATH=/here", "python3"]
            package = build_extension.build(build_extension.WITHOUT_WHEELS, python)
    except SteerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    begun = time.perf_counter()
    console, code = run(words, package, [act for act in options.acts.split(",") if act])
    return report(console, code, time.perf_counter() - begun)


if __name__ == "__main__":
    sys.exit(main())
