"""Pipes that Blender would open with a file, and wait for, are found before it does."""

from __future__ import annotations

import os

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks.opened_files import check_opened  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402


def saved(path, library=None, *, compress=True, relative=True):
    """A file with an object of its name, and one that is linked from another file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene.collection
    scene.objects.link(bpy.data.objects.new(path.stem, None))
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    if library is not None:
        with bpy.data.libraries.load(str(library), link=True, relative=relative) as (_, wanted):
            wanted.objects = [library.stem]
        scene.objects.link(wanted.objects[0])
        bpy.ops.wm.save_mainfile(compress=compress)
    return path


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_pipe_in_place_of_a_library_is_found(tmp_path, compress, relative, depth):
    (tmp_path / "sub").mkdir()
    kit = saved(tmp_path / "sub" / "kit ä.blend")
    shot = kit
    for name in ("mid", "shot")[-depth:]:
        options = {"compress": compress, "relative": relative}
        shot = saved(tmp_path / f"{name}.blend", shot, **options)
    check_opened(shot)
    kit.unlink()
    check_opened(shot)
    os.mkfifo(kit)
    reader = "shot" if depth == 1 else "mid"
    told = f"kit ä.blend, which {reader}.blend reads, is no plain file"
    with pytest.raises(SceneError, match=told):
        check_opened(shot)


def test_files_that_link_from_each_other_are_read_once(tmp_path):
    one, other = tmp_path / "one.blend", tmp_path / "other.blend"
    saved(other, saved(one))
    saved(one, other)
    check_opened(one)
    check_opened(other)


@pytest.mark.parametrize("left", [0, 5, 12, 20, 400, 0.5, 0.99])
@pytest.mark.parametrize("compress", [True, False])
def test_damaged_files_are_read_as_far_as_they_go(tmp_path, compress, left):
    shot = saved(tmp_path / "shot.blend", saved(tmp_path / "kit.blend"), compress=compress)
    size = shot.stat().st_size
    os.truncate(shot, left if isinstance(left, int) else int(left * size))
    check_opened(shot)
