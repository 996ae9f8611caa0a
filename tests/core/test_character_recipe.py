"""What a character is made of, where no rig is needed to know it."""

from __future__ import annotations

import pytest

from steer_addon.core.characters.recipe import Recipe, from_text, way_per_pose
from steer_addon.core.characters.rows import Plan
from steer_addon.core.errors import CharacterError


def test_names_of_clips_have_no_commas():
    with pytest.raises(CharacterError, match="Clip 'a, b' has a comma.*NAME=ACTION"):
        Recipe(clips=(("a, b", "Wave"),))


def test_a_recipe_of_before_has_no_parts():
    text = Recipe("Idle", "Walk", parts=("hat",)).to_text()
    assert from_text(text).parts == ("hat",)
    assert from_text(text.replace('"parts": ["hat"]', '"other": 1')).parts == ()


def test_a_recipe_with_settings_of_another_version_is_read():
    recipe = Recipe("Idle", "Walk", plan=Plan(tolerance=0.02, stride=1.3))
    text = recipe.to_text().replace('"tolerance"', '"blends": true, "tolerance"')
    assert '"blends"' in text and from_text(text) == recipe


@pytest.mark.parametrize(
    ("height", "expected"),
    [
        (0.0, 0.005), (0.6, 0.005), (1.8, 0.005), (2.5, 0.005), (0.3, 0.0025), (5.0, 0.01),
        (1e-4, 1e-4), (1e4, 1.0),
    ],
)  # fmt: skip
def test_bodies_of_all_sizes_have_a_way_per_pose(height, expected):
    assert way_per_pose(height) == pytest.approx(expected)
