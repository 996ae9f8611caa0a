"""Textures of USD point instancers: images that no file has are written beside the export."""

from __future__ import annotations

import errno
import os
import shutil

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import formats, usd_instancer, usd_poses  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd, pxr  # noqa: E402
from steer_addon.core.errors import OutputError  # noqa: E402
from steer_addon.core.files import additions  # noqa: E402

from .crowd_views import make_crowd  # noqa: E402
from .live_scenes import make_box, make_runner  # noqa: E402
from .test_export import export as export_keyed  # noqa: E402
from .test_export_characters import COUNT, frames  # noqa: E402
from .toy_characters import make_toy, space  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not has_usd(), reason="this Blender has no USD"),
]
HEAD = Header("Crowd", 24.0, 1, 5)
PNG = b"\x89PNG"
RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


def image(name, color=RED, pack=True, **options):
    """An image of one color."""
    made = bpy.data.images.new(name, 4, 2, **options)
    made.pixels.foreach_set(np.tile(np.float32(color), 8))
    made.update()
    if pack:
        made.pack()
    return made


def material(name, shown):
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    tree = made.node_tree
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = shown
    (shader,) = [n for n in tree.nodes if n.type == "BSDF_PRINCIPLED"]
    tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return made


def characters(*shown):
    """A crowd of characters, two materials with these images each; an odd one is the last."""
    materials = [material(f"Cloth {number}", each) for number, each in enumerate(shown)]
    toys = [
        make_toy(f"Toy{n}", space(run=0, jump=0, width=1 + 0.1 * n), materials[n : n + 2])
        for n in range(0, len(materials), 2)
    ]
    moving = frames(gait=np.ones(COUNT), character=np.arange(COUNT) % len(toys))
    obj, modifier = make_crowd(moving[0], Matrix())
    display.set_input(modifier, "Collection", toys[0].users_collection[0])
    display.set_input(modifier, "Display", "Characters")
    return obj, moving


def export(obj, moving, path):
    """Codes and subjects of the warnings of an export."""
    told = []
    usd_poses.write_poses(moving, path, HEAD, usd_poses.shown_by(obj), bpy.context.scene, told)
    return [(found.code, found.subject) for found in told]


def named(path):
    """Paths of textures in a file, as they are written there, by the names of materials."""
    usd = pxr()
    stage = usd.Usd.Stage.Open(str(path))
    return {
        prim.GetParent().GetName(): value.path
        for prim in stage.TraverseAll()
        for attribute in prim.GetAttributes()
        if isinstance(value := attribute.Get(), usd.Sdf.AssetPath)
    }


