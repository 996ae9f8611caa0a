"""Every scene that comes with Steer has its preset and a summary; tests/cli saves them all."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import properties  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making import demos  # noqa: E402
from steer_addon.core.crowd.presets import load_preset  # noqa: E402
from steer_addon.core.errors import UsageError  # noqa: E402
from tests.blender.test_obstructions import in_the_way  # noqa: E402
from tests.often import often  # noqa: E402

MADE = ("busy_street", "lateral_spheres", "ahead_spheres", "office", "panic")
"""Scenes that no other test makes each time, and two with much that may be in the way."""

pytestmark = pytest.mark.usefixtures("steer", "few_poses")


def test_an_unknown_scene_names_the_known_ones():
    with pytest.raises(UsageError, match="no demo 'nowhere'.*predator_prey"):
        demos.make_demo("nowhere")


@pytest.mark.parametrize("name", demos.demo_names())
def test_every_scene_has_presets_and_a_summary(name):
    for crowd in demos.read_demo(name)["crowds"]:
        preset = load_preset(crowd.get("preset", name))
        assert preset.label and preset.description
    summary = demos.summary(name)
    assert summary.endswith(".") and len(summary) > 20


@pytest.mark.parametrize("name", often(demos.demo_names(), *MADE))
def test_agents_are_seen_what_they_are_copies_of_is_not_and_nothing_is_in_the_way(name):
    crowds = demos.make_demo(name)
    assert [in_the_way(crowd) for crowd in crowds] == [[]] * len(crowds)
    modifiers = [display.find_modifier(crowd) for crowd in crowds]
    bodies = [
        display.get_input(modifier, "Object")
        for modifier in modifiers
        if display.get_input(modifier, "Display") == "Object"
    ]
    for body in bodies:
        # a window shows no copies of objects that are disabled in it
        assert not body.hide_viewport and not body.hide_render
        assert body.name not in bpy.context.view_layer.objects


@pytest.mark.parametrize(
    ("name", "among"),
    [("busy_street", "births.facing"), ("feelers_hide_path", "motion.body_turn_rate")],
)
def test_crowds_have_the_settings_of_the_file_with_angles_in_degrees(name, among):
    crowds = {crowd.name: crowd for crowd in demos.make_demo(name)}
    told = [
        (crowd["name"], text, value)
        for crowd in demos.read_demo(name)["crowds"]
        for text, value in crowd.get("settings", {}).items()
    ]
    assert among in [text for _crowd, text, _value in told]
    for crowd, text, value in told:
        block, parameter = text.split(".")
        settings = properties.settings_of(crowds[crowd])
        behaviors = {entry.key: entry for entry in settings.behaviors}
        owner = behaviors.get(block) or getattr(settings, block)
        found = getattr(owner, parameter)
        assert found == value if isinstance(value, str) else found == pytest.approx(value)
