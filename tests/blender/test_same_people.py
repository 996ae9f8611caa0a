"""One picture of people with all that characters can do: live, baked, resumed, without Steer."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, library_group  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.making import figures  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.crowd.settings import (  # noqa: E402
    AgentsSettings,
    CrowdSettings,
    MotionSettings,
    SolverSettings,
    make_behavior,
)
from tests.blender.crowd_views import attribute  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    make_crowd,
    make_ground,
    make_target,
    play,
)
from tests.blender.test_levels import character as with_levels  # noqa: E402
from tests.blender.test_levels import round_rig  # noqa: E402
from tests.blender.test_same_picture import elsewhere, render  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene", "few_poses"),
    pytest.mark.skipif(not usd_points.has_usd(), reason="this build of Blender has no USD"),
]

LAST, EARLY = 30, 12
CHILD, MAN, WALKER, WOMAN = range(4)
PEOPLE = (
    # where it begins, who it is, its speed [m/s], its clip, and its parts
    (((-3.0, -2.0), WOMAN, 1.3, -1, 0), ((-1.5, -2.0), MAN, 1.6, -1, 0))
    + (((0.0, -2.0), CHILD, 1.0, -1, 0), ((1.5, -2.0), WALKER, 1.2, -1, 1))
    # those who stand, each in another clip
    + (((-2.4, -3.5), WOMAN, 0.0, 0, 0), ((-0.8, -3.5), MAN, 0.0, 1, 0))
    + (((0.6, -3.5), CHILD, 0.0, 2, 0), ((2.4, -3.5), WALKER, 0.0, -1, 0))
    # far away, where the levels are seen
    + (((-4.0, 14.0), WALKER, 1.2, -1, 1), ((4.0, 14.0), WALKER, 1.2, -1, 0))
    + (((0.0, 45.0), WALKER, 1.2, -1, 1), ((6.0, 45.0), WALKER, 1.2, -1, 0))
    + (((-5.0, 20.0), WOMAN, 3.2, -1, 0), ((2.0, 20.0), MAN, 2.2, -1, 0))
)


def make_people():
    """The built-in people, and one of their own rank with two levels of detail and a hat."""
    scene = bpy.context.scene
    cast = figures.ensure_cast(("woman", "man", "child"), "People", scene)
    plan = Plan(tolerance=0.08, steps=24, ratio=2.0)
    walker = with_levels(2, (("hat", 0.5),), round_rig(), plan).character
    for rig in [obj for obj in scene.objects if obj.type == "ARMATURE"]:
        for obj in [rig, *rig.children_recursive]:
            obj.hide_render = obj.hide_viewport = True
    cast.objects.link(walker)
    walker.name = "Rigged"
    assert [obj.name for obj in library.among(cast)] == ["Child", "Man", "Rigged", "Woman"]
    return cast


def make_scene():
    """People on a slope who turn about, some of whom stand and wave."""
    cast = make_people()
    settings = CrowdSettings(
        agents=AgentsSettings(max_speed=1.3, max_force=20.0),
        motion=MotionSettings(motion="GROUND", body_turn_rate=300.0),
        solver=SolverSettings(max_turn_rate=40.0),
        behaviors=(make_behavior({"type": "seek"}),),
    )
    places = [(x, y, 0.1 * x) for (x, y), *_ in PEOPLE]
    crowd = make_crowd(places, settings=settings)
    for name, kind, column in (
        ("character", "INT", 1),
        ("max_speed", "FLOAT", 2),
        ("clip", "INT", 3),
        ("parts", "INT", 4),
    ):
        add_attribute(crowd, name, kind, [person[column] for person in PEOPLE])
    # at the side: all turn, and go on along curves
    make_target(crowd, (30.0, 5.0, 3.0))
    ground = make_ground()
    ground.rotation_euler = (0.0, -math.atan(0.1), 0.0)
    crowd.steer.ground = ground
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Collection", cast)
    display.set_input(modifier, "Display", "Characters")
    display.set_input(modifier, "Full Detail", 0.3)
    crowd.steer.frame_end = LAST
    return crowd


def light_and_camera():
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -11.0, 2.2), (math.radians(84.0), 0.0, 0.0)
    camera.data.lens = 50.0
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.rotation_euler = (0.7, 0.2, 0.3)
    sun.data.energy = 4.0
    for obj in (camera, sun):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.seed = "CPU", 8, 7
    scene.cycles.use_denoising, scene.cycles.max_bounces = False, 0
    scene.render.resolution_x, scene.render.resolution_y = 192, 108
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"


def assert_all_is_shown(crowd):
    """Everything that is to be compared happens in this frame."""
    values = {
        name: np.abs(attribute(crowd, name))
        for name in ("slope_ahead", "slope_side", "lean_ahead", "lean_side", "twist", "curve")
        + ("shift_ahead", "shift_side")
    }
    largest = {name: float(found.max()) for name, found in values.items()}
    least = {"slope_ahead": 0.03, "slope_side": 0.03, "lean_ahead": 0.02, "lean_side": 0.02}
    least |= {"twist": 0.02, "curve": 0.2, "shift_ahead": 0.002, "shift_side": 0.002}
    assert {name for name, value in least.items() if largest[name] < value} == set(), largest
    clips = np.array([person[3] for person in PEOPLE])
    gaits = attribute(crowd, "gait")
    counts = [len(library.rows_of(c)[0]) for c in library.among(bpy.data.collections["People"])]
    first_clips = np.array([counts[person[1]] for person in PEOPLE])
    np.testing.assert_array_equal(gaits[clips >= 0], (first_clips + clips)[clips >= 0])
    assert len(np.unique(gaits[clips < 0])) >= 3
    sizes = {
        len(instance.object.data.vertices)
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance and instance.parent.original == crowd
    }
    people = library.among(bpy.data.collections["People"])
    modifier = library_group.modifier_of(people[WALKER])
    levels = [display.get_input(modifier, name) for name in library_group.LEVELS]
    # the body and the hat of the walker, in full and in two levels
    parts = [vertices_of_parts(obj.data) for obj in (people[WALKER], *levels)]
    wanted = {len(people[who].data.vertices) for who in (CHILD, MAN, WOMAN)}.union(*parts)
    assert sizes == wanted and len(set().union(*parts)) == 6, (sizes, parts)


def vertices_of_parts(mesh):
    data = mesh.attributes["part_number"].data
    numbers = np.empty(len(data), np.int32)
    data.foreach_get("value", numbers)
    return set(np.bincount(numbers).tolist())


@pytest.mark.slow
def test_people_look_the_same_live_baked_resumed_and_elsewhere(tmp_path):
    crowd = make_scene()
    light_and_camera()
    play(1, EARLY)
    live = [render(tmp_path, EARLY)]
    play(EARLY + 1, LAST)
    live.append(render(tmp_path, LAST))
    assert_all_is_shown(crowd)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crowd.blend"))
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    pictures = {"baked": [render(tmp_path, number) for number in (EARLY, LAST)]}
    assert_all_is_shown(crowd)
    # a bake of the half, which goes on in another session
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    crowd.steer.frame_end = EARLY
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    bpy.context.object.steer.frame_end = LAST
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    pictures["resumed"] = [render(tmp_path, number) for number in (EARLY, LAST)]
    bpy.ops.wm.save_mainfile()
    pictures["elsewhere"] = elsewhere(bpy.data.filepath, tmp_path / "away", EARLY, LAST)
    assert np.ptp(live[0]) > 0.5 and np.abs(live[1] - live[0]).max() > 0.5
    for way, found in pictures.items():
        for one, wanted in zip(found, live, strict=True):
            assert np.abs(one - wanted).max() <= 1.001 / 255, way
