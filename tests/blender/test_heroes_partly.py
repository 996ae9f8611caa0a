"""Heroes of a crowd of several characters, one of which has lost an action of its rig."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import hero_age, heroes  # noqa: E402
from steer_addon.blender.characters import library, making  # noqa: E402
from steer_addon.blender.crowd import hero_table  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.live_scenes import make_crowd, make_target  # noqa: E402
from tests.blender.made_once import made_once  # noqa: E402
from tests.blender.test_heroes import ROUGH  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")
CHARACTERS = [0, 0, 1, 1, 1, 0]
"""The character of each agent: the second one cannot be a rig."""


def make_cast():
    """A crowd of two characters, the second one which lacks an action of its rig."""
    recipe = making.Recipe("Idle", "Walk", "Run", plan=ROUGH)
    rig = walking_rig()
    first = making.make_character(bpy.context.scene, rig, recipe).character
    first.name = "A"
    second = first.copy()
    second.name = "B"
    library.ensure_collection(bpy.context.scene).objects.link(second)
    text = second["steer_origin"]
    second["steer_origin"] = text.replace('"action": "Run"', '"action": "Gone"')
    assert second["steer_origin"] != text
    obj = make_crowd([(2 * i, 0, 0) for i in range(len(CHARACTERS))])
    make_target(obj)
    obj.steer.frame_end = 3
    given = obj.data.attributes.new("character", "INT", "POINT")
    given.data.foreach_set("value", CHARACTERS)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Collection", first.users_collection[0])
    display.set_input(modifier, "Display", "Characters")


@pytest.fixture
def crowd():
    """That of `make_cast`."""
    made_once("a cast of two", make_cast)
    return bpy.data.objects["Crowd"]


def test_agents_with_rigs_are_promoted_and_the_others_are_named(crowd):
    result = heroes.promote(crowd, bpy.context.scene, [0, 2, 3, 5])
    assert (result.done, result.lacking) == ([0, 5], [2, 3])
    assert heroes.hidden(crowd) == set(heroes.carriers(crowd)) == {0, 5}
    (told,) = [found for found in result.warnings if found.code == "RIGS_LACKING"]
    assert (told.subject, told.values["count"]) == ("B", 2)
    assert "Action 'Gone' of character 'B' is not in this file" in told.sentence
    with pytest.raises(CharacterError, match="Action 'Gone' of character"):
        heroes.promote(crowd, bpy.context.scene, [2, 4])
    assert heroes.hidden(crowd) == {0, 5}


def test_heroes_whose_character_lost_its_rig_since_stay_when_others_are_made_again(crowd):
    second = bpy.data.objects["B"]
    lost = second["steer_origin"]
    second["steer_origin"] = lost.replace("Gone", "Run")
    heroes.promote(crowd, bpy.context.scene, [0, 2])
    second["steer_origin"] = lost
    crowd.steer.agents.max_speed *= 0.5
    assert heroes.outdated(crowd, bpy.context.scene) == {0, 2}
    kept = heroes.carriers(crowd)[2]
    result = heroes.renew(crowd, bpy.context.scene)
    assert (result.done, result.kept, result.lacking) == ([0], [], [2])
    assert heroes.carriers(crowd)[2] == kept and heroes.hidden(crowd) == {0, 2}


def test_heroes_are_old_where_the_crowd_was_changed_before_it_was_baked(crowd, tmp_path):
    crowd.steer.cache_directory = str(tmp_path)
    bpy.context.view_layer.objects.active = crowd
    heroes.promote(crowd, bpy.context.scene, [0])
    crowd.steer.agents.max_speed *= 0.5
    heroes.promote(crowd, bpy.context.scene, [5])
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert heroes.outdated(crowd, bpy.context.scene) == {0}
    assert heroes.renew(crowd, bpy.context.scene).done == [0]
    assert heroes.outdated(crowd, bpy.context.scene) == set()


def test_heroes_of_a_bake_are_old_where_it_is_deleted_and_the_crowd_is_changed(crowd, tmp_path):
    crowd.steer.cache_directory, scene = str(tmp_path), bpy.context.scene
    bpy.context.view_layer.objects.active = crowd
    heroes.promote(crowd, scene, [0])
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    heroes.promote(crowd, scene, [5])
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    assert heroes.outdated(crowd, scene) == set()
    crowd.steer.agents.max_speed *= 0.5
    hero_age.refresh(crowd)
    assert heroes.outdated(crowd, scene) == {0, 5}


def test_a_table_finds_each_id_and_no_other():
    random = np.random.default_rng(1)
    for ids in ([0], [5], [-3, 4, 2**31 - 1], np.unique(random.integers(-(2**31), 2**31, 300))):
        numbers = np.array(ids, np.int32)
        table = hero_table.arranged(numbers)
        there = table[table % len(table) == np.arange(len(table))]
        assert set(there.tolist()) == set(numbers.tolist())
