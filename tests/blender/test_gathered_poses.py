"""Poses of a collection of characters, gathered once by a hidden object."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import gathering  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.suspension import suspended  # noqa: E402

from .test_characters_shown import crowd_of, level_frame  # noqa: E402
from .toy_characters import make_toy, shown_points, shown_poses, space  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def gathered(modifier):
    return display.get_input(modifier, gathering.INPUT)


def toys():
    slim, wide = space(walk=16, run=12, jump=6), space(walk=8, run=0, jump=0, width=1.7)
    made = make_toy("A", slim), make_toy("B", wide)
    return made, {"A": slim, "B": wide}


def some(count):
    rng = np.random.default_rng(4)
    return level_frame(
        count,
        phase=rng.uniform(-3, 9, count),
        gait=rng.integers(0, 4, count),
        character=rng.integers(0, 2, count),
    )


@pytest.mark.parametrize("count", [1, 7, 30, 200])
def test_agents_look_the_same_with_and_without(count):
    # few and many against the 44 poses
    made, poses = toys()
    obj, modifier = crowd_of(some(count), *made)
    gathering.gather(obj)
    assert gathered(modifier) is not None
    bpy.context.view_layer.update()
    chosen, points = shown_poses(**poses), shown_points()
    with suspended():
        display.set_input(modifier, gathering.INPUT, None)
        bpy.context.view_layer.update()
        assert gathered(modifier) is None and len(chosen) == count
        np.testing.assert_array_equal(np.concatenate(points), np.concatenate(shown_points()))
    frame = some(count)
    rows = {"A": ((0, 1), (1, 16), (17, 12), (29, 6)), "B": ((0, 1), (1, 8))}
    for i, (name, number) in enumerate(chosen):
        assert name == "AB"[int(frame.attributes["character"][i])]
        row = min(int(frame.attributes["gait"][i]), len(rows[name]) - 1)
        first, length = rows[name][row]
        part = float(frame.attributes["phase"][i]) % 1.0
        nearest = int(np.floor(part * length + 0.5))
        last = min(nearest, length - 1) if row == 3 else nearest % length
        assert number == first + last


def test_crowds_of_one_collection_share_it():
    made, _ = toys()
    first, one = crowd_of(some(3), *made)
    second, other = crowd_of(some(4), *made)
    gathering.gather(first)
    gathering.gather(second)
    assert gathered(one) == gathered(other) is not None
    assert not gathered(one).users_collection


def test_it_follows_what_the_crowd_shows():
    made, _ = toys()
    obj, modifier = crowd_of(some(3), *made)
    gathering.gather(obj)
    before = gathered(modifier)
    only = bpy.data.collections.new("Only A")
    bpy.context.scene.collection.children.link(only)
    only.objects.link(made[0])
    # as in the panel: what is edited is followed
    display.set_input(modifier, "Collection", only)
    bpy.context.view_layer.update()
    after = gathered(modifier)
    assert after not in (None, before)
    display.set_input(modifier, "Display", "Cones")
    bpy.context.view_layer.update()
    assert gathered(modifier) is None
    display.set_input(modifier, "Display", "Characters")
    bpy.context.view_layer.update()
    assert gathered(modifier) == after


def test_a_character_that_joins_is_shown():
    made, poses = toys()
    obj, modifier = crowd_of(level_frame(2, phase=[0, 0], gait=[0, 0], character=[0, 2]), *made)
    gathering.gather(obj)
    bpy.context.view_layer.update()
    assert [name for name, _ in shown_poses(**poses)] == ["A", "A"]
    tall = space(walk=6, run=0, jump=0, width=2.4)
    make_toy("C", tall)
    bpy.context.view_layer.update()
    assert [name for name, _ in shown_poses(**poses, C=tall)] == ["A", "C"]


def test_new_crowds_and_files_of_before_have_it(few_poses, tmp_path):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=5) == {"FINISHED"}
    obj = bpy.context.object
    modifier = display.find_modifier(obj)
    assert gathered(modifier).name == "Poses of People"
    path = tmp_path / "older.blend"
    with suspended():
        display.set_input(modifier, gathering.INPUT, None)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    modifier = display.find_modifier(bpy.data.objects["Crowd"])
    assert gathered(modifier).name.startswith("Poses of People")
