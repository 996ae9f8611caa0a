"""Meters are meters: what Steer adds is as large in a scene of another Unit Scale."""

from __future__ import annotations

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, making  # noqa: E402
from steer_addon.blender.checks import character_checks  # noqa: E402
from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.reading import extents  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, load_preset  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active, make_points  # noqa: E402
from tests.blender.drawn import context  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


@pytest.fixture
def centimeters(empty_scene):
    empty_scene.unit_settings.system = "METRIC"
    empty_scene.unit_settings.scale_length = 0.01


def started(preset="pedestrians", count=20, **options):
    assert bpy.ops.object.steer_start(preset=preset, count=count, **options) == {"FINISHED"}
    bpy.context.view_layer.update()
    return active()


def sizes_of_scene():
    """Boxes of all objects by name [units of the scene]; bodies are scaled where they are shown."""
    found = (o for o in bpy.context.scene.objects if not library.is_character(o))
    return {o.name: extents.object_box(o) for o in found}


@pytest.mark.parametrize(
    "preset",
    often(["pedestrians", "street_lanes", "birds", "ahead_spheres"], "street_lanes", "birds"),
)
def test_all_that_is_added_is_as_large_in_meters(preset):
    started(preset)
    meters = sizes_of_scene()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    started(preset)
    found = sizes_of_scene()
    assert found.keys() == meters.keys()
    for name, box in meters.items():
        np.testing.assert_allclose(found[name], 100.0 * box, rtol=1e-4, atol=2e-2)


@pytest.mark.usefixtures("centimeters")
def test_people_are_as_tall_and_as_fast():
    obj = started()
    tall = {"Woman": 166.0, "Man": 178.0, "Child": 125.0}
    shown = [
        (instance.object.data.name, instance.matrix_world.to_scale().z)
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance and instance.parent.original == obj
    ]
    assert len(shown) == 20
    for name, scale in shown:
        heights = [corner[2] for corner in bpy.data.objects[name].bound_box]
        assert scale * max(heights) == pytest.approx(tall[name], rel=0.05)
    scenes.play(1, 49)
    before, after = (live.get_frame(obj, number).position for number in (25, 49))
    # the speed of people, over a second
    assert np.median(np.linalg.norm(after - before, axis=1)) == pytest.approx(140.0, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "preset", often(["pedestrians", "birds", "panic", "unity_zones"], "panic", "birds")
)
def test_the_motion_is_that_of_a_scene_in_meters(preset):
    found = []
    for scale in (1.0, 0.01):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.scene.unit_settings.scale_length = scale
        obj = started(preset, bodies=False)
        scenes.play(1, 30)
        found.append(live.get_frame(obj, 30).position * scale)
    # other roundings, which those who meet closely answer to
    assert np.linalg.norm(found[1] - found[0], axis=1).mean() < 0.1


@pytest.mark.usefixtures("centimeters")
@pytest.mark.parametrize(
    "preset", often(sorted(find_presets()), "pedestrians", "panic", "birds", "unity_zones")
)
def test_a_preset_is_applied_in_the_units_of_the_scene(preset):
    make_points()
    bpy.ops.object.steer_add_modifier()
    assert active().steer.agents.radius == pytest.approx(25.0)
    bpy.ops.object.steer_preset_apply(name=preset)
    meant, found = load_preset(preset).settings, settings_of(active())
    assert found.agents.max_speed == pytest.approx(100.0 * meant.agents.max_speed)
    assert found.agents.max_force == pytest.approx(100.0 * meant.agents.max_force)
    assert found.agents.mass == meant.agents.mass
    assert found.motion.max_slope == meant.motion.max_slope
    assert found.motion.step_height == pytest.approx(100.0 * meant.motion.step_height)


@pytest.mark.usefixtures("centimeters")
def test_presets_are_saved_in_meters(tmp_path, monkeypatch):
    from steer_addon.blender.operators import presets

    monkeypatch.setattr(presets, "user_preset_folder", lambda: tmp_path)
    make_points()
    bpy.ops.object.steer_add_modifier()
    bpy.ops.object.steer_preset_save(name="Mine")
    data = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert data["settings"]["agents"]["radius"] == pytest.approx(0.25)


