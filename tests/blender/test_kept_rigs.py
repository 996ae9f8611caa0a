"""What making and promoting leave as it is: drivers of the rig, shape keys, what hangs from it."""

from __future__ import annotations

import json

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.characters import origins  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.test_heroes import assert_same_poses, people, play  # noqa: E402
from tests.blender.walking_rigs import character_of, made_by, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")
KINDS = "meshes lattices objects actions armatures shape_keys collections".split()


def crowd_of(made, count=2, last=6):
    """A crowd that shows a character."""
    obj = people(last=last, count=count)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    return obj


def driven(obj, rig):
    """Let a shape key of an object follow the head bone of a rig; returns what the driver reads."""
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Big")
    curve = obj.data.shape_keys.driver_add('key_blocks["Big"].value')
    variable = curve.driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = rig
    variable.targets[0].bone_target = "head"
    curve.driver.expression = "var"

    def read():
        driver = obj.data.shape_keys.animation_data.drivers[0].driver
        return driver.variables[0].targets[0].id

    return read


def caged(rig):
    """A lattice that hangs from a rig and bends one of its legs."""
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(cage)
    cage.parent = rig
    bpy.data.objects["leg.l"].modifiers.new("Cage", "LATTICE").object = cage
    return cage


def names():
    return {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mesh", "lattice"])
def test_drivers_of_shape_keys_stay_with_their_rig(kind):
    rig = walking_rig()
    read = driven(bpy.data.objects["leg.l"] if kind == "mesh" else caged(rig), rig)
    obj = crowd_of(character_of(rig))
    assert read() == rig
    before = names()
    heroes.promote(obj, bpy.context.scene, [0, 1])
    assert read() == rig
    copies = [k for k in bpy.data.shape_keys if k.name not in before["shape_keys"]]
    targets = [c.animation_data.drivers[0].driver.variables[0].targets[0].id for c in copies]
    assert sorted(target.name for target in targets) == ["Crowd.0000 Rig", "Crowd.0001 Rig"]
    heroes.demote(obj)
    assert read() == rig
    assert names() == before


def key_shape(obj, action, values):
    """Key a shape key of an object in a slot of an action."""
    keys = obj.data.shape_keys
    data = keys.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new("KEY", keys.name)
    for frame, value in values.items():
        keys.key_blocks["Big"].value = value
        keys.keyframe_insert('key_blocks["Big"].value', frame=frame)
    data.action = None
    keys.key_blocks["Big"].value = 0.0


def test_heroes_show_keyed_shape_keys():
    rig = walking_rig()
    hat = bpy.data.objects["hat"]
    hat.shape_key_add(name="Basis")
    big = hat.shape_key_add(name="Big")
    for point in big.data:
        point.co.z *= 4.0
    key_shape(hat, bpy.data.actions["Walk"], {0: 1.0, 12: 0.5, 24: 1.0})
    made = character_of(rig)
    assert_same_poses(made, 0.003)
    obj = crowd_of(made, last=40)
    before = names()
    heroes.promote(obj, bpy.context.scene, [0])
    play(40)
    mesh = bpy.data.objects["Crowd.0000 hat"].data
    assert mesh != hat.data and mesh.shape_keys.key_blocks["Big"].value > 0.2
    assert bpy.data.objects["Crowd.0000 head"].data == bpy.data.objects["head"].data
    assert hat.data.shape_keys.key_blocks["Big"].value == 0.0
    heroes.demote(obj)
    assert names() == before


def damaged(data, what):
    if what == "times":
        data["rows"][1]["times"] = [[time] for time in data["rows"][1]["times"]]
    elif what == "above":
        data["above"] = [row[:3] for row in data["above"]]
    elif what == "offset":
        data["tracks"][1]["offset"] = float("nan")
    else:
        data["units"] = {"huge": 10**400, "none": 0.0}[what]
    return json.dumps(data)


@pytest.mark.slow
def test_a_damaged_origin_is_one_sentence():
    made = made_by(walking_rig)
    obj = crowd_of(made)
    before, whole = names(), made.character[origins.KEY]
    for what in ("times", "above", "offset", "huge", "none"):
        made.character[origins.KEY] = damaged(json.loads(whole), what)
        with pytest.raises(CharacterError, match="is damaged.*make the character again"):
            heroes.promote(obj, bpy.context.scene, [0])
        assert names() == before
