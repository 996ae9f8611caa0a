"""Files that are opened without what their crowds show."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless.unshown import crowds_unshown  # noqa: E402
from tests.blender.live_scenes import make_runner  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    scene = bpy.context.scene
    shown = [one for one in scene.view_layers[0].depsgraph.object_instances if one.is_instance]
    return len(shown), display.find_modifier(scene.objects["Crowd"])


def test_crowds_are_shown_again_after_the_block(tmp_path):
    make_runner()
    path = tmp_path / "crowd.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert opened(path)[0] > 0
    handlers = len(bpy.app.handlers.load_post)
    with crowds_unshown():
        count, modifier = opened(path)
        assert (count, modifier.show_viewport) == (0, False)
    assert modifier.show_viewport and len(bpy.app.handlers.load_post) == handlers
    # a second file in the block, of which nothing of the first is left
    with crowds_unshown():
        opened(path)
        _, modifier = opened(path)
    assert modifier.show_viewport
    count, modifier = opened(path)
    assert count > 0 and modifier.show_viewport


def test_crowds_that_the_file_hides_stay_hidden(tmp_path):
    display.find_modifier(make_runner()).show_viewport = False
    path = tmp_path / "hidden.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with crowds_unshown():
        _, modifier = opened(path)
    assert not modifier.show_viewport
