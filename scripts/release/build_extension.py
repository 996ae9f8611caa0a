"""Build the extension's zip: `python scripts/release/build_extension.py [--platform P]`.

The shipped files are copied to build/, the numba and llvmlite wheels named in pyproject.toml are
downloaded by pip for every Python version that supported Blenders have, kernels are compiled for
each of these versions that is on this machine, and Blender's own packager (it comes with the bpy
wheel) builds and validates dist/steer-<version>-<platform>.zip. Blender unpacks only the wheels
that fit its own Python, so one zip serves Blender 4.5 (Python 3.11) and 5.2 (Python 3.13).

The platform `any` has no wheels: it works everywhere, uncompiled, for small crowds, and with a
numba that was installed beside Blender by other means.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.release.compiled_kernels import add_kernels, add_kernels_by
from steer_addon.core.errors import OutputError, SteerError, UsageError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
DIST = ROOT / "dist"
MANIFEST = "blender_manifest.toml"
SHIPPED = (MANIFEST, "__init__.py", "steer_addon", "presets", "LICENSE")
SHIPPED_IF_THERE = ("README.md",)

# Blender's names for platforms, and the wheel tags that their oldest supported systems can load.
TAGS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64"),
    "macos-arm64": ("macosx_12_0_arm64", "macosx_11_0_arm64"),
    "macos-x64": ("macosx_12_0_x86_64", "macosx_11_0_x86_64", "macosx_10_15_x86_64"),
    "windows-x64": ("win_amd64",),
}
WITHOUT_WHEELS = "any"
ALL = ("linux-x64", "macos-arm64", "windows-x64")


def current_platform() -> str:
    """Blender's name for the platform that this runs on."""
    system = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(platform.system())
    machine = {"x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}
    name = f"{system}-{machine.get(platform.machine().lower())}"
    if name not in TAGS:
        raise UsageError(
            f"There are no wheels for this platform ({platform.system()} {platform.machine()}): "
            f"give --platform, one of {', '.join((*TAGS, WITHOUT_WHEELS))}"
        )
    return name


def read_project() -> dict[str, Any]:
    """Table of the extension in pyproject.toml: `wheels` and `python-versions`."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        section: dict[str, Any] = tomllib.load(file)["tool"]["steer"]["extension"]
    return section


def stage(target: Path) -> None:
    """Copy the shipped files to an empty folder."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for name in (*SHIPPED, *SHIPPED_IF_THERE):
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
            shutil.copytree(source, target / name, ignore=ignore)
        elif source.is_file():
            shutil.copy2(source, target / name)
        elif name in SHIPPED:
            raise OutputError(f"{name} is missing in {ROOT}: restore it from version control")


def wheel(folder: Path, requirement: str, python: str) -> Path | None:
    """The downloaded wheel of a pinned requirement for a Python version like 3.11, if any."""
    name, version = requirement.split("==")
    tag = "cp" + python.replace(".", "")
    return next(iter(sorted(folder.glob(f"{name}-{version}-{tag}-*.whl"))), None)


def download(name: str, requirements: list[str], pythons: list[str]) -> dict[str, list[Path]]:
    """The pinned wheels for one platform by version of Python; pip fetches what is missing.

    Raises:
        OutputError: There is no such wheel, or it cannot be fetched.
    """
    folder = BUILD / "wheels" / name
    folder.mkdir(parents=True, exist_ok=True)
    return {
        python: [
            wheel(folder, one, python) or _fetch(name, folder, one, python) for one in requirements
        ]
        for python in pythons
    }


def _fetch(name: str, folder: Path, requirement: str, python: str) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    command += ["--no-deps", "--disable-pip-version-check", "--python-version", python]
    for tag in TAGS[name]:
        command += ["--platform", tag]
    result = subprocess.run(
        [*command, "--dest", str(folder), requirement], capture_output=True, text=True, check=False
    )
    path = wheel(folder, requirement, python)
    if result.returncode or path is None:
        reason = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
        raise OutputError(
            f"pip finds no wheel of {requirement} for {name} and Python {python} "
            f"({reason[-1] if reason else 'it gave no reason'}): check the network, "
            f"or build without wheels by --platform {WITHOUT_WHEELS}"
        )
    return path


def add_wheels(target: Path, name: str, wheels: list[Path]) -> None:
    """Put the wheels into the staged copy and their names into its manifest."""
    folder = target / "wheels"
    folder.mkdir()
    for path in wheels:
        shutil.copy2(path, folder / path.name)
    lines = [f'platforms = ["{name}"]', "wheels = ["]
    lines += [f'  "./wheels/{path.name}",' for path in wheels]
    manifest = target / MANIFEST
    text = manifest.read_text(encoding="utf-8")
    # Top-level keys must stand before the first table.
    head, table, tail = text.partition("\n[permissions]")
    if not table:
        raise OutputError(f"{MANIFEST} has no [permissions] table: restore it")
    manifest.write_text(head + "\n".join(["", *lines, "]", ""]) + table + tail, encoding="utf-8")


def packager() -> list[str]:
    """The command that runs Blender's packager, up to its subcommand.

    Raises:
        OutputError: This Python has no bpy wheel.
    """
    spec = importlib.util.find_spec("bpy")
    root = Path(spec.origin).parent if spec and spec.origin else None
    found = sorted(root.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")) if root else []
    if not found:
        raise OutputError('bpy is missing: install it with pip install -e ".[dev]"')
    return [sys.executable, str(found[-1])]


def run_packager(subcommand: str, *arguments: str) -> None:
    """Run Blender's packager on a staged copy or on a zip.

    Raises:
        OutputError: The packager rejects the package.
    """
    command = packager()
    scripts = Path(command[-1]).parents[3]
    tags = scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    result = subprocess.run(
        [*command, subcommand, f"--valid-tags={tags}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        said = " ".join((result.stdout + result.stderr).split())
        raise OutputError(f"Blender's packager refuses to {subcommand} the extension: {said}")


def build(name: str, python: list[str] | None = None, *, whole: bool = False) -> Path:
    """Build and validate the zip of one platform.

    Args:
        name: The platform.
        python: For a package without wheels: the command of a Python with numba, whose Blender
            gets kernels; None for no kernels.
        whole: Whether kernels that are lacking are an error.

    Returns:
        Its path.
    """
    project = read_project()
    target = BUILD / "extension" / name
    stage(target)
    with (target / MANIFEST).open("rb") as file:
        manifest = tomllib.load(file)
    DIST.mkdir(exist_ok=True)
    output = DIST / f"{manifest['id']}-{manifest['version']}-{name}.zip"
    if name != WITHOUT_WHEELS:
        found = download(name, project["wheels"], project["python-versions"])
        add_wheels(target, name, [path for paths in found.values() for path in paths])
        lacking = ["they are compiled on that platform only"]
        if name == current_platform():
            lacking = add_kernels(target, name, found)
        for reason in lacking:
            told = f"{output.name} has not all compiled kernels, so users wait: {reason}"
            if whole:
                raise OutputError(told)
            print(f"warning: {told}")
    elif python is not None:
        add_kernels_by(target, python)
    run_packager("validate", str(target))
    run_packager("build", "--source-dir", str(target), "--output-filepath", str(output))
    run_packager("validate", str(output))
    return output


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build and validate the extension's zip.")
    parser.add_argument(
        "--platform",
        choices=(*TAGS, WITHOUT_WHEELS, "all"),
        help="whose wheels to bring along (default: this platform)",
    )
    parser.add_argument(
        "--require-kernels", action="store_true", help="fail where compiled kernels are lacking"
    )
    options = parser.parse_args(argv)
    try:
        name = options.platform or current_platform()
        for one in ALL if name == "all" else (name,):
            path = build(one, whole=options.require_kernels)
            size = path.stat().st_size / 1.0e6
            print(f"{path.relative_to(ROOT)}  {size:.1f} MB")
    except (SteerError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
