"""A live crowd in rendered pictures: the pixels show the agents where the simulation says."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.properties import apply_settings  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.suspension import suspended  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    move,
    play,
    seekers,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

SIZE = 96
"""Pixels along each side of the picture."""
VIEW = 12.0
"""Meters that the camera sees along each side, around the origin, from above."""


def make_glowing(name="Glow"):
    material = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    nodes = material.node_tree
    nodes.nodes.clear()
    glow = nodes.nodes.new("ShaderNodeEmission")
    glow.inputs["Color"].default_value = (1, 1, 1, 1)
    output = nodes.nodes.new("ShaderNodeOutputMaterial")
    nodes.links.new(glow.outputs[0], output.inputs[0])
    return material


def make_stage(tmp_path):
    """A few glowing cones far apart, seen from above against black."""
    places = [(-4, -4, 0), (0, -4.5, 0), (4, -3.5, 0)]
    stack = ({"type": "seek", "target_choice": "BY_ID"}, {"type": "separation"})
    obj = make_crowd(places, settings=seekers(*stack, speed=4.0))
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Material", make_glowing())
    display.set_input(modifier, "Display", "Cones")
    obj.steer.target_kind = "COLLECTION"
    goals = bpy.data.collections.new("Goals")
    for number, x in enumerate((4, -4, 0)):
        goals.objects.link(make_target(location=(x, 5, 0), name=f"Goal {number}"))
    obj.steer.target_collection = goals
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", VIEW
    camera.location = (0, 0, 10)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples = "CPU", 1
    scene.cycles.use_denoising = False
    scene.cycles.max_bounces = 0
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.filter_size = 0.01
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = str(tmp_path / "picture_")
    obj.steer.frame_end = 50
    return obj


def pixels_of(path):
    image = bpy.data.images.load(str(path))
    width, height = image.size
    values = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    # rows from the bottom up, so that +Y is up as in the scene
    return values.reshape(height, width, 4)[:, :, 0]


def pixel_at(position):
    return np.floor((np.asarray(position) / VIEW + 0.5) * SIZE).astype(int)


def assert_agents_seen(picture, positions, reach=0.6):
    """Each agent glows where it is, and all that glows is near an agent."""
    bright = np.argwhere(picture > 0.5)[:, ::-1]
    assert len(bright)
    for x, y in pixel_at(positions[:, :2]):
        assert picture[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2].max() > 0.5
    world = ((bright + 0.5) / SIZE - 0.5) * VIEW
    apart = np.linalg.norm(world[:, None] - positions[None, :, :2], axis=2).min(axis=1)
    assert apart.max() < reach


def save_and_open(tmp_path):
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Crowd"]


def render(first, last):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = first, last
    bpy.ops.render.render(animation=True)


def wanted(obj, last):
    return list(simulate.run(obj, bpy.context.scene, range(1, last + 1)))


def test_an_opened_file_plays_and_renders_what_is_simulated(tmp_path):
    make_stage(tmp_path)
    obj = save_and_open(tmp_path)
    truth = wanted(obj, 50)
    play(1, 50)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    seen = np.array([v.co[:] for v in evaluated.data.vertices], np.float32)
    np.testing.assert_allclose(seen, truth[49].position, atol=1e-5)
    assert np.linalg.norm(truth[49].position - truth[0].position, axis=1).min() > 3.0
    render(49, 50)
    assert_agents_seen(pixels_of(tmp_path / "picture_0050.png"), truth[49].position)


def test_rendering_from_the_first_frame_simulates(tmp_path):
    make_stage(tmp_path)
    obj = save_and_open(tmp_path)
    truth = wanted(obj, 4)
    inside = {}

    def look(scene, *_):
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        inside[scene.frame_current] = len(evaluated.data.vertices)

    bpy.app.handlers.render_post.append(look)
    try:
        render(1, 4)
    finally:
        bpy.app.handlers.render_post.remove(look)
    assert set(inside) == {1, 2, 3, 4}
    for number in (1, 2, 3, 4):
        picture = pixels_of(tmp_path / f"picture_{number:04d}.png")
        assert_agents_seen(picture, truth[number - 1].position)
        np.testing.assert_array_equal(
            live.get_frame(obj, number).position, truth[number - 1].position
        )


@pytest.mark.parametrize("animation", [True, False])
def test_a_background_render_from_the_middle_catches_up(tmp_path, animation):
    make_stage(tmp_path)
    obj = save_and_open(tmp_path)
    scene = bpy.context.scene
    if animation:
        render(40, 41)
        path = tmp_path / "picture_0040.png"
    else:
        path = tmp_path / "still.png"
        scene.render.filepath = str(path)
        with suspended():
            scene.frame_set(40)
        bpy.ops.render.render(write_still=True)
    truth = wanted(obj, 40)[39].position
    assert_agents_seen(pixels_of(path), truth)
    np.testing.assert_array_equal(live.get_frame(obj, 40).position, truth)


def test_proxies_hidden_from_renders_block_there_too(tmp_path):
    obj = make_stage(tmp_path)
    stack = ({"type": "seek"}, {"type": "obstacle_avoidance", "look_ahead": 3.0})
    apply_settings(obj, seekers(*stack, speed=4.0))
    proxy = make_box("Proxy", (0, 0, 0))
    make_colliders(obj, proxy)
    move(proxy, {1: (-3, 0, 0), 40: (3, 0, 0)})
    proxy.hide_render = True
    obj = save_and_open(tmp_path)
    truth = wanted(obj, 12)
    render(1, 12)
    assert_agents_seen(pixels_of(tmp_path / "picture_0012.png"), truth[11].position)
    np.testing.assert_array_equal(live.get_frame(obj, 12).position, truth[11].position)


def test_motion_blur_asks_for_subframes_and_changes_nothing(tmp_path):
    obj = make_stage(tmp_path)
    obj.steer.agents.max_speed, obj.steer.agents.max_force = 40.0, 1000.0
    obj = save_and_open(tmp_path)
    scene = bpy.context.scene
    truth = wanted(obj, 8)[7]
    way = truth.speed.mean() / 24
    assert way > 0.5
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.cycles.samples = 16
    render(7, 8)
    blurred = pixels_of(tmp_path / "picture_0008.png")
    assert_agents_seen(blurred, truth.position, reach=0.4 + way)
    np.testing.assert_array_equal(live.get_frame(obj, 8).position, truth.position)
    assert set(live.runs.get(obj).frames) == set(range(1, 9))
    scene.render.use_motion_blur = False
    render(7, 8)
    sharp = pixels_of(tmp_path / "picture_0008.png")
    assert_agents_seen(sharp, truth.position)
    assert (blurred > 0.02).sum() > 1.5 * (sharp > 0.02).sum()
