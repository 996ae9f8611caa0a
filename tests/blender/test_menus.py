"""Entries in Blender's menus: where one looks for them, and found by search."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import registration  # noqa: E402
from steer_addon.blender.ui import menus  # noqa: E402
from steer_addon.core.crowd.presets import find_presets  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_empty, make_points  # noqa: E402
from tests.blender.drawn import context, draw  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

ONLY_AT_THEIR_PLACE = {
    "object.steer_save_and_bake",
    # they go with the active entry of the list, beside which they stand
    "object.steer_behavior_move", "object.steer_behavior_remove",
    "object.steer_group_move", "object.steer_group_remove",
    # they go with a warning that names what they act on
    "object.steer_add_input", "object.steer_select_input", "object.steer_show_body",
    "object.steer_show_meshes", "object.steer_show_agents", "object.steer_show_characters",
    # a button for each number
    "object.steer_variation_show",
}  # fmt: skip


def entry(menu):
    """Entries that Steer appended to one of Blender's menus."""
    layout = FakeLayout()
    for name, function in menus.ENTRIES:
        if name == menu:
            function(SimpleNamespace(layout=layout), context())
    return layout


def test_the_entries_stand_where_one_looks():
    assert entry("VIEW3D_MT_add").of("menu") == ["STEER_MT_add"]
    assert entry("TOPBAR_MT_file_export").of("menu") == ["STEER_MT_export"]
    for make, there in ((make_points, True), (make_crowd, True), (make_empty, False)):
        bpy.context.view_layer.objects.active = make()
        assert entry("VIEW3D_MT_object").of("menu") == ["STEER_MT_object"]
        found = entry("OBJECT_MT_modifier_add").of("operator")
        assert found == (["object.steer_add_modifier"] if there else [])


def test_rigs_become_characters_from_the_object_menu():
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(lamp)
    for rig, there in ((walking_rig(), True), (make_empty(), True), (lamp, False)):
        bpy.context.view_layer.objects.active = rig
        assert entry("VIEW3D_MT_object").of("menu") == (["STEER_MT_object"] if there else [])
        if there:
            offered = draw(menus.STEER_MT_object).of("operator")
            assert offered == [
                "object.steer_make_character",
                "object.steer_make_anew",
                "object.steer_demote",
            ]
    bpy.context.view_layer.objects.active = bpy.data.objects["Walker"]
    assert bpy.types.OBJECT_OT_steer_make_character.poll(bpy.context)


def test_blender_draws_them_where_they_are_appended():
    for name, function in menus.ENTRIES:
        assert function in getattr(bpy.types, name).draw._draw_funcs


def test_all_can_be_found_by_search():
    # search goes through the menus as they can be opened, and finds what stands there
    make_crowd()
    drawn = FakeLayout()
    for name, _ in menus.ENTRIES:
        drawn.record += entry(name).record
    reached, waiting = set(), drawn.of("menu")
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            found = draw(getattr(bpy.types, name))
            drawn.record += found.record
            waiting += found.of("menu")
    assert reached == {cls.bl_idname for cls in menus.classes}
    offered = set(drawn.of("operator"))
    every = {c.bl_idname for c in registration.CLASSES if issubclass(c, bpy.types.Operator)}
    assert every - offered == ONLY_AT_THEIR_PLACE
    assert offered <= every


def test_the_add_menu_starts_each_preset():
    found = draw(menus.STEER_MT_add).of("button")
    started = {o.preset for call, o in found if call.idname_py() == "object.steer_start"}
    assert started == set(find_presets())


def test_no_key_is_taken():
    manager = bpy.context.window_manager
    for config in manager.keyconfigs:
        for keymap in config.keymaps:
            assert not any("steer" in item.idname for item in keymap.keymap_items)
