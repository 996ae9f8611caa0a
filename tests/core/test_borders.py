"""The core stands alone: it imports without Blender, and numba waits for the first kernel."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "steer_addon"

BLOCK = """
import sys, importlib, pkgutil

BLOCKED = {"bpy", "bmesh", "mathutils", "gpu", "bpy_extras", "addon_utils"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
"""

IMPORT_CORE = """
import steer_addon.core
count = 0
for info in pkgutil.walk_packages(steer_addon.core.__path__, "steer_addon.core."):
    importlib.import_module(info.name)
    count += 1
assert count > 10, count
"""

CHECK = """
loaded = sorted(sys.modules)
wrong = [n for n in loaded if n.partition(".")[0] in BLOCKED | {"numba", "llvmlite"}]
wrong += [n for n in loaded if n.startswith("steer_addon.blender")]
assert not wrong, wrong
"""


def run(code: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_core_imports_with_blender_blocked_and_without_numba() -> None:
    run(BLOCK + IMPORT_CORE + CHECK)


def test_the_block_is_effective() -> None:
    code = BLOCK + "\ntry:\n    import bpy\nexcept ImportError:\n    sys.exit(0)\nsys.exit(1)\n"
    run(code)


def test_package_imports_nothing_at_first() -> None:
    run(BLOCK + "import steer_addon\nassert 'numpy' not in sys.modules\n" + CHECK)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.name)
def test_imports_of_the_own_package_are_relative(path: Path) -> None:
    # Blender imports the package under another name, where `import steer_addon` would fail.
    absolute = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        absolute += [name for name in names if name.partition(".")[0] == "steer_addon"]
    assert not absolute
