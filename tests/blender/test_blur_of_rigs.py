"""Motion blur of baked crowds in Cycles, beside that of the rigs of the same agents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.characters import library, making  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making import figures  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from tests.blender.live_scenes import add_attribute, make_crowd, make_target, seekers  # noqa: E402
from tests.blender.side_view import look_from_the_side  # noqa: E402
from tests.often import often  # noqa: E402

KNIGHT = Path(__file__).parents[3] / "shared" / "characters" / "Knight.glb"
pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.slow,
    pytest.mark.skipif(not usd_points.has_usd(), reason="this build of Blender has no USD"),
]

WIDTH, HEIGHT, METERS = 360, 320, 2.6
"""Pixels of the picture, and how wide it is [m]."""
LAST = 104


def stage(samples=16):
    """A camera that sees bodies from their left, and what is blurred over half of a frame."""
    look_from_the_side(WIDTH, HEIGHT, METERS, 1.0, samples)
    scene = bpy.context.scene
    scene.cycles.max_bounces = 0
    scene.render.filter_size, scene.render.motion_blur_shutter = 0.01, 0.5


def woman():
    return figures.ensure_character("woman", bpy.context.scene)


def knight():
    if not KNIGHT.is_file():
        pytest.skip("the shared rigs are not here")
    bpy.ops.import_scene.gltf(filepath=str(KNIGHT))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    recipe = making.Recipe("Idle", "Walking_A", "Running_A")
    made = making.make_character(bpy.context.scene, rig, recipe).character
    for obj in (rig, *rig.children_recursive):
        obj.hide_render = obj.hide_viewport = True
    return made


def baked(character, gait, folder, points=((0.0, 0.0, 0.0),)):
    """A baked crowd whose first agent goes to -Y at the speed of a gait, and the others stand."""
    rows, _ = library.rows_of(character)
    speed = next(row.speed for row in rows if row.name == gait)
    obj = make_crowd(points, settings=seekers(speed=speed))
    # at its full speed from the beginning
    obj.steer.agents.max_force = 1000.0
    add_attribute(obj, "max_speed", "FLOAT", [speed] + [0.0] * (len(points) - 1))
    make_target(obj, (0.0, -1000.0, 0.0))
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", character)
    display.set_input(modifier, "Display", "Character")
    obj.steer.frame_end, obj.steer.cache_directory = LAST, str(folder / "cache")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "crowd.blend"))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    return obj


def places(obj):
    """Where agents are along Y, and their gaits."""
    data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return [v.co.y for v in data.vertices], [a.value for a in data.attributes["gait"].data]


def cover(folder, blurred):
    """How much of each pixel is covered, rows from the ground up."""
    scene = bpy.context.scene
    scene.render.use_motion_blur = blurred
    scene.render.filepath = str(folder / "picture.png")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:]).reshape(HEIGHT, WIDTH, 4)[:, :, 3]
    bpy.data.images.remove(image)
    ground = round(HEIGHT / 2 - WIDTH / METERS)
    return pixels[ground:]


def blur(pictures, part=np.s_[:, :]):
    """What blur adds to the width of edges, summed over a part of the picture [m^2]."""
    blurred, sharp = (6.0 * (p[part] * (1.0 - p[part])).sum() for p in pictures)
    return (blurred - sharp) * (METERS / WIDTH) ** 2


def feet(sharp):
    """Columns of the left and of the right foot in the picture, which are apart in it."""
    low = sharp[: round(0.06 * WIDTH / METERS)].any(axis=0)
    edges = np.flatnonzero(np.diff(low.astype(int)))
    assert len(edges) == 4, "feet that overlap in the picture"
    middle = int(edges[1:3].mean())
    band = slice(0, round(0.12 * WIDTH / METERS))
    return [(band, slice(0, middle)), (band, slice(middle, None))]


def both(obj, folder, number):
    """The pictures of a frame, blurred and sharp: as instances, and as rigs."""
    scene = bpy.context.scene
    found = []
    for promoted in (False, True):
        if promoted:
            heroes.promote(obj, scene, range(len(obj.data.vertices)))
        scene.frame_set(number)
        found.append([cover(folder, blurred) for blurred in (True, False)])
    heroes.demote(obj)
    return found


@pytest.mark.parametrize(
    ("gait", "number"), often([("walk", 59), ("walk", 72), ("run", 83)], ("walk", 59))
)
def test_walkers_and_their_rigs_are_blurred_alike(tmp_path, gait, number):
    character = woman()
    stage()
    obj = baked(character, gait, tmp_path)
    bpy.context.scene.frame_set(number)
    (place,), (shown,) = places(obj)
    rows, _ = library.rows_of(character)
    assert rows[round(shown)].name == gait
    bpy.context.scene.camera.location.y = place
    shown, rig = both(obj, tmp_path, number)
    assert blur(rig) > 0.03
    assert blur(shown) == pytest.approx(blur(rig), rel=0.05)
    widths = [(blur(rig, foot), blur(shown, foot)) for foot in feet(rig[1])]
    (standing, shown_standing), (swinging, shown_swinging) = sorted(widths)
    # where a runner's feet are apart in the picture, both are in the air
    assert swinging > {"walk": 1.4, "run": 1.2}[gait] * standing
    assert shown_swinging == pytest.approx(swinging, rel=0.05)
    assert shown_standing == pytest.approx(standing, abs=0.05 * swinging)


@pytest.mark.long
@pytest.mark.parametrize(("make", "size"), [(woman, 1.0), (knight, 1.6)])
def test_bodies_and_rigs_are_blurred_alike_over_a_cycle(tmp_path, make, size):
    character = make()
    stage(64)
    # the knight has a large head, a sword and a shield
    bpy.context.scene.camera.data.ortho_scale = size * METERS
    obj = baked(character, "walk", tmp_path)
    rows, _ = library.rows_of(character)
    found = []
    # at a frame the blur of a pose is that of its moment, and that of a rig that of a frame: they
    # differ by 15 % where limbs turn round; rigs end with the last frame, and move only before it
    for number in range(LAST - 24, LAST, 4):
        bpy.context.scene.frame_set(number)
        (place,), (shown,) = places(obj)
        assert rows[round(shown)].name == "walk"
        bpy.context.scene.camera.location.y = place
        found.append([blur(pictures) for pictures in both(obj, tmp_path, number)])
    shown, rig = np.sum(found, axis=0)
    assert shown == pytest.approx(rig, rel=0.05)


def test_a_stander_beside_a_walker_is_not_blurred(tmp_path):
    character = woman()
    stage()
    obj = baked(character, "walk", tmp_path, [(0.0, 0.0, 0.0), (0.5, -4.1, 0.0)])
    bpy.context.scene.frame_set(68)
    (walker, stander), (_, gait) = places(obj)
    assert gait == 0.0 and 1.0 < abs(walker - stander) < 1.6
    bpy.context.scene.camera.location.y = 0.5 * (walker + stander)
    # the camera looks to -X: +Y is on the right
    halves = [np.s_[:, WIDTH // 2 :], np.s_[:, : WIDTH // 2]]
    if walker < stander:
        halves.reverse()
    for pictures in both(obj, tmp_path, 68):
        walks, stands = (blur(pictures, half) for half in halves)
        assert walks > 0.06
        assert abs(stands) < 0.02 * walks
