"""Materials of characters read the attributes of their agents."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display, node_builder  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402

from .test_characters_shown import crowd_of, level_frame  # noqa: E402
from .toy_characters import make_toy  # noqa: E402

pytestmark = pytest.mark.slow

SIZE = (32, 8)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True)
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def glowing(attribute):
    """A material that glows in the color of an attribute of the instance."""
    material = bpy.data.materials.new("Glow")
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    node_builder.add_nodes(
        tree,
        {
            "color": {"type": "ShaderNodeAttribute", "attribute_type": "INSTANCER",
                      "attribute_name": attribute},
            "glow": {"type": "ShaderNodeEmission", "Color": "<color"},
            "out": {"type": "ShaderNodeOutputMaterial", "Surface": "<glow"},
        },
    )  # fmt: skip
    return material


def seen_from_above(folder):
    """Colors of a row of pixels over 4 m from x = -1 to 3."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, camera.location = camera, (1.0, 0.0, 5.0)
    camera.data.type, camera.data.ortho_scale = "ORTHO", 4.0
    render = scene.render
    render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.use_denoising = False
    render.resolution_x, render.resolution_y = SIZE
    scene.view_settings.view_transform = "Raw"
    render.image_settings.file_format = "OPEN_EXR"
    render.filepath = str(folder / "picture.exr")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(render.filepath)
    return np.array(image.pixels[:]).reshape(SIZE[1], SIZE[0], 4)[SIZE[1] // 2, :, :3]


def test_materials_of_characters_show_the_color_of_each_agent(tmp_path):
    toy = make_toy(materials=[glowing("color"), glowing("color")])
    obj, modifier = crowd_of(level_frame(2, phase=[0.1, 0.6], gait=[1, 1]), toy)
    display.set_input(modifier, "Color By", "ID")
    bpy.context.view_layer.update()
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).evaluated_geometry()
    colors = [value.color[:3] for value in shown.instances_pointcloud().attributes["color"].data]
    row = seen_from_above(tmp_path)
    # agents stand at x = 0 and 2
    for place, color in zip((8, 24), colors, strict=True):
        np.testing.assert_allclose(row[place], color, atol=0.01)
    assert np.abs(row[8] - row[24]).max() > 0.03


@pytest.mark.usefixtures("empty_scene", "few_poses")
def test_heroes_keep_the_colors_of_their_agents(tmp_path):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=9) == {"FINISHED"}
    crowd, scene = bpy.context.object, bpy.context.scene
    crowd.steer.frame_end = 3
    for obj in scene.objects:
        obj.hide_render = obj != crowd
    frame = simulate.run(crowd, scene, range(1, 2))
    places = np.array(next(iter(frame)).position)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, camera.location = camera, (*places.mean(axis=0)[:2], 9.0)
    camera.data.type, camera.data.ortho_scale = "ORTHO", 1.3 * float(np.ptp(places, axis=0).max())
    scene.world = bpy.data.worlds.new("White")
    if scene.world.node_tree is None:
        scene.world.use_nodes = True
    node_builder.add_nodes(scene.world.node_tree, {"sky": {"node": "BACKGROUND", "Strength": 20.0}})
    scene.view_settings.view_transform = "Standard"
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 16, False
    render.resolution_x = render.resolution_y = 96
    render.image_settings.file_format = "PNG"

    def picture(name):
        scene.frame_set(1)
        render.filepath = str(tmp_path / f"{name}.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(render.filepath)
        return np.array(image.pixels[:]).reshape(96, 96, 4)[:, :, :3]

    instances = picture("instances")
    assert len(np.unique(np.round(instances * 8).reshape(-1, 3), axis=0)) > 15
    assert bpy.ops.object.steer_promote(which="WITHIN", distance=1000.0) == {"FINISHED"}
    rigs = picture("rigs")
    differs = np.abs(rigs - instances).max(axis=2) > 0.15
    assert differs.mean() < 0.01, differs.mean()
