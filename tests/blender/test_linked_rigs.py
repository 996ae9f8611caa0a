"""Characters of rigs that are linked from another file: found, and brought along."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, making, origins, sources  # noqa: E402
from steer_addon.blender.headless import batch  # noqa: E402
from steer_addon.blender.making.importers import append_characters  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.test_heroes import ROUGH  # noqa: E402
from tests.blender.walking_rigs import make_rig, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")
RECIPE = making.Recipe("Idle", "Walk", "Run", plan=ROUGH)
LOCAL = ("Idle", "Walk")
"""Actions of the file with the character; the others are linked, too."""


def linked_rig(tmp_path, actions=LOCAL):
    """A rig that is linked from a file, with local actions, and strips of linked ones."""
    path = tmp_path / "rigs" / "rig.blend"
    path.parent.mkdir()
    walking_rig()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=False) as (_there, appended):
        appended.actions = list(actions)
    for action in appended.actions:
        action.use_fake_user = True
    with bpy.data.libraries.load(str(path), link=True) as (there, linked):
        linked.objects = list(there.objects)
        linked.actions = [name for name in there.actions if name not in actions]
    holder = bpy.data.objects.new("Holder", None)
    for obj in (*linked.objects, holder):
        bpy.context.scene.collection.objects.link(obj)
    for number, action in enumerate(linked.actions):
        track = holder.animation_data_create().nla_tracks.new()
        track.strips.new(action.name, 100 * number, action)
    return next(obj for obj in linked.objects if obj.type == "ARMATURE")


def character_of(rig):
    return making.make_character(bpy.context.scene, rig, RECIPE)


def saved(tmp_path, name):
    path = tmp_path / name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_a_linked_rig_is_found_when_its_file_is_opened_again(tmp_path):
    character_of(linked_rig(tmp_path))
    bpy.ops.wm.open_mainfile(filepath=str(saved(tmp_path, "made.blend")))
    character = bpy.data.objects["Walker Character"]
    rig = origins.read(character).rig
    assert rig.library is not None and sources.require_source(character)[0] == rig
    assert not sources.is_changed(character)


@pytest.mark.parametrize("actions", [LOCAL, ("Idle", "Walk", "Run")])
def test_linked_rigs_come_along_linked(tmp_path, actions):
    character_of(linked_rig(tmp_path, actions))
    path = saved(tmp_path, "made.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    warnings = []
    name = append_characters(path, bpy.context.scene, warnings)[0].name
    assert not warnings
    (tmp_path / "shots").mkdir()
    shot = saved(tmp_path, "shots/shot.blend")
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    assert [lib.name for lib in bpy.data.libraries] == ["rig.blend"]
    character = bpy.data.objects[name]
    found = origins.read(character)
    assert found.rig.library.name == "rig.blend" and not found.rig.visible_get()
    kept = {a.name: a.library is None for a in found.actions}
    assert kept == {"Idle": True, "Walk": True, "Run": "Run" in actions}
    assert not sources.is_changed(character)


def test_a_character_comes_without_what_is_gone(tmp_path):
    character_of(linked_rig(tmp_path))
    path = saved(tmp_path, "made.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = tmp_path / "rigs" / "rig.blend"
    rig.unlink()
    warnings = []
    (character,) = append_characters(path, bpy.context.scene, warnings)
    (told,) = warnings
    assert told.code == "RIG_LEFT_BEHIND"
    assert told.values == {"missing": "Walker", "file": str(rig)}
    assert library.rows_of(character)
    with pytest.raises(CharacterError, match="'Walker' of the rig .* is not in this file"):
        origins.read(character)


def test_an_override_of_a_rig_is_the_rig(tmp_path):
    rig = linked_rig(tmp_path)
    scene = bpy.context.scene
    rig.override_hierarchy_create(scene, bpy.context.view_layer)
    for name in ("Walker", None):
        found = batch.find_rig(scene, name)
        assert found.override_library is not None and found.name == "Walker"
    character_of(found)
    path = saved(tmp_path, "made.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    (character,) = append_characters(path, bpy.context.scene, [])
    assert origins.read(character).rig.override_library is not None
    assert not sources.is_changed(character)


def test_of_several_armatures_the_one_that_moves_meshes_is_the_rig():
    """A metarig stays beside the rig that Rigify generates from it."""
    rig, scene = make_rig(), bpy.context.scene
    for name in ("Metarig", "Camera Rig"):
        beside = bpy.data.objects.new(name, rig.data)
        scene.collection.objects.link(beside)
    assert batch.find_rig(scene, None) == rig
    part = next(obj for obj in rig.children if obj.type == "MESH").copy()
    part.parent = beside
    scene.collection.objects.link(part)
    with pytest.raises(CharacterError, match="holds 2 armatures: choose .*'Walker', 'Camera Rig'"):
        batch.find_rig(scene, None)


def test_the_rig_of_an_override_is_that_of_its_own_file(tmp_path):
    """Kits of one maker all have the same names in them."""
    paths = [tmp_path / f"{name}.blend" for name in ("knight", "mage")]
    for path in paths:
        bpy.ops.wm.read_homefile(use_empty=True)
        for name in ("Rig", "Body"):
            bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    bodies = []
    for path in paths:
        with bpy.data.libraries.load(str(path), link=True) as (_there, linked):
            linked.objects = ["Body", "Rig"]
        for obj in linked.objects:
            bpy.context.scene.collection.objects.link(obj)
        bodies.append(linked.objects[0].override_create(remap_local_usages=True))
    for path, body in zip(paths, bodies, strict=True):
        rig = library.rig_of(body, "Rig")
        assert rig is not None and rig.library.name == path.name
    # where the rig is an override, too, it is the one that people change
    bpy.data.objects["Rig", paths[0].as_posix()].override_create(remap_local_usages=True)
    names = [body.name for body in bodies]
    bpy.ops.wm.open_mainfile(filepath=str(saved(tmp_path, "scene.blend")))
    rigs = [library.rig_of(bpy.data.objects[name, None], "Rig") for name in names]
    assert rigs[0] == bpy.data.objects["Rig", None] and rigs[1].library.name == "mage.blend"
