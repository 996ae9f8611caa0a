"""Python interpreters of this machine, by version, and virtual environments made by them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def candidates(python: str) -> Iterator[str]:
    """Commands and paths that may be a Python of this version."""
    yield f"python{python}"
    for root in (os.environ.get("PYENV_ROOT"), str(Path.home() / ".pyenv")):
        if root:
            found = Path(root).glob(f"versions/{python}*/bin/python{python}")
            yield from (str(path) for path in sorted(found, reverse=True))
    yield from ("python3", "python")
    # Windows has the same name for every version
    for folder in os.environ.get("PATH", "").split(os.pathsep) if os.name == "nt" else ():
        yield str(Path(folder) / "python.exe")


def find_interpreter(python: str) -> str | None:
    """An interpreter of this version that runs and can make environments, or None."""
    major, minor = python.split(".")
    # Run it, do not only look it up: a pyenv shim may exist and not run.
    check = (
        "import sys, venv, ensurepip; "
        f"sys.exit(sys.version_info[:2] != ({int(major)}, {int(minor)}))"
    )
    for candidate in candidates(python):
        if shutil.which(candidate) is None:
            continue
        result = subprocess.run([candidate, "-c", check], capture_output=True, check=False)
        if result.returncode == 0:
            return candidate
    return None


def environment(folder: Path, interpreter: str, packages: list[str], stamp: str) -> str:
    """The Python of a virtual environment; made, and installed into, when need be.

    Args:
        folder: Where it stands.
        interpreter: The command that makes it.
        packages: What pip installs, as seen from the checkout.
        stamp: A text that changes with what has to be installed.

    Raises:
        subprocess.CalledProcessError: Making it or installing into it fails.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    file = folder / ".installed"
    if python.exists() and file.is_file() and file.read_text(encoding="utf-8") == stamp:
        return str(python)
    print(f"Installing into {folder.name}", file=sys.stderr, flush=True)
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *packages], cwd=ROOT, check=True)
    file.write_text(stamp, encoding="utf-8")
    return str(python)
