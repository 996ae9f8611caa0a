"""Shared parts of all tests: a separate Blender, the shared data, and compiled kernels.

Tests import the package as `steer_addon`, from the checkout, and the fixture `steer` registers
that one. Enabled as an extension the same modules would exist a second time, under
`bl_ext.user_default.steer`, with classes and settings of their own; only
tests/blender/test_extension_install.py goes that way, in a process of its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from tests.few_poses import take_few_poses

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# bpy reads this when it is imported: nothing of the user's Blender may be read or written.
_resources = tempfile.mkdtemp(prefix="steer-test-")
atexit.register(shutil.rmtree, _resources, ignore_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = _resources

# Modules are compiled once, and not in each worker and each process that tests start, whatever the
# environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Kept from run to run, since compiling takes longer than most tests; numba keeps the Python
# versions apart, and jit.py the versions of the source.
os.environ.setdefault("STEER_CACHE_DIR", str(ROOT / "build" / "kernels"))

# Workers take all cores already: with threads of its own, each product of small matrices would wait
# until all of them had a turn. NumPy reads this when it is imported, and processes that tests start
# inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The first call of a kernel compiles it: no example can be held to a deadline. Each run tries the
# same examples, so that a change is refused for what it does itself; --long looks for others.
hypothesis.settings.register_profile("steer", deadline=None, max_examples=25, derandomize=True)
hypothesis.settings.register_profile("long", deadline=None, max_examples=100)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for tests that repeat for minutes what others show once."""
    parser.addoption("--long", action="store_true", help="run tests that are marked long, too")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples are tried, before tests are imported."""
    if not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile("long" if config.getoption("--long") else "steer")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip, visibly, tests that nobody asked for."""
    if not config.getoption("--long"):
        for item in items:
            if "long" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="long: run with --long"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data beside the checkout; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent: put the shared data beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def steer() -> Iterator[ModuleType]:
    """The package `steer_addon`, registered with Blender for the whole run."""
    pytest.importorskip("bpy", reason="bpy is not installed")
    import steer_addon

    steer_addon.register()
    yield steer_addon
    steer_addon.unregister()


_next_begins_empty = False


def pytest_runtest_protocol(nextitem: pytest.Item | None) -> None:
    """Note whether the test after this one begins with an empty scene."""
    global _next_begins_empty
    _next_begins_empty = "empty_scene" in getattr(nextitem, "fixturenames", ())


@pytest.fixture
def empty_scene(steer: ModuleType) -> Iterator[object]:
    """A scene without objects in a fresh file, with Steer registered."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    yield bpy.context.scene
    # Leaves no handler or scene of this test to the next one, even when that does not ask for it.
    if not _next_begins_empty:
        bpy.ops.wm.read_homefile(use_empty=True)


@pytest.fixture
def few_poses(steer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few poses of built-in characters, see tests/few_poses.py."""
    take_few_poses(monkeypatch)


@pytest.fixture
def all_poses(few_poses: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All poses again, for single tests among those with few."""
    monkeypatch.undo()


@pytest.fixture
def runs(steer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the crowds that runs are made for, while a test goes on."""
    from steer_addon.blender.live import simulate

    found, whole = [], simulate.moments

    def noted(obj, *words, **options):  # type: ignore[no-untyped-def]
        found.append(obj.name)
        return whole(obj, *words, **options)

    for module in ("live.simulate", "live.shared_run", "bake.cached"):
        monkeypatch.setattr(f"steer_addon.blender.{module}.moments", noted)
    return found


_exit_status = 0


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the status for `pytest_unconfigure`."""
    global _exit_status
    _exit_status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End at once with bpy 4.5, whose wheel may hang or crash while Python takes itself down."""
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.version < (5, 0):
        shutil.rmtree(_resources, ignore_errors=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_exit_status)
