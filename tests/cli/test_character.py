"""`steer character make`: from a file with a rig to a file with a character."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402


@pytest.fixture
def walker(empty_scene, tmp_path):
    """A file with a rig that stands, walks and runs."""
    walking_rig()
    path = tmp_path / "walker.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_make_a_character(run, walker, tmp_path):
    out = tmp_path / "character.blend"
    made = run(
        "character", "make", walker, "--rig", "Walker", "--way-per-pose", 0.05,
        "--clip", "wait=Idle", "--save", out, "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    names = [row["name"] for row in made.data["rows"]]
    assert names[0] == "stand" and names[-2:] == ["run", "wait"] and "walk" in names
    assert "stand Idle, walk Walk, run Run" in made.err
    bpy.ops.wm.open_mainfile(filepath=str(out))
    gaits, clips = library.rows_of(bpy.data.objects[made.data["character"]])
    assert [row.name for row in (*gaits, *clips)] == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rig", "Robot"), "There is no object 'Robot'"),
        (("--walk", "Limp"), "There is no action 'Limp'"),
        (("--stride", 0), "The stride is 0 m"),
        (("--way-per-pose", 0), "Way per Pose is 0 m"),
    ],
)
def test_mistakes_are_one_sentence(run, walker, tmp_path, words, said):
    out = tmp_path / "character.blend"
    run("character", "make", walker, *words, "--save", out).failed_with(said)
    assert not out.exists()
