"""Every scene that comes with Steer has its preset and a summary; tests/cli saves them all."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import demos  # noqa: E402
from steer_addon.core.errors import UsageError  # noqa: E402
from steer_addon.core.presets import load_preset  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")


def test_an_unknown_scene_names_the_known_ones():
    with pytest.raises(UsageError, match="no demo 'nowhere'.*predator_prey"):
        demos.make_demo("nowhere")


@pytest.mark.parametrize("name", demos.demo_names())
def test_every_scene_has_a_preset_and_a_summary(name):
    preset = load_preset(name)
    assert preset.label and preset.description
    summary = demos.summary(name)
    assert summary.endswith(".") and len(summary) > 20
