"""Run the Blender tests with every supported bpy.

    python scripts/release/test_matrix.py [--quick] [VERSION …]

With --quick, tests that are marked slow are left out, and most commands where Python is the same.

Each version gets a virtual environment of its own, .venv-bpy<version>, except the one that this
script already runs in. A version whose Python is not on this machine is reported and skipped;
the exit code is 1 when tests fail or an environment cannot be made.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.release.interpreters import environment, find_interpreter

ROOT = Path(__file__).resolve().parents[2]
MATRIX = {"4.5.15": "3.11", "5.0.1": "3.11", "5.2.3": "3.13"}
"""Python version by bpy version."""
FOLDERS = ("tests/blender", "tests/cli")
CORE = "tests/core"
BY_BLENDER = tuple(
    f"tests/cli/test_{name}.py"
    for name in ("bake_export", "bake_render", "bake_units", "character", "scene")
)
"""Tests of commands whose work is mostly Blender's own: with --quick, others run once only."""
PYTEST = ["-q", "-n", "2", "--dist", "worksteal"]
NOT_SLOW = ["-m", "not slow"]
NOTHING_COLLECTED = 5
"""Exit code of pytest for a folder without tests."""


@dataclass(frozen=True)
class Row:
    """One line of the table: the result of one version."""

    version: str
    python: str
    outcome: str
    detail: str
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether this result makes the whole run fail."""
        return self.outcome == "FAILED"


def is_this_one(version: str) -> bool:
    """Whether this script runs beside this very bpy."""
    try:
        return metadata.version("bpy") == version
    except metadata.PackageNotFoundError:
        return False


def selection(python: str, quick: bool) -> list[str]:
    """What is tested: all where NumPy is another major version, else what runs Blender."""
    if python != "{}.{}".format(*sys.version_info[:2]):
        return [*FOLDERS, CORE]
    return [FOLDERS[0], *BY_BLENDER] if quick else list(FOLDERS)


def run_tests(version: str, python: str, executable: str, quick: bool) -> Row:
    """Run pytest with one version, its output passed on; returns the line of the table."""
    options = PYTEST + NOT_SLOW * quick
    command = [executable, "-m", "pytest", *options, *selection(python, quick)]
    print(f"== bpy {version}, Python {python}: {' '.join(command[1:])}", flush=True)
    start = time.monotonic()
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    seconds = time.monotonic() - start
    if process.returncode == NOTHING_COLLECTED:
        return Row(version, python, "no tests", "there are none yet", seconds)
    outcome = "FAILED" if process.returncode else "passed"
    return Row(version, python, outcome, last.strip("= "), seconds)


def test_version(version: str, quick: bool) -> Row:
    """Find the Python, make the environment and run the tests of one version."""
    python = MATRIX[version]
    if is_this_one(version):
        return run_tests(version, python, sys.executable, quick)
    interpreter = find_interpreter(python)
    if interpreter is None:
        return Row(version, python, "skipped", f"no Python {python} with venv on this machine")
    try:
        needed = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
        packages = ["-e", ".[test]", f"bpy=={version}"]
        executable = environment(ROOT / f".venv-bpy{version}", interpreter, packages, needed)
    except subprocess.CalledProcessError as error:
        return Row(version, python, "FAILED", f"cannot be installed: exit code {error.returncode}")
    return run_tests(version, python, executable, quick)


def main(argv: list[str] | None = None) -> int:
    """Test the named versions, or all; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run the Blender tests with every supported bpy.")
    parser.add_argument("--quick", action="store_true", help="leave out tests that are marked slow")
    parser.add_argument("versions", nargs="*", help=f"{', '.join(MATRIX)}; all without any")
    given = parser.parse_args(argv)
    versions = given.versions or list(MATRIX)
    for version in versions:
        if version not in MATRIX:
            print(f"error: bpy {version} is not in the matrix: {', '.join(MATRIX)}")
            return 2
    rows = [test_version(version, given.quick) for version in versions]
    print("\nbpy      Python  result    time   detail")
    for row in rows:
        print(
            f"{row.version:<8} {row.python:<7} {row.outcome:<9} {row.seconds:4.0f} s  {row.detail}"
        )
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
