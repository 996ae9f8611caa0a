"""The real thing: the built zip is installed, enabled and disabled in a clean Blender.

In a process of its own, since the modules then exist under another name (see tests/conftest.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.release import build_extension
from tests.ended import ENDED

ROOT = Path(__file__).resolve().parents[2]

SESSION = """
import sys
import bpy

MODULE = "bl_ext.user_default.steer"

def enabled():
    return MODULE in bpy.context.preferences.addons

def handlers():
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return sum(len(entry) for entry in lists if isinstance(entry, list))

before = handlers()
"""

INSTALL = """
bpy.ops.extensions.package_install_files(
    filepath=sys.argv[1], repo="user_default", enable_on_install=True
)
"""

ENABLE = "bpy.ops.preferences.addon_enable(module=MODULE)\n"

CHECK = """
assert enabled()
assert "numba" not in sys.modules, "enabling must not load numba"
assert "steer_addon" not in sys.modules, "only relative imports work in an extension"
assert MODULE + ".steer_addon.core" in sys.modules or MODULE + ".steer_addon" in sys.modules
for _ in range(2):
    bpy.ops.preferences.addon_disable(module=MODULE)
    assert not enabled()
    assert handlers() == before, "handlers stayed behind"
    bpy.ops.preferences.addon_enable(module=MODULE)
    assert enabled()
print("INSTALLED AND ENABLED")
"""


def run_blender(code: str, resources: Path, *arguments: str) -> str:
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources)}
    result = subprocess.run(
        [sys.executable, "-c", code + ENDED, *arguments],
        cwd=resources,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    # Blender reports a failing add-on on its output and continues.
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(autouse=True)
def _needs_bpy() -> None:
    pytest.importorskip("bpy", reason="bpy is not installed")


def test_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_extension, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build_extension, "DIST", tmp_path / "dist")
    path = build_extension.build(build_extension.WITHOUT_WHEELS)
    resources = tmp_path / "resources"
    resources.mkdir()
    said = run_blender(SESSION + INSTALL + CHECK, resources, str(path))
    assert "INSTALLED AND ENABLED" in said
    installed = resources / "extensions" / "user_default" / "steer"
    assert (installed / "presets").is_dir()
    assert not (installed / "tests").exists()


def test_linked_checkout(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "user_default"
    folder.mkdir(parents=True)
    (folder / "steer").symlink_to(ROOT, target_is_directory=True)
    said = run_blender(SESSION + ENABLE + CHECK, tmp_path)
    assert "INSTALLED AND ENABLED" in said
