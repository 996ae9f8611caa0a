"""Groups in Blender: the list and its fields, what points say, edits, bakes, presets, answers."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import inputs  # noqa: E402
from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import properties, slots  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.overlay import answers  # noqa: E402
from steer_addon.blender.reading import scene_agents  # noqa: E402
from steer_addon.blender.ui import overlay_table  # noqa: E402
from steer_addon.core.crowd.groups import GroupSettings  # noqa: E402
from steer_addon.core.crowd.membership import joined  # noqa: E402
from steer_addon.core.crowd.presets import read_preset, save_preset  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.drawn import draw_all  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def row_of(count=6, **more):
    return scenes.make_crowd([(float(i), 0.0, 0.0) for i in range(count)], **more)


def add_group(obj, name, source="SHARE", **values):
    item = properties.add_group(obj, name)
    item.source = source
    for key, value in values.items():
        setattr(item, key, value)
    return item


def read(obj):
    layer = bpy.context.view_layer
    layer.update()
    settings = properties.settings_of(obj)
    return joined(scene_agents.read_agents(obj, layer.depsgraph, settings), settings)


def weights(obj, name, values):
    """A vertex group with a weight for each vertex; none for those with None."""
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    for vertex, value in enumerate(values):
        if value is not None:
            group.add([vertex], value, "REPLACE")
    obj.data.update()


def members(obj, name):
    return read(obj).among(name).astype(int).tolist()


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("BOOLEAN", [1, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0]),
        ("FLOAT", [0.5, 0.51, -2.0, 0.0, 7.0, 0.4], [0, 1, 0, 0, 1, 0]),
        ("INT", [0, 1, 2, -1, 0, 0], [0, 1, 1, 0, 0, 0]),
    ],
)
def test_point_attributes_say_who_is_in_a_group(kind, values, expected):
    obj = row_of()
    add_group(obj, "guards", "ATTRIBUTE")
    scenes.add_attribute(obj, "guards", kind, values)
    assert members(obj, "guards") == expected


def test_vertex_groups_say_who_is_in_a_group():
    obj = row_of()
    weights(obj, "other", [1.0] * 6)
    weights(obj, "guards", [0.5, 0.51, None, 1.0, 0.0, None])
    add_group(obj, "guards", "VERTEX_GROUP")
    add_group(obj, "other", "VERTEX_GROUP")
    assert members(obj, "guards") == [0, 1, 0, 1, 0, 0]
    assert members(obj, "other") == [1] * 6


def test_vertex_groups_go_through_modifiers():
    obj = row_of(2)
    weights(obj, "left", [1.0, None])
    weights(obj, "guards", [None, 1.0])
    add_group(obj, "guards", "VERTEX_GROUP")
    copies = obj.modifiers.new("Copies", "ARRAY")
    copies.count = 3
    copies.relative_offset_displace[0] = 3.0
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    assert members(obj, "guards") == [0, 1, 0, 1, 0, 1]


def test_vertex_groups_are_read_in_edit_mode():
    obj = row_of(3)
    weights(obj, "guards", [None, 1.0, 0.2])
    add_group(obj, "guards", "VERTEX_GROUP")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        assert members(obj, "guards") == [0, 1, 0]
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_members_are_slower_unless_points_say_otherwise():
    obj = row_of(4)
    obj.steer.agents.max_speed = 2.0
    scenes.add_attribute(obj, "old", "BOOLEAN", [1, 0, 1, 0])
    add_group(obj, "old", "ATTRIBUTE", speed=0.5)
    assert read(obj).max_speed.tolist() == [1.0, 2.0, 1.0, 2.0]
    weights(obj, "tired", [1.0, 1.0, 0.0, 0.0])
    add_group(obj, "tired", "VERTEX_GROUP", speed=0.25)
    assert read(obj).max_speed.tolist() == [0.25, 0.5, 1.0, 2.0]
    scenes.add_attribute(obj, "max_speed", "FLOAT", [3.0] * 4)
    assert read(obj).max_speed.tolist() == [3.0] * 4


def guarded():
    """Six seekers, of which the last three seek."""
    obj = row_of(settings=scenes.seekers({"type": "seek", "group": "guards"}))
    add_group(obj, "guards", "VERTEX_GROUP")
    weights(obj, "guards", [None, None, None, 1.0, 1.0, 1.0])
    scenes.make_target(obj)
    return obj


def moved(obj, number):
    return (live.get_frame(obj, number).velocity[:, 1] > 0.1).astype(int).tolist()


def test_only_members_follow_a_behavior_while_it_plays():
    obj = guarded()
    scenes.play(1, 6)
    assert moved(obj, 6) == [0, 0, 0, 1, 1, 1]
    assert codes(live.status(obj).warnings) == []


def test_painted_weights_make_the_crowd_old_and_count_from_the_start():
    obj = guarded()
    scenes.play(1, 6)
    weights(obj, "guards", [1.0])
    scenes.update()
    assert scenes.told(obj).values["reason"].code == "SCENE_CHANGED"
    scenes.play(1, 6)
    assert moved(obj, 6) == [1, 0, 0, 1, 1, 1]
    scenes.frame_set(1)
    weights(obj, "guards", [1.0, 1.0, 1.0])
    scenes.update()
    assert scenes.code_of(obj) == "" and scenes.stored(obj) == (1, 1)
    scenes.play(2, 6)
    assert moved(obj, 6) == [1, 1, 1, 1, 1, 1]


def test_weights_of_no_group_of_the_crowd_change_nothing():
    obj = guarded()
    obj.steer.groups[0].source = "SHARE"
    scenes.play(1, 6)
    weights(obj, "guards", [1.0])
    scenes.update()
    assert scenes.code_of(obj) == ""


def test_changes_of_groups_are_changes_of_settings():
    obj = guarded()
    scenes.play(1, 6)
    obj.steer.groups[0].source, obj.steer.groups[0].share = "SHARE", 1.0
    assert scenes.told(obj).values["reason"].code == "SETTINGS_CHANGED"
    scenes.play(1, 6)
    assert moved(obj, 6) == [1] * 6


def test_what_is_wrong_is_said_in_the_panel():
    obj = row_of(settings=scenes.seekers({"type": "seek", "group": "turists"}))
    scenes.make_target(obj)
    add_group(obj, "few", share=0.0)
    add_group(obj, "marked", "ATTRIBUTE")
    add_group(obj, "painted", "VERTEX_GROUP", characters="Officer")
    scenes.play(1, 3)
    found = [(told.code, told.subject) for told in advice.diagnoses(obj)]
    assert [pair for pair in found if pair[0].startswith("GROUP")] == [
        ("GROUP_UNKNOWN", "Seek"),
        ("GROUP_CHARACTER_UNKNOWN", "painted"),
    ]
    told = {(found.code, found.subject) for found in live.status(obj).warnings}
    assert {
        ("GROUP_UNKNOWN", "Seek"),
        ("GROUP_EMPTY", "few"),
        ("GROUP_WITHOUT_SOURCE", "marked"),
        ("GROUP_WITHOUT_SOURCE", "painted"),
    } <= told
    bpy.context.view_layer.objects.active = obj
    labels = " ".join(draw_all().of("label"))
    assert labels.count("turists") == 2, "once in the Physics tab, and once in the sidebar"
    obj.steer.behaviors[0].enabled = False
    assert "GROUP_UNKNOWN" not in codes(advice.diagnoses(obj))


def test_names_stay_usable():
    obj = row_of()
    for wanted, kept in (
        ("", "group"),
        ("", "group.001"),
        (" a, b ", "a  b"),
        ("!guards", "guards"),
        ("guards", "guards.001"),
        ("! ", "group.002"),
    ):
        add_group(obj, "").name = wanted
        assert obj.steer.groups[-1].name == kept
    assert len(properties.settings_of(obj).groups) == 6


def test_the_list_is_edited_by_buttons():
    obj = row_of()
    bpy.context.view_layer.objects.active = obj
    assert not bpy.ops.object.steer_group_remove.poll()
    for _ in range(3):
        bpy.ops.object.steer_group_add()
    assert [group.name for group in obj.steer.groups] == ["group", "group.001", "group.002"]
    assert obj.steer.active_group == 2
    bpy.ops.object.steer_group_move(direction="UP")
    assert [group.name for group in obj.steer.groups] == ["group", "group.002", "group.001"]
    assert bpy.ops.object.steer_group_move(direction="DOWN") == {"FINISHED"}
    assert bpy.ops.object.steer_group_move(direction="DOWN") == {"CANCELLED"}
    assert obj.steer.active_group == 2
    bpy.ops.object.steer_group_remove()
    obj.steer.active_group = 0
    bpy.ops.object.steer_group_remove()
    assert [group.name for group in obj.steer.groups] == ["group.001"]
    assert not bpy.ops.object.steer_group_move.poll()
    assert obj.steer.active_group == 0


def test_fields_suggest_what_is_there():
    obj = row_of(settings=scenes.seekers({"type": "seek"}))
    item, group = obj.steer.behaviors[0], add_group(obj, "tourists")
    add_group(obj, "guards", "VERTEX_GROUP")
    weights(obj, "painted", [1.0])
    scenes.add_attribute(obj, "marked", "INT", [0] * 6)
    every = ["tourists", "guards", "!tourists", "!guards"]
    assert slots.search_groups(item, None, "tou") == every
    assert slots.search_groups(item, None, "tourists, gu")[1] == "tourists, guards"
    assert slots.search_names(group, None, "") == []
    group.source = "ATTRIBUTE"
    assert "marked" in slots.search_names(group, None, "")
    group.source = "VERTEX_GROUP"
    assert slots.search_names(group, None, "") == ["painted"]
    assert slots.search_characters(group, None, "") == []


def test_settings_and_presets_hold_groups(tmp_path):
    obj = row_of(settings=scenes.seekers({"type": "seek", "group": "!tourists"}))
    add_group(obj, "tourists", share=0.125, speed=1.5, characters="Man")
    add_group(obj, "guards", "ATTRIBUTE")
    settings = properties.settings_of(obj)
    assert settings.groups == (
        GroupSettings(name="tourists", share=0.125, speed=1.5, characters="Man"),
        GroupSettings(name="guards", source="ATTRIBUTE"),
    )
    assert settings.behaviors[0].group == "!tourists"
    save_preset(tmp_path / "mine.json", settings, label="Mine")
    other = row_of(name="Other")
    add_group(other, "old")
    properties.apply_settings(other, read_preset(tmp_path / "mine.json").settings)
    assert properties.settings_of(other) == settings


def test_bakes_of_before_are_of_the_same_settings():
    obj = guarded()
    data = inputs.settings_data(obj, bpy.context.scene, obj.name)[obj.name]
    assert data["behaviors"]["seek"]["group"] == "guards"
    assert data["values"]["groups.guards.source"] == "VERTEX_GROUP"
    obj.steer.groups.clear()
    obj.steer.behaviors[0].group = ""
    data = inputs.settings_data(obj, bpy.context.scene, obj.name)[obj.name]
    assert "group" not in data["behaviors"]["seek"]
    assert not any(name.startswith("groups") for name in data["values"])


def test_members_are_shown_as_the_characters_of_their_group():
    obj = row_of(40)
    shown = bpy.data.collections.new("People")
    for name in ("Man", "Officer", "Woman"):
        made = make_toy(name)
        shown.objects.link(made)
    modifier = display.require_modifier(obj)
    display.set_input(modifier, "Display", "Characters")
    display.set_input(modifier, "Collection", shown)
    scenes.make_target(obj)
    police = [int(k % 4 == 0) for k in range(40)]
    scenes.add_attribute(obj, "police", "BOOLEAN", police)
    group = add_group(obj, "police", "ATTRIBUTE", characters="officer")
    assert properties.settings_of(obj).cast.names == ("Man", "Officer", "Woman")
    assert "GROUP_CHARACTER_UNKNOWN" not in codes(advice.diagnoses(obj))
    scenes.play(1, 2)
    for number in (1, 2):
        found = live.get_frame(obj, number).attributes["character"]
        assert (found == 1).astype(int).tolist() == police
    group.characters = ""
    assert properties.settings_of(obj).cast.names is None
    scenes.play(1, 2)
    found = live.get_frame(obj, 2).attributes["character"]
    assert (found == 1).astype(int).tolist() != police


def test_the_overlay_names_the_groups_of_an_agent():
    obj = guarded()
    bpy.context.view_layer.objects.active = obj
    scenes.play(1, 4)
    overlay = bpy.context.scene.steer_overlay
    overlay.show, overlay.agents = True, "4"
    answers.refresh(bpy.context.scene, scenes.deps())
    found = answers.get(obj)
    lines = {k: overlay_table._state_lines(answers.agent(found, k)) for k in (1, 4)}
    assert any("in guards" in line for line in lines[4])
    assert not any("in guards" in line for line in lines[1])
