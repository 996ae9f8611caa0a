"""Pictures of a batch are out of date when an image of their scene changes; simulations are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.commands.farm import looking  # noqa: E402
from steer_addon.core.files.plain import digest_of  # noqa: E402
from steer_addon.farm.job import read_job  # noqa: E402
from steer_addon.farm.starter import find_starter  # noqa: E402
from steer_addon.farm.tasks import tasks_of  # noqa: E402
from steer_addon.farm.variations import Scene, variations_of  # noqa: E402
from tests.blender.live_scenes import make_box, make_crowd  # noqa: E402

TILES = "coat.1001.png", "coat.1002.png"
FRAMES = "sky_0001.png", "sky_0002.png"
JOB = """
scenes = ["scene.blend"]
make = ["cache", "usd", "csv", "render"]
frames = "1-3"
"""


def save_image(path, color=0.5):
    made = bpy.data.images.new("made", 4, 4)
    made.pixels = [color] * 64
    made.filepath_raw, made.file_format = str(path), "PNG"
    made.save()
    bpy.data.images.remove(made)


def load_image(path, source="FILE"):
    """An image that a file reads by a path that is relative to it."""
    image = bpy.data.images.load(str(path))
    image.filepath, image.source = bpy.path.relpath(str(path)), source
    return image


def show(image):
    """Let a material show an image."""
    material = bpy.data.materials.new(image.name)
    if material.node_tree is None:
        # Blender before 5.0
        material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    return material


@pytest.fixture
def scene(steer, empty_scene, tmp_path) -> Path:
    """A scene with tiles and a sequence on a box, and an image that displaces it."""
    folder, path = tmp_path / "textures", tmp_path / "scene.blend"
    folder.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    for name in (*TILES, *FRAMES, "hills.png", "packed.png", "unused.png", "sky.png"):
        save_image(folder / name)
    make_crowd()
    box = make_box()
    tiled = load_image(folder / TILES[0], "TILED")
    tiled.filepath = tiled.filepath.replace("1001", "<UDIM>")
    packed = load_image(folder / "packed.png")
    packed.pack()
    for image in (tiled, load_image(folder / FRAMES[0], "SEQUENCE"), packed):
        box.data.materials.append(show(image))
    texture = bpy.data.textures.new("Hills", "IMAGE")
    texture.image = load_image(folder / "hills.png")
    box.modifiers.new("Hills", "DISPLACE").texture = texture
    load_image(folder / "unused.png").use_fake_user = True
    bpy.ops.object.camera_add()
    bpy.context.scene.camera = bpy.context.object
    bpy.ops.wm.save_mainfile()
    return path


def digests(scene, told):
    """Digests of the tasks of a batch, by their kinds."""
    (scene.parent / "job.toml").write_text(JOB)
    batch = read_job(scene.parent / "job.toml")
    looked = Scene.from_info(scene, digest_of(scene), told)
    tasks = tasks_of(batch, variations_of(batch, [looked]), "5.0.1", compiles=False)
    return {task.kind: task.digest for task in tasks}


def test_pictures_depend_on_images_and_simulations_do_not(run, scene, tmp_path):
    folder, own = tmp_path / "textures", digest_of(scene)
    told = run("info", scene, "--json").data
    shown = [str(folder / name) for name in (*TILES, *FRAMES)]
    assert told["images"] == {path: digest_of(Path(path)) for path in sorted(shown)}
    assert list(told["linked"]) == [str(folder / "hills.png")]
    before = digests(scene, told)
    assert not looking.Look([scene], {looking.key_of(scene, own): told}).unknown

    save_image(folder / TILES[1], 0.25)
    assert looking.Look([scene], {looking.key_of(scene, own): told}).unknown == {scene: own}
    painted = digests(scene, run("info", scene, "--json").data)
    changed = {kind for kind in before if painted[kind] != before[kind]}
    assert changed == {"render", "usd"}

    save_image(folder / "hills.png", 0.25)
    hills = digests(scene, run("info", scene, "--json").data)
    assert not set(hills.values()) & set(painted.values())


def test_images_that_change_places_count(scene, run):
    told = run("info", scene, "--json").data
    first, second, *_ = told["images"]
    other = {**told["images"], first: "b", second: "a"}
    before = {**told["images"], first: "a", second: "b"}
    found = [Scene.from_info(scene, "0", {**told, "images": one}) for one in (before, other)]
    assert found[0].images != found[1].images
    # wherever they are
    moved = {path.replace("textures", "elsewhere"): was for path, was in before.items()}
    assert Scene.from_info(scene, "0", {**told, "images": moved}).images == found[0].images
    gone = {**told, "images": {first: ""}, "linked": {}}
    assert Scene.from_info(scene, "0", gone).files == ()


def test_a_copy_in_another_folder_is_looked_at(run, scene, tmp_path):
    """Copies are the same to the byte, and read what is beside them."""
    other = tmp_path / "other" / scene.name
    shutil.copytree(tmp_path / "textures", other.parent / "textures")
    shutil.copy(scene, other)
    save_image(other.parent / "textures" / TILES[0], 0.25)
    look = looking.Look([scene, other], {})
    assert look.unknown == dict.fromkeys([scene, other], digest_of(scene))
    first, second = look.run(find_starter(), 2)
    assert first.digest == second.digest and first.images != second.images
    assert looking.Look([scene, other], look.said).unknown == {}
    del look.said[looking.key_of(other, digest_of(other))]
    assert list(looking.Look([scene, other], look.said).unknown) == [other]
