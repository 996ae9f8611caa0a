"""What a character is made of, where no rig is needed to know it."""

from __future__ import annotations

import pytest

from steer_addon.core.characters.recipe import Recipe, from_text, way_per_pose
from steer_addon.core.characters.rows import Plan
from steer_addon.core.errors import CharacterError


def test_names_of_clips_have_no_commas():
    with pytest.raises(CharacterError, match="Clip 'a, b' has a comma.*NAME=ACTION"):
        Recipe(clips=(("a, b", "Wave"),))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"clips": (("wave", "A"), ("Wave", "B"))}, "Clip 'Wave' is there twice"),
        ({"clips": (("Walk", "A"),)}, "Clip 'Walk' has the name of poses that each character has"),
        ({"clips": (("run 35%", "A"),)}, "Clip 'run 35%' has the name of poses"),
        ({"clips": (("turn left", "A"),)}, "Clip 'turn left' has the name of poses"),
        ({"clips": (("*", "A"),)}, "Clip '\\*' has the name that stands for all clips"),
        ({"clips": ((" wave", "A"),)}, "Clip ' wave' has a space at an end of its name"),
        (
            {"clips": (("wave", "A"),), "once": ("wave",), "loops": ("wave",)},
            "Clip 'wave' is to end and to begin again: choose one of the two",
        ),
        ({"stand": "A", "walk": "A"}, "Action 'A' is chosen for Stand and for Walk"),
        ({"walk": "A", "run": "A"}, "Action 'A' is chosen for Walk and for Run"),
    ],
)
def test_names_and_actions_stand_for_one_thing(values, words):
    recipe = Recipe(**values)
    with pytest.raises(CharacterError, match=words):
        recipe.check_names()
    # characters that were made before are read
    assert from_text(recipe.to_text()) == recipe


def test_names_that_only_look_like_others_are_fine():
    clips = (("walk dog", "A"), ("wave", "A"), ("waves", "B"), ("**", "C"))
    Recipe("", "Walk", "", clips, once=("wave",), loops=("waves",)).check_names()


@pytest.mark.parametrize("stride", [float("nan"), float("inf"), 0.0, -1.0, 1e9])
def test_strides_have_a_range(stride):
    with pytest.raises(CharacterError, match="^Stride is .* m: give the way of one cycle, 0.001"):
        Recipe(plan=Plan(stride=stride))
    with pytest.raises(CharacterError, match="^Run Stride is "):
        Recipe(plan=Plan(run_stride=stride))


def test_strides_too_long_for_their_poses_name_the_way_that_fits():
    words = "The stride of 30 m takes 6000 poses .* raise Way per Pose to 0.0152 m"
    with pytest.raises(CharacterError, match=words):
        Recipe(plan=Plan(stride=30.0))
    Recipe(plan=Plan(stride=30.0, tolerance=0.0152))


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
