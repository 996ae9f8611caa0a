"""Add > Crowd > preset: everything that the crowd needs is there, moves, and can be undone."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Vector  # noqa: E402

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.making import starters  # noqa: E402
from steer_addon.blender.operators.presets import OBJECT_OT_steer_start as Start  # noqa: E402
from steer_addon.blender.operators.presets import agents_of  # noqa: E402
from steer_addon.blender.ui import previews  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, preset_card  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active, make_plane  # noqa: E402
from tests.blender.operator_calls import undone  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

PRESETS = sorted(find_presets())
# how many agents Add > Crowd makes of each preset, and of which figure; all others: 80 people
NUMBERS = {
    "birds": 150, "fish": 200, "school_of_fish_with_shark": 120, "shark": 1, "seeker": 1,
    "predators": 4, "predator_prey": 40, "houdini_vex": 200, "unity_zones": 30,
    "follow_the_leader": 24, "hide_and_seek": 16, "parade_on_path": 56,
    "office": 30, "stadium_exit": 150,
}  # fmt: skip
BODIES = {
    "fish": "Fish", "school_of_fish_with_shark": "Fish", "shark": "Fish", "birds": "Bird",
    "predator_prey": "Dog", "predators": "Dog",
}  # fmt: skip


def started(preset, count=9, **options):
    """The crowd that the operator makes."""
    found = bpy.ops.object.steer_start(preset=preset, count=count, **options)
    assert found == {"FINISHED"}
    return active()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_starts_with_all_that_it_needs(preset):
    obj = started(preset)
    assert crowds.is_crowd(obj) and obj.select_get()
    assert advice.diagnoses(obj) == []
    assert len(obj.data.vertices) == 9
    assert bpy.context.scene.frame_current == bpy.context.scene.frame_start
    walks = obj.steer.motion.motion == "GROUND"
    assert (obj.steer.ground is not None) == walks
    assert agents_of(preset) == NUMBERS.get(preset, 80)
    body = display.shown_body(display.find_modifier(obj))
    wanted = BODIES.get(preset, "People" if walks else "")
    assert (body.name if body else "") == wanted


@pytest.mark.parametrize("how", ["EXEC_DEFAULT", "INVOKE_DEFAULT"])
def test_scripts_and_menus_take_the_number_of_the_preset(how):
    assert bpy.ops.object.steer_start(how, preset="shark") == {"FINISHED"}
    assert len(active().data.vertices) == NUMBERS["shark"]


@pytest.mark.parametrize("preset", ["pedestrians", "street_lanes", "birds", "predator_prey"])
def test_it_moves_from_the_first_frame_on(preset):
    obj = started(preset)
    scenes.play(1, 14)
    status = live.status(obj)
    assert status.diagnosis is None and status.warnings == ()
    first, last = (live.get_frame(obj, number).position for number in (1, 14))
    assert np.linalg.norm(last - first, axis=1).min() > 0.1


@pytest.mark.parametrize("count", [9, 80])
def test_a_path_out_is_inside_of_the_container(count):
    obj = started("panic", count=count, bodies=False)
    bpy.context.view_layer.update()
    sources = {item.type: item.source_object for item in obj.steer.behaviors}
    path, box = sources["follow_path"], sources["containment"]
    way = np.array([path.matrix_world @ p.co.xyz for p in path.data.splines[0].points])
    corners = np.array([box.matrix_world @ Vector(corner) for corner in box.bound_box])
    room = 2.0 * obj.steer.agents.radius
    assert (way[:, :2] >= corners.min(0)[:2] + room).all()
    assert (way[:, :2] <= corners.max(0)[:2] - room).all()


def test_it_stands_around_the_cursor():
    bpy.context.scene.cursor.location = (40.0, -30.0, 2.0)
    obj = started("pedestrians", bodies=False)
    bpy.context.view_layer.update()
    places = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
    assert np.linalg.norm(places.mean(0)[:2] - (40.0, -30.0)) < 10.0
    np.testing.assert_allclose(places[:, 2], 2.0, atol=1e-5)
    assert obj.steer.ground.location.z == pytest.approx(2.0)
    assert (obj.steer.target_object.location - obj.location).length < 12.0


@pytest.mark.parametrize("preset", ["pedestrians", "school_of_fish_with_shark", "street_lanes"])
def test_the_view_shows_the_crowd_and_what_it_steers_by(preset):
    make_plane("Elsewhere", size=1.0)
    scene = bpy.context.scene
    before = list(scene.objects)
    obj = started(preset, bodies=False)
    seen = {other.name for other in starters.worth_seeing(before, obj, scene)}
    assert obj.name in seen and not seen & {"Ground", "Container", "Elsewhere"}
    assert obj.steer.target_object is None or obj.steer.target_object.name in seen


def test_the_seed_decides_and_nothing_else():
    found = []
    for seed in (1, 1, 2):
        obj = started("pedestrians", seed=seed, bodies=False)
        found.append(np.array([v.co for v in obj.data.vertices]))
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_a_ground_that_is_there_is_used():
    plane = make_plane("Field", size=60.0)
    assert started("pedestrians", bodies=False).steer.ground == plane
    bpy.context.view_layer.objects.active = None
    # by the crowd that has one already
    assert started("panic", bodies=False).steer.ground == plane


def test_a_cube_is_no_ground():
    scenes.make_box("Cube")
    bpy.context.view_layer.objects.active = bpy.data.objects["Cube"]
    bpy.context.view_layer.update()
    assert started("pedestrians", bodies=False).steer.ground.name == "Ground"


def test_options_leave_things_out():
    obj = started("pedestrians", obstacles=False, ground="NONE", bodies=False)
    assert obj.steer.colliders is None and obj.steer.ground is None
    names = {collection.name for collection in bpy.data.collections}
    assert names == {"Crowd Set"}


def test_undo_takes_all_of_it_back():
    before = scenes.data_counts()
    undone(bpy.ops.object.steer_start, preset="panic", count=5)
    after = scenes.data_counts()
    assert after["objects"] == before["objects"] and after["collections"] == before["collections"]


def test_an_unknown_preset_is_said_and_makes_nothing(capfd):
    before = scenes.data_counts()
    with pytest.raises(RuntimeError, match="There is no preset 'dragons'"):
        bpy.ops.object.steer_start(preset="dragons")
    assert scenes.data_counts() == before


def test_a_preset_of_ones_own_starts_too(tmp_path, monkeypatch):
    data = json.loads(find_presets()["birds"].read_text(encoding="utf-8"))
    data["settings"]["behaviors"] = [{"type": "flow_field"}, {"type": "interpose"}]
    data["label"] = "Mine"
    del data["group"]
    (tmp_path / "mine.json").write_text(json.dumps(data), encoding="utf-8")
    for module in (crowds, previews):
        monkeypatch.setattr(module, "user_preset_folders", lambda: [tmp_path])
    assert advice.diagnoses(started("mine")) == []
    assert [name for name, _ in previews.grouped_presets()[previews.OWN]] == ["mine"]


def test_menus_list_every_preset_once_under_a_heading():
    groups = previews.grouped_presets()
    assert list(groups)[:3] == list(previews.GROUPS)
    listed = [name for rows in groups.values() for name, _ in rows]
    assert sorted(listed) == PRESETS


def test_the_tooltip_is_the_description_of_the_preset():
    class Chosen:
        preset = "birds"

    assert (
        Start.description(bpy.context, Chosen()) == preset_card(find_presets()["birds"]).description
    )
    Chosen.preset = "nothing"
    assert "play" in Start.description(bpy.context, Chosen())


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_a_small_picture(preset):
    path = find_presets()[preset].parent / previews.FOLDER / f"{preset}.png"
    assert path.is_file() and path.stat().st_size <= 5_000
    assert path.read_bytes().startswith(b"\x89PNG")


def test_pictures_of_presets_can_be_told_apart():
    seen = {}
    for preset, path in find_presets().items():
        image = bpy.data.images.load(str(path.parent / previews.FOLDER / f"{preset}.png"))
        assert tuple(image.size) == (96, 96)
        values = np.array(image.pixels[:], np.float32).reshape(96, 96, 4)
        # on a dark theme, in the size of a menu's icon
        shown = values[..., :3] * values[..., 3:] + 0.2 * (1.0 - values[..., 3:])
        seen[preset] = shown.reshape(24, 4, 24, 4, 3).mean(axis=(1, 3))
    for one, other in itertools.combinations(seen, 2):
        differs = np.abs(seen[one] - seen[other]).max(axis=2) > 0.1
        assert differs.mean() > 0.15, (one, other)


def test_names_of_presets_say_what_one_gets():
    cards = {name: preset_card(path) for name, path in find_presets().items()}
    labels = [card.label for card in cards.values()]
    assert len(set(labels)) == len(labels)
    for name, card in cards.items():
        # longer ones are cut off below their pictures
        assert len(card.label) <= 20, name
        assert not re.search("Houdini|VEX|Unity|Cocos|Reynolds", card.label), name
    for name, source in (("cocos_steering", "Cocos"), ("houdini_vex", "Houdini"),
                         ("unity_zones", "Unity")):  # fmt: skip
        # files and scripts go on to find it under its old name
        assert source in cards[name].description


def own_preset(preset, **start):
    """A preset of the user's own with the settings of a built-in one, and its place."""
    text = json.loads(find_presets()[preset].read_text(encoding="utf-8"))
    del text["start"]
    path = crowds.user_preset_folder() / "own.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**text, **({"start": start} if start else {})}), encoding="utf-8")
    return path


def made():
    """Names and places of all objects, and how many vertices they have."""
    return {
        obj.name: (tuple(obj.location), len(obj.data.vertices) if obj.type == "MESH" else 0)
        for obj in bpy.context.scene.objects
    }


@pytest.mark.parametrize("preset", often(PRESETS, "birds", "panic", "street_lanes"))
def test_a_preset_without_a_start_gets_what_its_behaviors_need(preset):
    started(preset, bodies=False)
    wanted = made()
    bpy.ops.wm.read_homefile(use_empty=True)
    path = own_preset(preset)
    try:
        started("own", bodies=False)
    finally:
        path.unlink()
    assert made() == wanted


def test_a_preset_says_what_it_starts_with():
    path = own_preset("pedestrians", agents=7, figure="CONE", scenery="NONE", target="AMONG")
    try:
        obj, agents = started("own"), agents_of("own")
    finally:
        path.unlink()
    assert agents == 7 and agents_of("no such preset") == 80
    assert display.shown_body(display.find_modifier(obj)) is None and obj.steer.colliders is None
    assert obj.steer.target_object.animation_data is not None
