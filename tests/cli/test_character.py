"""`steer character make`: from a file with a rig to a file with a character."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless.batch import open_file  # noqa: E402
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
        "character", "make", walker, "--rig", "Walker", "--way-per-pose", 0.2,
        "--clip", "wait=Idle", "--save", out, "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    names = [row["name"] for row in made.data["rows"]]
    assert names[0] == "stand" and "walk" in names
    assert names[-4:] == ["run", "wait", "turn left", "turn right"]
    assert "stand Idle, walk Walk, run Run, feet by motion" in made.err
    assert "About" in made.err and "MB" in made.err
    assert set(made.data["feet"]) == {"leg.l", "leg.r"}
    bpy.ops.wm.open_mainfile(filepath=str(out))
    gaits, clips = library.rows_of(bpy.data.objects[made.data["character"]])
    assert [row.name for row in (*gaits, *clips)] == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rig", "Robot"), "There is no object 'Robot'"),
        (("--walk", "Limp"), "There is no action 'Limp'"),
        (("--stride", 0), "The stride is 0 m"),
        (("--optional", "cap=0.5"), "There is no part 'cap' to be optional: the parts are"),
        (("--levels", 3), "Levels of Detail is 3: give 1 or 2 further levels, or 0"),
        (("--optional", "hat=2"), "The chance of part 'hat' is 200%"),
        (("--way-per-pose", 0), "Way per Pose is 0 m"),
    ],
)
def test_mistakes_are_one_sentence(run, walker, tmp_path, words, said):
    out = tmp_path / "character.blend"
    run("character", "make", walker, *words, "--save", out).failed_with(said)
    assert not out.exists()


@pytest.mark.slow
def test_corrections(run, walker, tmp_path):
    out = tmp_path / "character.blend"
    made = run(
        "character", "make", walker, "--way-per-pose", 0.2, "--clip", "wait=Idle", "--once",
        "wait", "--feet", "leg.l", "--feet", "leg.r", "--without", "hat", "--optional",
        "head=0.5", "--levels", 1, "--save", out, "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert {row["name"]: row["loops"] for row in made.data["rows"]}["wait"] is False
    assert set(made.data["feet"]) == {"leg.l", "leg.r"}
    open_file(out)
    assert len(bpy.data.objects[made.data["character"]].data.polygons) == 3 * 6
    assert "part_number" in bpy.data.objects[made.data["character"]].data.attributes
    assert f"{made.data['character']} Level 1" in bpy.data.objects


@pytest.mark.slow
def test_scenes_of_own_characters(run, walker, tmp_path):
    first, second, both = (tmp_path / f"{name}.blend" for name in ("one", "two", "both"))
    for path, word in ((first, "hat"), (second, "head")):
        made = run(
            "character", "make", walker, "--way-per-pose", 0.2, "--without", word, "--save", path
        )
        assert made.code == 0, made.err
    made = run("scene", "--agents", 20, "--character", first, "--save", both, "--json")
    assert made.code == 0, made.err
    crowd = open_file(both).objects["Crowd"]
    modifier = display.find_modifier(crowd)
    assert display.get_input(modifier, "Display") == "Character"
    character = display.shown_body(modifier)
    assert library.is_character(character) and character.library is None
    # the rig stays where it is
    assert not bpy.data.armatures and not bpy.data.actions and not bpy.data.libraries

    words = ("--character", first, "--character", second)
    made = run("scene", "--agents", 20, *words, "--preset", "birds", "--save", both, "--json")
    assert made.code == 0, made.err
    modifier = display.find_modifier(open_file(both).objects["Crowd"])
    assert display.get_input(modifier, "Display") == "Characters"
    assert len(library.among(display.shown_body(modifier))) == 2


def test_files_without_characters(run, walker, tmp_path):
    out = tmp_path / "scene.blend"
    words = ("scene", "--agents", 5, "--save", out, "--character")
    run(*words, walker).failed_with("has no character: make one")
    run(*words, tmp_path / "none.blend").failed_with("is not there")
    bad = tmp_path / "bad.blend"
    bad.write_bytes(b"BLENDER no more")
    run(*words, bad).failed_with("cannot be read")
    assert not out.exists()


def test_bake_all_agents_to_rigs(run, tmp_path):
    scene, baked = tmp_path / "crowd.blend", tmp_path / "baked.blend"
    assert run("scene", "--agents", 4, "--preset", "pedestrians", "--save", scene).code == 0
    words = ("bake", scene, "--to", "keyframes", "--frames", "1-5", "--rigs", "--save", baked)
    result = run(*words, "--json")
    assert result.code == 0, result.err
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    rigs = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.users_collection]
    assert len(rigs) == 4
    assert all(rig.animation_data.nla_tracks for rig in rigs)
    carriers = {rig.parent.parent for rig in rigs}
    before = [carrier.matrix_world.translation.copy() for carrier in carriers]
    bpy.context.scene.frame_set(5)
    now = [carrier.matrix_world.translation for carrier in carriers]
    assert all((a - b).length > 0.05 for a, b in zip(before, now, strict=True))


def test_rigs_are_keyframes(run, tmp_path):
    scene = tmp_path / "crowd.blend"
    assert run("scene", "--agents", 4, "--preset", "pedestrians", "--save", scene).code == 0
    run("bake", scene, "--to", "cache", "--rigs").failed_with("--rigs", code=2)
