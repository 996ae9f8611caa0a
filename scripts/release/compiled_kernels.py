"""Kernels that the extension brings along, compiled for this platform and every Python it serves.

They can be compiled only where they run: Blender's Python on this operating system and processor,
with the wheels that the extension ships. build/kernels keeps them, for tests too, so that a second
build compiles what has changed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from scripts.release.interpreters import environment, find_interpreter
from steer_addon.core.errors import OutputError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "kernels"
FOLDER = Path("steer_addon") / "kernels"
"""Where `core/compiled/jit_store.py` looks for them."""


def add_kernels(target: Path, platform: str, wheels: dict[str, list[Path]]) -> list[str]:
    """Compile kernels and put them into a staged copy.

    Args:
        target: The staged copy.
        platform: Blender's name of this platform.
        wheels: The wheels of numba and llvmlite by version of Python.

    Returns:
        A line for each version of Python that has no kernels, with the reason.

    Raises:
        OutputError: They cannot be compiled, though all is there.
    """
    lacking = []
    for python, needed in wheels.items():
        command = _python(platform, python, needed)
        if command is None:
            lacking.append(f"no Python {python} is on this machine")
            continue
        warnings = add_kernels_by(target, [command])
        lacking += [f"Python {python}: {line}" for line in warnings]
    return lacking


def add_kernels_by(target: Path, python: list[str]) -> list[str]:
    """Compile kernels by one Python and put them into a staged copy.

    Args:
        target: The staged copy.
        python: The command that runs that Python, which has numba, in the checkout.

    Returns:
        Why they serve this machine only, in which case none is put there.

    Raises:
        OutputError: They cannot be compiled.
    """
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("STEER_", "NUMBA_"))}
    into = BUILD.relative_to(ROOT)
    done = subprocess.run(
        [*python, "-m", "steer_addon", "compile", "--into", str(into), "--json"],
        cwd=ROOT,
        env={**outside, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise OutputError(f"Kernels cannot be compiled by {python[-1]}: see the lines above")
    told: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    for file in () if told["diagnoses"] else told["files"]:
        copy = target / FOLDER / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(BUILD / "kernels" / file, copy)
    return told["warnings"]


def _python(platform: str, version: str, wheels: list[Path]) -> str | None:
    """A Python of this version that has the wheels; None where the machine has no such Python."""
    if version == "{}.{}".format(*sys.version_info[:2]) and all(map(_is_installed, wheels)):
        return sys.executable
    interpreter = find_interpreter(version)
    if interpreter is None:
        return None
    packages = [*map(str, wheels), *_numpy()]
    names = "\n".join([path.name for path in wheels] + _numpy())
    return environment(BUILD / f"{platform}-python{version}", interpreter, packages, names)


def _numpy() -> list[str]:
    """What pyproject.toml asks of NumPy for each version of Python."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        needed: list[str] = tomllib.load(file)["project"]["dependencies"]
    return [one for one in needed if one.startswith("numpy")]


def _is_installed(wheel: Path) -> bool:
    name, version = wheel.name.split("-")[:2]
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False
