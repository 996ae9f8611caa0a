"""Node groups are built once, and read from the user's cache folder from then on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library_group  # noqa: E402
from steer_addon.blender.display import display, nested_group  # noqa: E402
from steer_addon.core.files import cache_folder  # noqa: E402
from tests.ended import ENDED  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("empty_scene")


def described(group):
    """All that a group, and the one in it, is made of."""
    inner = nested_group.inner_of(group)
    return one(group), one(inner)


def one(group):
    sockets = [
        (s.name, s.identifier, s.socket_type, getattr(s, "default_value", None))
        for s in nested_group.sockets_of(group)
    ]
    nodes = {node.name: node.bl_idname for node in group.nodes}
    links = [
        (a.from_node.name, a.from_socket.identifier, a.to_node.name, a.to_socket.identifier)
        for a in group.links
    ]
    return group.name, sockets, nodes, sorted(links), dict(group.items())


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder."""
    monkeypatch.setattr(cache_folder, "roots", lambda: [tmp_path])
    return tmp_path


@pytest.fixture
def builds(monkeypatch):
    """A list that grows with every group that is built."""
    found, build = [], nested_group.build

    def counted(group, *arguments):
        found.append(group.name)
        build(group, *arguments)

    monkeypatch.setattr(nested_group, "build", counted)
    return found


def again(ensure):
    """The group of another file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    return ensure()


ENSURE = [display.ensure_node_group, library_group.ensure_group]


@pytest.mark.parametrize("ensure", ENSURE)
def test_a_group_is_built_once_and_then_the_same_and_knows_no_other_file(ensure, cache, builds):
    built = described(ensure())
    group = again(ensure)
    assert described(group) == built and group.is_modifier and group.description
    assert len(builds) == 1
    for tree in bpy.data.node_groups:
        assert tree.library is None and tree.library_weak_reference is None
    assert not bpy.data.libraries and len(bpy.data.node_groups) == 2


def test_a_kept_file_that_is_broken_is_built_again(cache, builds):
    built = described(library_group.ensure_group())
    (path,) = cache.rglob("*.blend")
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"no file of Blender's"):
        path.write_bytes(broken)
        assert described(again(library_group.ensure_group)) == built
        assert not bpy.data.libraries and len(bpy.data.node_groups) == 2
        count = len(builds)
        again(library_group.ensure_group)
        assert len(builds) == count


def test_a_full_disk_leaves_no_part_of_a_file(cache, builds, monkeypatch):
    """Blender writes what there is room for, and says nothing."""
    # else Python keeps what it compiles in files that are cut off, too
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    resource = pytest.importorskip("resource", reason="this system limits no files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        assert len(library_group.ensure_group().nodes) == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_file_with_something_else_is_built_again(cache, builds):
    library_group.ensure_group()
    (path,) = cache.rglob("*.blend")
    bpy.data.libraries.write(str(path), {bpy.data.scenes[0]})
    again(library_group.ensure_group)
    assert len(builds) == 2 and len(bpy.data.scenes) == 1


@pytest.mark.parametrize("there", [False, True])
def test_without_a_folder_that_takes_files_a_group_is_built_each_time(
    there, cache, builds, monkeypatch
):
    (cache / "file").write_text("in the way")
    monkeypatch.setattr(cache_folder, "roots", lambda: [cache / "file"] if there else [])
    for _ in range(2):
        assert len(again(library_group.ensure_group).nodes) == 3
    assert len(builds) == 2


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import steer_addon
steer_addon.register()
from steer_addon.blender.characters import library_group
library_group.ensure_group()
"""


@pytest.mark.slow
def test_a_group_is_kept_without_numba_too(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STEER_CACHE_DIR": str(tmp_path)}
    times = []
    for _ in range(2):
        command = [sys.executable, "-c", WITHOUT_NUMBA + ENDED]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        times += [path.stat().st_mtime_ns for path in (tmp_path / "groups").glob("*.blend")]
    assert len(times) == 2 and times[0] == times[1]
