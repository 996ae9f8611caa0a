"""`steer character make`: from a file with a rig to a file with a character."""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, rigs, sources  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless.batch import open_file  # noqa: E402
from steer_addon.cli import main  # noqa: E402
from steer_addon.commands import character  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402
from tests.cli.conftest import Run  # noqa: E402
from tests.few_poses import take_few_poses  # noqa: E402


def run_once(*words):
    """What a command says, without the fixture `run`, which serves one test."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main([str(word) for word in words])
    assert code == 0, err.getvalue()
    return Run(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def walker(steer, tmp_path_factory):
    """A file with a rig that stands, walks and runs."""
    bpy.ops.wm.read_homefile(use_empty=True)
    walking_rig()
    path = tmp_path_factory.mktemp("walker") / "walker.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture(scope="module")
def made(walker):
    """A file with a character of that rig, and what the command said."""
    out = walker.with_name("character.blend")
    words = ("--rig", "Walker", "--way-per-pose", 0.2, "--clip", "wait=Idle")
    return out, run_once("character", "make", walker, *words, "--save", out, "--json")


@pytest.fixture(scope="module")
def corrected(walker):
    """The same with corrections."""
    out = walker.with_name("corrected.blend")
    return out, run_once(
        "character", "make", walker, "--way-per-pose", 0.2, "--clip", "wait=Idle", "--once",
        "wait", "--feet", "leg.l", "--feet", "leg.r", "--without", "hat", "--optional",
        "head=0.5", "--levels", 1, "--save", out, "--json",
    )  # fmt: skip


def test_actions_of_many_frames_a_second_are_expected_to_be_short():
    bpy.ops.wm.read_homefile(use_empty=True)
    rig, scene, told = walking_rig(), bpy.context.scene, []
    recipe = Recipe("Idle", "Walk", clips=(("wait", "Idle"),), plan=Plan(tolerance=0.2))
    for fps in (24, 120):
        scene.render.fps = fps
        told.append(int(character._memory(scene, rig, recipe).partition(" ")[0]))
    # two actions of 24 frames, which are sampled 24 times a second
    assert told[0] - told[1] in (38, 39)


def test_make_a_character(made):
    out, told = made
    names = [row["name"] for row in told.data["rows"]]
    assert names[0] == "stand" and "walk" in names
    assert told.data["character"] == "Walker Character"
    assert names[-5:] == ["run", "wait", "turn left", "turn right", "last steps"]
    assert all(row["loops"] for row in told.data["rows"])
    assert "stand Idle, walk Walk, run Run, feet by motion" in told.err
    assert "About" in told.err and "MB" in told.err
    assert set(told.data["feet"]) == {"leg.l", "leg.r"}
    bpy.ops.wm.open_mainfile(filepath=str(out))
    gaits, clips = library.rows_of(bpy.data.objects[told.data["character"]])
    assert [row.name for row in (*gaits, *clips)] == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rig", "Robot"), "There is no object 'Robot'"),
        (("--walk", "Limp"), "There is no action 'Limp'"),
        (("--stride", 0), "Stride is 0 m: give the way of one cycle, 0.001 to 1000 m"),
        (("--run-stride", "nan"), "Run Stride is nan m"),
        (("--way-per-pose", "nan"), "Way per Pose is nan m"),
        (("--faces", "nan"), "Faces is nan%"),
        (("--clip", "walk=Idle"), "Clip 'walk' has the name of poses that each character has"),
        (("--stand", "Walk"), "Action 'Walk' is chosen for Stand and for Walk"),
        (("--optional", "cap=0.5"), "There is no part 'cap' to be optional: the parts are"),
        (("--levels", 3), "Levels of Detail is 3: give 1 or 2 further levels, or 0"),
        (("--optional", "hat=2"), "The chance of part 'hat' is 200%"),
        (("--way-per-pose", 0), "Way per Pose is 0 m"),
        (("--name", "a, b"), "Character 'a, b' has a comma in its name"),
    ],
)
def test_mistakes_are_one_sentence(run, walker, tmp_path, words, said):
    out = tmp_path / "character.blend"
    run("character", "make", walker, *words, "--save", out).failed_with(said)
    assert not out.exists()


def test_files_that_are_no_rigs(run, tmp_path):
    (tmp_path / "notes.txt").write_text("a")
    (tmp_path / "cut.glb").write_bytes(b"glTF")
    (tmp_path / "none").write_text("")
    for name, said in (
        ("notes.txt", ("notes.txt has the suffix '.txt': give a file of .blend, ", ".glb")),
        ("cut.glb", ("cut.glb cannot be imported: ", "; export it again, or choose another")),
        ("none", ("none has no suffix: give a file of .blend, ",)),
        (".", (f"{tmp_path} is a folder: give a file of .blend, ",)),
        ("gone.glb", ("There is no file ", "gone.glb: check the path")),
    ):
        words = ("character", "make", tmp_path / name, "--save", tmp_path / "new" / "a.blend")
        run(*words).failed_with(*said)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_what_is_chosen_is_not_guessed_again(run, walker, tmp_path):
    out = tmp_path / "character.blend"
    words = ("--rig", "Walker", "--way-per-pose", 0.2, "--walk", "Run", "--name", "Guard")
    told = run("character", "make", walker, *words, "--save", out)
    assert "stand Idle, walk Run, run -, " in told.err and "'Guard'" in told.out
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert library.is_character(bpy.data.objects["Guard"])


@pytest.mark.slow
def test_corrections(corrected):
    out, told = corrected
    assert {row["name"]: row["loops"] for row in told.data["rows"]}["wait"] is False
    assert set(told.data["feet"]) == {"leg.l", "leg.r"}
    open_file(out)
    assert len(bpy.data.objects[told.data["character"]].data.polygons) == 3 * 6
    assert "part_number" in bpy.data.objects[told.data["character"]].data.attributes
    assert f"{told.data['character']} Level 1" in bpy.data.objects


@pytest.mark.slow
def test_scenes_of_own_characters(run, made, corrected, tmp_path):
    first, second, both = made[0], corrected[0], tmp_path / "both.blend"
    done = run("scene", "--agents", 20, "--character", first, "--save", both, "--json")
    assert done.code == 0, done.err
    crowd = open_file(both).objects["Crowd"]
    modifier = display.find_modifier(crowd)
    assert display.get_input(modifier, "Display") == "Character"
    character = display.shown_body(modifier)
    assert library.is_character(character) and character.library is None
    # its rig comes along, and is not shown
    rig, _recipe = sources.require_source(character)
    assert not sources.is_changed(character) and not bpy.data.libraries
    assert {obj.parent or obj for obj in rigs.meshes(rig)} == {rig}
    assert not any(obj.visible_get() for obj in (rig, *rig.children))

    words = ("--character", first, "--character", second)
    done = run("scene", "--agents", 20, *words, "--preset", "birds", "--save", both, "--json")
    assert done.code == 0, done.err
    modifier = display.find_modifier(open_file(both).objects["Crowd"])
    assert display.get_input(modifier, "Display") == "Characters"
    assert len(library.among(display.shown_body(modifier))) == 2


@pytest.mark.slow
def test_scenes_of_own_characters_are_baked_to_their_rigs(run, made, corrected, tmp_path):
    scene, baked = tmp_path / "both.blend", tmp_path / "baked.blend"
    # both rigs have one name, and so have their actions
    words = ("--character", made[0], "--character", corrected[0], "--preset", "pedestrians")
    assert run("scene", "--agents", 8, *words, "--save", scene).code == 0
    done = run("bake", scene, "--rigs", "--frames", "1-4", "--save", baked, "--json")
    assert done.code == 0, done.err
    open_file(baked)
    heroes = [o for o in bpy.data.objects if o.type == "ARMATURE" and o.name.startswith("Crowd.")]
    assert len(heroes) == 8 and len({rig.data.name for rig in heroes}) == 2
    hats = 0
    for rig in heroes:
        names = {part.name.removeprefix(rig.name.removesuffix("Rig")) for part in rig.children}
        hats += any(name.startswith("hat") for name in names)
        assert {"leg.l", "leg.r"} <= {name[:5] for name in names}
        for part in rig.children:
            found = [m.object for m in part.modifiers if m.type == "ARMATURE"]
            assert set(found) <= {rig} and part.visible_get()
        actions = {s.action for track in rig.animation_data.nla_tracks for s in track.strips}
        assert actions and all(action.users for action in actions)
    # one of the two was made without
    assert 0 < hats < 8


def test_rigs_that_the_scene_does_not_hold_are_found(run, walker, tmp_path):
    other, instanced, out = (tmp_path / f"{name}.blend" for name in ("other", "inst", "out"))
    scene = open_file(walker)
    collection = bpy.data.collections.new("Kit")
    for obj in list(scene.objects):
        scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    shown = bpy.data.objects.new("Shown", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", collection
    scene.collection.objects.link(shown)
    bpy.ops.wm.save_as_mainfile(filepath=str(instanced))
    bpy.data.objects.remove(shown)
    bpy.data.scenes.new("Second").collection.children.link(collection)
    bpy.ops.wm.save_as_mainfile(filepath=str(other))
    for words in ((), ("--rig", "Walker")):
        made = run("character", "make", instanced, *words, "--save", out)
        made.failed_with("'Walker' is in collection 'Kit', which scene 'Scene' does not hold")
        made = run("character", "make", other, *words, "--save", out)
        made.failed_with("'Walker' is in scene 'Second', and the file opens with 'Scene'")


def test_folders_that_are_files(run, walker):
    out = walker / "new" / "x.blend"
    run("character", "make", walker, "--save", out).failed_with(f"{walker} is a file, not a folder")


def test_files_without_characters(run, walker, tmp_path):
    out = tmp_path / "scene.blend"
    words = ("scene", "--agents", 5, "--save", out, "--character")
    run(*words, walker).failed_with("has no character: make one")
    run(*words, tmp_path / "none.blend").failed_with("is not there")
    bad = tmp_path / "bad.blend"
    bad.write_bytes(b"BLENDER no more")
    run(*words, bad).failed_with("cannot be read")
    assert not out.exists()


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_broken_files_of_characters_say_the_way_out(run, walker, tmp_path, cut):
    out, bad = tmp_path / "scene.blend", tmp_path / "bad.blend"
    data = walker.read_bytes()
    bad.write_bytes(data[: int(cut * len(data))])
    told = ("bad.blend", "cannot be read", "give a file that `steer character make` has saved")
    run("scene", "--agents", 5, "--save", out, "--character", bad).failed_with(*told)
    assert not out.exists()


@pytest.mark.parametrize("damage", ["property", "version", "poses", "mesh"])
def test_damaged_characters_are_refused_by_name(run, made, tmp_path, damage):
    open_file(made[0])
    (obj,) = filter(library.is_character, bpy.data.objects)
    if damage == "property":
        obj[library.KEY] = "nothing"
    elif damage == "version":
        obj[library.KEY] = obj[library.KEY].replace('"version": ', '"version": 9')
    elif damage == "poses":
        obj.modifiers.clear()
    else:
        obj.data.clear_geometry()
    bad, out = tmp_path / "bad.blend", tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(bad))
    done = run("scene", "--agents", 5, "--save", out, "--character", bad)
    done.failed_with("bad.blend: Character", made[1].data["character"], "make the character again")
    assert not out.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nowhere", "text"])
def test_what_is_no_file_of_characters_is_called_what_it_is(run, tmp_path, kind):
    bad = tmp_path / "bad.blend"
    if kind == "folder":
        bad.mkdir()
    elif kind == "pipe":
        os.mkfifo(bad)
    elif kind == "text":
        bad.write_text("hello")
    else:
        bad.symlink_to(tmp_path / "nowhere")
    told = {"folder": "is a folder", "pipe": "is no plain file", "text": "is no .blend file"}
    words = ("scene", "--agents", 5, "--save", tmp_path / "scene.blend", "--character", bad)
    way_out = "give a file that `steer character make` has saved"
    run(*words).failed_with(f"bad.blend {told.get(kind, 'is not there')}", way_out)


@pytest.fixture(scope="module")
def four(steer, tmp_path_factory):
    """A file with four people."""
    path = tmp_path_factory.mktemp("four") / "crowd.blend"
    with pytest.MonkeyPatch.context() as patch:
        take_few_poses(patch)
        run_once("scene", "--agents", 4, "--preset", "pedestrians", "--save", path)
    return path


def test_bake_all_agents_to_rigs(run, four, tmp_path):
    scene, baked = four, tmp_path / "baked.blend"
    words = ("bake", scene, "--to", "keyframes", "--frames", "1-5", "--rigs", "--save", baked)
    result = run(*words, "--json")
    assert result.code == 0, result.err
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    made = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.users_collection]
    assert len(made) == 4
    assert all(rig.animation_data.nla_tracks for rig in made)
    carriers = {rig.parent.parent for rig in made}
    before = [carrier.matrix_world.translation.copy() for carrier in carriers]
    bpy.context.scene.frame_set(5)
    now = [carrier.matrix_world.translation for carrier in carriers]
    assert all((a - b).length > 0.05 for a, b in zip(before, now, strict=True))


def test_rigs_are_keyframes(run, four):
    run("bake", four, "--to", "cache", "--rigs").failed_with("--rigs", code=2)


@pytest.mark.parametrize("words", [(), ("--rig", "Walker")])
def test_a_rig_of_a_library_that_is_gone_is_named(run, walker, tmp_path, words):
    library_file, linking = tmp_path / "library.blend", tmp_path / "linking.blend"
    library_file.write_bytes(walker.read_bytes())
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(library_file), link=True) as (_all, taken):
        taken.objects = ["Walker"]
    bpy.context.scene.collection.objects.link(taken.objects[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(linking))
    library_file.unlink()
    said = run("character", "make", linking, *words, "--save", tmp_path / "out.blend")
    assert said.code == 1 and "links 'Walker' from " in said.err
    assert "library.blend, which is not there: bring it back" in said.err
    assert not (tmp_path / "out.blend").exists()
