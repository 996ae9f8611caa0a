"""What buttons are called in the search and the undo history, and tooltips that are short."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import registration  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.ui.heroes import draw_heroes  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.test_heroes import people  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LETTERS = 110


def tips():
    """All tooltips, by what they belong to."""
    for cls in registration.CLASSES:
        name = getattr(cls, "bl_idname", cls.__name__)
        if issubclass(cls, bpy.types.Operator):
            yield name, cls.__doc__
        for key, made in getattr(cls, "__annotations__", {}).items():
            values = getattr(made, "keywords", {})
            yield f"{name}.{key}", values.get("description", "")
            items = values.get("items", ())
            for item in () if callable(items) else items:
                yield f"{name}.{key}.{item[0]}", item[2]
    group = display.ensure_node_group()
    for socket in group.interface.items_tree:
        if socket.item_type == "SOCKET":
            yield f"{group.name}.{socket.name}", socket.description


@pytest.mark.slow
def test_tooltips_are_short():
    assert [(name, len(tip)) for name, tip in tips() if len(tip) > LETTERS] == []


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("variations_continue", "Variations"), ("variations_stop", "Variations"),
        ("variation_keep", "Variation"), ("variation_back", "Variation"),
        ("promote_again", "Heroes"),
    ],
)  # fmt: skip
def test_labels_say_what_they_are_about_where_nothing_stands_around_them(name, word):
    found = {getattr(cls, "bl_idname", ""): cls for cls in registration.CLASSES}
    assert word in found[f"object.steer_{name}"].bl_label


@pytest.mark.slow
@pytest.mark.usefixtures("few_poses")
def test_promoting_who_is_a_hero_leaves_no_undo_step():
    obj = people(2)
    overlay = bpy.context.scene.steer_overlay
    overlay.crowd, overlay.agents = obj, "1"
    assert bpy.ops.object.steer_promote() == {"FINISHED"}
    assert bpy.ops.object.steer_promote() == {"CANCELLED"}
    assert bpy.ops.object.steer_promote_again() == {"CANCELLED"}


@pytest.mark.slow
@pytest.mark.usefixtures("few_poses")
def test_agents_are_picked_beside_where_they_are_promoted():
    people(2)
    draw_heroes(layout := FakeLayout())
    names = ("steer_pick_agent", "steer_promote", "steer_demote")
    assert layout.of("operator") == [f"object.{name}" for name in names]
