"""Bakes of all agents to rigs where some characters have lost theirs."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyed_crowds  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.test_heroes_partly import crowd  # noqa: E402, F401

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def refused(obj, frames=None):
    """What a bake to rigs says; nothing of it stays."""
    obj.steer.bake.bodies = "RIGS"
    before = {item.name for item in bpy.data.objects}
    with pytest.raises(CharacterError) as told:
        keyed_crowds.bake_crowd(
            obj, bpy.context.scene, lambda share: None, [], range(1, 4), frames=frames
        )
    assert {item.name for item in bpy.data.objects} == before
    assert obj.steer.bake_collection is None
    return str(told.value)


def test_the_agents_that_lack_a_rig_are_counted(crowd):  # noqa: F811
    assert refused(crowd) == (
        "Crowd 'Crowd' cannot be baked to rigs, which 3 of its 6 agents lack: Action 'Gone' of "
        "character 'B' is not in this file: bring it back (File > Append), or make the character "
        "again from other actions (3 agents); or bake without rigs"
    )


def test_all_characters_without_a_rig_are_named_before_anything_is_simulated(crowd):  # noqa: F811
    first = bpy.data.objects["A"]
    first["steer_origin"] = first["steer_origin"].replace('"action": "Run"', '"action": "Lost"')

    def frames():
        raise AssertionError("nothing is to be simulated")
        yield

    text = refused(crowd, frames())
    assert "which all its characters lack" in text
    assert "Action 'Lost' of character 'A'" in text and "Action 'Gone' of character 'B'" in text