@pytest.mark.usefixtures("centimeters")
def test_defaults_of_new_things_are_in_meters():
    bpy.ops.object.steer_add_crowd(distribution="GRID", count=4)
    points = extents.start_points(active())
    assert np.ptp(points[:, 0]) == pytest.approx(100.0)
    bpy.ops.object.steer_behavior_add(type="arrive")
    entry = active().steer.behaviors[-1].arrive
    assert entry.slow_radius == pytest.approx(200.0)
    bpy.ops.object.steer_add_crowd(distribution="GRID", count=4, spacing=7.0)
    bpy.context.view_layer.update()
    assert np.ptp(extents.start_points(active())[:, 0]) == pytest.approx(7.0)


def test_a_scene_without_units_counts_in_its_own():
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = "NONE", 0.01
    make_points()
    bpy.ops.object.steer_add_modifier()
    assert active().steer.agents.radius == pytest.approx(0.25)


def test_walls_on_edges_are_as_high_in_kilometers(empty_scene):
    empty_scene.unit_settings.system = "METRIC"
    empty_scene.unit_settings.scale_length = 1000.0
    motion = settings_of(started()).motion
    assert motion.wall_height == pytest.approx(0.003)


def test_characters_of_a_scene_without_units_go_as_far_as_their_rigs(empty_scene):
    units = empty_scene.unit_settings
    units.system, units.scale_length = "NONE", 0.01
    recipe = making.Recipe("Idle", "Walk", plan=Plan(tolerance=0.02, steps=24))
    made = making.make_character(empty_scene, walking_rig(), recipe)
    assert made.space.gaits[-1].stride == pytest.approx(1.0, rel=0.05)


def pressed(crowd):
    """What the button beside the warning of a crowd returns."""
    bpy.context.view_layer.objects.active = crowd
    layout = FakeLayout()
    drawing.draw_main(layout, context(), crowd)
    return layout.press("object.steer_fit_characters")


@pytest.mark.usefixtures("centimeters")
def test_characters_of_a_hundredth_of_their_size_are_told():
    recipe = making.Recipe("Idle", "Walk", plan=Plan(tolerance=0.02, steps=24))
    rig = walking_rig()
    rig.scale = (100.0, 100.0, 100.0)
    bpy.context.view_layer.update()
    character = making.make_character(bpy.context.scene, rig, recipe).character
    crowd = scenes.make_crowd()
    crowd.steer.agents.radius = 25.0
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", character)
    (told,) = character_checks.found(crowd)
    assert told.code == "CHARACTER_TINY" and told.values["scale"] == 100.0
    assert told.values["radius"] == pytest.approx(0.25)
    assert pressed(crowd) == {"FINISHED"}
    assert display.get_input(modifier, "Scale") == 100.0
    assert list(character_checks.found(crowd)) == []
    assert not bpy.ops.object.steer_fit_characters.poll()
    # lengths are told in meters, whatever the unit of the scene
    display.set_input(modifier, "Scale", 300.0)
    (told,) = character_checks.found(crowd)
    assert told.code == "CHARACTER_WIDE" and told.values["radius"] == pytest.approx(0.25)
    assert 0.4 < told.values["reach"] < 0.8
    assert pressed(crowd) == {"FINISHED"}
    assert crowd.steer.agents.radius == pytest.approx(100.0 * told.values["reach"])
    assert list(character_checks.found(crowd)) == []


@pytest.mark.usefixtures("centimeters")
def test_built_in_people_of_a_hundredth_of_their_size_are_told():
    crowd = started(count=2)
    assert list(character_checks.found(crowd)) == []
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Scale", 1.0)
    told = list(character_checks.found(crowd))
    assert {(one.code, one.values["scale"]) for one in told} == {("CHARACTER_TINY", 100.0)}
