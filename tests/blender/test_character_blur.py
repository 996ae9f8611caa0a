"""Motion blur of characters in Cycles, against that of a mesh that really moves."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display, node_builder  # noqa: E402

from .side_view import look_from_the_side  # noqa: E402
from .toy_characters import body, make_toy, pose, space  # noqa: E402

pytestmark = pytest.mark.slow

RATE, START = 24, 0.125
WIDTH, HEIGHT, METERS = 320, 24, 0.8
"""Pixels of the picture, and how wide it is [m]: the feet, seen from the side."""


@pytest.fixture(autouse=True)
def stage():
    bpy.ops.wm.read_homefile(use_empty=True)
    look_from_the_side(WIDTH, HEIGHT, METERS, 0.05, 64)
    render = bpy.context.scene.render
    render.fps, render.use_motion_blur = RATE, True
    yield
    bpy.ops.wm.read_homefile(use_empty=True)


def cover(folder):
    """How much of each column of the picture is covered, at the height of the feet."""
    scene = bpy.context.scene
    scene.render.filepath = str(folder / "picture.png")
    scene.frame_set(10)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:]).reshape(HEIGHT, WIDTH, 4)[HEIGHT // 2 - 4 : HEIGHT // 2 + 4]
    bpy.data.images.remove(image)
    return pixels[:, :, 3].mean(axis=0)


def blur(columns):
    """Width of the blurred edges [m]: u (1 - u) along a ramp of u from 0 to 1 sums up to 1/6."""
    return 6.0 * (columns * (1.0 - columns)).sum() * METERS / WIDTH


def key_walk(obj, speed):
    """Let an object go to -Y, at the origin in frame 10."""
    for frame in (0, 20):
        obj.location.y = -speed * (frame - 10) / RATE
        obj.keyframe_insert("location", frame=frame)
    make_linear(obj)


def make_linear(animated):
    """Let keyed values go from key to key in straight lines."""
    # a mesh and its object share an action
    for bag in animated.animation_data.action.layers[0].strips[0].channelbags:
        for curve in bag.fcurves:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"


def walking_mesh(speed):
    """The character as a mesh with shape keys, which walks as the poses do around frame 10."""
    obj = bpy.data.objects.new("Real", body(space()))
    bpy.context.scene.collection.objects.link(obj)
    obj.shape_key_add(name="Basis")
    step = speed / RATE
    for name, phase in (("Basis", START - step), ("Later", START + step)):
        key = obj.data.shape_keys.key_blocks.get(name) or obj.shape_key_add(name=name)
        key.data.foreach_set("co", pose(phase, 1.0).ravel())
    later = obj.data.shape_keys.key_blocks["Later"]
    for frame, value in ((9, 0.0), (11, 1.0)):
        later.value = value
        later.keyframe_insert("value", frame=frame)
    make_linear(obj.data.shape_keys)
    key_walk(obj, speed)
    return obj


def walking_crowd(gait, speed, poses):
    """One agent, whose phase goes on by the scene's time, also between frames."""
    mesh = bpy.data.meshes.new("Point")
    mesh.from_pydata([(0, 0, 0)], [], [])
    mesh.attributes.new("gait", "FLOAT", "POINT").data[0].value = gait
    obj = bpy.data.objects.new("Crowd", mesh)
    bpy.context.scene.collection.objects.link(obj)
    group = bpy.data.node_groups.new("Clock", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    math_node = {"type": "ShaderNodeMath", "operation": "MULTIPLY_ADD"}
    start = START - speed * 10 / RATE
    rows = {
        "input": {"type": "NodeGroupInput"},
        "time": {"type": "GeometryNodeInputSceneTime"},
        "phase": {**math_node, "values": ["<time", speed, start]},
        "kept": {"type": "GeometryNodeStoreNamedAttribute", "data_type": "FLOAT",
                 "Geometry": "<input", "Name": "phase", "Value": "<phase"},
        "output": {"type": "NodeGroupOutput", "values": ["<kept"]},
    }  # fmt: skip
    node_builder.add_nodes(group, rows)
    obj.modifiers.new("Clock", "NODES").node_group = group
    modifier = display.add_modifier(obj)
    display.set_input(modifier, "Object", make_toy(poses=poses))
    display.set_input(modifier, "Display", "Character")
    key_walk(obj, speed)
    return obj


def test_walkers_are_blurred_as_a_mesh_that_moves(tmp_path):
    real = walking_mesh(1.0)
    expected = cover(tmp_path)
    real.hide_render = True
    # 8 mm of way a pose
    walking_crowd(1, 1.0, space(walk=128))
    found = cover(tmp_path)
    middle = WIDTH // 2
    # one foot stands, the other one swings: their parts of the picture
    feet = [(expected[part], found[part]) for part in (slice(0, middle), slice(middle, WIDTH))]
    widths = sorted((blur(wanted), blur(shown)) for wanted, shown in feet)
    (standing, shown_standing), (swinging, shown_swinging) = widths
    # the foot that swings: 1 m/s with the body and 1.11 m/s by itself, twice an edge
    assert swinging == pytest.approx(2 * 2.11 * 0.5 / RATE, rel=0.1)
    assert shown_swinging == pytest.approx(swinging, rel=0.05)
    assert shown_standing == pytest.approx(standing, abs=0.05 * swinging)
    assert standing < 0.2 * swinging


def test_those_who_stand_are_not_blurred_whoever_walks_beside_them(tmp_path):
    walking_crowd(0, 0.0, space(walk=128))
    blurred = cover(tmp_path)
    bpy.context.scene.render.use_motion_blur = False
    np.testing.assert_allclose(blurred, cover(tmp_path), atol=0.01)
