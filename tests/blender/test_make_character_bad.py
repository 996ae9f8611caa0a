"""Rigs that are not as one would wish: what works all the same, and what one sentence says."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import feet, library, library_group, making  # noqa: E402
from steer_addon.blender.checks import advice, character_checks  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.operators import characters  # noqa: E402
from steer_addon.core.characters import memory  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender import fake_layout  # noqa: E402
from tests.blender.crowd_makers import make_crowd  # noqa: E402
from tests.blender.live_scenes import play  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402
from tests.blender.walking_rigs import (  # noqa: E402
    COARSE,
    RECIPE,
    box,
    make,
    make_rig,
    make_usual,
    state,
    walking_rig,
)
from tests.diagnosed import codes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def keyed_empty():
    """An empty that rises by 0.5 over the cycle and comes back."""
    empty = bpy.data.objects.new("Guide", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, height in ((0, 0.0), (12, 0.5), (24, 0.0)):
        empty.location.z = height
        empty.keyframe_insert("location", frame=frame)
    return empty


def tops(space):
    row = space.gaits[-1]
    return space.positions[row.first : row.first + row.count, :, 2].max(axis=1)


def assert_only_made(made, rig, before):
    name = made.character.name
    new = set(state(rig)[0]["objects"]) - set(before[0]["objects"])
    assert new == {name, f".{name} Poses"}


def test_constraints_to_other_objects_are_followed():
    rig = walking_rig()
    level = np.ptp(tops(make_usual(rig)))
    constraint = rig.pose.bones["head"].constraints.new("COPY_LOCATION")
    constraint.target, constraint.use_offset = keyed_empty(), True
    before = state(rig)
    made = make(rig)
    assert np.ptp(tops(made.space)) == pytest.approx(0.5, abs=0.1) and level < 0.1
    assert_only_made(made, rig, before)


def test_drivers_of_other_objects_are_followed():
    rig, empty = walking_rig(), keyed_empty()
    head = next(obj for obj in rig.children if obj.name == "head")
    head.shape_key_add(name="Basis")
    tall = head.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z += 1.0
    variable = (driver := tall.driver_add("value").driver).variables.new()
    driver.type, driver.expression = "SCRIPTED", "z"
    variable.name, variable.targets[0].id = "z", empty
    variable.type, variable.targets[0].data_path = "SINGLE_PROP", "location.z"
    assert np.ptp(tops(make(rig).space)) == pytest.approx(0.5, abs=0.1)


def test_uneven_scale_is_that_of_the_body():
    rig = walking_rig()
    normal = make_usual(rig)
    rig.scale = (1.0, 2.0, 1.5)
    scaled = make(rig).space
    assert scaled.gaits[-1].stride == pytest.approx(2.0 * normal.gaits[-1].stride, rel=0.05)
    assert tops(scaled).max() == pytest.approx(1.5 * tops(normal).max(), rel=0.05)


PUT = ({"rotation_euler": (0.0, 0.0, 1.2), "location": (3.0, 2.0, 1.0)}, 1.0, 1.0)
MIRRORED = ({"scale": (-1.0, -1.0, 1.0)}, 1.0, 1.0)
UNEVEN = ({"scale": (1.0, 2.0, 1.5)}, 2.0, 1.5)


@pytest.mark.parametrize(
    ("placed", "stride", "height"),
    often(
        [PUT, ({"scale": (2.0, 2.0, 2.0)}, 2.0, 2.0), MIRRORED, UNEVEN],
        PUT,
        MIRRORED,
        UNEVEN,
    ),
)
def test_parents_place_and_scale_the_body(placed, stride, height):
    rig = walking_rig()
    normal = make_usual(rig)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    for name, value in placed.items():
        setattr(parent, name, value)
    rig.parent = parent
    before = state(rig)
    made = make(rig)
    assert made.space.gaits[-1].stride == pytest.approx(stride * normal.gaits[-1].stride, rel=0.05)
    assert tops(made.space).max() == pytest.approx(height * tops(normal).max(), rel=0.05)
    # the body faces -Y, and stands on the ground at the origin
    first = made.space.positions[0]
    assert abs(first[:, 2].min()) < 0.01 and np.abs(first[:, :2].mean(axis=0)).max() < 0.1
    assert_only_made(made, rig, before)


@pytest.mark.parametrize(
    "angle", often([-math.pi / 2, math.pi / 4, math.pi / 2, math.pi], math.pi / 4, math.pi)
)
def test_a_rig_that_faces_another_axis_is_turned(angle):
    rig = walking_rig()
    normal = make_usual(rig)
    rig.rotation_euler = (0.0, 0.0, angle)
    np.testing.assert_allclose(make(rig).space.positions, normal.positions, atol=0.01)


@pytest.mark.parametrize("given", [(), ("leg.l", "leg.r")])
@pytest.mark.parametrize("turned", [(math.pi / 2, 0.0, 0.0), (-math.pi / 2, 0.0, 0.3)])
def test_a_rig_lying_down_is_told_to_stand_up(given, turned):
    rig = walking_rig()
    rig.rotation_euler = turned
    before = state(rig)
    with pytest.raises(CharacterError, match="'Walker' lies down.*stands upright, with Z up"):
        make(rig, Recipe("Idle", "Walk", plan=COARSE, feet=given))
    assert state(rig) == before


@pytest.mark.parametrize(
    "turned", [(math.pi, 0.0, 0.0), (0.0, math.pi, 0.0), (0.0, math.pi / 2, 0.0)]
)
def test_a_rig_upside_down_or_on_its_side_is_told_to_stand_up(turned):
    rig = walking_rig()
    rig.rotation_euler = turned
    before = state(rig)
    with pytest.raises(CharacterError, match="lies down.*stands upright, with Z up"):
        make(rig)
    assert state(rig) == before


def test_a_linked_rig_becomes_a_character_of_this_file(tmp_path):
    walking_rig()
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.objects, wanted.actions = there.objects, there.actions
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    made = make(bpy.data.objects["Walker"])
    assert made.character.library is None and made.character.data.library is None
    assert made.space.gaits[-1].stride == pytest.approx(1.0, rel=0.1)
    assert not character_checks.check(made.character)


def test_a_linked_character_is_not_made_anew(tmp_path):
    make(walking_rig())
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Walker Character"]
    (linked,) = wanted.objects
    names = {obj.name for obj in bpy.data.objects}
    crowd, modifier = shown("Character", linked)
    assert codes(character_checks.found(crowd)) == []
    play(1, 3)
    with pytest.raises(RuntimeError, match="make it again in that file, or make it local"):
        bpy.ops.object.steer_make_anew(name=linked.name)
    assert {"Steer Sampling"} & {scene.name for scene in bpy.data.scenes} == set()
    assert names <= {obj.name for obj in bpy.data.objects}


def half_a_million():
    """A rig with a grid of 504,100 faces, which carries it."""
    rig = make_rig()
    rows, columns = 711, 711
    grid = np.stack(np.meshgrid(np.linspace(0, 2, columns), np.linspace(0, 2, rows)), axis=-1)
    points = np.zeros((rows * columns, 3), np.float32)
    points[:, [0, 2]] = grid.reshape(-1, 2)
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    quads = np.stack([first, first + 1, first + columns + 1, first + columns], axis=1)
    mesh = bpy.data.meshes.new("Large")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.ravel())
    mesh.loops.add(quads.size)
    mesh.loops.foreach_set("vertex_index", quads.astype(np.int32).ravel())
    mesh.polygons.add(len(quads))
    mesh.polygons.foreach_set("loop_start", np.arange(0, quads.size, 4, dtype=np.int32))
    mesh.update()
    large = bpy.data.objects.new("Large", mesh)
    bpy.context.scene.collection.objects.link(large)
    large.parent = rig
    action = bpy.data.actions.new("Walk")
    rig.animation_data_create().action = action
    for frame in (1, 24):
        rig.pose.bones["head"].keyframe_insert("location", frame=frame)
    return rig


def test_half_a_million_faces_say_what_they_take():
    rig = half_a_million()
    before = state(rig)
    for levels, words in (
        (0, r"faces take \d+ MB.*: set Faces to [\d.]+% or less to decimate it, or raise"),
        (1, r"faces with 1 level of detail take \d+ MB.*set Faces to [\d.]+% .*fewer levels"),
        (2, r"faces with 2 levels of detail take \d+ MB.*set Faces to [\d.]+% .*fewer levels"),
    ):
        with pytest.raises(CharacterError, match=r"poses of 5041\d\d " + words):
            next(making.making(bpy.context.scene, rig, Recipe(walk="Walk", levels=levels)))
        assert state(rig) == before


def test_levels_that_take_too_much_are_told_before_anything_is_sampled(monkeypatch):
    rig = walking_rig()
    monkeypatch.setattr(memory, "MOST_BYTES", 0)
    with pytest.raises(CharacterError) as told:
        make(rig)
    poses = int(str(told.value).partition(" ")[0])
    # four boxes of eight vertices may be made, and take three times as much with two levels
    monkeypatch.setattr(memory, "MOST_BYTES", int(1.2 * poses * (24 * 32 + 24 * 1024)))
    next(steps := making.making(bpy.context.scene, rig, RECIPE))
    steps.close()
    before = state(rig)
    with pytest.raises(CharacterError, match=r"with 2 levels of detail take \d+ MB"):
        next(making.making(bpy.context.scene, rig, replace(RECIPE, levels=2)))
    assert state(rig) == before


@pytest.mark.parametrize("faces", [1.0, 0.5])
def test_what_is_offered_is_a_share_of_all_faces(faces):
    recipe = replace(RECIPE, faces=faces, levels=1)
    count = int(1_000_000 * faces)
    with pytest.raises(CharacterError) as told:
        memory.check_memory(400, count, count, recipe)
    share = float(re.search(r"set Faces to ([\d.]+)%", str(told.value))[1]) / 100.0
    # of a million vertices, 24 bytes in each of the 400 poses and a third more for the level
    assert share == pytest.approx(0.9 * 4 * 1024**3 / (1_000_000 * 24 * 400 * 4 / 3), rel=0.05)
    kept = int(1_000_000 * share)
    memory.check_memory(400, kept, kept, replace(recipe, faces=share))


def test_errors_of_the_operator_leave_nothing():
    rig = make_rig()
    bpy.context.view_layer.objects.active = rig
    before = state(rig)
    with pytest.raises(RuntimeError, match="has no action for Walk"):
        bpy.ops.object.steer_make_character()
    assert state(rig) == before


def shown(kind, body):
    crowd = make_crowd()
    bpy.context.view_layer.objects.active = crowd
    modifier = display.find_modifier(crowd)
    held = "Object" if isinstance(body, bpy.types.Object) else "Collection"
    display.set_input(modifier, held, body)
    display.set_input(modifier, "Display", kind)
    return crowd, modifier


def test_a_character_that_was_deleted_is_told():
    toy = make_toy()
    crowd, _ = shown("Character", toy)
    assert codes(character_checks.found(crowd)) == []
    bpy.data.objects.remove(toy)
    assert codes(character_checks.found(crowd)) == ["CHARACTER_NOT_CHOSEN"]
    assert "CHARACTER_NOT_CHOSEN" in codes(advice.diagnoses(crowd))
    play(1, 3)


def test_what_is_no_character_is_told():
    crowd, _ = shown("Character", box("Cube", (0, 0, 0), (1, 1, 1)))
    assert codes(character_checks.found(crowd)) == ["NO_CHARACTER"]


def test_all_poses_at_once_have_a_way_out():
    toy = make_toy()
    crowd, modifier = shown("Object", toy)
    assert codes(character_checks.found(crowd)) == ["CHARACTER_AS_OBJECT"]
    bpy.ops.object.steer_show_characters()
    assert display.get_input(modifier, "Display") == "Character"
    assert codes(character_checks.found(crowd)) == []


@pytest.mark.parametrize("kind", ["Collection", "Characters"])
def test_characters_among_other_objects_have_a_way_out(kind):
    first, second = make_toy("One"), make_toy("Two")
    mixed = bpy.data.collections.new("Mixed")
    for obj in (first, second, box("Cube", (0, 0, 0), (1, 1, 1))):
        mixed.objects.link(obj)
    crowd, modifier = shown(kind, mixed)
    expected = "CHARACTER_AS_OBJECT" if kind == "Collection" else "CHARACTERS_MIXED"
    assert codes(character_checks.found(crowd)) == [expected]
    bpy.ops.object.steer_show_characters()
    assert display.get_input(modifier, "Display") == "Characters"
    assert library.among(display.shown_body(modifier)) == (first, second)
    assert codes(character_checks.found(crowd)) == []
    assert set(mixed.objects) >= {first, second}


def test_a_changed_rig_is_told_at_the_crowd():
    rig = walking_rig()
    character = make(rig).character
    crowd, _ = shown("Character", character)
    assert codes(character_checks.found(crowd)) == []
    rig.children[0].data.vertices[0].co.x += 0.5
    character_checks.check(character)
    (told,) = character_checks.found(crowd)
    assert (told.code, told.subject) == ("CHARACTER_CHANGED", character.name)


def test_a_choice_that_always_gives_the_first_is_told():
    pair = bpy.data.collections.new("Pair")
    toys = [make_toy(name) for name in ("One", "Two")]
    for toy in toys:
        pair.objects.link(toy)
    crowd, modifier = shown("Characters", pair)
    assert codes(character_checks.found(crowd)) == []
    for toy in toys:
        library_group.set_weight(toy, 0.0)
    assert codes(character_checks.found(crowd)) == ["WEIGHTS_ALL_ZERO"]
    library_group.set_weight(toys[1], 0.5)
    assert codes(character_checks.found(crowd)) == []
    display.set_input(modifier, "Choose By", "Attribute")
    assert codes(character_checks.found(crowd)) == ["CHOICE_WITHOUT_ATTRIBUTE"]
    assert "CHOICE_WITHOUT_ATTRIBUTE" in codes(advice.diagnoses(crowd))
    crowd.data.attributes.new("body", "INT", "POINT")
    assert codes(character_checks.found(crowd)) == []


def test_characters_wider_than_their_bodies_are_told():
    character = make(walking_rig()).character
    crowd, modifier = shown("Character", character)
    reach = character[library.REACH]
    # the boxes of the legs reach 0.17 m from the middle, the corners of the head 0.25
    assert 0.15 < reach < 0.26
    crowd.steer.agents.radius = 0.25
    assert codes(character_checks.found(crowd)) == []
    display.set_input(modifier, "Scale", 3.0)
    (told,) = character_checks.found(crowd)
    assert told.code == "CHARACTER_WIDE" and told.values["reach"] == pytest.approx(3.0 * reach)
    crowd.steer.agents.radius = 3.0 * reach
    assert codes(character_checks.found(crowd)) == []
    crowd.steer.agents.radius, crowd.steer.motion.motion = 0.25, "FLY"
    assert codes(character_checks.found(crowd)) == []


def test_feet_that_are_not_there_name_the_nearest_bones_first():
    with pytest.raises(CharacterError, match="to 'LEG_L', .*objects: 'leg.l', .*; or leave Feet"):
        make(walking_rig(), recipe=replace(RECIPE, feet=("LEG_L",)))
    names = ["head", "spine", *(f"finger.{n}" for n in range(12)), "toe.l", "toe.r"]
    told = feet._near_first("toe", names)
    assert set(told.split(", ")[:2]) == {"'toe.l'", "'toe.r'"}
    assert told.endswith("'finger.7' and 4 more")
    assert feet._near_first("wing", names[:2]) == "'head', 'spine'"


def test_the_dialog_says_what_a_stride_of_0_is():
    fake = SimpleNamespace(
        layout=None, name="", actions=[], parts=[], stride=0.0, _memory=lambda _: "some"
    )
    for stride, said in ((0.0, True), (1.2, False)):
        fake.stride, fake.layout = stride, fake_layout.FakeLayout()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fake_layout, "_check_property", lambda data, name: None)
            active = SimpleNamespace(object=bpy.data.objects.new("Guide", None))
            characters.OBJECT_OT_steer_make_character.draw(fake, active)
        assert ("0: Measured from the Planted Feet" in fake.layout.texts()) is said
