"""A click on a character selects its skin: Make Character says which object is its rig."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import bodies, making  # noqa: E402
from steer_addon.blender.operators import characters  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.walking_rigs import box, make_rig, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def clicked(kind):
    """An object of a rig that is not its armature."""
    rig = walking_rig()
    if kind == "above":
        rig.parent = bpy.data.objects.new("Root", None)
        bpy.context.scene.collection.objects.link(rig.parent)
        return rig.parent
    found = bpy.data.objects[{"skin": "head", "on a bone": "hat"}[kind]]
    if kind == "skin":
        found.parent = None
    return found


@pytest.mark.parametrize("kind", ["skin", "on a bone", "above"])
def test_who_clicks_something_else_of_a_rig_is_sent_to_the_armature(kind):
    obj = clicked(kind)
    bpy.context.view_layer.update()
    assert bodies.armature_of(obj).name == "Walker"
    way = "moves no vertex.*; for the actions of 'Walker', select that armature$"
    with pytest.raises(CharacterError, match=way):
        making.make_character(bpy.context.scene, obj, Recipe("", "", frames=(1, 24)))
    bpy.context.view_layer.objects.active = obj
    layout = MagicMock()
    dialog = SimpleNamespace(layout=layout, parts=[], stride=1.0, _memory=lambda context: "")
    characters.OBJECT_OT_steer_make_character.draw(dialog, bpy.context)
    told = [call.kwargs["text"] for call in layout.label.call_args_list]
    assert "Select armature 'Walker' to use its actions" in told


def test_of_what_no_single_armature_moves_nothing_is_said():
    assert bodies.armature_of(box("Alone", (0, 0, 0), (1, 1, 1))) is None
    top = clicked("above")
    assert bodies.armature_of(bpy.data.objects["Walker"]) is None
    make_rig("Other").parent = top
    assert bodies.armature_of(top) is None
