"""Actions that cannot be a walk: the sentence names them, and says what else to do."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters.keys import curves_of  # noqa: E402
from steer_addon.blender.making import importers  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.live_scenes import move  # noqa: E402
from tests.blender.source_makers import make_wire  # noqa: E402
from tests.blender.test_make_character_bad import COARSE, make  # noqa: E402
from tests.blender.walking_rigs import state, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def refused(rig, *actions):
    """What a character of these actions is refused with; nothing of it stays."""
    before = state(rig)
    with pytest.raises(CharacterError) as told:
        make(rig, Recipe(*actions, plan=COARSE))
    assert state(rig) == before
    return str(told.value)


def test_an_action_in_which_no_foot_goes_back_is_no_walk():
    text = refused(walking_rig(), "Walk", "Idle")
    assert text.startswith("Walk 'Idle': No feet that go back on the ground") and (
        "choose one that walks" in text
    )


def test_actions_whose_blends_find_no_ground_are_both_named():
    rig = walking_rig()
    hop = bpy.data.actions.new("Hop")
    rig.animation_data.action = hop
    for frame in range(25):
        for name, start in (("leg.l", 0.0), ("leg.r", 0.5)):
            bone = rig.pose.bones[name]
            bone.location.y = 2.0 * abs(math.sin(math.tau * (frame / 24 + start)))
            bone.keyframe_insert("location", frame=frame)
            bone.location.y = 0.0
    rig.animation_data.action = None
    hop.use_fake_user = True
    text = refused(rig, "Hop", "Walk")
    assert text.startswith("Blends of 'Hop' and 'Walk': No feet that go back on the ground")


def test_a_rig_that_lies_down_in_its_walk_may_have_another_one():
    rig = walking_rig()
    action = bpy.data.actions["Walk"].copy()
    action.name = "Crawl"
    rig.animation_data.action = action
    root = rig.pose.bones["root"]
    root.rotation_mode = "XYZ"
    root.rotation_euler.x = math.pi / 2
    root.keyframe_insert("rotation_euler", frame=0)
    rig.animation_data.action = None
    root.rotation_euler.x = 0.0
    text = refused(rig, "Idle", "Crawl")
    assert "lies down" in text and text.endswith("with Z up, or choose another walk")


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.0e30])
def test_places_that_no_body_has_name_the_object_and_the_frame(value):
    rig = walking_rig()
    walk = bpy.data.actions["Walk"]
    for curve in curves_of(walk, walk.slots[0]):
        curve.keyframe_points[-1].co.y = value
    text = refused(rig, "Idle", "Walk")
    assert text.startswith("Object '") and "more than 1000 km away" in text
    rig.children[0].data.vertices[0].co.x = value
    text = refused(rig, "", "Run")
    assert repr(rig.children[0].name) in text and "at frame" in text


def test_an_import_that_is_interrupted_is_no_fault_of_the_file(tmp_path, monkeypatch):
    file = tmp_path / "rig.fbx"
    file.write_bytes(b"x")

    def stop(**_):
        text = (
            'Error: Python: Traceback (most recent call last):\n  File "x.py"\nKeyboardInterrupt\n'
        )
        raise RuntimeError(text)

    monkeypatch.setattr(importers, "attrgetter", lambda _: lambda _: stop)
    with pytest.raises(KeyboardInterrupt):
        importers.import_animated(file)


def test_edges_that_move_and_get_no_faces_are_no_body():
    wire = make_wire([(0, 0, 0), (1, 0, 0), (1, 1, 1)], [(0, 1), (1, 2)], name="Wire")
    move(wire, {1: (0, 0, 0), 24: (0, 0, 1)})
    wire.modifiers.new("Mirror", "MIRROR")
    with pytest.raises(CharacterError, match="^'Wire' shows no faces, so nobody would see"):
        make(wire, Recipe(levels=2, plan=COARSE))
    assert [obj.name for obj in bpy.data.objects] == ["Wire"]