def imported(path):
    """Colors of the images that Blender finds for the materials of a file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(path))
    return {
        each.name: tuple(round(value, 2) for value in node.image.pixels[:4])
        for each in bpy.data.materials
        if each.node_tree is not None
        for node in each.node_tree.nodes
        if node.type == "TEX_IMAGE"
    }


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def test_packed_images_move_with_the_file(tmp_path):
    path = tmp_path / "a" / "c.usdc"
    obj, moving = characters(image("Coat é Ω 布.png"), image("big shoes", GREEN))
    assert export(obj, moving, path) == []
    names = {"c.usdc", "textures/Coat é Ω 布.png", "textures/big shoes.png"}
    assert set(contents(path.parent)) == names
    assert named(path) == {
        "Cloth_0": "./textures/Coat é Ω 布.png",
        "Cloth_1": "./textures/big shoes.png",
    }
    # packed bytes are written as they are
    packed = bytes(bpy.data.images["big shoes"].packed_file.data)
    assert (path.parent / "textures" / "big shoes.png").read_bytes() == packed
    shutil.move(path.parent, tmp_path / "b")
    assert imported(tmp_path / "b" / "c.usdc") == {"Cloth_0": RED, "Cloth_1": GREEN}


def test_images_with_one_name_stay_two(tmp_path):
    shown = [image("Skin"), image("Skin 2", GREEN), image("Skin 3")]
    for each in shown:
        each.filepath_raw = "//skin.png"
    obj, moving = characters(*shown)
    assert export(obj, moving, tmp_path / "c.usdc") == []
    assert set(contents(tmp_path)) == {"c.usdc", "textures/skin.png", "textures/skin_2.png"}
    assert imported(tmp_path / "c.usdc") == {"Cloth_0": RED, "Cloth_1": GREEN, "Cloth_2": RED}


def test_painted_and_generated_images_are_written_as_they_look(tmp_path):
    painted = image("Painted", pack=False)
    painted.filepath_raw = str(tmp_path / "source.png")
    painted.save()
    before = (tmp_path / "source.png").read_bytes()
    for shown in (painted, repacked := image("Repacked")):
        shown.pixels.foreach_set(np.tile(np.float32(GREEN), 8))
        shown.update()
    generated, deep = image("Made", GREEN, pack=False), image("Deep", GREEN, float_buffer=True)
    states = [(i.source, i.filepath, i.is_dirty) for i in (painted, repacked, generated, deep)]
    obj, moving = characters(painted, repacked, generated, deep)
    path = tmp_path / "out" / "c.usdc"
    assert export(obj, moving, path) == []
    assert states == [
        (i.source, i.filepath, i.is_dirty) for i in (painted, repacked, generated, deep)
    ]
    assert (tmp_path / "source.png").read_bytes() == before
    assert len(contents(path.parent)) == 5
    assert imported(path) == {f"Cloth_{number}": GREEN for number in range(4)}


def test_images_in_files_stay_where_they_are(tmp_path):
    filed, lost = image("Filed", GREEN, pack=False), image("Lost", pack=False)
    for each in (filed, lost):
        each.filepath_raw = str(tmp_path / f"{each.name}.png")
        each.save()
    (tmp_path / "Lost.png").unlink()
    obj, moving = characters(filed, lost)
    path = tmp_path / "out" / "c.usdc"
    assert export(obj, moving, path) == [("TEXTURE_MISSING", "Lost")]
    assert set(contents(path.parent)) == {"c.usdc"}
    assert named(path)["Cloth_0"] == (tmp_path / "Filed.png").as_posix()


def test_tiles_are_written_each(tmp_path):
    shown = bpy.data.images.new("Tiles", 4, 2, tiled=True)
    shown.pixels.foreach_set(np.tile(np.float32(GREEN), 8))
    shown.update()
    shown.pack()
    obj, moving = characters(shown, image("Plain"))
    assert export(obj, moving, tmp_path / "c.usdc") == []
    assert (tmp_path / "textures" / "Tiles.1001.png").is_file()
    assert named(tmp_path / "c.usdc")["Cloth_0"] == "./textures/Tiles.<UDIM>.png"


def test_names_that_lead_elsewhere_do_not(tmp_path):
    shown = [image("../up"), image("a/b\\c: d*"), image("x" * 60), image("con.png", GREEN)]
    shown[2].filepath_raw = "//../../out of here.png"
    obj, moving = characters(*shown)
    path = tmp_path / "a" / "b" / "c.usdc"
    assert export(obj, moving, path) == []
    assert len(contents(path.parent)) == 5 == len(contents(tmp_path))
    assert len(list((path.parent / "textures").iterdir())) == 4
    assert set(imported(path).values()) == {RED, GREEN}


def test_exports_again_and_beside_each_other(tmp_path):
    obj, moving = characters(image("Coat.png"), image("Shoes.png", GREEN))
    export(obj, moving, tmp_path / "a.usdc")
    first = contents(tmp_path)
    stamp = (tmp_path / "textures" / "Coat.png").stat()
    for name in ("a.usdc", "b.usda"):
        assert export(obj, moving, tmp_path / name) == []
    assert contents(tmp_path).keys() == first.keys() | {"b.usda"}
    now = (tmp_path / "textures" / "Coat.png").stat()
    assert (now.st_ino, now.st_mtime_ns) == (stamp.st_ino, stamp.st_mtime_ns)
    # other pixels get a file of their own: those of the other export stay
    changed = bpy.data.images["Coat.png"]
    changed.pixels.foreach_set(np.tile(np.float32(GREEN), 8))
    changed.pack()
    export(obj, moving, tmp_path / "a.usdc")
    assert contents(tmp_path)["textures/Coat.png"] == first["textures/Coat.png"]
    assert named(tmp_path / "a.usdc")["Cloth_0"] == "./textures/Coat_2.png"
    assert imported(tmp_path / "b.usda")["Cloth_0"] == RED


@pytest.mark.parametrize("error", [OSError(errno.EIO, "broken"), KeyboardInterrupt()])
def test_an_export_that_fails_leaves_nothing(tmp_path, error, monkeypatch):
    obj, moving = characters(image("Coat.png"), image("Shoes.png", GREEN))
    (tmp_path / "mine.txt").write_bytes(b"mine")

    def fails(old, new):
        assert (tmp_path / "textures" / "Coat.png").is_file()
        raise error

    monkeypatch.setattr("steer_addon.core.files.staging.rename", fails)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        export(obj, moving, tmp_path / "c.usdc")
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_frames_that_fail_leave_nothing(tmp_path):
    obj, moving = characters(image("Coat.png"), image("Shoes.png", GREEN))

    def stopped():
        yield moving[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(obj, stopped(), tmp_path / "c.usdc")
    assert not os.listdir(tmp_path)


def test_images_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    obj, moving = characters(image("Coat.png"), image("Shoes.png", GREEN))
    write = additions.write_file

    def full(path, parts):
        if b"".join(parts) == bytes(bpy.data.images["Coat.png"].packed_file.data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, parts)

    monkeypatch.setattr(additions, "write_file", full)
    assert export(obj, moving, tmp_path / "c.usdc") == [("TEXTURE_MISSING", "Coat.png")]
    assert set(contents(tmp_path)) == {"c.usdc", "textures/Shoes.png"}


def test_no_empty_folder_is_left(tmp_path, monkeypatch):
    obj, moving = characters(image("Coat.png"), image("Shoes.png", GREEN))

    def refused(path, parts):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(additions, "write_file", refused)
    told = export(obj, moving, tmp_path / "c.usdc")
    assert sorted(told) == [("TEXTURE_MISSING", "Coat.png"), ("TEXTURE_MISSING", "Shoes.png")]
    assert os.listdir(tmp_path) == ["c.usdc"]


def test_shown_objects_keep_their_textures_too(tmp_path):
    mesh = bpy.data.meshes.new("Sign")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new(name="UVMap")
    mesh.materials.append(None)
    mesh.materials.append(material("Sign", image("sign", GREEN)))
    mesh.polygons[0].material_index = 1
    moving = frames()
    obj, modifier = make_crowd(moving[0], Matrix())
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", bpy.data.objects.new("Sign", mesh))
    path, scene, told = tmp_path / "c.usdc", bpy.context.scene, []
    usd_instancer.write_instancer(moving, path, HEAD, obj, scene, moving[0].id, told)
    assert told == []
    assert imported(path) == {"Sign": GREEN}


@pytest.mark.parametrize("name", ["glb", "fbx"])
def test_keyed_objects_carry_their_textures(tmp_path, name):
    obj = make_runner()
    body = make_box("Body")
    body.data.materials.append(material("Cloth", image("cloth.png")))
    body.data.uv_layers.new()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", body)
    made = export_keyed(obj, name, tmp_path, 3)
    assert PNG in made.path.read_bytes()
    assert list(contents(tmp_path)) == [made.path.name]


def lost(name, folder):
    """An image whose file was there when it was loaded, and is gone."""
    path = folder / name
    path.write_bytes(PNG)
    made = bpy.data.images.load(str(path))
    path.unlink()
    return made


def test_the_place_of_a_file_that_is_not_there_is_told(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    obj, moving = characters(lost("coat.png", kept), image("Shoes.png", GREEN))
    told = []
    shown = usd_poses.shown_by(obj)
    usd_poses.write_poses(moving, tmp_path / "c.usdc", HEAD, shown, bpy.context.scene, told)
    assert [found.sentence for found in told] == [
        "Programs that open the exported file do not find its image 'coat.png': there is no file "
        f"{kept / 'coat.png'}"
    ]


@pytest.mark.parametrize("name", ["glb", "fbx"])
def test_keyed_objects_without_an_image_are_written_and_it_is_named(tmp_path, name):
    obj = make_runner()
    body, above = make_box("Body"), bpy.data.objects.new("Above", None)
    body.parent = above
    body.data.materials.append(material("Cloth", lost("cloth.png", tmp_path)))
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", above)
    told = []
    path, numbers = tmp_path / f"c.{name}", range(1, 3)
    scene, chosen = bpy.context.scene, formats.FORMATS[name]
    formats.export_crowd(obj, scene, chosen, path, numbers=numbers, warnings=told)
    assert [(found.code, found.subject, found.values) for found in told] == [
        ("TEXTURE_MISSING", "cloth.png", {"reason": f"there is no file {tmp_path / 'cloth.png'}"})
    ]
    assert path.stat().st_size > 100
