"""Types of `Object.steer` for type checkers match those in Blender."""

import bpy
import pytest

from steer_addon.blender.crowd import property_types
from steer_addon.blender.crowd.bake_settings import KeyframeBakeSettings, VariationSettings
from steer_addon.blender.crowd.crowds import make_crowd
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.births import BirthsSettings
from steer_addon.core.crowd.clips import ClipsSettings
from steer_addon.core.crowd.meets import MeetsSettings
from steer_addon.core.crowd.settings import (
    AgentsSettings,
    BodiesSettings,
    MotionSettings,
    SolverSettings,
)
from steer_addon.core.crowd.ways_settings import WaysSettings

KINDS = {"BOOLEAN": "bool", "FLOAT": "float", "INT": "int", "STRING": "str"}
BLOCKS = {
    "agents": AgentsSettings,
    "motion": MotionSettings,
    "solver": SolverSettings,
    "bodies": BodiesSettings,
    "clips": ClipsSettings,
    "meets": MeetsSettings,
    "births": BirthsSettings,
    "ways": WaysSettings,
    "bake": KeyframeBakeSettings,
    "variations": VariationSettings,
}


def told(cls):
    """Types in a class of `property_types` or of settings, bases of its module included."""
    bases = [b for b in cls.__mro__ if b.__module__ == cls.__module__]
    return {name: text for base in bases for name, text in base.__annotations__.items()}


def held(struct, *, without):
    """Types in Blender, in the same words."""
    found = {}
    for prop in struct.bl_rna.properties:
        if prop.identifier in ("rna_type", *without):
            continue
        if prop.type == "ENUM":
            found[prop.identifier] = "set[str]" if prop.is_enum_flag else "str"
        elif prop.type == "POINTER" and prop.identifier in BLOCKS:
            found[prop.identifier] = BLOCKS[prop.identifier].__name__
        elif prop.type == "POINTER":
            found[prop.identifier] = f"bpy.types.{prop.fixed_type.identifier} | None"
        elif prop.type == "COLLECTION":
            kind = prop.fixed_type.identifier
            found[prop.identifier] = f"bpy.types.bpy_prop_collection_idprop[{kind}]"
        else:
            found[prop.identifier] = KINDS[prop.type]
    return found


@pytest.fixture
def crowd(empty_scene):
    mesh = bpy.data.meshes.new("Crowd")
    mesh.from_pydata([(0, 0, 0)], [], [])
    obj = bpy.data.objects.new("Crowd", mesh)
    empty_scene.collection.objects.link(obj)
    make_crowd(obj)
    return obj


def test_a_crowd_holds_what_its_class_says(crowd):
    assert held(crowd.steer, without=("name",)) == told(property_types.SteerCrowd)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_holds_what_its_class_says(crowd, block):
    group = getattr(crowd.steer, block)
    assert held(group, without=("name",)) == told(BLOCKS[block])


def test_an_entry_holds_what_its_class_says(crowd):
    entry = crowd.steer.behaviors[0]
    assert held(entry, without=REGISTRY) == told(property_types.SteerBehavior)
